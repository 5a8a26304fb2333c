"""Operations as Numba has them, which take the place of core primitives just before printing."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from ...codegen.registry import Primitive
from ...codegen.trees import attribute, call, constant, infix, name

Tree = Any


def unknown(*operands: Any, **static: Any) -> Any:
    raise NotImplementedError("an operation of the Numba backend is only printed")


def form(called: str, printed: Callable[..., Tree] | str, **traits: bool) -> Primitive:
    """An operation that is printed and never run as it is."""
    return Primitive(called, unknown, unknown, printed, **traits)


def helper(called: str) -> Primitive:
    """A function of the module or of support.py."""
    return form(called, called)


def cast_tree(value: Tree, dtype: np.dtype, source: np.dtype) -> Tree:
    """A scalar in another dtype."""
    if dtype == source:
        return value
    if dtype.kind == "b":
        return infix("!=", value, constant(0))
    if source.kind == "c" and dtype.kind != "c":
        value = attribute(value, "real")
    return call(f"np.{dtype.name}", value)


def reshaped(array: Tree, shape: Tree) -> Tree:
    return call(gast.Attribute(contiguous_tree(array), "reshape", gast.Load()), shape)


def contiguous_tree(array: Tree) -> Tree:
    return call("np.ascontiguousarray", array)


cast = form("cast", cast_tree)
choose = form("choice", lambda test, x, y: gast.IfExp(test, x, y))
contiguous = form("contiguous", contiguous_tree)
contiguous_copy = form("copy", lambda array: call(attribute(array, "copy")))
reshape = form("reshaped", reshaped, view=True)
dot = form("product", lambda a, b: call("np.dot", a, b))
allocate = form("result", lambda shape, called, dtype: call(f"np.{called}", shape, dtype=name(f"np.{dtype}")),
                allocates=True)
filled = form("result", lambda shape, value, dtype: call("np.full", shape, value, dtype=name(f"np.{dtype}")),
              allocates=True)
