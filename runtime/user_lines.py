"""Where the user's function is, for what is refused of a call that no program makes."""

from __future__ import annotations

from typing import Any

import gast

from ..codegen.errors import Location, location_of
from ..codegen.specialise.scope import inner_scope, scope_of
from ..codegen.specialise.values import Closure


def definition_location(function: Any) -> Location | None:
    """The line that a function begins at."""
    scope = read(function)
    return None if scope is None else location_of(scope.tree, scope.source)


def return_location(function: Any) -> Location | None:
    """The line of a function at which it returns."""
    scope = read(function)
    if scope is None:
        return None
    returns = [node for node in gast.walk(scope.tree) if isinstance(node, gast.Return)]
    node = max(returns, key=lambda node: node.lineno) if returns else scope.tree
    return location_of(node, scope.source)


def read(function: Any) -> Any:
    """The scope of the Python function under transformations and partial calls, or None."""
    while not isinstance(function, Closure) and (hasattr(function, "function") or hasattr(function, "func")):
        function = function.function if hasattr(function, "function") else function.func
    if isinstance(function, Closure):
        return inner_scope(function.tree, function.frame.scope)
    if not hasattr(function, "__code__"):
        function = type(function).__dict__.get("__call__")
    return scope_of(function) if hasattr(function, "__code__") else None
