"""Arrays of zeros that each turn of a loop fills in the same part: made once, before the loop.

    for i in range(n):                           z = zeros(m)
        z = zeros(m)                             for i in range(n):
        z = setitem(z, (slice(1, 3),), v)   ->       z = setitem(z, (slice(1, 3),), v)
        ...                                          ...

>>> from .build import Builder
>>> from .core import FLOAT, INT
>>> v, i, b, body = Variable("v", FLOAT), Variable("i", INT), Builder(), Block()
>>> with b.inside(body):
...     z = b.emit(PRIMITIVES["zeros"], (3,), dtype="float64")
...     z = b.emit(PRIMITIVES["setitem"], z, (1,), v)
>>> b.append(For((), i, 0, 5, 1, (), (), body))
>>> made = make_once(Program("f", (v,), b.block))
>>> made.body.statements[0].primitive, made.body.statements[1].body.statements[0].primitive
(zeros, setitem)
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from .core import (
    Assign,
    Block,
    For,
    If,
    Program,
    Statement,
    Variable,
    While,
    assigned_in,
    uses_in,
    variables_in,
)
from .primitives.indexing import is_basic
from .registry import PRIMITIVES


def make_once(program: Program) -> Program:
    """The program with arrays of zeros that are only partly written, always there, made before loops."""
    uses = uses_in(program)
    return Program(program.name, program.parameters, outside(program.body, uses))


def outside(block: Block, uses: Counter[Variable]) -> Block:
    statements: list[Statement] = []
    for statement in block.statements:
        match statement:
            case If():
                parts = {name: outside(getattr(statement, name), uses) for name in ("body", "orelse")}
                statement = replace(statement, **parts)
            case For() | While():
                statement = replace(statement, body=outside(statement.body, uses))
                moved, statement = lasting(statement, uses)
                statements += moved
        statements.append(statement)
    return Block(statements, block.results)


def lasting(loop: For | While, uses: Counter[Variable]) -> tuple[list[Statement], For | While]:
    """The zeros that can be made before a loop, and the loop that carries them on."""
    inside = assigned_in(loop)
    body, moved, carried, results = [], [], [], []
    fills = {s.operands[0]: s for s in loop.body.statements if is_fill(s)}
    for statement in loop.body.statements:
        fill = fills.get(statement.targets[0]) if is_zeros(statement) else None
        if fill is None or uses[statement.targets[0]] != 1 or depends(inside, statement, fill):
            body.append(statement)
            continue
        moved.append(statement)
        kept = Variable(fill.targets[0].name, fill.targets[0].type)
        carried.append(kept)
        results.append(fill.targets[0])
    if not moved:
        return [], loop
    became = {statement.targets[0]: kept for statement, kept in zip(moved, carried)}
    body = [replace(s, operands=(became[s.operands[0]], *s.operands[1:]))
            if is_fill(s) and s.operands[0] in became else s for s in body]  # fmt: skip
    return moved, replace(
        loop,
        targets=(*loop.targets, *(Variable(kept.name, kept.type) for kept in carried)),
        carried=(*loop.carried, *carried),
        initial=(*loop.initial, *(statement.targets[0] for statement in moved)),
        body=Block(body, (*loop.body.results, *results)),
    )


def is_zeros(statement: Statement) -> bool:
    return isinstance(statement, Assign) and statement.primitive is PRIMITIVES["zeros"]


def is_fill(statement: Statement) -> bool:
    """Whether a statement writes a part of an array at once."""
    if not isinstance(statement, Assign) or statement.primitive is not PRIMITIVES["setitem"]:
        return False
    return isinstance(statement.operands[0], Variable) and is_basic(statement.operands[1])


def depends(inside: set[Variable], zeros: Assign, fill: Assign) -> bool:
    """Whether the shape of the zeros, or the part that is filled, may be another in another turn."""
    needed = (zeros.operands, zeros.targets[0].type.shape, fill.operands[1])
    return any(variable in inside for variable in variables_in(needed))
