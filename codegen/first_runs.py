"""What is run again anyway, and of which the first run gives nothing: run once.

    for lane in range(n):               for lane in range(n):
        [recompute]                         [recompute]
            y = f(x[lane])       ->             y = f(x[lane])
    for lane in range(n):                       x_bar = ...
        [recompute]
            y = f(x[lane])
            x_bar = ...

The first run is left after its results have been found useless if something in it may raise an exception. The
second raises it too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from .core import Assign, Block, For, If, Program, Statement, Variable, blocks_of, uses_in
from .independent import CHECKS


def without_first_runs(program: Program) -> Program:
    """The program without what it computes for nothing, and then again."""
    return Program(program.name, program.parameters, pruned(program.body, uses_in(program)))


def pruned(block: Block, uses: Counter[Variable]) -> Block:
    again = Counter(mark for statement in block.statements for mark in marks_in(statement, True))
    first = Counter(mark for statement in block.statements for mark in marks_in(statement, False))
    statements = []
    for statement in block.statements:
        marks = list(marks_in(statement, False))
        if marks and all(first[mark] == again[mark] for mark in marks) and is_for_nothing(statement, uses):
            continue
        statements.append(inside(statement, uses))
    return Block(statements, block.results)


def inside(statement: Statement, uses: Counter[Variable]) -> Statement:
    if not isinstance(statement, (For, If)):
        return statement
    names = ("body", "orelse") if isinstance(statement, If) else ("body",)
    return replace(statement, **{name: pruned(getattr(statement, name), uses) for name in names})


def marks_in(statement: Statement, again: bool) -> Iterator[object]:
    """The marks of what a statement runs, once or in every turn, for the first time or again."""
    match statement:
        case If(recompute=run) if run is not None:
            if run.again is again:
                yield run.mark
        case For():
            for inner in statement.body.statements:
                yield from marks_in(inner, again)


def is_for_nothing(statement: Statement, uses: Counter[Variable]) -> bool:
    """Whether no result of a statement is used, and it only raises exceptions, and where it is marked."""
    return not any(uses[target] for target in statement.targets) and not has_own_effect(statement)


def has_own_effect(statement: Statement) -> bool:
    """Whether a statement has an effect that running the marked parts again would not have."""
    if isinstance(statement, Assign):
        return statement.primitive.effect
    if isinstance(statement, If) and statement.recompute is not None:
        return not only_checks(statement.body)
    return any(has_own_effect(inner) for block in blocks_of(statement) for inner in block.statements)


def only_checks(block: Block) -> bool:
    return all(
        s.primitive.name in CHECKS or not s.primitive.effect
        if isinstance(s, Assign)
        else all(map(only_checks, blocks_of(s)))
        for s in block.statements
    )
