"""Loops whose course is known only at run time: their bodies are tried until what they carry is known."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..build import bound_index
from ..core import INT, Block, For, Variable, While
from ..registry import PRIMITIVES
from .branches import branch
from .control import emit_sizes
from .loop_variables import Loop
from .machine import BranchEnds, Specialiser
from .sharing import check_aliases, check_containers
from .store import Frame, Location
from .values import Cell

# A list that grows in so few iterations is a list of so many more items.
FEW = 8


def range_loop(s: Specialiser, start: Any, stop: Any, step: Any, body: Callable[[Variable], None],
               frame: Frame, live: frozenset[str] | None, node: Any, name: str | None) -> None:
    """`for i in range(start, stop, step): body(i)` as a loop of the core program."""
    try:
        counted_loop(s, start, stop, step, body, frame, live, node, name)
    except BranchEnds:
        # Every iteration ends in an exception: what matters is whether there is one.
        first = has_turns(s, start, stop, step) if isinstance(step, int) else True
        branch(s, first, lambda: body(start), lambda: None, frame, None, node) if first is not True else body(
            start
        )


def counted_loop(s: Specialiser, start: Any, stop: Any, step: Any, body: Callable[[Variable], None],
                 frame: Frame, live: frozenset[str] | None, node: Any, name: str | None) -> None:
    known = all(isinstance(bound, int) for bound in (start, stop, step))
    loop = Loop(s, frame, live, node, long=not known or len(range(start, stop, step)) > FEW, counted=True)
    location = s.location(node)
    while True:
        index, block = Variable(name, INT), Block()
        bound_index(s.builder, index, start, stop, step)
        if isinstance(step, int):
            s.builder.upper_bounds[index] = stop if step > 0 else s.builder.dimension_add(start, 1)
        stable, carried, shared = one_pass(s, loop, block, index, lambda i=index: body(i))
        loop.begin()
        if stable:
            break
    if not block.statements and not loop.carried:
        return
    initial = loop.initial_operands()
    targets, unknown = loop.targets()
    s.builder.append(For(targets, index, start, stop, step, carried, initial, block, location))
    emit_sizes(s, unknown)
    loop.leave(targets, shared, has_turns(s, start, stop, step) if loop.assigned else None)


def has_turns(s: Specialiser, start: Any, stop: Any, step: Any) -> Any:
    """Whether a range is not empty, where the sign of its step is known."""
    if not isinstance(step, int):
        return None
    low, high = (stop, start) if step < 0 else (start, stop)
    least = s.builder.lower_bound(high)
    if isinstance(low, int) and least is not None and low < least:
        return True
    return s.builder.emit(PRIMITIVES["less"], low, high)


def one_pass(s: Specialiser, loop: Loop, block: Block, index: Variable | None, body: Callable) -> tuple:
    """Try the body once; whether the head was stable, the carried variables, the shared cells."""
    s.store.open()
    s.uncertain += 1
    s.loops.append({index} if index is not None else set())
    try:
        with s.builder.inside(block):
            carried = loop.enter()
            s.loops[-1].update(carried)
            body()
            stable, shared = finish_pass(s, loop, block)
    finally:
        s.loops.pop()
        s.uncertain -= 1
        s.store.close()
    return stable, carried, shared


def finish_pass(s: Specialiser, loop: Loop, block: Block) -> tuple[bool, set[Cell]]:
    writes = {place: place.read() for place in s.store.trials[-1] if outer_place(s, place)}
    stable = loop.settle(block, writes)
    if not stable:
        return False, set()
    written = {place.holder for place in s.store.trials[-1] if place.kind == "cell"}
    shared = check_aliases(loop, written)
    check_containers(
        loop, {id(place.holder) for place in s.store.trials[-1] if place.kind not in ("name", "cell")}
    )
    block.results = loop.results()
    return True, shared


def outer_place(s: Specialiser, place: Location) -> bool:
    return id(place.holder) not in s.store.born[-1] and place.depth < s.store.depth


def while_loop(s: Specialiser, test: Callable[[], Any], body: Callable[[], None], frame: Frame,
               live: frozenset[str] | None, node: Any, ran: Callable[[], Any] | None = None) -> None:
    """`while test(): body()` as a loop of the core program; `ran()` is whether it has a turn."""
    try:
        conditional_loop(s, test, body, frame, live, node, ran or (lambda: begins(s, test)))
    except BranchEnds:
        going = test()
        if going is not False:
            branch(s, going, body, lambda: None, frame, None, node) if going is not True else body()


def begins(s: Specialiser, test: Callable[[], Any]) -> bool | None:
    """True where a test is known to hold; it is tried, and nothing remains of that."""
    s.store.open()
    try:
        with s.builder.inside(Block()):
            return True if test() is True else None
    finally:
        s.store.close()


def conditional_loop(s: Specialiser, test: Callable[[], Any], body: Callable[[], None], frame: Frame,
                     live: frozenset[str] | None, node: Any, ran: Callable[[], Any]) -> None:
    loop = Loop(s, frame, live, node)
    location = s.location(node)
    while True:
        head, block = Block(), Block()
        s.store.open()
        s.uncertain += 1
        s.loops.append(set())
        try:
            with s.builder.inside(head):
                carried = loop.enter()
                s.loops[-1].update(carried)
                going = test()
                if going is False:
                    return
                head.results = (going,)
                with s.builder.inside(block):
                    body()
                    whole = Block([*head.statements, *block.statements])
                    stable, shared = finish_pass(s, loop, whole)
                    block.results = whole.results
                    block.statements = block.statements
        finally:
            s.loops.pop()
            s.uncertain -= 1
            s.store.close()
        loop.begin()
        if stable:
            break
    if going is True:
        raise s.unsupported("this loop never ends: its condition does not depend on what it changes",
                            "add a break, or a condition that becomes false", node)
    initial = loop.initial_operands()
    before = ran() if loop.assigned else None
    targets, unknown = loop.targets()
    s.builder.append(While(targets, carried, initial, head, block, location))
    emit_sizes(s, unknown)
    loop.leave(targets, shared, before)
