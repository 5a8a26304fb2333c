"""Running statements: one function a kind of statement."""
from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from typing import Any

import gast
import numpy as np

from ..core import Variable
from ..registry import PRIMITIVES
from .control import branch, range_loop, truth, while_loop
from .expressions import binary, evaluate, load_name, text_of
from .indexing import delete_item, get_item, set_item
from .iteration import Range, elements
from .machine import BranchEnds, Specialiser, Unroll
from .scope import inner_scope
from .store import Frame, Location
from .values import UNDEFINED, Array, Closure, Text, is_dynamic

FOREVER = 1_000_000


def run(s: Specialiser, statements: Iterable[Any], frame: Frame) -> Any:
    """Run statements in order; the value of the return statement that ends them, if one does."""
    for node in statements:
        with s.at(node):
            if isinstance(node, gast.Return):
                return None if node.value is None else evaluate(s, node.value, frame)
            handler = STATEMENTS.get(type(node))
            if handler is None:
                raise s.unsupported(f"{describe(node)} is not supported", REMEDIES.get(type(node)), node)
            handler(s, node, frame)
    return None


def describe(node: Any) -> str:
    names = {"AsyncFunctionDef": "async def", "AsyncFor": "async for", "AsyncWith": "async with",
             "TryStar": "try/except*", "ClassDef": "a class defined inside a function", "Match": "match"}
    return names.get(type(node).__name__, type(node).__name__.lower())


REMEDIES = {
    gast.AsyncFunctionDef: "write an ordinary function",
    gast.ClassDef: "define the class at the top of its module",
    gast.Match: "write if and elif",
    gast.Try: "test for the condition with if",
}


# assignment


def assign_statement(s: Specialiser, node: Any, frame: Frame) -> None:
    value = evaluate(s, node.value, frame)
    for target in node.targets:
        assign(s, target, value, frame)


def annotated(s: Specialiser, node: Any, frame: Frame) -> None:
    if node.value is not None:
        assign(s, node.target, evaluate(s, node.value, frame), frame)


def assign(s: Specialiser, target: Any, value: Any, frame: Frame) -> None:
    """Give a value to a name, an element, an attribute, or several at once."""
    match target:
        case gast.Name():
            name_value(s, target.id, value)
            s.store.write(place_of(s, target.id, frame), value)
        case gast.Tuple() | gast.List():
            unpack(s, target, value, frame)
        case gast.Subscript():
            container = evaluate(s, target.value, frame)
            set_item(s, container, evaluate(s, target.slice, frame), value, target)
        case gast.Attribute():
            set_attribute(s, evaluate(s, target.value, frame), target.attr, value, target)
        case gast.Starred():
            assign(s, target.value, s.store.new(list(value)), frame)


def name_value(s: Specialiser, name: str, value: Any) -> None:
    """Let what is emitted for a value carry the user's name for it."""
    if s.quiet:
        return
    variable = value.cell.value if isinstance(value, Array) and not value.path else value
    if isinstance(value, Array) and value.path:
        variable = s.read(value)
    if isinstance(variable, Variable) and variable.name is None:
        variable.name = name


def place_of(s: Specialiser, name: str, frame: Frame) -> Location:
    """Where an assignment to a name goes."""
    if name in frame.scope.globals:
        raise s.unsupported(f"assigning to the global name '{name}'",
                            "return the value; the user's globals are never changed")
    holder = frame
    if name in frame.scope.nonlocals:
        holder = frame.parent
        while holder is not None and name not in holder.scope.locals:
            holder = holder.parent
        if holder is None:
            raise s.unsupported(f"assigning to the nonlocal name '{name}' of a function that has returned",
                                "return the value instead")
    return Location("name", holder, name)


def unpack(s: Specialiser, target: Any, value: Any, frame: Frame) -> None:
    names = target.elts
    starred = [k for k, t in enumerate(names) if isinstance(t, gast.Starred)]
    fixed = len(names) - len(starred)
    items = unpacked(s, value, None if starred else fixed, target)
    if len(items) < fixed or (not starred and len(items) != fixed):
        problem = "too many values to unpack" if len(items) > fixed else "not enough values to unpack"
        raise ValueError(f"{problem} (expected {fixed}, got {len(items)})\n{s.location(target)}")
    if starred:
        first = starred[0]
        rest = len(items) - fixed
        items = [*items[:first], s.store.new(list(items[first:first + rest])), *items[first + rest:]]
        names = [t.value if isinstance(t, gast.Starred) else t for t in names]
    for one, item in zip(names, items, strict=True):
        assign(s, one, item, frame)


