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

from ..codegen.core import INT, Block, For, If, Operand, Statement, Variable, While, type_of
from .adjoints import Adjoints
from .adopt import adopt_block
from .calls import conform, emit, tangent_type, zeros
from .levels import Level
from .residuals import Restorer


def transpose_loop(sweep, loop: For | While, adjoints: Adjoints, level: Level) -> None:
    activity, builder = sweep.activity, sweep.builder
    chosen = [k for k, c in enumerate(loop.carried) if c in activity or loop.targets[k] in activity]
    if not any(adjoints.get(loop.targets[k]) is not None for k in chosen):
        return
    body_level = Level(level, loop, loop.body)
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
            out = [conform(builder, inner.instantiated(loop.carried[k]), loop.carried[k].type) for k in chosen]
            summed = [inner.get(v) for v in free]

    carry = Carry(sweep, adjoints)
    for k, bar, value, start in zip(chosen, bars, out, given):
        before = zeros(builder, loop.targets[k].type) if start is None else start
        carry.add(bar, before, value, loop.initial[k], None)
    for variable, total, value in zip(free, totals, summed):
        if value is not total:
            carry.add(total, adjoints.instantiated(variable), value, None, variable)
    carry.emit(loop, draft, body_level, level)


class Carry:
    """What a backward loop carries, and whose cotangent each final value is."""

    def __init__(self, sweep, adjoints: Adjoints):
        self.sweep, self.adjoints = sweep, adjoints
        self.items: list[tuple] = []

    def add(self, carried: Variable, initial: Operand, result: Operand, part_of: Operand, whole_of: Variable | None):
        self.items.append((carried, initial, result, part_of, whole_of))

    def emit(self, loop: For | While, draft: Block, body_level: Level, level: Level) -> None:
        """The backward loop; what it would carry without change is read from outside."""
        builder = self.sweep.builder
        mapping = {carried: initial for carried, initial, result, *_ in self.items if result is carried}
        changing = [item for item in self.items if item[2] is not item[0]]
        index, start, stop, step = backward_range(self.sweep, loop, level)
        if isinstance(loop, For):
            mapping[loop.index] = index
        carried = tuple(item[0] for item in changing)
        draft.results = tuple(item[2] for item in changing)
        body = Restorer(self.sweep, body_level, draft, mapping, carried).block()
        initial = tuple(item[1] for item in changing)
        targets = []
        for item in changing:
            of = item[4].type if item[4] is not None else type_of(item[3])
            targets.append(Variable(item[0].name, tangent_type(of)))
        builder.location = loop.location
        if targets:
            made = For(tuple(targets), index, start, stop, step, carried, initial, body, loop.location)
            builder.append(made)
        final = dict(zip(carried, targets))
        for variable, before, _, _, whole_of in self.items:
            if whole_of is not None:
                self.adjoints.set(whole_of, final.get(variable, before))
        for variable, before, _, part_of, whole_of in self.items:
            if whole_of is None:
                self.adjoints.add(part_of, final.get(variable, before))


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
