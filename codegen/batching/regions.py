"""Which statements of a block are done together, one example at a time.

All that hangs together by ragged values is one region, with what lies between; so are laned statements with
only a few numbers between them. Where there are several, and all that differs is few numbers, the whole block
is one: nothing is then kept of all examples at once.
"""
from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from ..core import (
    Assign,
    Block,
    For,
    Statement,
    Variable,
    While,
    free_variables,
    operands_of,
    variables_in,
    walk,
)
from ..renaming import sizes_in
from ..small_operations import SMALL, is_few, is_fixed, is_split_operation
from ..visible import is_visible
from .analysis import Analysis

PARTS = "getitem", "setitem", "index_add"
OFTEN = 4  # places of arrays that are read or written


@dataclass
class Region:
    """Statements done in one loop over the examples."""

    statements: list[Statement]


def regions(statements: list[Statement], analysis: Analysis, block: Block, compiled: bool = False
            ) -> list[Statement | Region]:
    """Statements in an order in which they can be done, those that need lanes in regions.

    `compiled`: so are statements that take arrays of few numbers apart, which are then numbers in a lane.
    """
    links = Links(statements, analysis)
    several = sum(s in analysis.laned for s in statements) > 1
    whole = (several or compiled and links.taken_apart()) and links.few_numbers()
    if not whole and not any(s in analysis.laned for s in statements):
        return list(statements)
    return with_own_arrays(ordered(statements, analysis, links, whole), set(variables_in(block.results)))


def with_own_arrays(items: list[Statement | Region], kept: set[Variable]) -> list[Statement | Region]:
    """What only one region reads of new arrays is made in it, fresh for each lane."""
    readers: dict[Variable, set[int]] = {}
    for place, item in enumerate(items):
        for variable in read_by(item):
            readers.setdefault(variable, set()).add(place)
    left: list[Statement | Region] = []
    for item in items:
        if isinstance(item, Assign) and item.primitive.allocates and item.targets[0] not in kept:
            places = readers.get(item.targets[0], set())
            region = items[min(places)] if len(places) == 1 else None
            if isinstance(region, Region):
                region.statements.insert(0, item)
                continue
        left.append(item)
    return left


def read_by(item: Statement | Region) -> dict[Variable, None]:
    return free_variables(Block(item.statements if isinstance(item, Region) else [item]))


def ordered(statements: list[Statement], analysis: Analysis, links: Links, whole: bool
            ) -> list[Statement | Region]:
    laned = {k for k, s in enumerate(statements) if s in analysis.laned}
    chosen = links.closed({k for k in laned if analysis.touches_ragged(statements[k])})
    if whole:
        chosen = links.closed({k for k, s in enumerate(statements) if analysis.differs(links.touched(s))})
    for k in sorted(laned - chosen):
        wider = links.closed(chosen | {k})
        if all(links.small(statements[n]) for n in wider - laned - chosen):
            chosen = wider
    last = max(chosen)
    after = [k for k in range(len(statements)) if k not in chosen and (k > last or links.follows(k, chosen))]
    before = [k for k in range(len(statements)) if k not in chosen and k not in set(after)]
    pick = lambda numbers: [statements[k] for k in sorted(numbers)]
    return [*joined(pick(before), analysis), Region(pick(chosen)), *joined(pick(after), analysis)]


def joined(statements: list[Statement], analysis: Analysis) -> list[Statement | Region]:
    """Laned statements next to each other become one region."""
    items: list[Statement | Region] = []
    for statement in statements:
        if statement not in analysis.laned:
            items.append(statement)
        elif items and isinstance(items[-1], Region):
            items[-1].statements.append(statement)
        else:
            items.append(Region([statement]))
    return items