def unpacked(s: Specialiser, value: Any, count: int | None, node: Any) -> list[Any]:
    """The items of a value that is unpacked; an array is told how many it must have."""
    if is_dynamic(value) and count is not None and s.shape(value):
        s.builder.location = s.location(node)
        s.builder.require_same(s.shape(value)[0], count, f"cannot unpack into {count} values")
        return [get_item(s, value, k, node) for k in range(count)]
    return list(elements(s, value, node))


def set_attribute(s: Specialiser, instance: Any, name: str, value: Any, node: Any) -> None:
    if is_dynamic(instance):
        raise s.unsupported(f"assigning to the attribute .{name} of an array", "use a function of NumPy's", node)
    if not s.is_internal(instance):
        raise s.unsupported(
            f"assigning to the attribute .{name} of an object that exists outside of the function",
            "return the new value", node)
    s.store.write(Location("attribute", instance, name), value)


def augmented(s: Specialiser, node: Any, frame: Frame) -> None:
    """`target op= value`: in place for arrays and lists, as Python has it."""
    target = node.target
    if isinstance(target, gast.Name):
        old = load_name(s, target.id, frame, node)
        new = in_place(s, node.op, old, evaluate(s, node.value, frame), node)
        if new is not old:
            assign(s, target, new, frame)
    elif isinstance(target, gast.Subscript):
        container, index = evaluate(s, target.value, frame), evaluate(s, target.slice, frame)
        old = get_item(s, container, index, target)
        # A view of the container: its new contents are written with the index, not through the view.
        new = updated(s, node.op, old, evaluate(s, node.value, frame), node)
        set_item(s, container, index, new, target)
    else:
        instance = evaluate(s, target.value, frame)
        from .attributes import get_attribute

        old = get_attribute(s, instance, target.attr, node)
        new = in_place(s, node.op, old, evaluate(s, node.value, frame), node)
        if new is not old:
            set_attribute(s, instance, target.attr, new, node)


def in_place(s: Specialiser, operator: Any, old: Any, value: Any, node: Any) -> Any:
    """What `old op= value` leaves: `old` itself, written, where it can be written."""
    if isinstance(old, Array):
        s.write(old, s.operand(updated(s, operator, old, value, node)), node)
        return old
    if isinstance(old, list) and isinstance(operator, (gast.Add, gast.Mult)):
        items = [*old, *elements(s, value, node)] if isinstance(operator, gast.Add) else old * value
        s.write_list(old, items, node)
        return old
    return binary(s, operator, old, value, node)


def updated(s: Specialiser, operator: Any, old: Any, value: Any, node: Any) -> Any:
    """The new contents that `old op= value` gives an array: of the shape and dtype that it has."""
    if isinstance(old, list):
        return in_place(s, operator, old, value, node)
    new = binary(s, operator, old, value, node)
    if not isinstance(old, Array):
        return new
    have, got = s.type(old), s.type(new)
    if got.ndim > have.ndim:
        raise s.unsupported("the result of an in-place operation has more dimensions than the array it goes to",
                            "write x = x + y", node)
    if not np.can_cast(got.dtype, have.dtype, "same_kind"):
        raise np._core._exceptions._UFuncOutputCastingError(
            getattr(np, UFUNCS.get(type(operator), "add")), "same_kind", got.dtype, have.dtype, 0)
    return new if got.dtype == have.dtype else s.emit("astype", new, dtype=have.dtype)


UFUNCS = {gast.Add: "add", gast.Sub: "subtract", gast.Mult: "multiply", gast.Div: "divide", gast.Pow: "power",
          gast.Mod: "remainder", gast.FloorDiv: "floor_divide"}


def delete(s: Specialiser, node: Any, frame: Frame) -> None:
    for target in node.targets:
        if isinstance(target, gast.Name):
            load_name(s, target.id, frame, target)
            s.store.write(place_of(s, target.id, frame), UNDEFINED)
        elif isinstance(target, gast.Subscript):
            delete_item(s, evaluate(s, target.value, frame), evaluate(s, target.slice, frame), target)
        else:
            raise s.unsupported("deleting an attribute", "leave it as it is", target)


# control flow


def if_statement(s: Specialiser, node: Any, frame: Frame) -> None:
    test = truth(s, evaluate(s, node.test, frame), node.test)
    if isinstance(test, bool):
        run(s, node.body if test else node.orelse, frame)
        return
    branch(s, test, lambda: run(s, node.body, frame), lambda: run(s, node.orelse, frame),
           frame, frame.scope.live.get(node), node)


