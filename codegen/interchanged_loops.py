"""Loops around nests whose rows do not depend on each other: the loop over the rows is put around them.

    for k in range(1, p):                         for i in range(n):
        for i in range(n):                            for k in range(1, p):
            for j in range(m):            ->              for j in range(m):
                y[i, j, k] += y[i, j, k - 1]                  y[i, j, k] += y[i, j, k - 1]

So the elements that follow each other in memory along k are in the cache when the next turn needs them, and
nests over the same rows can be joined with this one. It is done where more arrays have the axis of the rows
before that of the loop than after it.

>>> import numpy as np
>>> from .core import ArrayType, Program
>>> from .fuse import fuse
>>> from .inplace import write_in_place
>>> from .parse import parse_text
>>> from .printing import print_program
>>> from .simplify import simplify
>>> from .specialise import Parameter, specialise
>>> text = "def f(y):\\n  for k in range(1, y.shape[2]):\\n    y[:, :, k] = y[:, :, k - 1] * 2"
>>> cube = Parameter(ArrayType(np.dtype(float), (None, None, None)), "y")
>>> nests = fuse(write_in_place(simplify(specialise(parse_text(text), [cube]).program)))
>>> made = write_in_place(Program("f", nests.parameters, interchange_loops(nests.body)))
>>> print("\\n".join(line for line in print_program(made).splitlines() if "#" not in line))
def f(y):
    m = y.shape[1]
    k_2 = y.shape[2]
    y_2 = y.copy()
    for i in range(y.shape[0]):
        for k in range(1, k_2):
            difference = k - 1
            for j in range(m):
                y_2[i, j, k] = y_2[i, j, difference] * 2
    return y_2
"""

from __future__ import annotations

from dataclasses import replace

from .access import is_array
from .accumulated import only_adds
from .arrays_over_time import Histories
from .core import (
    Assign,
    Block,
    For,
    If,
    Statement,
    Variable,
    While,
    blocks_of,
    variables_in,
    walk,
)
from .roles import has_effect
from .row_loops import INDEXED, axes_of, may_be_joined, nested, written


def interchange_loops(body: Block) -> Block | None:
    """A block with loops over rows around those that they were in; None if there is none of that kind."""
    interchange = Interchange(body)
    made = interchange.block(body)
    return made if interchange.done else None


class Interchange:
    """Interchanges the loops of blocks, from the inside out."""

    def __init__(self, body: Block):
        self.histories = Histories(body)
        self.done = False

    def block(self, block: Block) -> Block:
        made: list[Statement] = []
        for statement in block.statements:
            statement = self.inside(statement)
            made += self.interchanged(statement) or [statement]
        return Block(made, block.results)

    def inside(self, statement: Statement) -> Statement:
        match statement:
            case For() | While():
                return replace(statement, body=self.block(statement.body))
            case If():
                body, orelse = map(self.block, blocks_of(statement))
                return replace(statement, body=body, orelse=orelse)
        return statement

    def interchanged(self, loop: Statement) -> list[Statement] | None:
        """What takes the place of a loop, if the only loop in it can be put around it."""
        if not isinstance(loop, For) or not loop.body.statements:
            return None
        *before, rows = loop.body.statements
        if not may_be_joined(rows) or not nested(rows) or has_effect(rows):
            return None
        empties = [s for s in before if isinstance(s, Assign) and s.primitive.name == "empty"]
        numbers = [s for s in before if s not in empties]
        if not all(map(is_number, numbers)) or not self.may_move(loop, rows, empties, numbers):
            return None
        if not self.pays(loop, rows, numbers):
            return None
        self.done = True
        return [*empties, swapped(loop, rows, numbers)]

    def may_move(self, loop: For, rows: For, empties: list[Assign], numbers: list[Assign]) -> bool:
        """Whether the rows depend neither on each other nor on where in the loop they are."""
        inside = {loop.index, *loop.carried, *(t for s in numbers for t in s.targets)}
        outside = (rows.stop, *(s.operands for s in empties), *(s.targets[0].type.shape for s in empties))
        if any(variable in inside for variable in variables_in(outside)):
            return False
        if not all(map(is_array, (*loop.carried, *rows.carried))):
            return False
        after = dict(zip(rows.initial, rows.targets))
        if any(after.get(c) is not end for c, end in zip(loop.carried, loop.body.results)):
            return False
        made = {s.targets[0] for s in empties}
        if len(after) != len(rows.initial) or set(after) != {*loop.carried, *made}:
            return False
        return all(
            axes_of(rows, history, self.histories) or only_adds(rows.body, history, self.histories)
            for history in {self.histories.of(array) for array in written(rows)}
        )

    def pays(self, loop: For, rows: For, numbers: list[Assign]) -> bool:
        """Whether more elements are found at the row first, and then at the loop's place, than otherwise."""
        moving, votes = {loop.index}, 0
        for statement in (*numbers, *walk(rows.body)):
            if not isinstance(statement, Assign):
                continue
            operands = statement.operands
            if statement.primitive.name in INDEXED:
                moved = lambda one: isinstance(one, Variable) and one in moving
                places = [axis for axis, one in enumerate(operands[1]) if moved(one)]
                at = [axis for axis, one in enumerate(operands[1]) if one is rows.index]
                if places and at:
                    votes += 1 if max(at) < min(places) else -1
            elif moving.intersection(variables_in(operands)) and not any(map(is_array, statement.targets)):
                moving.update(statement.targets)
        return votes > 0


def is_number(statement: Statement) -> bool:
    """Whether a statement computes a number from numbers."""
    if not isinstance(statement, Assign) or has_effect(statement):
        return False
    return not any(is_array(v) for v in (*statement.targets, *variables_in(statement.operands)))


def swapped(loop: For, rows: For, numbers: list[Assign]) -> For:
    """The loop over rows, with the other one in it."""
    position = {carried: k for k, carried in enumerate(loop.carried)}
    begin, end = [], []
    for initial, target in zip(rows.initial, rows.targets):
        k = position.get(initial)
        begin.append(initial if k is None else loop.initial[k])
        end.append(target if k is None else loop.targets[k])
    fresh = lambda: tuple(Variable(carried.name, carried.type) for carried in rows.carried)
    around, after = fresh(), fresh()
    body = Block([*numbers, *rows.body.statements], rows.body.results)
    inner = replace(loop, targets=after, carried=rows.carried, initial=around, body=body)
    return replace(
        rows,
        targets=tuple(end),
        carried=around,
        initial=tuple(begin),
        body=Block([inner], after),
        location=rows.location or loop.location,
    )
