"""Loops that do some of the turns of another: what is known of their counter is told to the compiler.

Numba counts a negative index from the end. LLVM makes vectors of elements that follow each other in memory,
and so has to know that an index is not negative. It sees that of `range(n)`, not of `range(start, stop)`.
"""

from __future__ import annotations

from dataclasses import replace

from ...codegen.core import INT, Assign, Block, For, Program, Statement, Variable, While, walk
from . import forms


def counting_from(loop: For, least: int) -> For:
    """A loop, where it is an innermost one, with an index known not to be below a number.

    for i in range(start, stop):                  for turn in range(start, stop):
        y[i] = x[i]                       ->          i = elementary.at_least(turn, 0)
                                                      y[i] = x[i]
    """
    if any(isinstance(statement, (For, While)) for statement in walk(loop.body)):
        return loop
    turn = Variable("turn", INT)
    known = Assign((loop.index,), forms.at_least, (turn, least), {}, loop.location)
    return replace(loop, index=turn, body=Block([known, *loop.body.statements], loop.body.results))


def with_counted_pieces(program: Program) -> Program:
    """The program with known indices in the loops over pieces (codegen/pieces.py)."""
    statements = [counted(s) if isinstance(s, For) else s for s in program.body.statements]
    return Program(program.name, program.parameters, Block(statements, program.results))


def counted(loop: For) -> For:
    inside: list[Statement] = [counting_from(s, 0) if is_part(s) else s for s in loop.body.statements]
    return replace(loop, body=Block(inside, loop.body.results))


def is_part(statement: Statement) -> bool:
    """Whether a statement is a loop over some of the turns of one that cores can share."""
    return isinstance(statement, For) and statement.independent and isinstance(statement.start, Variable)