def for_statement(s: Specialiser, node: Any, frame: Frame) -> None:
    iterable = evaluate(s, node.iter, frame)
    live = frame.scope.live.get(node)
    stop_flag = getattr(node, "stop", None)
    if live is not None:
        live = live | {stop_flag} if stop_flag else live

    def body(item: Any) -> None:
        assign(s, node.target, item, frame)
        run(s, node.body, frame)

    counted = as_range(s, iterable)
    if counted is not None:
        start, stop, step, item = counted
        name = node.target.id if isinstance(node.target, gast.Name) and isinstance(iterable, Range) else None
        inside = live_in_loop(node, frame, live)
        try:
            if stop_flag is None:
                range_loop(s, start, stop, step, lambda i: body(item(i)), frame, inside, node, name)
            else:
                stopping_loop(s, (start, stop, step), lambda i: body(item(i)), stop_flag, frame, inside, node)
            finish_for(s, node, frame)
            return
        except Unroll as need:
            items = unrolled_items(s, counted, need, node)
    else:
        items = elements(s, iterable, node)
    unroll(s, iter(items), body, stop_flag, frame, node)
    finish_for(s, node, frame)


def finish_for(s: Specialiser, node: Any, frame: Frame) -> None:
    if node.orelse:
        run(s, node.orelse, frame)


def live_in_loop(node: Any, frame: Frame, live: frozenset[str] | None) -> frozenset[str] | None:
    """Names that a loop must carry: those read after it, or by a later iteration."""
    if live is None:
        return None
    from ..live_names import upward_exposed

    return frozenset(live) | frozenset(upward_exposed(node))


def as_range(s: Specialiser, iterable: Any) -> tuple | None:
    """(start, stop, step, item of an index) of an iterable that a loop can count through."""
    if isinstance(iterable, Range):
        return iterable.start, iterable.stop, iterable.step, lambda i: i
    if isinstance(iterable, Array):
        return 0, s.shape(iterable)[0], 1, lambda i: get_item(s, iterable, i, None)
    if hasattr(iterable, "counted"):
        return iterable.counted(s)
    return None


def unrolled_items(s: Specialiser, counted: tuple, need: Unroll, node: Any) -> Iterable[Any]:
    start, stop, step, item = counted
    for bound in (start, stop, step):
        if isinstance(bound, Variable):
            raise chain(s.need_static(bound, "the number of iterations of this loop", node), need.error)
    return (item(i) for i in range(start, stop, step))


def chain(error: Exception, cause: Exception) -> Exception:
    """The more telling of two refusals: why the loop had to be unrolled, where it cannot be."""
    return error if hasattr(error, "pins") or isinstance(error, Unroll) else cause


def unroll(s: Specialiser, items: Any, body: Callable[[Any], None], stop_flag: str | None, frame: Frame,
           node: Any) -> None:
    """Run the body for each item; once it may have stopped, the rest is behind a condition."""
    for item in items:
        body(item)
        if stop_flag is None:
            continue
        stopped = truth(s, frame.names[stop_flag], node)
        if stopped is True:
            return
        if stopped is not False:
            going = s.builder.emit(PRIMITIVES["logical_not"], stopped)
            branch(s, going, lambda: unroll(s, items, body, stop_flag, frame, node), lambda: None, frame, None, node)
            return


def stopping_loop(s: Specialiser, bounds: tuple, body: Callable[[Any], None], stop_flag: str, frame: Frame,
                  live: Any, node: Any) -> None:
    """A range loop that may stop early, as a while loop that counts."""
    start, stop, step = bounds
    step = s.static_int(step, "the step of a range in a loop with break", node)
    counter = f"{stop_flag} counter"
    place = Location("name", frame, counter)
    s.store.write(place, start)
    live = live | {counter} if live is not None else None

    def test() -> Any:
        index = frame.names[counter]
        if isinstance(index, Variable) and index.name == counter:
            index.name = node.target.id if isinstance(node.target, gast.Name) else None
        if isinstance(index, Variable) and step > 0:
            s.builder.lower_bounds[index] = s.builder.lower_bound(start) if s.builder.lower_bound(start) else 0
            s.builder.upper_bounds[index] = stop
        inside = s.builder.emit(PRIMITIVES["less" if step > 0 else "greater"], index, stop)
        return both(s, inside, truth(s, frame.names[stop_flag], node))

    def advance() -> None:
        index = frame.names[counter]
        body(index)
        s.store.write(place, s.builder.dimension_add(index, step))

    while_loop(s, test, advance, frame, live, node)
    s.store.write(place, UNDEFINED)


