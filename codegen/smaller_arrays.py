"""Smaller arrays: what is written and read in the same turn of a loop needs no axis for the loop.

    y = np.empty((n, m))                          y = np.empty(m)
    for i in range(n):                            for i in range(n):
        for j in range(m):                            for j in range(m):
            y[i, j] = exp(x[i, j])      ->                y[j] = exp(x[i, j])
        for j in range(m):                            for j in range(m):
            z[i, j] = y[i, j] / total[i]                  z[i, j] = y[j] / total[i]

An array of which no axis is left, but for axes of size 1, is a number. One of zeros is cleared in each turn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .access import is_array, is_one
from .arrays_over_time import Histories
from .core import (
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
    operands_of,
    variables_in,
)
from .reduce import literal
from .registry import PRIMITIVES
from .renaming import Renaming
from .row_loops import INDEXED, places_of


@dataclass(eq=False)
class Access:
    """A statement that reads or writes part of an array, the blocks that it is in, and its turn."""

    statement: Assign
    around: tuple[tuple[Statement, Block], ...]
    turn: int


def make_arrays_smaller(program: Program) -> Program:
    """The program without the axes that no array needs."""
    survey = Survey(program.body)
    survey.escape((program.parameters, program.results))
    smaller = Smaller(survey.histories)
    for made, around in survey.made:
        history = survey.histories.of(made.targets[0])
        accesses = survey.accesses.get(history, [])
        if history not in survey.escaped and survey.origins[history] == 1 and accesses:
            smaller.decide(history, accesses, len(around), made.primitive.name == "zeros")
    if not smaller.dropped:
        return program
    return Program(program.name, program.parameters, smaller.block(program.body))


class Survey:
    """What is done with each array, and where."""

    def __init__(self, body: Block):
        self.histories = Histories(body)
        self.made: list[tuple[Assign, tuple]] = []
        self.accesses: dict[Variable, list[Access]] = {}
        self.origins: dict[Variable, int] = {}
        self.escaped: set[Variable] = set()
        self.turn = 0
        self.block(body, ())

    def escape(self, operands: Operand) -> None:
        self.escaped.update(self.histories.of(v) for v in variables_in(operands))

    def block(self, block: Block, around: tuple) -> None:
        for statement in block.statements:
            self.turn += 1
            if isinstance(statement, Assign):
                self.assign(statement, around)
                continue
            if isinstance(statement, While):
                self.escape((statement.initial, statement.targets))
            for inner in blocks_of(statement):
                self.block(inner, (*around, (statement, inner)))
                self.escape([v for v in variables_in(inner.results) if self.histories.is_view(v)])
            self.escape([v for v in variables_in(operands_of(statement)) if self.histories.is_view(v)])

    def assign(self, statement: Assign, around: tuple) -> None:
        of, operands = self.histories.of, statement.operands
        for target in statement.targets[statement.primitive.destructive :]:
            if not self.histories.is_view(target):
                self.origins[of(target)] = self.origins.get(of(target), 0) + 1
        if statement.primitive.name in ("empty", "zeros") and statement.targets[0].type.shape:
            self.made.append((statement, around))
            return
        indexed = statement.primitive.name in INDEXED and not self.histories.is_view(operands[0])
        if indexed:
            access = Access(statement, around, self.turn)
            self.accesses.setdefault(of(operands[0]), []).append(access)
        for place, operand in enumerate(operands):
            if not (indexed and place == 0):
                self.escape([v for v in variables_in(operand) if not self.histories.is_view(v)])
        if statement.primitive.destructive and self.histories.is_view(operands[0]):
            self.escape(operands[0])


class Smaller:
    """Rewrites a program with fewer axes."""

    def __init__(self, histories: Histories):
        self.histories = histories
        self.dropped: dict[Variable, set[int]] = {}
        self.numbers: set[Variable] = set()
        self.values: dict[Variable, Operand] = {}
        self.cleared: dict[Statement, list[Variable]] = {}
        self.renaming = Renaming({})

    def decide(self, history: Variable, accesses: list[Access], depth: int, zeros: bool) -> None:
        """Find the axes along which all that is done is done in the same turn of a loop."""
        dropped: set[int] = set()
        innermost = None
        number = is_number(accesses)
        for loop, _ in common([access.around for access in accesses])[depth:]:
            if isinstance(loop, If):
                continue
            places = [places_of(loop.index, access.statement.operands[1]) for access in accesses]
            axes = set.intersection(*places) - dropped
            if axes:
                dropped.add(min(axes))
                innermost = loop
                if zeros and not number and len(dropped) == len(history.type.shape) - 1:
                    break
            elif not (number and of_one_element(accesses)):
                break  # Another turn may read what this one has written.
        shape = history.type.shape
        rest = [axis for axis in range(len(shape)) if axis not in dropped]
        if number and all(is_one(shape[axis]) for axis in rest):
            self.numbers.add(history)
            dropped.update(rest)
        elif not rest:
            dropped.discard(max(dropped))
        if dropped:
            self.dropped[history] = dropped
            if zeros and history not in self.numbers:
                self.cleared.setdefault(innermost, []).append(history)

    def block(self, block: Block) -> Block:
        made = [one for statement in block.statements for one in self.statement(statement)]
        kept = [result for result in block.results if not self.is_number(result)]
        return Block(made, tuple(map(self.name, kept)))

    def is_number(self, operand: Operand) -> bool:
        return isinstance(operand, Variable) and self.histories.of(operand) in self.numbers

    def statement(self, statement: Statement) -> list[Statement]:
        if isinstance(statement, Assign):
            return self.assign(statement)
        renamed = lambda operands: tuple(self.name(o) for o in operands if not self.is_number(o))
        parts: dict = {"targets": renamed(statement.targets)}
        if not isinstance(statement, If):
            parts |= {"carried": renamed(statement.carried), "initial": renamed(statement.initial)}
        if isinstance(statement, For):
            parts |= {name: self.renaming(getattr(statement, name)) for name in ("start", "stop", "step")}
        names = {If: ("body", "orelse"), For: ("body",), While: ("test", "body")}[type(statement)]
        if isinstance(statement, If):
            parts["test"] = self.renaming(statement.test)
        clearing = self.clearing(statement) if statement in self.cleared else []
        for name in names:
            parts[name] = self.block(getattr(statement, name))
        if clearing:
            parts["body"] = Block([*clearing, *parts["body"].statements], parts["body"].results)
        return [replace(statement, **parts)]

    def clearing(self, loop: For) -> list[Statement]:
        """What clears the arrays that were zeros, at the beginning of a turn."""
        made: list[Statement] = []
        for carried in loop.carried:
            if is_array(carried) and self.histories.of(carried) in self.cleared[loop]:
                before = self.name(carried)
                after = self.renaming.mapping[carried] = Variable(before.name, before.type)
                index = (slice(None),) * before.type.ndim
                operands = (before, index, literal(before.type.dtype, 0))
                made.append(Assign((after,), PRIMITIVES["setitem"], operands, {}, loop.location))
        return made

    def name(self, operand: Operand) -> Operand:
        """An operand with the smaller arrays in place of the larger."""
        if isinstance(operand, Variable) and operand not in self.renaming.mapping:
            dropped = self.dropped.get(self.histories.of(operand))
            if dropped and not self.histories.is_view(operand):
                shape = tuple(size for axis, size in enumerate(operand.type.shape) if axis not in dropped)
                smaller = Variable(operand.name, operand.type.with_shape(shape))
                self.renaming.mapping[operand] = smaller
        return self.renaming(operand)

    def assign(self, statement: Assign) -> list[Statement]:
        operands, targets = statement.operands, statement.targets
        array = targets[0] if statement.primitive.allocates and targets else next(iter(operands), None)
        history = self.histories.of(array) if isinstance(array, Variable) else None
        dropped = self.dropped.get(history)
        if not dropped or self.histories.is_view(array):
            return [replace(statement, operands=self.renaming(operands))]
        if statement.primitive.allocates:
            rest = tuple(size for axis, size in enumerate(array.type.shape) if axis not in dropped)
            made = [
                Assign((self.name(array),), PRIMITIVES["empty"], (self.renaming(rest),), statement.static)
            ]
            return [] if history in self.numbers else made
        index = tuple(entry for place, entry in enumerate(operands[1]) if place not in dropped)
        if history in self.numbers:
            if statement.primitive.name == "setitem":
                self.values[history] = self.renaming(operands[2])
            else:
                self.renaming.mapping[targets[0]] = self.values[history]
            return []
        if statement.primitive.name == "getitem" and all(map(is_everything, index)):
            self.renaming.mapping[targets[0]] = self.name(operands[0])
            return []
        targets = tuple(map(self.name, targets)) if statement.primitive.destructive else targets
        return [
            replace(
                statement,
                targets=targets,
                operands=(self.name(operands[0]), self.renaming(index), *self.renaming(operands[2:])),
            )
        ]


def is_number(accesses: list[Access]) -> bool:
    """Whether what is done with one element is to write it and then to read it."""
    writes = [access for access in accesses if access.statement.primitive.destructive]
    if len(writes) != 1 or writes[0].statement.primitive.name != "setitem":
        return False
    (write,) = writes
    return all(
        access is write
        or (
            access.turn > write.turn
            and access.around[: len(write.around)] == write.around
            and not access.statement.targets[0].type.shape
        )
        for access in accesses
    )


def of_one_element(accesses: list[Access]) -> bool:
    """Whether the same index is used everywhere."""
    first, *others = (access.statement.operands[1] for access in accesses)
    return all(len(first) == len(other) and all(a is b for a, b in zip(first, other)) for other in others)


def is_everything(entry: Operand) -> bool:
    return isinstance(entry, slice) and entry == slice(None)


def common(paths: list[tuple]) -> tuple:
    """What some paths have in common at their beginning, up to a loop whose end is not known."""
    found = []
    for parts in zip(*paths):
        if any(part != parts[0] for part in parts) or isinstance(parts[0][0], While):
            break
        found.append(parts[0])
    return tuple(found)
