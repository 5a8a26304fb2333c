"""Stacks of numbers as arrays: the last step before machine code, for which a list is slow.

    x_tape.append(x)        ->      if count == x_tape.shape[0]:
                                        x_tape = longer(x_tape)
                                    x_tape[count] = x
                                    count = count + 1

Where it can be counted before how many there will be, the array has room for them from the start. Else a
stack that a loop makes anew in each turn keeps its array from turn to turn. Stacks that grow and shrink
together have one count. A stack that the program is given or gives back stays a list.

>>> from .build import Builder
>>> from .core import FLOAT
>>> from .primitives import stacks
>>> builder = Builder()
>>> full = builder.emit(stacks.push, builder.emit(stacks.stack, element=FLOAT), 2.0)
>>> _, builder.block.results = builder.emit(stacks.pop, full)
>>> builder.block.results = (builder.block.results,)
>>> made = stacks_in_arrays(Program("f", (), builder.block))
>>> [statement.primitive for statement in made.body.statements if isinstance(statement, Assign)]
[empty, size, equal, setitem, add, subtract, getitem, astype]
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

from .adopt import open_program
from .build import Builder
from .core import (
    BOOL,
    INT,
    ArrayType,
    Assign,
    Block,
    For,
    If,
    Operand,
    Program,
    StackType,
    Statement,
    Variable,
    While,
    blocks_of,
    variables_in,
)
from .registry import PRIMITIVES
from .stack_room import Counting
from .union import Union

SMALLEST = 16  # elements that a new array has room for
OPERATIONS = ("stack", "push", "pop")


def stacks_in_arrays(program: Program) -> Program:
    """The program with its own stacks of numbers kept in arrays."""
    survey = Survey(program)
    if not survey.operations:
        return program
    return Program(program.name, program.parameters, Writer(survey, program).block(program.body))


def is_stack(operand: Operand) -> bool:
    return isinstance(operand, Variable) and isinstance(operand.type, StackType)


class Survey:
    """Which variables are one stack at different times; which stacks are in arrays, and have one count."""

    def __init__(self, program: Program):
        self.versions = Union()
        self.operations: defaultdict[Variable, list[tuple[Block, str, int]]] = defaultdict(list)
        self.others: set[Variable] = set()
        self.found: list[tuple[Variable, Block, Assign]] = []
        self.around: dict[Block, tuple[Statement, ...]] = {}
        self.definitions: dict[Variable, Assign] = {}
        self.walk(program.body, ())
        outside = {*program.parameters, *variables_in(program.results), *self.others}
        self.lists = {self.of(v) for v in outside if is_stack(v)}
        for place, (variable, block, made) in enumerate(self.found):
            if self.of(variable) not in self.lists and not variable.type.element.shape:
                self.operations[self.of(variable)].append((block, made.primitive.name, place))
        self.counts = {stack: self.first_alike(stack) for stack in self.operations}

    def of(self, variable: Variable) -> Variable:
        return self.versions.find(variable)

    def walk(self, block: Block, around: tuple[Statement, ...]) -> None:
        self.around[block] = around
        for statement in block.statements:
            if isinstance(statement, Assign):
                self.definitions.update(dict.fromkeys(statement.targets, statement))
                self.assign(statement, block)
                continue
            if isinstance(statement, If):
                ends = statement.targets, statement.body.results, statement.orelse.results
            else:
                ends = statement.carried, statement.targets, statement.initial, statement.body.results
            for one in zip(*ends):
                self.unite(*one)
            for inner in blocks_of(statement):
                self.walk(inner, (*around, statement))

    def assign(self, statement: Assign, block: Block) -> None:
        stacks = [v for v in (*statement.targets, *variables_in(statement.operands)) if is_stack(v)]
        if not stacks:
            return
        self.unite(*stacks)
        if statement.primitive.name in OPERATIONS:
            self.found.append((stacks[0], block, statement))
        else:
            self.others.add(stacks[0])

    def unite(self, *operands: Operand) -> None:
        found = list(filter(is_stack, operands))
        if found:
            self.versions.join(*found)

    def counting(self, stack: Variable) -> Counting | None:
        """What counts the elements that are put on a stack, if loops do so whose turns are known before."""
        blocks = {name: [b for b, of, _ in self.operations[stack] if of == name] for name in OPERATIONS}
        if len(blocks["stack"]) != 1 or len(blocks["push"]) != 1:
            return None
        (home,), (full,) = blocks["stack"], blocks["push"]
        loops = self.around[full][len(self.around[home]) :]
        if not loops or not all(isinstance(loop, For) for loop in loops):
            return None
        counting = Counting(loops, self.definitions)
        return counting if counting.countable(()) else None

    def first_alike(self, stack: Variable) -> Variable:
        """The first stack that always holds as many elements as this one, but for neighbouring operations."""
        return next(other for other in self.operations if other is stack or self.in_step(other, stack))

    def in_step(self, a: Variable, b: Variable) -> bool:
        one, other = self.operations[a], self.operations[b]
        if [step[:2] for step in one] != [step[:2] for step in other]:
            return False
        spans = [sorted((x[2], y[2])) for x, y in zip(one, other)]
        return all(before[1] < after[0] for before, after in zip(spans, spans[1:]))

    def is_last(self, stack: Variable, number: int) -> bool:
        """Whether the stacks of one count have all done their operation of this number once this one has."""
        return self.position(stack, number) == max(self.positions(stack, number))

    def is_first(self, stack: Variable, number: int) -> bool:
        return self.position(stack, number) == min(self.positions(stack, number))

    def position(self, stack: Variable, number: int) -> int:
        return self.operations[stack][number][2]

    def positions(self, stack: Variable, number: int) -> list[int]:
        alike = [other for other, first in self.counts.items() if first is self.counts[stack]]
        return [self.position(other, number) for other in alike]


Key = Variable | tuple[Variable]


class Writer:
    """Writes the program with arrays.

    `now` has the present array of each stack, and the present count of each tuple with the first of the
    stacks that it is the count of.
    """

    def __init__(self, survey: Survey, program: Program):
        self.survey = survey
        self.now: dict[Key, Operand] = {}
        self.counting = {stack: survey.counting(stack) for stack in survey.operations}
        self.done: defaultdict[Variable, int] = defaultdict(int)
        # For each loop around, the arrays that it is to carry; None where a branch is between, or outside.
        self.made: list[dict[Key, Variable] | None] = [None]
        self.statements: list[Statement] = []
        self.location: Any = None
        self.rooms: dict[tuple, Operand] = {}
        self.builder = Builder()
        open_program(self.builder, program)

    def stack(self, operand: Operand) -> Variable | None:
        """The stack that an operand is a version of, if that is kept in an array."""
        found = self.survey.of(operand) if is_stack(operand) else None
        return found if found in self.survey.operations else None

    def count(self, stack: Variable) -> Key:
        return (self.survey.counts[stack],)

    def emit(self, name: str, target: Variable, *operands: Operand, **static: Any) -> Variable:
        self.statements.append(Assign((target,), PRIMITIVES[name], operands, static, self.location))
        return target

    def version(self, key: Key) -> Variable:
        """A new variable for an array, of which the size is nowhere said, or for a count."""
        if isinstance(key, tuple):
            return Variable("count", INT)
        return Variable(key.name, ArrayType(key.type.element.dtype, (Variable("room", INT),)))

    def block(self, block: Block) -> Block:
        """A block, without the results that are stacks."""
        outer, self.statements = self.statements, []
        for statement in block.statements:
            self.location = statement.location
            match statement:
                case Assign():
                    self.assign(statement)
                case If():
                    self.branch(statement)
                case _:
                    self.loop(statement)
        made, self.statements = Block(self.statements, self.left(block.results)), outer
        return made

    def left(self, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
        return tuple(operand for operand in operands if self.stack(operand) is None)

    def assign(self, statement: Assign) -> None:
        stack = next(filter(None, map(self.stack, (*statement.targets, *statement.operands))), None)
        if stack is None:
            self.statements.append(statement)
            return
        number = self.done[stack]
        self.done[stack] += 1
        match statement.primitive.name:
            case "stack":
                self.now[self.count(stack)] = 0
                if self.counting[stack] is None:
                    self.now[stack] = self.new(stack)
            case "push":
                self.push(stack, statement.operands[1], self.survey.is_last(stack, number))
            case "pop":
                self.pop(stack, statement.targets[1], self.survey.is_first(stack, number))

    def new(self, stack: Variable) -> Variable:
        """An array for a stack that is made now; in a loop, that of the turn before."""
        array = self.version(stack)
        if self.made[-1] is None:
            return self.emit("empty", array, (SMALLEST,), dtype=array.type.dtype)
        return self.made[-1].setdefault(stack, array)

    def push(self, stack: Variable, value: Operand, last: bool) -> None:
        key, array = self.count(stack), self.now[stack]
        if self.counting[stack] is None:
            array = self.with_room(stack, array, self.now[key])
        self.now[stack] = self.emit("setitem", self.version(stack), array, (self.now[key],), value)
        if last:
            self.now[key] = self.emit("add", self.version(key), self.now[key], 1)

    def with_room(self, stack: Variable, array: Variable, count: Operand) -> Variable:
        """The array of a stack, if there is room in it after `count` elements, or a longer one."""
        size = self.emit("size", Variable(None, INT), array, axis=0)
        full = self.emit("equal", Variable(None, BOOL), count, size)
        longer, target = self.version(stack), self.version(stack)
        grow = Assign((longer,), PRIMITIVES["longer"], (array,), {}, self.location)
        blocks = Block([grow], (longer,)), Block([], (array,))
        self.statements.append(If((target,), full, *blocks, self.location))
        return target

    def pop(self, stack: Variable, target: Variable, first: bool) -> None:
        key = self.count(stack)
        if first:
            self.now[key] = self.emit("subtract", self.version(key), self.now[key], 1)
        of = target.type
        read = Variable(None, ArrayType(of.dtype)) if of.weak else target
        self.emit("getitem", read, self.now[stack], (self.now[key],))
        if of.weak:
            self.emit("astype", target, read, dtype=of.dtype, weak=True)

    # control flow

    def passed(self, operands: tuple[Operand, ...]) -> list[Key]:
        """The arrays and counts in place of the stacks among some operands."""
        stacks = [stack for stack in map(self.stack, operands) if stack in self.now]
        return list(dict.fromkeys([*stacks, *map(self.count, stacks)]))

    def branch(self, statement: If) -> None:
        keys, before, blocks = self.passed(statement.targets), self.now, []
        for block in (statement.body, statement.orelse):
            self.now = dict(before)
            self.made.append(None)
            made = self.block(block)
            self.made.pop()
            blocks.append(Block(made.statements, (*made.results, *(self.now[key] for key in keys))))
        self.now = before | {key: self.version(key) for key in keys}
        targets = (*self.left(statement.targets), *(self.now[key] for key in keys))
        self.statements.append(replace(statement, targets=targets, body=blocks[0], orelse=blocks[1]))

    def start(self, loop: For | While) -> None:
        """Make the arrays of the stacks that a loop fills with as many elements as can be counted before."""
        for stack in filter(None, map(self.stack, loop.targets)):
            counting = self.counting[stack]
            if counting is None or counting.loops[0] is not loop:
                continue
            if counting.loops not in self.rooms:
                with self.builder.inside(Block()) as block, self.builder.at(loop.location):
                    self.rooms[counting.loops] = counting.room(self.builder, ())
                self.statements += block.statements
            array = self.version(stack)
            room = self.rooms[counting.loops]
            self.now[stack] = self.emit("empty", array, (room,), dtype=array.type.dtype)

    def loop(self, statement: For | While) -> None:
        self.start(statement)
        keys = self.passed(statement.carried)
        initial = {key: self.now[key] for key in keys}
        carried = {key: self.version(key) for key in keys}
        self.now |= carried
        self.made.append({})
        parts = {"test": self.block(statement.test)} if isinstance(statement, While) else {}
        body = self.block(statement.body)
        carried |= self.made.pop()
        results = tuple(self.now[key] for key in carried)
        initial |= {key: self.new(key) for key in carried if key not in initial}
        targets = {key: self.version(key) for key in carried}
        self.now |= targets
        numbers = [k for k, of in enumerate(statement.carried) if self.stack(of) is None]
        pick = lambda operands, more: (*(operands[k] for k in numbers), *more)
        parts |= {
            "body": Block(body.statements, (*body.results, *results)),
            "targets": pick(statement.targets, targets.values()),
            "carried": pick(statement.carried, carried.values()),
            "initial": pick(statement.initial, initial.values()),
        }
        self.statements.append(replace(statement, **parts))
