"""Operations as Numba has them, which take the place of core primitives just before printing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from ...codegen import expressions
from ...codegen.core import Assign, Variable
from ...codegen.forms import FORMS
from ...codegen.registry import Primitive
from ...codegen.trees import attribute, call, constant, infix, unary

Tree = Any


def unknown(*operands: Any, **static: Any) -> Any:
    raise NotImplementedError("an operation of the Numba backend is only printed")


def form(called: str, printed: Callable[..., Tree] | str | None, **traits: bool) -> Primitive:
    """An operation that is printed and never run as it is."""
    return Primitive(called, unknown, unknown, printed, **traits)


def helper(called: str) -> Primitive:
    """A function of support.py; not under the name of a primitive that is printed in its own way."""
    return form(f"{called}_of" if called in FORMS else called, f"support.{called}")


def elementary(called: str) -> Primitive:
    """A function of elementary/."""
    return form(f"{called}_of" if called in FORMS else called, f"elementary.{called}")


def cast_tree(value: Tree, dtype: np.dtype, source: np.dtype) -> Tree:
    """A scalar in another dtype."""
    if dtype == source:
        return value
    if dtype.kind == "b":
        return infix("!=", value, constant(0))
    if source.kind == "c" and dtype.kind != "c":
        value = attribute(value, "real")
        if source.itemsize == 2 * dtype.itemsize:
            return value
    return call(f"np.{dtype.name}", value)


@expressions.form("cast")
def cast_form(statement: Assign, to: expressions.Expressions) -> Tree:
    value, dtype = statement.operands[0], statement.static["dtype"]
    if not isinstance(value, Variable) and dtype == np.float32:
        return to.tree(np.float32(value))
    return cast_tree(to.tree(value), **statement.static)


@expressions.form("choice")
def choice_form(statement: Assign, to: expressions.Expressions) -> Tree:
    test, x, y = map(to.tree, statement.operands)
    return gast.IfExp(test, x, y)


@expressions.form("inside")
def inside_form(statement: Assign, to: expressions.Expressions) -> Tree:
    """Whether an index, counted from either end, is inside an axis."""
    index, size = (to.tree(operand, True) for operand in statement.operands)
    return gast.Compare(
        unary("unary -", to.tree(statement.operands[1], True)), [gast.LtE(), gast.Lt()], [index, size]
    )


def reshaped(array: Tree, shape: Tree) -> Tree:
    return call(gast.Attribute(contiguous_tree(array), "reshape", gast.Load()), shape)


def contiguous_tree(array: Tree) -> Tree:
    return call("np.ascontiguousarray", array)


cast = form("cast", None)
choose = form("choice", None)
inside = form("inside", None)
contiguous = form("contiguous", contiguous_tree)
aligned = helper("aligned")
reshape = form("reshaped", reshaped, view=True)
dot = form("product", lambda a, b: call("np.dot", a, b))
