"""Sums of products of which each turn adds to a whole row, for a few rows at a time.

    for i in range(n):                            for first in range(0, n, 8):
        for k in range(p):                            last = min(first + 8, n)
            for j in range(m):          ->            for k in range(p):
                y[i, j] += a[i, k] * b[k, j]              for i in range(first, last):
                                                              for j in range(m):
                                                                  y[i, j] += a[i, k] * b[k, j]

So what is read for all rows, here b[k], is read from memory once for eight of them, and additions to one
element, each of which waits for the one before, are further apart.

>>> import numpy as np
>>> from .core import ArrayType
>>> from .fuse import fuse
>>> from .inplace import write_in_place
>>> from .parse import parse_text
>>> from .printing import print_program
>>> from .simplify import simplify
>>> from .specialise import Parameter, specialise
>>> text = "def f(a, b):\\n  return (a[:, :, None] * b).sum(1)"
>>> matrix = lambda name: Parameter(ArrayType(np.dtype(float), (None, None)), name)
>>> nests = fuse(write_in_place(simplify(specialise(parse_text(text), [*map(matrix, "ab")]).program)))
>>> print(print_program(write_in_place(block_sums(nests))).split("zeros((n, m_2))")[1], end="")
<BLANKLINE>
    for first in range(0, n, 8):
        last = min(first + 8, n)
        for j in range(m):
            for i in range(first, last):
                part = a[i, j]
                for k in range(m_2):
                    result[i, k] += part * b[j, k]
    return result
"""

from __future__ import annotations

from dataclasses import replace

from .access import is_array
from .accumulated import only_adds
from .arrays_over_time import Histories
from .core import (
    INT,
    Assign,
    Block,
    For,
    If,
    Program,
    Statement,
    Variable,
    While,
    blocks_of,
    operands_of,
    variables_in,
    walk,
)
from .registry import PRIMITIVES
from .roles import has_effect
from .row_loops import axes_of, may_be_joined

ROWS = 8


def block_sums(program: Program) -> Program:
    """The loop program with such sums over a few rows at a time."""
    histories = Histories(program.body)
    return Program(program.name, program.parameters, in_block(program.body, histories))


def in_block(block: Block, histories: Histories) -> Block:
    return Block([inside(statement, histories) for statement in block.statements], block.results)


def inside(statement: Statement, histories: Histories) -> Statement:
    match statement:
        case For():
            loops = chain(statement)
            if loops and is_sum_of_rows(loops, histories):
                return blocked(loops)
            return replace(statement, body=in_block(statement.body, histories))
        case While():
            return replace(statement, body=in_block(statement.body, histories))
        case If():
            body, orelse = (in_block(block, histories) for block in blocks_of(statement))
            return replace(statement, body=body, orelse=orelse)
    return statement


def chain(loop: For) -> list[For] | None:
    """A loop and those in it, each after numbers alone, if there are three at least."""
    loops = [loop]
    while loops[-1].body.statements and isinstance(last := loops[-1].body.statements[-1], For):
        loops.append(last)
    plain = all(may_be_joined(one) and len(one.carried) == 1 and is_array(one.carried[0]) for one in loops)
    numbers = [s for one in loops[:-1] for s in one.body.statements[:-1]]
    if len(loops) < 3 or not plain or not all(map(is_number, (*numbers, *loops[-1].body.statements[:-1]))):
        return None
    bounds = variables_in([one.stop for one in loops])
    return None if set(bounds) & {t for s in numbers for t in s.targets} else loops


def is_number(statement: Statement) -> bool:
    """Whether a statement computes a number."""
    if not isinstance(statement, Assign) or has_effect(statement) or statement.primitive.destructive:
        return False
    return not any(map(is_array, statement.targets))


def is_sum_of_rows(loops: list[For], histories: Histories) -> bool:
    """Whether the loops between the first and the last add to the same elements, from what all rows read."""
    rows, *between, along = loops
    history = histories.of(rows.carried[0])
    write = along.body.statements[-1]
    if not isinstance(write, Assign) or write.primitive.name not in ("setitem", "index_add"):
        return False
    where = set(variables_in(write.operands[1]))
    if along.index not in where or where & dependent(loops, {one.index for one in between}):
        return False
    if not axes_of(rows, history, histories) or not only_adds(rows.body, history, histories):
        return False
    own = dependent(loops, {rows.index})
    indices = [s.operands[1] for s in along.body.statements if s.primitive.name == "getitem"]
    return any(along.index in index and not own.intersection(variables_in(index)) for index in indices)


def dependent(loops: list[For], variables: set[Variable]) -> set[Variable]:
    """The numbers that depend on some indices, and these."""
    found = set(variables)
    for statement in walk(Block([loops[0]])):
        if isinstance(statement, Assign) and found.intersection(variables_in(operands_of(statement))):
            found.update(target for target in statement.targets if not is_array(target))
    return found


def blocked(loops: list[For]) -> For:
    """The loops, with the rows in blocks around them, and each row of a block inside."""
    rows, *between, along = loops
    own = dependent(loops, {rows.index})
    numbers = [s for one in loops[:-1] for s in one.body.statements[:-1]]
    stay = lambda one: [s for s in one.body.statements[:-1] if not own.intersection(s.targets)]
    moved = [statement for statement in numbers if own.intersection(statement.targets)]
    first, end, last = Variable("first", INT), Variable(None, INT), Variable("last", INT)
    array = rows.carried[0]
    before, after = (tuple(Variable(array.name, array.type) for _ in loops[:-1]) for _ in range(2))
    body = Block([*moved, along], along.targets)
    ends = {"start": first, "stop": last, "carried": along.initial}
    made = replace(rows, targets=after[-1:], initial=before[-1:], body=body, **ends)
    for k, one in reversed([*enumerate(between)]):
        made = replace(
            one,
            targets=after[k : k + 1],
            carried=before[k + 1 : k + 2],
            initial=before[k : k + 1],
            body=Block([*stay(one), made], after[k + 1 : k + 2]),
        )
    bounds = [
        Assign((end,), PRIMITIVES["add"], (first, ROWS), {}, rows.location),
        Assign((last,), PRIMITIVES["minimum"], (end, rows.stop), {"weak": True}, rows.location),
    ]
    body = Block([*bounds, *stay(rows), made], after[:1])
    return replace(rows, index=first, step=ROWS, carried=before[:1], body=body)
