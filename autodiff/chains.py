"""Arrays that a loop changes only by writing into them: put back on the way down instead of kept.

    for i in range(n):                          for i in range(n):
        y = getitem(a, i - 1)                       old_tape[i] = getitem(a, i)
        a = setitem(a, i, sin(y))       ->          a = setitem(a, i, sin(y))
                                                for i in range(n - 1, -1, -1):
                                                    a = setitem(a, i, old_tape[i])
                                                    y = getitem(a, i - 1)

A chain is the succession of versions of such an array, from the one that a loop carries in to the one it
carries out, through writes and through the loops and branches between. Keeping the elements that are
overwritten makes every version available on the way down, and what was read from them with it.
"""
from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..codegen.adopt import adopt_block
from ..codegen.core import (
    ArrayType,
    Assign,
    Block,
    For,
    If,
    Operand,
    Statement,
    Variable,
    While,
    type_of,
    variables_in,
    walk,
)
from ..codegen.primitives.indexing import is_basic
from ..codegen.registry import PRIMITIVES
from .calls import emit
from .levels import Level
from .residuals import UNKNOWN_SIZE, cost, recomputable
from .tapes import Tape

WRITES = ("setitem", "index_add")


@dataclass(eq=False)
class Step:
    """What leads from one version of an array to the next: a write, or one target of a loop or branch."""

    statement: Statement
    before: Variable
    after: Variable
    place: int = 0
    old: Variable | None = None  # what the write overwrites


@dataclass(eq=False)
class Chain:
    """The versions of an array in one block; `holder` is the last one as the backward block has it."""

    first: Variable
    last: Operand
    steps: list[Step] = field(default_factory=list)
    holder: Operand = None


def follow(block: Block, first: Variable, last: Operand) -> list[Step] | None:
    """The steps from one version to another, or None where they are not all writes."""
    steps: list[Step] = []
    current = first
    for statement in block.statements:
        if current is last:
            break
        place = next_place(statement, current)
        if place is not None:
            steps.append(Step(statement, current, statement.targets[place], place))
            current = statement.targets[place]
    return steps if current is last else None


def next_place(statement: Statement, version: Variable) -> int | None:
    """Which target of a statement is the next version of an array."""
    match statement:
        case Assign():
            return 0 if statement.primitive.name in WRITES and statement.operands[0] is version else None
        case If():
            for place, target in enumerate(statement.targets):
                ends = (statement.body.results[place], statement.orelse.results[place])
                blocks = (statement.body, statement.orelse)
                if target.type == version.type and all(
                        follow(b, version, end) is not None for b, end in zip(blocks, ends)):
                    return place
        case For() | While():
            for place, initial in enumerate(statement.initial):
                if initial is version and loop_steps(statement, place):
                    return place
    return None


def loop_steps(loop: For | While, place: int) -> list[Step] | None:
    return follow(loop.body, loop.carried[place], loop.body.results[place])


def versions(steps: Iterable[Step]) -> Iterator[Variable]:
    """Every version of an array that steps go through, inside their loops and branches too."""
    for step in steps:
        yield step.before
        yield step.after
        if isinstance(step.statement, If):
            for block in (step.statement.body, step.statement.orelse):
                yield from versions(follow(block, step.before, block.results[step.place]))
        elif not isinstance(step.statement, Assign):
            yield step.statement.carried[step.place]
            yield from versions(loop_steps(step.statement, step.place))


def chains_in(loop: For | While) -> list[set[Variable]]:
    """The versions of each array that is changed only by writes, in a loop and the loops in it."""
    found: list[set[Variable]] = []
    for statement in walk(Block([loop])):
        if not isinstance(statement, (For, While)):
            continue
        for place, carried in enumerate(statement.carried):
            known = any(carried in chain for chain in found)
            if known or not (isinstance(carried.type, ArrayType) and carried.type.shape):
                continue
            if steps := loop_steps(statement, place):
                found.append({carried, statement.targets[place], *versions(steps)})
    return found


