"""The for and while statements: loops of the program where that can be, else unrolled."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import gast

from ..build import bound_index
from ..core import Variable
from ..live_names import upward_exposed
from ..registry import PRIMITIVES
from .assignment import assign
from .branches import branch
from .control import truth
from .expressions import evaluate
from .growing import growing_of, item_of
from .indexing import get_item
from .iteration import Range, elements
from .loops import has_turns, range_loop, while_loop
from .machine import Specialiser, Unroll
from .store import Frame, Location
from .values import UNDEFINED, Array

FOREVER = 1_000_000
SETTLING = 3  # turns; after these a loop is unrolled
CHANGES = ("rank", "size")  # of a loop's variable, which the first turns may settle


def for_statement(s: Specialiser, node: Any, frame: Frame) -> None:
    iterable = evaluate(s, node.iter, frame)
    live = frame.scope.live.get(node)
    stop_flag = getattr(node, "stop", None)
    if live is not None:
        live = live | {stop_flag} if stop_flag else live

    def body(item: Any) -> None:
        assign(s, node.target, item, frame)
        s.run(node.body, frame)

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
            if need.reason in CHANGES and stop_flag is None:
                first_turn(s, counted, need, body, frame, inside, node, name)
                finish_for(s, node, frame)
                return
            items = unrolled_items(s, counted, need, node)
    else:
        items = elements(s, iterable, node)
    unroll(s, iter(items), body, stop_flag, frame, node)
    finish_for(s, node, frame)


def first_turn(s: Specialiser, counted: tuple, need: Unroll, body: Callable[[Any], None], frame: Frame,
               live: Any, node: Any, name: str | None) -> None:
    """A loop whose first turn gives a variable another type: that turn, and then a loop of the others."""
    start, stop, step, item = counted
    turns = list(unrolled_items(s, (start, stop, step, lambda i: i), need, node))
    for number, turn in enumerate(turns):
        body(item(turn))
        if number + 1 == len(turns):
            return
        if number >= SETTLING:
            continue
        try:
            range_loop(s, turns[number + 1], stop, step, lambda i: body(item(i)), frame, live, node, name)
            return
        except Unroll:
            continue


def finish_for(s: Specialiser, node: Any, frame: Frame) -> None:
    if node.orelse:
        s.run(node.orelse, frame)


def live_in_loop(node: Any, frame: Frame, live: frozenset[str] | None) -> frozenset[str] | None:
    """Names that a loop must carry: those read after it, or by a later iteration."""
    if live is None:
        return None
    return frozenset(live) | frozenset(upward_exposed(node))


def as_range(s: Specialiser, iterable: Any) -> tuple | None:
    """(start, stop, step, item of an index) of an iterable that a loop can count through."""
    if isinstance(iterable, Range):
        return iterable.start, iterable.stop, iterable.step, lambda i: i
    if isinstance(iterable, Array):
        return 0, s.shape(iterable)[0], 1, lambda i: get_item(s, iterable, i, None)
    growing = growing_of(iterable)
    if growing is not None:
        return 0, s.operand(growing.count), 1, lambda i: item_of(s, growing, i)
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
            branch(
                s,
                going,
                lambda: unroll(s, items, body, stop_flag, frame, node),
                lambda: None,
                frame,
                None,
                node,
            )
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
    end = s.builder.dimension_add(start, 1)

    def test() -> Any:
        index = frame.names[counter]
        if isinstance(index, Variable) and index.name == counter:
            index.name = node.target.id if isinstance(node.target, gast.Name) else None
        if isinstance(index, Variable):
            bound_index(s.builder, index, start, stop, step)
            s.builder.upper_bounds[index] = stop if step > 0 else end
        inside = s.builder.emit(PRIMITIVES["less" if step > 0 else "greater"], index, stop)
        return both(s, inside, truth(s, frame.names[stop_flag], node))

    def advance() -> None:
        index = frame.names[counter]
        body(index)
        s.store.write(place, s.builder.dimension_add(index, step))

    ran = lambda: has_turns(s, start, stop, step)
    while_loop(s, test, advance, frame, live, node, ran)
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
    body = lambda: s.run(node.body, frame)
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
