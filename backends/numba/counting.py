"""Loops that do some of the turns of another: that an index is not negative is to be seen where they begin.

Numba counts a negative index from the end. LLVM makes vectors of elements that follow each other in memory,
and so has to know that an index is not negative. It sees that of `range(n)`, not of `range(start, stop)`.
"""

from __future__ import annotations

from dataclasses import replace

from ...codegen.core import INT, Assign, Block, For, Operand, Program, Statement, Variable
from ...codegen.registry import PRIMITIVES


def counting_from(loop: For, least: Operand) -> list[Statement]:
    """A loop that is known not to begin below a number.

    for i in range(start, stop):                  for i in range(max(start, 0), stop):
        y[i] = x[i]                       ->          y[i] = x[i]
    """
    start = Variable(None, INT)
    known = Assign((start,), PRIMITIVES["maximum"], (loop.start, least), {}, loop.location)
    return [known, replace(loop, start=start)]


def with_counted_pieces(program: Program) -> Program:
    """The program with known indices in the loops over pieces (codegen/pieces.py)."""
    statements = [counted(s) if isinstance(s, For) else s for s in program.body.statements]
    return Program(program.name, program.parameters, Block(statements, program.results))


def counted(loop: For) -> For:
    inside = [t for s in loop.body.statements for t in (counting_from(s, 0) if is_part(s) else [s])]
    return replace(loop, body=Block(inside, loop.body.results))


def is_part(statement: Statement) -> bool:
    """Whether a statement is a loop over some of the turns of one that cores can share."""
    return isinstance(statement, For) and statement.independent and isinstance(statement.start, Variable)
