"""Lanes with loops of their own, several at a time: in vectors, none of them waiting for another.

    for lane in range(n):                  slots of some arrays hold the numbers of sixteen lanes; while any
        a = x[lane]                        is left, lanes that have ended give their slots to those that wait,
        while a > 1:             ->        and the others do a turn:
            a = a / 2                          for slot in range(16):
        y[lane] = a                                a = a_slots[slot] / 2
                                                   a_slots[slot] = a
                                                   running[slot] = a > 1

A lane whose check fails is done once more alone, to raise its exception, if no lane before it fails.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np

from .build import Builder, fold
from .core import (
    BOOL,
    INT,
    Assign,
    Block,
    For,
    If,
    Operand,
    Program,
    Statement,
    Variable,
    blocks_of,
    free_variables,
    walk,
)
from .lane_parts import Lane, Vectorises, is_check, lane_of, may_refuse
from .python_arithmetic import refused
from .registry import PRIMITIVES, array_scalar
from .renaming import Renaming
from .threaded import Threaded

SLOTS = 16
LANES = 512  # of a block: cores share blocks, and at the end of one slots are empty


def lanes_in_step(program: Program, vectorises: Vectorises) -> Program:
    """The program with the lanes of its independent loops done several at a time."""
    builder = Builder()
    for statement in program.body.statements:
        lane = lane_of(statement, vectorises) if isinstance(statement, For) else None
        if lane is None:
            builder.append(statement)
        else:
            builder.location = statement.location
            builder.append(blocks_of_lanes(builder, lane))
    return Program(program.name, program.parameters, Block(builder.block.statements, program.results))


def blocks_of_lanes(builder: Builder, lane: Lane) -> For:
    """The loop over blocks of lanes, each of which is done on its own."""
    loop = lane.around
    count = builder.dimension_subtract(loop.stop, loop.start)
    more = builder.dimension_add(count, LANES - 1)
    blocks = builder.emit(PRIMITIVES["floor_divide"], more, LANES, name="blocks")
    block = Variable("block", INT)
    with builder.inside(Block()) as body:
        first = builder.dimension_add(builder.dimension_multiply(block, LANES), loop.start)
        last = builder.dimension_min(builder.dimension_add(first, LANES), loop.stop)
        first.name, last.name = "first", "last"
        body.results = Writer(builder, lane, first, last).write_all()
    return For(
        loop.targets, block, 0, blocks, 1, loop.carried, loop.initial, body, loop.location, independent=True
    )


class Writer:
    """Writes a block of lanes.

    Its values are the arrays that lanes write, by number; an array with a slot for each lane under way, by
    the number that the lane keeps there; and by name what is known of the slots, and of the lanes left.
    """

    def __init__(self, builder: Builder, lane: Lane, first: Operand, last: Operand):
        self.builder, self.lane, self.first, self.last = builder, lane, first, last
        self.checked = lane.checked()
        self.versions = dict(zip(lane.around.carried, itertools.count()))
        left = self.emit("subtract", last, first)
        self.values = Threaded(builder, {"waiting": first, "left": left, "ended": SLOTS})
        self.values.now |= enumerate(lane.around.carried)
        for variable in lane.kept():
            self.make(variable, "zeros", (SLOTS,), dtype=variable.type.dtype)
        self.make("lanes", "full", (SLOTS,), -1, dtype=np.dtype(int))
        self.make("running", "zeros", (SLOTS,), dtype=np.dtype(bool))
        if self.checked:
            self.make("sound", "zeros", (SLOTS,), dtype=np.dtype(bool))
            self.make("failed", "zeros", (left,), dtype=np.dtype(bool))

    def emit(self, primitive: str, *operands: Operand, **static: Any) -> Operand:
        return self.builder.emit(PRIMITIVES[primitive], *operands, **static)

    def make(self, key: Hashable, how: str, *operands: Operand, **static: Any) -> None:
        array = self.emit(how, *operands, **static)
        array.name = key if isinstance(key, str) else f"{self.lane.name(key)}_slots"
        self.values.set(key, array)

    def read(self, key: Hashable, slot: Variable) -> Operand:
        value = self.emit("getitem", self.values[key], (slot,))
        if isinstance(key, Variable) and key.type.weak:
            value = self.emit("astype", value, dtype=key.type.dtype, weak=True)
        value.name = getattr(key, "name", None)
        return value

    def write(self, key: Hashable, at: Operand, value: Operand) -> None:
        array = self.emit("setitem", self.values[key], (at,), value)
        array.name = self.values[key].name
        self.values.set(key, array)

    def add(self, key: str, value: Operand) -> None:
        self.values.set(key, self.emit("add", self.values[key], value, name=key))

    def both(self, a: Operand, b: Operand) -> Operand:
        return b if a is True else a if b is True else self.emit("logical_and", a, b)

    def no(self, a: Operand) -> Operand:
        return not a if isinstance(a, bool) else self.emit("logical_not", a)

    def count(self, truth: Operand) -> Operand:
        if isinstance(truth, bool):
            return int(truth)
        return self.emit("astype", truth, dtype=np.dtype(int), weak=True)

    # a block of lanes

    def write_all(self) -> tuple[Operand, ...]:
        """Do the lanes from `first` to `last`; the arrays that they have written."""
        values = self.values

        def turn() -> None:
            values.repeat(lambda: self.emit("greater", values["ended"], 0), self.fill)
            values.each("slot", SLOTS, self.step, fused=True)

        values.repeat(lambda: self.emit("greater", values["left"], 0), turn)
        if self.checked:
            count = self.emit("subtract", self.last, self.first)
            values.each("lane", count, self.again)
        return tuple(values[k] for k in range(len(self.lane.around.carried)))

    def fill(self) -> None:
        """Give the slots of the lanes that have ended to those that wait."""
        values = self.values

        def free(slot: Variable) -> None:
            lane = self.emit("astype", self.read("lanes", slot), dtype=np.dtype(int), weak=True, name="lane")
            values.branch(self.emit("greater_equal", lane, 0), lambda: self.end(lane, slot))
            waits = self.emit("less", values["waiting"], self.last)
            values.branch(waits, lambda: self.begin(slot), lambda: self.write("lanes", slot, -1))

        def visit(slot: Variable) -> None:
            values.branch(self.no(self.read("running", slot)), lambda: free(slot))

        values.set("ended", 0)
        values.each("slot", SLOTS, visit)

    def begin(self, slot: Variable) -> None:
        """Do what is before the loop for the lane that waits, which gets a slot."""
        lane, loop = self.lane, self.lane.loop
        copy = Copy(self, {lane.around.index: self.values["waiting"]})
        copy.block(Block(lane.before))
        copy.renaming.mapping |= dict(zip(loop.carried, copy.renaming(loop.initial)))
        (goes,) = copy.block(loop.test)
        for variable in lane.kept():
            self.write(variable, slot, copy.renaming(variable))
        goes = self.keep_state(copy, slot, goes)
        self.add("ended", self.count(self.no(goes)))
        self.write("lanes", slot, self.values["waiting"])
        self.add("waiting", 1)

    def step(self, slot: Variable) -> None:
        """Do a turn of the lane in a slot. Of one that has ended nothing is read any more."""
        lane, loop = self.lane, self.lane.loop
        ran = self.read("running", slot)
        wanted = free_variables(loop.body) | free_variables(loop.test)
        held = {variable: self.read(variable, slot) for variable in lane.kept() if variable in wanted}
        copy = Copy(self, dict(held))
        copy.sound = self.read("sound", slot) if self.checked else True
        results = dict(zip(loop.carried, copy.block(loop.body)))
        after = Copy(self, {v: of for v, of in held.items() if v not in lane.tested()} | results)
        after.sound = copy.sound
        (goes,) = after.block(loop.test)
        for variable in (*loop.carried, *lane.tested()):
            self.write(variable, slot, after.renaming(variable))
        goes = self.keep_state(after, slot, self.both(ran, goes))
        self.add("ended", self.count(self.both(ran, self.no(goes))))

    def keep_state(self, copy: Copy, slot: Variable, goes: Operand) -> Operand:
        """Keep whether a lane does another turn, and whether all its checks have held."""
        if self.checked:
            goes = self.both(goes, copy.sound)
            self.write("sound", slot, copy.sound)
        self.write("running", slot, goes)
        return goes

    def end(self, number: Operand, slot: Variable) -> None:
        """Do what is after the loop for a lane that has ended."""
        lane, loop = self.lane, self.lane.loop
        kept = {variable: self.read(variable, slot) for variable in lane.kept()}
        ends = {target: kept[carried] for target, carried in zip(loop.targets, loop.carried)}
        copy = Copy(self, kept | ends | {lane.around.index: number})
        copy.sound = self.read("sound", slot) if self.checked else True
        copy.block(Block(lane.after))
        if self.checked:
            place = self.emit("subtract", number, self.first)
            self.write("failed", place, self.no(copy.sound))
        self.values.set("left", self.emit("subtract", self.values["left"], 1, name="left"))

    def again(self, place: Variable) -> None:
        """Do a lane alone if one of its checks has failed."""
        around = self.lane.around

        def alone() -> None:
            lane = self.emit("add", self.first, place)
            arrays = {carried: self.values[k] for k, carried in enumerate(around.carried)}
            renaming = Renaming({around.index: lane, **arrays})
            renaming.bind_block(around.body)
            made = renaming.block(around.body)
            renaming.retype()
            self.builder.block.statements += made.statements
            self.values.now |= enumerate(made.results)

        self.values.branch(self.read("failed", place), alone)


class Copy:
    """Copies a lane's statements, whose checks do not raise: `sound` says whether all of them have held."""

    def __init__(self, writer: Writer, mapping: dict[Variable, Operand]):
        self.writer, self.builder = writer, writer.builder
        self.renaming = Renaming(mapping)
        self.sound: Operand = True

    def block(self, block: Block) -> tuple[Operand, ...]:
        self.renaming.bind_block(block)
        self.statements(block.statements)
        self.renaming.retype()
        return self.renaming(block.results)

    def statements(self, statements: list[Statement]) -> None:
        for statement in statements:
            if isinstance(statement, Assign):
                self.assign(statement)
            elif any(map(may_refuse, walk(Block([statement])))):
                self.branch(statement)
            else:
                self.builder.append(self.renaming.statement(statement))

    def assign(self, statement: Assign) -> None:
        operands = self.renaming(statement.operands)
        if is_check(statement):
            self.require(operands[0])
            return
        constant = operands and all(map(array_scalar, operands)) and not statement.primitive.effect
        known = fold(statement.primitive, operands, statement.static) if constant else None
        if known is not None:
            self.renaming.mapping[statement.targets[0]] = known
            return
        if may_refuse(statement):
            for _, wrong in refused(self.writer.emit, statement.primitive.name, operands):
                self.require(self.writer.no(wrong))
            statement = replace(statement, static=statement.static | {"weak": True})
        number = self.writer.versions.get(statement.operands[0])
        if number is not None:
            self.renaming.mapping[statement.operands[0]] = self.writer.values[number]
        made = self.renaming.statement(statement)
        self.builder.append(made)
        if number is not None and statement.primitive.destructive:
            self.writer.versions[statement.targets[0]] = number
            self.writer.values.set(number, made.targets[0])

    def require(self, truth: Operand) -> None:
        self.sound = self.writer.both(self.sound, truth)

    def branch(self, statement: If) -> None:
        before, blocks = self.sound, []
        for block in blocks_of(statement):
            self.sound = before
            with self.builder.inside(Block()) as made:
                self.statements(block.statements)
                made.results = (*self.renaming(block.results), self.sound)
            blocks.append(made)
        self.sound = Variable(None, BOOL)
        targets = (*self.renaming(statement.targets), self.sound)
        self.builder.append(If(targets, self.renaming(statement.test), *blocks, statement.location))
