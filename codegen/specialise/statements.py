"""Running statements: one function a kind of statement."""
from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any, NoReturn

import gast
import numpy as np

from ..core import Block, If
from ..errors import ChainruleError
from ..exceptions import name_of
from ..registry import PRIMITIVES
from .assignment import annotated, assign_statement, augmented, delete, place_of
from .branches import branch
from .control import attempt, truth
from .expressions import evaluate, make_closure
from .loop_statements import for_statement, while_statement
from .machine import BranchEnds, NeedStatic, Specialiser, Unroll
from .store import Frame
from .texts import known_text, template


def run(s: Specialiser, statements: Iterable[Any], frame: Frame) -> Any:
    """Run statements in order; the value of the return statement that ends them, if one does."""
    for node in statements:
        with s.at(node):
            if isinstance(node, gast.Return):
                if len(s.frames) == 1:
                    s.returned = s.location(node)
                return None if node.value is None else evaluate(s, node.value, frame)
            handler = STATEMENTS.get(type(node))
            if handler is None:
                raise s.unsupported(f"{describe(node)} is not supported", REMEDIES.get(type(node)), node)
            handler(s, node, frame)
    return None


def describe(node: Any) -> str:
    names = {"AsyncFunctionDef": "async def", "AsyncFor": "async for", "AsyncWith": "async with",
             "TryStar": "try/except*", "ClassDef": "a class defined inside a function"}
    return names.get(type(node).__name__, type(node).__name__.lower())


REMEDIES = {
    gast.AsyncFunctionDef: "write an ordinary function",
    gast.ClassDef: "define the class at the top of its module",
    gast.Try: "test for the condition with if",
}


def if_statement(s: Specialiser, node: Any, frame: Frame) -> None:
    test = truth(s, evaluate(s, node.test, frame), node.test)
    if isinstance(test, bool):
        run(s, node.body if test else node.orelse, frame)
        return
    branch(s, test, lambda: run(s, node.body, frame), lambda: run(s, node.orelse, frame),
           frame, frame.scope.live.get(node), node)


def expression(s: Specialiser, node: Any, frame: Frame) -> None:
    evaluate(s, node.value, frame)


def function_definition(s: Specialiser, node: Any, frame: Frame) -> None:
    made: Any = make_closure(s, node, frame)
    for decorator in reversed(node.decorator_list):
        made = s.call(evaluate(s, decorator, frame), [made], {}, decorator)
    s.store.write(place_of(s, node.name, frame), made)


def assertion(s: Specialiser, node: Any, frame: Frame) -> None:
    test = truth(s, evaluate(s, node.test, frame), node.test)
    if test is True:
        return

    def fail() -> None:
        failure(s, AssertionError, [evaluate(s, node.msg, frame)] if node.msg is not None else [], node)

    if test is False:
        fail()
    block, _, _ = attempt(s, fail)
    *before, check = block.statements
    if before:
        s.builder.append(If((), test, Block(), block, s.location(node)))
    else:
        s.builder.emit(check.primitive, test, *check.operands[1:], **check.static)


def raising(s: Specialiser, node: Any, frame: Frame) -> None:
    """`raise E(...)`: an unconditional failure of the path that it stands on."""
    if node.exc is None:
        raise s.unsupported("raise without an exception", "name the exception", node)
    call = node.exc
    kind = evaluate(s, call.func if isinstance(call, gast.Call) else call, frame)
    arguments = [evaluate(s, a, frame) for a in call.args] if isinstance(call, gast.Call) else []
    kind = kind if isinstance(kind, type) else getattr(kind, "value", kind)
    if isinstance(kind, BaseException):
        kind, arguments = type(kind), list(kind.args)
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        raise s.unsupported(
            "raising something that is not an exception class", "raise ValueError(message)", node
        )
    failure(s, kind, arguments, node)


