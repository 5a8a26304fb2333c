"""Arrays that a loop only adds to are added to in place.

    for i in range(n):                           for i in range(n):
        total = total + x[i]            ->           total[:] += x[i]

>>> from .build import Builder
>>> from .core import FLOAT, INT
>>> x, total, end = (Variable(name, FLOAT.with_shape((3,))) for name in ("x", "total", "end"))
>>> builder, body = Builder(), Block()
>>> with builder.inside(body):
...     body.results = (builder.emit(PRIMITIVES["add"], total, x),)
>>> builder.append(For((end,), Variable("i", INT), 0, 9, 1, (total,), (x,), body))
>>> made = sum_in_place(Program("f", (x,), builder.block))
>>> made.body.statements[0].body.statements[0].primitive
index_add
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from .access import is_array
from .core import (
    Assign,
    Block,
    For,
    If,
    Operand,
    Program,
    Statement,
    Variable,
    While,
    blocks_of,
    operands_of,
    type_of,
    uses_in,
    variables_in,
)
from .registry import PRIMITIVES


def sum_in_place(program: Program) -> Program:
    """The program with its loops' sums in place."""
    uses = uses_in(program)
    return Program(program.name, program.parameters, in_block(program.body, uses))


def in_block(block: Block, uses: Counter[Variable]) -> Block:
    return Block([inside(statement, uses) for statement in block.statements], block.results)


def inside(statement: Statement, uses: Counter[Variable]) -> Statement:
    match statement:
        case For() | While():
            body = in_block(statement.body, uses)
            for carried, result in zip(statement.carried, body.results):
                if is_array(carried) and carried.type.inexact:
                    body = with_sum(body, carried, result, uses)
            return replace(statement, body=body)
        case If():
            body, orelse = (in_block(block, uses) for block in blocks_of(statement))
            return replace(statement, body=body, orelse=orelse)
    return statement


def with_sum(block: Block, carried: Variable, result: Operand, uses: Counter[Variable]) -> Block:
    """The body of a loop with what leads from an array to its next value in place, if that is additions."""
    running, statements = carried, []
    for statement in block.statements:
        if any(v is running for v in variables_in(operands_of(statement))):
            added = addition(statement, running) if uses[running] == 1 else None
            if added is None:
                return block
            statements += added
            (running,) = statement.targets
        else:
            statements.append(statement)
    return Block(statements, block.results) if running is result and running is not carried else block


def addition(statement: Statement, array: Variable) -> list[Statement] | None:
    """What adds in place as a sum does, or a difference; None for anything else."""
    if not isinstance(statement, Assign) or statement.primitive.name not in ("add", "subtract"):
        return None
    first, second = statement.operands
    change = second if first is array else first
    (target,) = statement.targets
    if change is array or target.type.dtype != array.type.dtype or target.type.ndim != array.type.ndim:
        return None
    if type_of(change).dtype != array.type.dtype or not is_array(change):
        return None
    made = []
    if statement.primitive.name == "subtract":
        if first is not array:
            return None
        change = Variable(None, second.type)
        made.append(Assign((change,), PRIMITIVES["negative"], (second,), {}, statement.location))
    index = (slice(None),) * array.type.ndim
    made.append(
        replace(statement, primitive=PRIMITIVES["index_add"], operands=(array, index, change), static={})
    )
    return made