def chains_read(chains: list[set[Variable]], tapes: Iterable[Tape]) -> set[Variable]:
    """The versions of those chains from which something that is kept could be read again."""
    reached: set[Variable] = set()
    for tape in tapes:
        waiting, seen = [tape.variable], set()
        while waiting:
            variable = waiting.pop()
            made = tape.level.definitions.get(variable)
            if variable in seen:
                continue
            seen.add(variable)
            if recomputable(made):
                waiting += variables_in(made.operands)
        reached |= seen
    return set().union(*(chain for chain in chains if chain & reached))


def kept_bytes(tapes: Iterable[Tape]) -> int:
    """About how many bytes tapes take."""
    return sum(cost(tape.variable) * math.prod(map(trips, tape.level.loops)) for tape in tapes)


def trips(loop: For | While) -> int:
    """How often a loop runs, as far as that is known."""
    if isinstance(loop, For) and not any(variables_in((loop.start, loop.stop, loop.step))):
        return len(range(loop.start, loop.stop, loop.step))
    return UNKNOWN_SIZE


def keep_old_elements(sweep, block: Block, chain: Chain) -> None:
    """Have a forward block read what its writes overwrite, before each write."""
    builder = sweep.builder
    for step in chain.steps:
        if not isinstance(step.statement, Assign):
            continue
        at = block.statements.index(step.statement)
        with builder.elsewhere():
            adopt_block(builder, Block(block.statements[:at]))
            builder.location = step.statement.location
            with builder.inside(Block()) as reading:
                step.old = emit(builder, "getitem", step.before, step.statement.operands[1])
        block.statements[at:at] = reading.statements
        sweep.inserted += [(block, statement) for statement in reading.statements]


def chains_at(sweep, level: Level, pairs: Iterable[tuple[Variable, Operand, Operand]]) -> None:
    """Tell a level which arrays to put back: (first version, last version, its holder) of each."""
    for first, last, holder in pairs:
        steps = follow(level.block, first, last)
        chain = Chain(first, last, steps, holder)
        keep_old_elements(sweep, level.block, chain)
        level.chains.append(chain)
    level.survey()
    for chain in level.chains:
        level.bound.add(chain.first)
        for step in chain.steps:
            if not isinstance(step.statement, Assign):
                continue
            level.definitions.pop(step.old, None)  # it must be kept: on the way down, it comes first
            read_back_written(level, step)


def read_back_written(level: Level, step: Step) -> None:
    """A value that was written can be read from the array, rather than kept."""
    if step.statement.primitive.name != "setitem":
        return
    _, index, value = step.statement.operands
    same = isinstance(value, Variable) and value in level.bound and value.type == type_of(step.old)
    if same and value.type.inexact and is_basic(index):
        level.definitions[value] = Assign((value,), PRIMITIVES["getitem"], (step.after, index))


class Attempt:
    """What a sweep had worked out before a loop was transposed, so that it can be transposed otherwise."""

    def __init__(self, sweep, adjoints, level: Level):
        self.sweep = sweep
        scope = sweep.builder.scopes[-1]
        self.kept = {block: list(tapes) for block, tapes in sweep.kept.items()}
        self.tables = [(adjoints, "values"), (adjoints, "masks"), (level, "bound"), (level, "regained"),
                       (sweep, "counts"), (scope, "known"), (scope, "equal")]
        self.before = [copy.copy(getattr(owner, name)) for owner, name in self.tables]
        self.inserted, self.emitted = len(sweep.inserted), len(scope.block.statements)

    def tapes(self) -> list[Tape]:
        """The tapes made since."""
        return [t for block, tapes in self.sweep.kept.items() for t in tapes
                if t not in self.kept.get(block, ())]

    def undo(self) -> None:
        sweep, block = self.sweep, self.sweep.builder.block
        for (owner, name), table in zip(self.tables, self.before):
            setattr(owner, name, copy.copy(table))
        sweep.kept = {block: list(tapes) for block, tapes in self.kept.items()}
        for where, statement in sweep.inserted[self.inserted:]:
            where.statements.remove(statement)
        del sweep.inserted[self.inserted:]
        del block.statements[self.emitted:]
