"""Which values of a loop's round wait for the round before: what stands in the way of vectors."""

from __future__ import annotations

from collections import Counter

from ...codegen.core import (
    Assign,
    For,
    If,
    Statement,
    Variable,
    While,
    blocks_of,
    operands_of,
    variables_in,
    walk,
)
from ...codegen.parts import Facts

ELEMENTS = ("getitem", "setitem", "index_add")


def waiting(loop: For) -> frozenset[Variable] | None:
    """The numbers in an innermost loop that depend on those it carries; None for other loops."""
    if any(isinstance(statement, (For, While)) for statement in walk(loop.body)):
        return None
    found = {carried for carried in loop.carried if is_number(carried)}
    if found:
        spread(loop.body.statements, found)
    return frozenset(found)


def sums(loop: For) -> frozenset[Variable]:
    """The numbers that a fused loop carries only to add to or compare with, which it may do in any order."""
    if not loop.fused:
        return frozenset()
    read: Counter[Variable] = Counter(variables_in(loop.body.results))
    for statement in walk(loop.body):
        read.update(variables_in(operands_of(statement)))
        read.update(variable for block in blocks_of(statement) for variable in variables_in(block.results))
    added = {
        (statement.operands[0], statement.targets[0])
        for statement in loop.body.statements
        if isinstance(statement, Assign)
        and statement.primitive.name in ("add", "maximum", "minimum")
        and isinstance(statement.operands[0], Variable)
        and statement.targets[0].type.dtype.char in "fdl"
    }
    ends = zip(loop.carried, loop.body.results)
    return frozenset(carried for carried, end in ends if read[carried] == 1 and (carried, end) in added)


def one_at_a_time(loop: For, added: frozenset[Variable], facts: Facts) -> bool:
    """Whether a loop carries numbers that are not added up, or reads what a round before has written."""
    if any(is_number(carried) and carried not in added for carried in loop.carried):
        return True
    if any(isinstance(statement, (For, While)) for statement in walk(loop.body)):
        return False
    arrays = {carried: carried for carried in loop.carried if not is_number(carried)}
    reads, writes = [], []
    for statement in walk(loop.body):
        if not isinstance(statement, Assign) or statement.primitive.name not in ELEMENTS:
            continue
        array, index = statement.operands[:2]
        if array in arrays:
            written = statement.primitive.destructive
            (writes if written else reads).append((arrays[array], index))
            arrays |= dict.fromkeys(statement.targets if written else (), arrays[array])
    return any(
        array is other and is_before(read, write, loop, facts)
        for array, read in reads
        for other, write in writes
    )


def is_before(one: tuple, other: tuple, loop: For, facts: Facts) -> bool:
    """Whether an element is, in each round, the other of a round before."""
    moved = 0
    for a, b in zip(one, other):
        here, there = facts.form(a), facts.form(b)
        if here is None or there is None or (distance := here - there).terms:
            return False
        if loop.index in here.terms and distance.constant:
            moved = distance.constant
        elif distance.constant:
            return False
    return isinstance(loop.step, int) and moved * loop.step < 0


def spread(statements: list[Statement], found: set[Variable]) -> None:
    """Add what is computed from what is found."""
    for statement in statements:
        match statement:
            case If():
                spread(statement.body.statements, found)
                spread(statement.orelse.statements, found)
                ends = zip(statement.body.results, statement.orelse.results)
                for target, values in zip(statement.targets, ends):
                    if is_number(target) and depends((statement.test, *values), found):
                        found.add(target)
            case Assign():
                if depends(operands_of(statement), found):
                    found.update(filter(is_number, statement.targets))


def depends(operands: tuple, found: set[Variable]) -> bool:
    return any(variable in found for variable in variables_in(operands))


def is_number(variable: Variable) -> bool:
    """Whether it is no array: a write at one place rarely is what the next round reads."""
    return not getattr(variable.type, "shape", ())
