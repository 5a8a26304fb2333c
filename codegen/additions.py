"""Writes that add to what was there, as additions: their transpose only reads.

    t = getitem(x, i)
    s = add(t, v)                ->        y = index_add(x, i, v)
    y = setitem(x, i, s)

The cotangent of x is that of y as it is, where overwriting would clear a part of it and add it again.

>>> from .build import Builder
>>> from .core import FLOAT, Program, Variable
>>> from .primitives import creation, elementwise, indexing
>>> b, v = Builder(), Variable("v", FLOAT)
>>> x = b.emit(creation.ones, (3,), dtype="float64")
>>> less = b.emit(elementwise.subtract, b.emit(indexing.getitem, x, (1,)), v)
>>> b.block.results = (b.emit(indexing.setitem, x, (1,), less),)
>>> [s.primitive for s in add_in_place(Program("f", (v,), b.block)).body.statements]
[ones, getitem, subtract, negative, index_add]
"""
from __future__ import annotations

from collections import Counter
from dataclasses import replace

from .build import freeze
from .core import (
    Assign,
    Block,
    If,
    Operand,
    Program,
    Variable,
    While,
    type_of,
    uses_in,
)
from .primitives.indexing import is_basic
from .registry import PRIMITIVES


def add_in_place(program: Program) -> Program:
    """The program with writes of a sum with what was there before as additions."""
    uses = uses_in(program)
    return Program(program.name, program.parameters, additions(program.body, uses, {}))


def additions(block: Block, uses: Counter[Variable], made: dict[Variable, Assign]) -> Block:
    statements = []
    for statement in block.statements:
        if not isinstance(statement, Assign):
            names = {If: ("body", "orelse"), While: ("test", "body")}.get(type(statement), ("body",))
            parts = {name: additions(getattr(statement, name), uses, made) for name in names}
            statements.append(replace(statement, **parts))
            continue
        made.update(dict.fromkeys(statement.targets, statement))
        change = added(statement, uses, made) if statement.primitive.name == "setitem" else None
        statements += [statement] if change is None else addition(statement, *change)
    return Block(statements, block.results)


def added(
    write: Assign, uses: Counter[Variable], made: dict[Variable, Assign]
) -> tuple[Operand, bool] | None:
    """What a write adds to the elements it overwrites, and whether it subtracts that."""
    array, index, value = write.operands
    total = made.get(value) if isinstance(value, Variable) and uses[value] == 1 else None
    if total is None or total.primitive.name not in ("add", "subtract") or not is_basic(index):
        return None
    minus = total.primitive.name == "subtract"
    for before, change in (total.operands,) if minus else (total.operands, total.operands[::-1]):
        read = made.get(before) if isinstance(before, Variable) else None
        if read is None or read.primitive.name != "getitem" or read.operands[0] is not array:
            continue
        alike = isinstance(change, Variable) and change.type.shape == before.type.shape
        alike = alike and type_of(before) == type_of(value)
        if alike and freeze(read.operands[1]) == freeze(index):
            return change, minus
    return None


def addition(write: Assign, change: Operand, minus: bool) -> list[Assign]:
    statements = []
    if minus:
        negated = Variable(None, type_of(change))
        statements.append(Assign((negated,), PRIMITIVES["negative"], (change,), {}, write.location))
        change = negated
    array, index, _ = write.operands
    adding = replace(write, primitive=PRIMITIVES["index_add"], operands=(array, index, change), static={})
    return [*statements, adding]
