"""The text for lanes in step: their numbers in slots, turns done in all slots at once.

A lane whose check fails is done once more alone, to raise its exception, if no lane before it fails.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

import numpy as np

from .build import Builder, fold
from .core import (
    BOOL,
    INT,
    ArrayType,
    Assign,
    Block,
    For,
    If,
    Operand,
    Statement,
    Variable,
    While,
    blocks_of,
    free_variables,
    walk,
)
from .lane_parts import Lane
from .python_arithmetic import is_check, may_refuse, refused
from .registry import PRIMITIVES, array_scalar
from .renaming import Renaming
from .threaded import Threaded

SLOTS = 16
# Lanes of a block: cores share blocks, and at the end of one slots are empty.
FEWEST, MOST = 64, 512
BLOCKS = 8  # unless these have too many lanes, or too few


def blocks_of_lanes(builder: Builder, lane: Lane, writer: type[Writer]) -> For:  # noqa: F821
    """The loop over blocks of lanes, each of which is done on its own."""
    loop = lane.around
    builder.location = loop.location
    count = builder.dimension_subtract(loop.stop, loop.start)
    divided = lambda n, by: builder.emit(PRIMITIVES["floor_divide"], n, by, weak=True)
    size = builder.dimension_min(builder.dimension_max(divided(count, BLOCKS), FEWEST), writer.most)
    before = builder.dimension_subtract(builder.dimension_add(count, size), 1)
    blocks = divided(before, size)
    if isinstance(count, Variable):
        size.name, blocks.name = "size", "blocks"
    block = Variable("block", INT)
    with builder.inside(Block()) as body:
        first = builder.dimension_add(builder.dimension_multiply(block, size), loop.start)
        last = builder.dimension_min(builder.dimension_add(first, size), loop.stop)
        first.name, last.name = "first", "last"
        body.results = writer(builder, lane, first, last).write_all()
    return For(
        loop.targets, block, 0, blocks, 1, loop.carried, loop.initial, body, loop.location, independent=True
    )


def by_dtype(variables: list[Variable], dtype: Callable[[Variable], Any]) -> dict[Any, list[Variable]]:
    """Variables of the same dtype together."""
    groups: dict[Any, list[Variable]] = {}
    for variable in variables:
        groups.setdefault(dtype(variable), []).append(variable)
    return groups


class Copy:
    """Copies a lane's statements, whose checks do not raise: `sound` says whether all of them have held.

    What branches leave for after them is in `left`, by key.
    """

    def __init__(self, writer: Writer, mapping: dict[Variable, Operand], sound: Operand = True):
        self.writer, self.builder = writer, writer.builder
        self.renaming = Renaming(mapping)
        self.left: dict[Hashable, Operand] = {"sound": sound}

    @property
    def sound(self) -> Operand:
        return self.left["sound"]

    def block(self, block: Block) -> tuple[Operand, ...]:
        self.renaming.bind_block(block)
        self.statements(block.statements)
        self.renaming.retype()
        return self.renaming(block.results)

    def statements(self, statements: list[Statement]) -> None:
        for statement in statements:
            if isinstance(statement, Assign):
                self.assign(statement)
            elif self.leaves(statement):
                self.branch(statement)
            else:
                self.builder.append(self.renaming.statement(statement))

    def leaves(self, branch: If) -> bool:
        """Whether anything is left for after a branch."""
        return any(map(may_refuse, walk(Block([branch]))))

    def assign(self, statement: Assign) -> None:
        operands = self.renaming(statement.operands)
        if is_check(statement):
            self.require(operands[0])
            return
        if statement.primitive.name == "logical_and" and any(operand is True for operand in operands):
            others = [operand for operand in operands if operand is not True]
            self.renaming.mapping[statement.targets[0]] = others[0] if others else True
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
        self.left["sound"] = self.writer.both(self.sound, truth)

    def branch(self, statement: If) -> None:
        before, blocks, ends = self.left, [], []
        for block in blocks_of(statement):
            self.left = dict(before)
            with self.builder.inside(Block()) as made:
                self.statements(block.statements)
                made.results = self.renaming(block.results)
            blocks.append(made)
            ends.append(self.left)
        keys = [key for key in ends[0] | ends[1] if len({id(end.get(key)) for end in (before, *ends)}) > 1]
        for made, end in zip(blocks, ends):
            made.results += tuple(end.get(key, 0) for key in keys)
        self.left = ends[0] | ends[1] | {key: Variable(None, self.type_left(key)) for key in keys}
        targets = (*self.renaming(statement.targets), *(self.left[key] for key in keys))
        self.builder.append(If(targets, self.renaming(statement.test), *blocks, statement.location))

    def type_left(self, key: Hashable) -> ArrayType:
        return BOOL


class Writer:
    """Writes a block of lanes.

    Its values are the arrays that lanes write, by number; an array with a slot for each lane under way, by
    the number that the lane keeps there; and by name what is known of the slots, and of the lanes left.
    """

    copies = Copy
    most = MOST

    def __init__(self, builder: Builder, lane: Lane, first: Operand, last: Operand):
        self.builder, self.lane, self.first, self.last = builder, lane, first, last
        self.checked = lane.checked()
        self.versions = dict(zip(lane.around.carried, itertools.count()))
        left = self.emit("subtract", last, first, name="count" if self.checked else None)
        self.values = Threaded(builder, {"waiting": first, "left": left, "ended": SLOTS})
        self.values.now |= enumerate(lane.around.carried)
        self.make_slots(lane.kept())
        self.make("lanes", "full", (SLOTS,), -1, dtype=np.dtype(int))
        self.make("running", "zeros", (SLOTS,), dtype=np.dtype(bool))
        if self.checked:
            self.make("sound", "zeros", (SLOTS,), dtype=np.dtype(bool))
            self.make("failed", "zeros", (left,), dtype=np.dtype(bool))

    def emit(self, primitive: str, *operands: Operand, **static: Any) -> Operand:
        return self.builder.emit(PRIMITIVES[primitive], *operands, **static)

    def make(
        self, key: Hashable, how: str, *operands: Operand, name: str | None = None, **static: Any
    ) -> None:
        """Make an array; `name`: what it is called, if not by its key."""
        array = self.emit(how, *operands, **static)
        array.name = name or key
        self.values.set(key, array)

    def make_slots(self, variables: list[Variable]) -> None:
        """Make the arrays for the numbers that lanes keep, side by side: so they are known to be apart."""
        for dtype, alike in by_dtype(variables, lambda variable: variable.type.dtype).items():
            array = self.emit("zeros", (len(alike) * SLOTS,), dtype=dtype)
            array.name = "numbers"
            for place, variable in enumerate(alike):
                name = f"{self.lane.name(variable)}_slots"
                self.make(variable, "row", array, place * SLOTS, SLOTS, (SLOTS,), name=name)

    def read(self, key: Hashable, at: Operand, like: Variable | None = None) -> Operand:
        """An element of an array; of one for a number that a lane keeps, what the lane has there."""
        like = key if like is None and isinstance(key, Variable) else like
        value = self.emit("getitem", self.values[key], (at,))
        if like is not None and like.type.weak:
            value = self.emit("astype", value, dtype=like.type.dtype, weak=True)
        value.name = like.name if like is not None else None
        return value

    def read_number(self, key: str, at: Operand, name: str) -> Operand:
        """An element of an array of integers, as one of Python's."""
        return self.emit("astype", self.read(key, at), dtype=np.dtype(int), weak=True, name=name)

    def sound(self, slot: Operand) -> Operand:
        """Whether all checks of the lane in a slot have held."""
        return self.read("sound", slot) if self.checked else True

    def place(self, number: Operand) -> Operand:
        """Where in its block a lane is."""
        return self.emit("subtract", number, self.first, name="place")

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
            self.step_all()

        values.repeat(lambda: self.emit("greater", values["left"], 0), turn)
        self.follow()
        if self.checked:
            count = self.emit("subtract", self.last, self.first)
            values.each("place", count, self.again)
        return tuple(values[k] for k in range(len(self.lane.around.carried)))

    def step_all(self) -> None:
        """Do a turn in each slot."""
        self.values.each("slot", SLOTS, self.step, fused=True)

    def follow(self) -> None:
        """Do what follows once the lanes' loops have ended."""

    def fill(self) -> None:
        """Give the slots of the lanes that have ended to those that wait."""
        values = self.values

        def free(slot: Variable) -> None:
            lane = self.read_number("lanes", slot, "lane")
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
        copy = self.copies(self, {lane.around.index: self.values["waiting"]})
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
        ran.name = "ran"
        wanted = free_variables(loop.body) | free_variables(loop.test)
        held = {variable: self.read(variable, slot) for variable in lane.kept() if variable in wanted}
        copy = self.copies(self, held, self.sound(slot))
        results = dict(zip(loop.carried, copy.block(loop.body)))
        after = self.copies(
            self, {v: of for v, of in held.items() if v not in lane.tested()} | results, copy.sound
        )
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
        self.finish(number, slot, self.lane.loop, self.lane.kept())
        self.values.set("left", self.emit("subtract", self.values["left"], 1, name="left"))

    def finish(self, number: Operand, slot: Variable, loop: For | While, kept: list[Variable]) -> None:
        """Do what a lane does after a loop, if all its checks have held: it writes nothing else."""
        place = self.place(number) if self.checked else None

        def after() -> None:
            held = {variable: self.read(variable, slot) for variable in kept}
            ends = {target: held[carried] for target, carried in zip(loop.targets, loop.carried)}
            copy = self.copies(self, held | ends | {self.lane.around.index: number})
            copy.block(Block(self.lane.after))
            if copy.sound is not True:
                self.write("failed", place, self.no(copy.sound))

        if self.checked:
            self.values.branch(self.sound(slot), after, lambda: self.write("failed", place, True))
        else:
            after()

    def again(self, place: Variable) -> None:
        """Do a lane alone if one of its checks has failed."""
        around = self.lane.around

        def alone() -> None:
            lane = self.emit("add", self.first, place, name="lane")
            arrays = {carried: self.values[k] for k, carried in enumerate(around.carried)}
            renaming = Renaming({around.index: lane, **arrays})
            renaming.bind_block(around.body)
            made = renaming.block(around.body)
            renaming.retype()
            self.builder.block.statements += made.statements
            self.values.now |= enumerate(made.results)

        self.values.branch(self.read("failed", place), alone)
