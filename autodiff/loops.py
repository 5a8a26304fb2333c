"""Loops, backwards: the iterations in reverse order, each transposed.

    for i in range(n):                       for i in range(n):
        y = sin(x)            (x carried)        x_tape[i] = x
        ...                          ->          y = sin(x)
                                             for i in range(n - 1, -1, -1):
                                                 x_bar = y_bar * cos(x_tape[i])

The backward loop carries the cotangents of what the loop carries, and those of what its body reads from
outside, so that they are added up in place.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ..codegen.adopt import adopt_block
from ..codegen.core import INT, Block, For, Operand, Statement, Type, Variable, While, type_of
from .adjoints import Adjoints
from .calls import conform, emit, tangent_type, zeros
from .chains import Attempt, chains_at, chains_in, chains_read, kept_bytes, loop_steps
from .levels import Level
from .residuals import Restorer


def transpose_loop(sweep, loop: For | While, adjoints: Adjoints, level: Level) -> None:
    """Emit a loop backwards, in the way that keeps less: with arrays that it writes into put back, or not."""
    chains = chains_in(loop) if sweep.restoring is None else []
    if not chains:
        run_backwards(sweep, loop, adjoints, level)
        return
    attempt = Attempt(sweep, adjoints, level)
    sweep.restoring = set()
    run_backwards(sweep, loop, adjoints, level)
    tapes = attempt.tapes()
    sweep.restoring = chains_read(chains, tapes)
    if sweep.restoring:
        attempt.undo()
        run_backwards(sweep, loop, adjoints, level)
        if kept_bytes(attempt.tapes()) >= kept_bytes(tapes):
            attempt.undo()
            sweep.restoring = set()
            run_backwards(sweep, loop, adjoints, level)
    sweep.restoring = None


def run_backwards(sweep, loop: For | While, adjoints: Adjoints, level: Level) -> None:
    activity, builder = sweep.activity, sweep.builder
    chosen = [k for k, c in enumerate(loop.carried) if c in activity or loop.targets[k] in activity]
    put_back = [k for k, c in enumerate(loop.carried) if c in (sweep.restoring or ()) and loop_steps(loop, k)]
    if not put_back and not any(loop.targets[k] in adjoints for k in chosen):
        return
    arrays = {k: Variable(loop.carried[k].name, type_of(loop.body.results[k])) for k in put_back}
    body_level = Level(level, loop, loop.body)
    chains_at(sweep, body_level, [(loop.carried[k], loop.body.results[k], arrays[k]) for k in put_back])
    free = sweep.read_actives(blocks_of(loop), body_level.bound)
    given = [adjoints.take(loop.targets[k]) for k in chosen]
    bars = [Variable(barred(loop.carried[k]), tangent_type(type_of(loop.body.results[k]))) for k in chosen]
    totals = [Variable(barred(v), tangent_type(v.type)) for v in free]

    with builder.inside(Block()):
        enter(builder, loop)
        with builder.inside(Block()) as draft:
            inner = Adjoints(builder, activity)
            for variable, total in zip(free, totals):
                inner.values[variable] = total
            for k, bar in zip(chosen, bars):
                inner.add(loop.body.results[k], bar)
            sweep.transpose(statements_of(loop), inner, body_level)
            builder.location = loop.location
            entering = [loop.carried[k] for k in chosen]
            out = [conform(builder, inner.instantiated(v), v.type) for v in entering]
            summed = [inner.get(v) for v in free]

    items = []
    for variable, total, value in zip(free, totals, summed):
        if value is not total:
            items.append(Item(total, adjoints.instantiated(variable), value, tangent_type(variable.type),
                              partial(adjoints.set, variable)))
    for k, bar, value, start in zip(chosen, bars, out, given):
        before = zeros(builder, loop.targets[k].type) if start is None else start
        of = tangent_type(type_of(loop.initial[k]))
        items.append(Item(bar, before, value, of, partial(adjoints.add, loop.initial[k])))
    for k in put_back:
        regain = partial(level.regained.__setitem__, loop.initial[k])
        items.append(Item(arrays[k], loop.targets[k], loop.carried[k], loop.carried[k].type, regain))
    emit_backward(sweep, loop, draft, items, body_level, level)


@dataclass
class Item:
    """What a backward loop carries, and what is done with its final value."""

    carried: Variable
    initial: Operand
    result: Operand
    type: Type
    finish: Callable[[Operand], None]


def emit_backward(sweep, loop: For | While, draft: Block, items: list[Item], body_level: Level,
                  level: Level) -> None:
    """Emit the backward loop; what it would carry without change is read from outside."""
    builder = sweep.builder
    mapping = {item.carried: item.initial for item in items if item.result is item.carried}
    changing = [item for item in items if item.result is not item.carried]
    index, start, stop, step = backward_range(sweep, loop, level)
    if isinstance(loop, For):
        mapping[loop.index] = index
    carried = tuple(item.carried for item in changing)
    draft.results = tuple(item.result for item in changing)
    body = Restorer(sweep, body_level, draft, mapping, carried).block()
    targets = tuple(Variable(item.carried.name, item.type) for item in changing)
    builder.location = loop.location
    if targets:
        initial = tuple(item.initial for item in changing)
        builder.append(For(targets, index, start, stop, step, carried, initial, body, loop.location))
    final = dict(zip(carried, targets))
    for item in items:
        item.finish(final.get(item.carried, item.initial))


def backward_range(sweep, loop: For | While, level: Level) -> tuple[Variable, Operand, Operand, Operand]:
    """The index and range of the backward loop."""
    builder = sweep.builder
    if isinstance(loop, While):
        count = sweep.counts.get(loop)
        if count is None:
            count = sweep.counts[loop] = Variable("trips", INT)
            level.bound.add(count)
        return Variable("_", INT), 0, count, 1
    start, stop, step = loop.start, loop.stop, loop.step
    index = Variable(loop.index.name, INT)
    if isinstance(step, int) and abs(step) == 1:
        back = (builder.dimension_add(stop, -step), builder.dimension_add(start, -step))
        return index, *back, -step
    # The last index is start + (trips - 1) * step.
    sign = (1 if step > 0 else -1) if isinstance(step, int) else emit(builder, "sign", step)
    span = builder.dimension_subtract(builder.dimension_subtract(stop, start), sign)
    whole = emit(builder, "multiply", emit(builder, "floor_divide", span, step), step)
    last = builder.dimension_add(start, whole)
    return index, last, builder.dimension_subtract(start, step), emit(builder, "negative", step)


def enter(builder, loop: For | While) -> None:
    """Take a loop's forward body into the builder, so that its values are shared and its sizes known."""
    if isinstance(loop, While):
        adopt_block(builder, loop.test)
    adopt_block(builder, loop.body)


def statements_of(loop: For | While) -> list[Statement]:
    before = loop.test.statements if isinstance(loop, While) else []
    return before + loop.body.statements


def blocks_of(loop: For | While) -> tuple[Block, ...]:
    return (loop.test, loop.body) if isinstance(loop, While) else (loop.body,)


def barred(variable: Variable) -> str | None:
    return f"{variable.name}_bar" if variable.name else None
