"""Sums of products of which each turn adds to a whole row, for a few rows at a time.

    for i in range(n):                            for first in range(0, n, 8):
        for k in range(p):                            last = min(first + 8, n)
            for j in range(m):          ->            for k in range(p):
                y[i, j] += a[i, k] * b[k, j]              for i in range(first, last):
                                                              for j in range(m):
                                                                  y[i, j] += a[i, k] * b[k, j]

So what is read for all rows, here b[k], is read from memory once for eight of them, and additions to one
element, each of which waits for the one before, are further apart. Floats are summed in tiles as far as
there are whole ones (tiled_sums.py).

>>> import numpy as np
>>> from .core import ArrayType
>>> from .fuse import fuse
>>> from .inplace import write_in_place
>>> from .parse import parse_text
>>> from .printing import print_program
>>> from .simplify import simplify
>>> from .specialise import Parameter, specialise
>>> text = "def f(a, b):\\n  return (a[:, :, None] * b).sum(1)"
>>> matrix = lambda name: Parameter(ArrayType(np.dtype(int), (None, None)), name)
>>> nests = fuse(write_in_place(simplify(specialise(parse_text(text), [*map(matrix, "ab")]).program)))
>>> print(print_program(write_in_place(block_sums(nests))).split("dtype=np.int64)")[1], end="")
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
    Operand,
    Program,
    Statement,
    Variable,
    While,
    blocks_of,
    variables_in,
)
from .lasting_arrays import is_zeros
from .registry import PRIMITIVES
from .roles import has_effect
from .row_loops import axes_of, dependent, may_be_joined
from .tiled_sums import ROWS, Tiles, may_be_tiled


def block_sums(program: Program) -> Program:
    """The loop program with such sums over a few rows at a time."""
    histories = Histories(program.body)
    return Program(program.name, program.parameters, in_block(program.body, histories, set()))


def in_block(block: Block, histories: Histories, zeros: set[Operand]) -> Block:
    """A block with such sums; in `zeros` are arrays of which all that is touched there is 0."""
    zeros = zeros.union(*(statement.targets for statement in block.statements if is_zeros(statement)))
    made = [one for statement in block.statements for one in inside(statement, histories, zeros)]
    return Block(made, block.results)


def inside(statement: Statement, histories: Histories, zeros: set[Operand]) -> list[Statement]:
    match statement:
        case For():
            loops = chain(statement)
            if loops and is_sum_of_rows(loops, histories):
                return in_tiles(loops) if may_be_tiled(loops, zeros) else [blocked(loops)]
            own = {c for c in still(statement, zeros) if axes_of(statement, histories.of(c), histories)}
            return [replace(statement, body=in_block(statement.body, histories, own))]
        case While():
            return [replace(statement, body=in_block(statement.body, histories, set()))]
        case If():
            body, orelse = (in_block(block, histories, zeros) for block in blocks_of(statement))
            return [replace(statement, body=body, orelse=orelse)]
    return [statement]


def still(loop: For, zeros: set[Operand]) -> list[Variable]:
    """What a loop carries that begins as zeros."""
    return [carried for carried, initial in zip(loop.carried, loop.initial) if initial in zeros]


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


def in_tiles(loops: list[For]) -> list[Statement]:
    """The loops for whole tiles, and those for the rows that are left."""
    tiles = Tiles(loops)
    count, array = tiles.write(), tiles.now["array"]
    made, rows = tiles.builder.block.statements, loops[0]
    if isinstance(count, int) and count * ROWS == rows.stop:
        made[-1].targets = rows.targets
        return made
    rest = blocked([replace(rows, initial=(array,)), *loops[1:]])
    block, end, blocks = Variable("block", INT), Variable(None, INT), Variable("blocks", INT)
    assign = lambda target, name, *operands, **static: Assign(
        (target,), PRIMITIVES[name], operands, static, rows.location
    )
    made.append(assign(end, "add", rows.stop, ROWS - 1))
    made.append(assign(blocks, "floor_divide", end, ROWS, weak=True))
    body = Block([assign(rest.index, "multiply", block, ROWS), *rest.body.statements], rest.body.results)
    return [*made, replace(rest, index=block, start=count, stop=blocks, step=1, body=body)]


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
