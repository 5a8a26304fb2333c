"""Functions that generated source defines for itself: those of ours that NumPy does not have.

A primitive whose `printed` form is the bare name of its implementation is such a one. The source of the
implementation, and of the functions of its module that it calls, stands above the generated function.

>>> from . import primitives
>>> sorted(tree.name for tree in helper_functions(gast.parse("y = cofactor_matrix(x)")))
['cofactor_matrix', 'products_without']
"""

from __future__ import annotations

import inspect
import sys
from functools import cache
from typing import Any

import gast

from .registry import PRIMITIVES, Primitive

Tree = Any


def helper_functions(tree: Tree) -> list[Tree]:
    """The definitions of the helpers that a tree calls, each after those that it calls itself."""
    known = implementations()
    found: dict[str, Tree] = {}
    for name in names_in(tree):
        if name in known:
            collect(name, definitions(known[name]), found)
    return list(found.values())


def implementations() -> dict[str, str]:
    """For each name that is printed as it is, the module that defines it."""
    return {p.printed: p.implementation.__module__ for p in PRIMITIVES.values() if is_helper(p)}


def is_helper(primitive: Primitive) -> bool:
    """Whether a primitive is printed as a call of its implementation."""
    return isinstance(primitive.printed, str) and primitive.printed == getattr(
        primitive.implementation, "__name__", None
    )


@cache
def definitions(module: str) -> dict[str, Tree]:
    """The functions of a module, without their documentation."""
    made = {}
    for node in gast.parse(inspect.getsource(sys.modules[module])).body:
        if isinstance(node, gast.FunctionDef):
            documented = isinstance(node.body[0], gast.Expr) and len(node.body) > 1
            node.body = node.body[1:] if documented else node.body
            made[node.name] = node
    return made


def collect(
    name: str, of_module: dict[str, Tree], found: dict[str, Tree], path: tuple[str, ...] = ()
) -> None:
    if name in found or name in path:
        return
    for called in names_in(of_module[name]):
        if called in of_module:
            collect(called, of_module, found, (*path, name))
    found[name] = of_module[name]


def names_in(tree: Tree) -> list[str]:
    return [node.id for node in gast.walk(tree) if isinstance(node, gast.Name)]