def both(s: Specialiser, inside: Any, stopped: Any) -> Any:
    """inside and not stopped, as an operand."""
    if stopped is True or inside is False:
        return False
    if stopped is False:
        return inside
    going = s.builder.emit(PRIMITIVES["logical_not"], stopped)
    return going if inside is True else s.builder.emit(PRIMITIVES["logical_and"], inside, going)


def while_statement(s: Specialiser, node: Any, frame: Frame) -> None:
    live = live_in_loop(node, frame, frame.scope.live.get(node))
    test = lambda: truth(s, evaluate(s, node.test, frame), node.test)
    body = lambda: run(s, node.body, frame)
    try:
        while_loop(s, test, body, frame, live, node)
    except Unroll as need:
        for _ in range(FOREVER):
            going = test()
            if going is False:
                break
            if going is not True:
                raise need.error from None
            body()
    finish_for(s, node, frame)


# the rest


def expression(s: Specialiser, node: Any, frame: Frame) -> None:
    evaluate(s, node.value, frame)


def function_definition(s: Specialiser, node: Any, frame: Frame) -> None:
    from .calls import call

    made: Any = make_closure(s, node, frame)
    for decorator in reversed(node.decorator_list):
        made = call(s, evaluate(s, decorator, frame), [made], {}, decorator)
    s.store.write(place_of(s, node.name, frame), made)


def make_closure(s: Specialiser, node: Any, frame: Frame) -> Closure:
    defaults = tuple(evaluate(s, d, frame) for d in node.args.defaults)
    keyword = {k.id: evaluate(s, d, frame) for k, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
               if d is not None}
    inner_scope(node, frame.scope)
    return Closure(node, frame, defaults, keyword, getattr(node, "name", "<lambda>"))


def assertion(s: Specialiser, node: Any, frame: Frame) -> None:
    test = truth(s, evaluate(s, node.test, frame), node.test)
    if test is True:
        return
    message = text_of(s, evaluate(s, node.msg, frame), node) if node.msg is not None else ""
    s.builder.emit(PRIMITIVES["check"], test, exception="AssertionError", message=message)
    if test is False:
        raise BranchEnds


def raising(s: Specialiser, node: Any, frame: Frame) -> None:
    """`raise E(...)`: an unconditional failure of the path that it stands on."""
    if node.exc is None:
        raise s.unsupported("raise without an exception", "name the exception", node)
    call = node.exc
    kind = evaluate(s, call.func if isinstance(call, gast.Call) else call, frame)
    arguments = [evaluate(s, a, frame) for a in call.args] if isinstance(call, gast.Call) else []
    kind = getattr(kind, "value", kind)
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        raise s.unsupported("raising something that is not an exception class", "raise ValueError(message)", node)
    message = text_of(s, arguments[0], node) if arguments else ""
    if not s.store.depth:
        raise kind(message) if arguments else kind()
    if getattr(builtins, kind.__name__, None) is not kind:
        raise s.unsupported(f"raising {kind.__name__} under a condition known only at run time",
                            "raise one of Python's own exceptions", node)
    s.builder.emit(PRIMITIVES["check"], False, exception=kind.__name__, message=message)
    raise BranchEnds


def with_statement(s: Specialiser, node: Any, frame: Frame) -> None:
    for item in node.items:
        manager = evaluate(s, item.context_expr, frame)
        if not isinstance(manager, np.errstate):
            raise s.unsupported(f"with {type(manager).__name__}", "use it outside of the function", item.context_expr)
    run(s, node.body, frame)


def attempt_statement(s: Specialiser, node: Any, frame: Frame) -> None:
    """try is refused where anything in it happens at run time; finally without handlers is plain sequence."""
    if node.handlers:
        before = len(s.builder.block.statements)
        run(s, node.body, frame)
        if len(s.builder.block.statements) != before:
            raise s.unsupported("try/except around operations on arrays", "test for the condition with if", node)
        run(s, node.orelse, frame)
    else:
        run(s, node.body, frame)
    run(s, node.finalbody, frame)


def nothing(s: Specialiser, node: Any, frame: Frame) -> None:
    """pass, and declarations."""


def import_statement(s: Specialiser, node: Any, frame: Frame) -> None:
    """Imports inside the function bind the module, or its attribute, as a static value."""
    import importlib

    package = frame.scope.module.get("__package__")
    for alias in node.names:
        if isinstance(node, gast.ImportFrom):
            module = importlib.import_module("." * node.level + (node.module or ""), package)
            value = getattr(module, alias.name, None) or importlib.import_module(f"{module.__name__}.{alias.name}")
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

__all__ = ["STATEMENTS", "Text", "assign", "make_closure", "run"]