def failure(s: Specialiser, kind: type, arguments: list, node: Any) -> NoReturn:
    """Raise an exception now, or where the program takes this path."""
    if not s.uncertain:
        raise s.located(kind(*(known_text(s, argument, node) for argument in arguments)), node)
    if not issubclass(kind, Exception):
        raise s.unsupported(f"raising {kind.__name__} under a condition known only at run time",
                            "raise an Exception", node)
    name = name_of(kind)
    if name is None:
        raise s.unsupported(
            f"raising {kind.__name__}, which has a constructor of its own, under a condition known only at "
            "run time",
            f"leave out {kind.__name__}.__init__, and give the whole text where it is raised",
            node,
        )
    message, values = template(s, arguments[0] if len(arguments) == 1 else tuple(arguments) or "", node)
    s.builder.emit(PRIMITIVES["check"], False, *values, exception=name, message=message)
    raise BranchEnds


def with_statement(s: Specialiser, node: Any, frame: Frame) -> None:
    for item in node.items:
        manager = evaluate(s, item.context_expr, frame)
        hook = getattr(type(manager), "__specialise_with__", None)
        if hook is not None:
            hook(manager, s, node, frame)
            return
        if not isinstance(manager, np.errstate):
            raise s.unsupported(
                f"with {type(manager).__name__}", "use it outside of the function", item.context_expr
            )
    run(s, node.body, frame)


def attempt_statement(s: Specialiser, node: Any, frame: Frame) -> None:
    """try: exceptions of what is known are caught now; around operations at run time it is refused."""
    before = len(s.builder.block.statements)
    try:
        run(s, node.body, frame)
    except (Unroll, NeedStatic, BranchEnds, ChainruleError):
        raise
    except Exception as error:
        handler = next((h for h in node.handlers if catches(s, h, error, frame)), None)
        if handler is None:
            run(s, node.finalbody, frame)
            raise
        if handler.name is not None:
            s.store.write(place_of(s, caught_name(handler), frame), error)
        run(s, handler.body, frame)
    else:
        if node.handlers and len(s.builder.block.statements) != before:
            raise s.unsupported(
                "try/except around operations on arrays", "test for the condition with if", node
            )
        run(s, node.orelse, frame)
    run(s, node.finalbody, frame)


def caught_name(handler: Any) -> str:
    return handler.name if isinstance(handler.name, str) else handler.name.id


def catches(s: Specialiser, handler: Any, error: Exception, frame: Frame) -> bool:
    return handler.type is None or isinstance(error, evaluate(s, handler.type, frame))


def nothing(s: Specialiser, node: Any, frame: Frame) -> None:
    """pass, and declarations."""


def import_statement(s: Specialiser, node: Any, frame: Frame) -> None:
    """Imports inside the function bind the module, or its attribute, as a static value."""
    package = frame.scope.module.get("__package__")
    for alias in node.names:
        if isinstance(node, gast.ImportFrom):
            module = importlib.import_module("." * node.level + (node.module or ""), package)
            value = getattr(module, alias.name, None) or importlib.import_module(
                f"{module.__name__}.{alias.name}"
            )
            name = alias.asname or alias.name
        else:
            module = importlib.import_module(alias.name)
            value = module if alias.asname else importlib.import_module(alias.name.split(".")[0])
            name = alias.asname or alias.name.split(".")[0]
        s.store.write(place_of(s, name, frame), value)


STATEMENTS = {
    gast.Assign: assign_statement,
    gast.AnnAssign: annotated,
    gast.AugAssign: augmented,
    gast.Delete: delete,
    gast.If: if_statement,
    gast.For: for_statement,
    gast.While: while_statement,
    gast.Expr: expression,
    gast.FunctionDef: function_definition,
    gast.Assert: assertion,
    gast.Raise: raising,
    gast.With: with_statement,
    gast.Try: attempt_statement,
    gast.Pass: nothing,
    gast.Global: nothing,
    gast.Nonlocal: nothing,
    gast.Import: import_statement,
    gast.ImportFrom: import_statement,
}