class Links:
    """What each statement of a block needs of the others."""

    def __init__(self, statements: list[Statement], analysis: Analysis):
        self.statements, self.analysis = statements, analysis
        self.made = {target: k for k, s in enumerate(statements) for target in s.targets}
        self.needs = [{self.made[v] for v in self.reads(s) if v in self.made and self.made[v] != k}
                      | {self.made[v] for v in self.named(s) if self.made.get(v, k) < k}
                      for k, s in enumerate(statements)]  # fmt: skip
        seen = [k for k, s in enumerate(statements) if is_visible(s)]
        for before, after in pairwise(seen):
            self.needs[after].add(before)

    def reads(self, statement: Statement) -> list[Variable]:
        if isinstance(statement, Assign):
            if statement.primitive.name == "size" and statement.targets[0] not in self.analysis.batched:
                return self.of_size(statement)
            return list(variables_in(statement.operands))
        return [*variables_in(operands_of(statement)), *free_variables(Block([statement]))]

    def named(self, statement: Statement) -> list[Variable]:
        """The sizes that differ among the examples which the types of what a statement assigns name."""
        found = (size for target in statement.targets for size in sizes_in(target.type))
        return [size for size in found if size in self.analysis.batched]

    def of_size(self, statement: Assign) -> list[Variable]:
        """A size that is the same for all is read from the type."""
        (array,) = statement.operands
        if not self.analysis.differs(array):
            return list(variables_in(array))
        size = array.type.shape[statement.static["axis"]]
        return [array] if size is statement.targets[0] else list(variables_in(size))

    def later(self, chosen: set[int]) -> set[int]:
        """The statements that need one of the chosen."""
        found: set[int] = set()
        for k, needs in enumerate(self.needs):
            if needs & (chosen | found):
                found.add(k)
        return found

    def earlier(self, chosen: set[int]) -> set[int]:
        """The statements that one of the chosen needs."""
        found: set[int] = set()
        for k in range(len(self.needs) - 1, -1, -1):
            if k in chosen or k in found:
                found |= self.needs[k]
        return found

    def closed(self, chosen: set[int]) -> set[int]:
        """The chosen with what lies between them, the effects among them, and what only they need."""
        if not chosen:
            return chosen
        later = self.later(chosen)
        last = max(chosen)
        effects = {k for k in later if k < last and self.is_effect(self.statements[k])}
        chosen = chosen | effects
        chosen = chosen | (self.later(chosen) & self.earlier(chosen))
        for k in sorted(self.earlier(chosen) - chosen, reverse=True):
            users = {n for n, needs in enumerate(self.needs) if k in needs}
            if self.statements[k] in self.analysis.laned and users <= chosen:
                chosen = chosen | {k}
        return chosen | (self.later(chosen) & self.earlier(chosen))

    def small(self, statement: Statement) -> bool:
        """Whether a statement only computes with numbers, so that nothing is gained by doing all at once."""
        if is_visible(statement):
            return False
        arrays = (*statement.targets, *variables_in(operands_of(statement)))
        return isinstance(statement, Assign) and not any(getattr(v.type, "shape", ()) for v in arrays)

    def few_numbers(self) -> bool:
        """Whether all that differs is few numbers, and no work is better done for all examples at once."""
        heavy = (s for s in self.statements if self.analysis.heavy((s,)))
        return all(map(self.few, self.statements)) and all(map(is_of_numbers, heavy))

    def taken_apart(self) -> bool:
        """Whether there are no loops, and arrays made here are read and written at many known places."""
        if any(isinstance(s, (For, While)) for s in walk(Block(self.statements))):
            return False
        return sum(map(self.takes_part, self.statements)) >= OFTEN

    def takes_part(self, statement: Statement) -> bool:
        if not isinstance(statement, Assign) or statement.primitive.name not in PARTS:
            return False
        array, index, *_ = statement.operands
        return array in self.made and array in self.analysis.batched and is_fixed(index)

    def touched(self, statement: Statement) -> list[Variable]:
        return [*statement.targets, *self.reads(statement)]

    def few(self, statement: Statement) -> bool:
        """Whether what differs among the examples is numbers, or so few that they are numbers in a lane."""
        if is_visible(statement):
            return False
        touched = (v for s in walk(Block([statement])) for v in self.touched(s))
        differing = [v.type for v in touched if v in self.analysis.batched]
        return all(not getattr(of, "shape", (None,)) or is_few(of, SMALL) for of in differing)

    def is_effect(self, statement: Statement) -> bool:
        return isinstance(statement, Assign) and statement.primitive.effect

    def follows(self, k: int, chosen: set[int]) -> bool:
        return k in self.later(chosen)


def is_of_numbers(statement: Statement) -> bool:
    """Whether an operation is done number by number in a lane."""
    return isinstance(statement, Assign) and is_split_operation(statement)
