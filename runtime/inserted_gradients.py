"""insert_grad_of: statements of the user's that run in the backward sweep.

with insert_grad_of(x) as g:           x = first(x, limit), of which the backward rule is
    g = np.clip(g, -1, limit)  ->          def rule(read, g):
                                               (limit,) = read
                                               g = np.clip(g, -1, limit)
                                               return (g, None)
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from ..codegen.live_names import assigned_names
from ..codegen.specialise import put_together
from ..codegen.specialise.assignment import place_of
from ..codegen.specialise.calls import call
from ..codegen.specialise.merge import take_apart
from ..codegen.specialise.values import Closure, has_dynamic
from .custom_calls import emit_call
from .custom_functions import Rules

FORM = "write: with insert_grad_of(x) as g"


class InsertedGradient:
    """What `insert_grad_of(x)` gives: a context manager."""

    def __init__(self, value: Any):
        self.value = value

    def __enter__(self) -> Any:
        """In a function that is only called there is no gradient: the body runs with zeros."""
        leaves: list[Any] = []
        template = take_apart(self.value, leaves)
        return put_together(template, [np.zeros_like(leaf)[()] for leaf in leaves])

    def __exit__(self, *error: Any) -> None:
        return None

    def __specialise_with__(self, s: Any, node: Any, frame: Any) -> None:
        """Emit the identity, with the body as its backward rule, and let the name mean its value."""
        item = node.items[0]
        given, cotangent = item.context_expr.args, item.optional_vars
        if len(node.items) > 1 or len(given) != 1 or not isinstance(given[0], gast.Name):
            raise s.unsupported(
                "insert_grad_of something that is not a variable",
                "give the value a name first: w = params['w'], then with insert_grad_of(w) as g",
                item.context_expr,
            )
        if not isinstance(cotangent, gast.Name):
            raise s.unsupported("insert_grad_of without a name for the gradient", FORM, item.context_expr)
        refuse_jumps(s, node, frame)
        if not s.differentiating:
            return
        read = values_read(node.body, frame)
        tree = rule_tree(node, cotangent.id, list(read))
        rules = Rules(passed_on, kept_for_backward, Body(Closure(tree, frame, (), {}, "insert_grad_of")))
        value = emit_call(s, "insert_grad_of", first, rules, (), [self.value, *read.values()], node)
        s.store.write(place_of(s, given[0].id, frame), value)


class Body:
    """The backward rule: the gradient's containers are its own, so that it may write to them."""

    def __init__(self, closure: Closure):
        self.function = closure

    def __specialise__(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        read, cotangent = arguments
        return call(s, self.function, [read, s.store.adopt(cotangent)], keywords, node)


def first(x: Any, *read: Any) -> Any:
    return x


def kept_for_backward(x: Any, *read: Any) -> tuple:
    return x, read


def passed_on(primals: tuple, tangents: tuple) -> tuple:
    return primals[0], tangents[0]


def values_read(body: list, frame: Any) -> dict[str, Any]:
    """The arrays and numbers that the body reads: as arguments, they can be differentiated in their turn."""
    found = {}
    for name in dict.fromkeys(n.id for part in body for n in gast.walk(part) if isinstance(n, gast.Name)):
        value = looked_up(frame, name)
        leaves: list[Any] = []
        if has_dynamic(value) and not has_dynamic(take_apart(value, leaves)) and leaves:
            found[name] = value
    return found


def looked_up(frame: Any, name: str) -> Any:
    """A name's value in the functions around."""
    while frame is not None:
        if name in frame.names:
            return frame.names[name]
        frame = frame.parent
    return None


def refuse_jumps(s: Any, node: Any, frame: Any) -> None:
    """Refuse what would leave the body: it does not run where it stands."""
    leaves = any(isinstance(part, (gast.Return, gast.Break, gast.Continue)) for part in gast.walk(node))
    if leaves or frame.scope.generated & set(assigned_names(node.body)):
        raise s.unsupported(
            "return, break or continue inside insert_grad_of", "set the gradient, and nothing else", node
        )


def insert_inside(s: Any, arguments: list, keywords: dict, node: Any) -> InsertedGradient:
    """insert_grad_of, in a function that is being specialised."""
    return InsertedGradient(*arguments, **keywords)


def rule_tree(node: Any, cotangent: str, read: list[str]) -> Any:
    """The body as a function from what it reads and the cotangent to the cotangents."""
    name = lambda text, context: gast.Name(text, context, None, None)
    parameters = [name("residuals_", gast.Param()), name(cotangent, gast.Param())]
    arguments = gast.arguments(parameters, [], None, [], [], None, [])
    names = gast.Tuple([name(text, gast.Store()) for text in read], gast.Store())
    taken = gast.Assign([names], name("residuals_", gast.Load()), None)
    zeros = [gast.Constant(None, None) for _ in read]
    returned = gast.Return(gast.Tuple([name(cotangent, gast.Load()), *zeros], gast.Load()))
    body = [
        *([gast.copy_location(taken, node)] * bool(read)),
        *node.body,
        gast.copy_location(returned, node.body[-1]),
    ]
    tree = gast.FunctionDef("insert_grad_of", arguments, body, [], None, None, [])
    return gast.fix_missing_locations(gast.copy_location(tree, node))
