"""A function that the user's function makes, as a Python function: for what must run outside of a program."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any

import gast

from ..codegen.specialise.values import UNDEFINED, ArrayMethod, Closure, Method, has_dynamic


def python_function(s: Any, function: Any, node: Any) -> Callable:
    """The function itself; of one made by the function being specialised, a copy that knows what it reads."""
    function = getattr(function, "value", function) if type(function).__name__ == "External" else function
    if isinstance(function, Closure):
        return from_closure(s, function, node)
    if isinstance(function, Method) and isinstance(function.function, types.FunctionType):
        instance = function.instance
        if not has_dynamic(instance) and not s.is_internal(instance):
            return types.MethodType(function.function, instance)
    if isinstance(function, (Method, ArrayMethod)) or has_dynamic(function):
        raise s.unsupported(
            "a method of something that the function itself holds, called by Python code",
            "pass a function: lambda value: values.append(value)",
            node,
        )
    if not callable(function):
        raise s.unsupported(f"calling a {type(function).__name__}", "pass a function", node)
    return function


def from_closure(s: Any, closure: Closure, node: Any) -> Callable:
    tree, frame = closure.tree, closure.frame
    if has_dynamic((closure.defaults, closure.keyword_defaults)):
        raise refuse(s, "a default value", node)
    known = {name: value_of(s, frame, name, node) for name in free_names(tree)}
    known = {name: value for name, value in known.items() if value is not UNDEFINED}
    made = gast.gast_to_ast(tree)
    if isinstance(made, ast.Lambda):
        returned, statements = made, []
    else:
        made.decorator_list = []
        returned, statements = ast.Name(made.name, ast.Load()), [made]
    outer = ast.parse(f"def outer({', '.join(known)}): return None").body[0]
    outer.body = [*statements, ast.Return(returned)]
    module = ast.fix_missing_locations(ast.Module([outer], []))
    space: dict[str, Any] = {}
    exec(compile(module, frame.scope.source.file, "exec"), frame.scope.module, space)
    return space["outer"](**known)


def free_names(tree: Any) -> list[str]:
    """The names that a function reads."""
    return list(dict.fromkeys(n.id for n in gast.walk(tree) if isinstance(n, gast.Name)))


def value_of(s: Any, frame: Any, name: str, node: Any) -> Any:
    """What a name stands for in the functions around; UNDEFINED for a global of the module."""
    while frame is not None:
        if name in frame.names:
            value = frame.names[name]
            if has_dynamic(value) or (isinstance(value, (list, dict, set)) and s.is_internal(value)):
                raise refuse(s, f"'{name}'", node)
            return value
        cell = getattr(frame, "closure", {}).get(name)
        if cell is not None:
            return cell.cell_contents
        frame = frame.parent
    return UNDEFINED


def refuse(s: Any, what: str, node: Any) -> Exception:
    return s.unsupported(
        f"a function called by Python code that reads {what}, known only as the program runs",
        "give it to the function as an argument",
        node,
    )
