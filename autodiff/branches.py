"""Branches, backwards: the side that was taken, transposed.

    if test:                         if test:
        y = multiply(x, x)     ->        x_bar = ...
    else:                            else:
        y = x                            x_bar = ...
"""
from __future__ import annotations

from ..codegen.adopt import adopt_block
from ..codegen.core import ArrayType, Block, If, Operand, Variable, type_of
from .adjoints import Adjoints
from .calls import conform, zeros
from .chains import chains_at
from .levels import Level
from .residuals import Restorer


def transpose_branch(sweep, statement: If, adjoints: Adjoints, level: Level) -> None:
    activity, builder = sweep.activity, sweep.builder
    put_back = [step for chain in level.chains for step in chain.steps if step.statement is statement]
    given = {k: adjoints.take(t) for k, t in enumerate(statement.targets) if t in adjoints}
    if not given and not put_back:
        return
    sides = [(b, Level(level, statement, b)) for b in (statement.body, statement.orelse)]
    for block, side in sides:
        chains_at(sweep, side, [(step.before, block.results[step.place], step.after) for step in put_back])
    free = sweep.read_actives((statement.body, statement.orelse), ())
    before = {v: adjoints.get(v) for v in free if v in adjoints}
    ends: list[dict[Variable, Operand | None]] = []
    drafts = []
    for block, side in sides:
        with builder.inside(Block()):
            adopt_block(builder, block)
            with builder.inside(Block()) as draft:
                inner = Adjoints(builder, activity)
                inner.values.update(before)
                for k, bar in given.items():
                    inner.add(block.results[k], bar)
                sweep.transpose(block.statements, inner, side)
                ends.append({v: inner.get(v) for v in free})
        drafts.append(draft)
    touched = [v for v in free if any(end[v] is not before.get(v) for end in ends)]
    if not touched and not put_back:
        return
    builder.location = statement.location
    bodies = []
    for (_, side), draft, end in zip(sides, drafts, ends):
        with builder.inside(draft):
            bars = [zeros(builder, v.type) if end[v] is None else conform(builder, end[v], v.type)
                    for v in touched]
            draft.results = (*bars, *(step.before for step in put_back))
        bodies.append(Restorer(sweep, side, draft, {}).block())
    targets = tuple(Variable(f"{v.name}_bar" if v.name else None, joined_type(v, bodies, k))
                    for k, v in enumerate(touched))
    arrays = tuple(Variable(step.before.name, step.before.type) for step in put_back)
    builder.location = statement.location
    builder.append(If(targets + arrays, statement.test, *bodies, statement.location))
    for variable, target in zip(touched, targets):
        adjoints.set(variable, target)
    level.regained.update((step.before, array) for step, array in zip(put_back, arrays))


def joined_type(variable: Variable, bodies: list[Block], k: int):
    """The type of a cotangent that either side gives: a Python scalar only if both are."""
    if not isinstance(variable.type, ArrayType):
        return type_of(bodies[0].results[k])
    weak = all(type_of(b.results[k]).weak for b in bodies)
    return ArrayType(variable.type.dtype, variable.type.shape, weak)
