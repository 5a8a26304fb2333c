"""Whether a variable is read later: asked while walking forward through a program.

>>> from .core import FLOAT, Block, Variable
>>> x, y = Variable("x", FLOAT), Variable("y", FLOAT)
>>> reads = LaterReads(Block([], (y,)))
>>> with reads.inside(reads.root):
...     reads.live(y), reads.live(x)
(True, False)
"""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from .core import Block, For, Statement, Variable, While, blocks_of, bound_in, operands_of, variables_in


@dataclass(slots=True)
class Level:
    """An open block: where each variable is last read in it, and what the enclosing loop reads each time."""

    last: dict[Variable, int]
    around: frozenset[Variable] = frozenset()
    position: int = -1


@dataclass(slots=True)
class Reads:
    """What a block (with the blocks in it) reads, and where last, and what it assigns."""

    last: dict[Variable, int] = field(default_factory=dict)
    assigned: set[Variable] = field(default_factory=set)


class LaterReads:
    """Facts about all blocks of a body, worked out once, and the stack of blocks now open."""

    def __init__(self, root: Block):
        self.root = root
        self.reads: dict[int, Reads] = {}
        self.levels: list[Level] = []
        self.survey(root)

    def survey(self, block: Block) -> Reads:
        found = Reads()
        for position, statement in enumerate(block.statements):
            for variable in variables_in(operands_of(statement)):
                found.last[variable] = position
            for inner in blocks_of(statement):
                within = self.survey(inner)
                found.last.update(dict.fromkeys(within.last, position))
                found.assigned |= within.assigned
            found.assigned.update(statement.targets, bound_in(statement))
        found.last.update(dict.fromkeys(variables_in(block.results), len(block.statements)))
        self.reads[id(block)] = found
        return found

    def around(self, loop: For | While) -> frozenset[Variable]:
        """Variables from outside a loop that it may read at any turn."""
        found = [self.reads[id(block)] for block in blocks_of(loop)]
        own = set(bound_in(loop)).union(*(f.assigned for f in found))
        return frozenset(v for f in found for v in f.last if v not in own)

    @contextlib.contextmanager
    def inside(self, block: Block, loop: Statement | None = None) -> Iterator[Level]:
        """Open a block; `loop` is the loop whose body or test it is."""
        around = self.around(loop) if loop is not None else frozenset()
        level = Level(self.reads[id(block)].last, around)
        if isinstance(loop, While) and block is loop.test:
            # what the body reads, and the values the loop may end with, are still wanted after the test
            later = [*self.reads[id(loop.body)].last, *loop.carried]
            level.last = level.last | dict.fromkeys(later, len(block.statements) + 1)
        with self.holding(level):
            yield level

    @contextlib.contextmanager
    def holding(self, level: Level) -> Iterator[Level]:
        self.levels.append(level)
        try:
            yield level
        finally:
            self.levels.pop()

    def live(self, variable: Variable) -> bool:
        """Whether the variable is read after the current position of the open blocks."""
        return any(
            level.last.get(variable, -1) > level.position or variable in level.around for level in self.levels
        )
