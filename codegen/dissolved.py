"""Computing again, once everything is differentiated: a mark that is left only where it is needed.

    for i in range(n):                  for i in range(n):
        [recompute]              ->         t = f(x[i])
            t = f(x[i])                     y[i] = t
        y[i] = t

The mark keeps what is computed again apart from what was computed before, lest the two be found equal, and
the first be kept. In the body of a loop, where there is no other such mark, the first is in another loop.

>>> from .core import FLOAT, INT, Run, nothing
>>> from .registry import PRIMITIVES
>>> x, t, y, i = (Variable(name, of) for name, of in (("x", FLOAT), ("t", FLOAT), ("y", FLOAT), ("i", INT)))
>>> square = Assign((t,), PRIMITIVES["multiply"], (x, x))
>>> again = If((y,), True, Block([square], (t,)), nothing(1), recompute=Run())
>>> loop = For((Variable("z", FLOAT),), i, 0, 9, 1, (x,), (2.0,), Block([again], (y,)))
>>> made = dissolve(Program("f", (), Block([loop], loop.targets)))
>>> [type(statement).__name__ for statement in made.body.statements[0].body.statements]
['Assign']
"""

from __future__ import annotations

from dataclasses import replace

from .core import INT, Assign, Block, For, If, Operand, Program, Statement, Variable, While, walk
from .renaming import Renaming


def dissolve(program: Program) -> Program:
    """The program without the marks of what is computed again that are not needed."""
    return Program(program.name, program.parameters, dissolved(program.body, False))


def dissolved(block: Block, in_loop: bool) -> Block:
    marks = [statement for statement in block.statements if is_mark(statement)]
    alone = in_loop and len(marks) == 1 and is_plain(marks[0])
    statements: list[Statement] = []
    ends: dict[Variable, Operand] = {}
    for statement in block.statements:
        statement = inside(statement)
        if alone and is_mark(statement):
            statements += statement.body.statements
            ends.update(zip(statement.targets, statement.body.results))
        else:
            statements.append(statement)
    made = Block(statements, block.results)
    return Renaming(ends).block(made) if ends else made


def is_plain(mark: If) -> bool:
    """Whether there is no other mark within one, nor any result that may be the size of an array."""
    return not any(map(is_mark, walk(mark.body))) and all(target.type != INT for target in mark.targets)


def is_mark(statement: Statement) -> bool:
    return isinstance(statement, If) and statement.recompute is not None


def inside(statement: Statement) -> Statement:
    """A statement with what is in it dissolved."""
    match statement:
        case Assign():
            return statement
        case If():
            parts = {name: dissolved(getattr(statement, name), False) for name in ("body", "orelse")}
        case For():
            parts = {"body": dissolved(statement.body, True)}
        case While():
            parts = {name: dissolved(getattr(statement, name), True) for name in ("test", "body")}
    return replace(statement, **parts)
