"""The text for lanes there and back: what turns keep on tapes, and when lanes begin and end.

It is put down when a lane begins or ends in its slot, and what every turn of all slots keeps. Then the same
turns are done in reverse order: a lane comes back into its slot where it ended, and leaves it where it began.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from .build import Builder
from .core import INT, ArrayType, Assign, Block, If, Operand, Variable, free_variables, walk
from .lane_slots import MOST, SLOTS, Copy, Writer, by_dtype
from .lanes_backwards import LaneBackwards, is_stacks, numbers_of
from .registry import PRIMITIVES

ROOM = 256  # turns that new tapes have room for


class TapedCopy(Copy):
    """Copies statements that put numbers on tapes, and take them from there."""

    writer: BackwardsWriter
    depth = 0

    def leaves(self, branch: If) -> bool:
        inside = (s for s in walk(Block([branch])) if isinstance(s, Assign))
        return super().leaves(branch) or any(map(is_stacks, inside))

    def type_left(self, key: Hashable) -> ArrayType:
        return key.type.element if isinstance(key, Variable) else super().type_left(key)

    def branch(self, statement: If) -> None:
        """What branches put on tapes is left for after them; what they take is read before."""
        for inner in walk(Block([statement])):
            if self.depth == 0 and isinstance(inner, Assign) and inner.primitive.name == "pop":
                self.take(inner)
        self.depth += 1
        super().branch(numbers_of(statement))
        self.depth -= 1
        for stack in [key for key in self.left if isinstance(key, Variable)] if self.depth == 0 else ():
            tape, place = self.writer.place_of(stack)
            self.writer.write(tape, place, self.left.pop(stack))

    def assign(self, statement: Assign) -> None:
        if not is_stacks(statement):
            super().assign(statement)
        elif statement.primitive.name == "push":
            self.put(statement)
        elif self.depth == 0:
            self.take(statement)

    def put(self, push: Assign) -> None:
        stack, value = self.writer.lane.tapes[push.operands[0]], self.renaming(push.operands[1])
        if self.depth:
            self.left[stack] = value
        else:
            self.writer.write(*self.writer.place_of(stack), value)

    def take(self, pop: Assign) -> None:
        tape, place = self.writer.place_of(self.writer.lane.tapes[pop.operands[0]])
        self.renaming.mapping[pop.targets[1]] = self.writer.read(tape, place, pop.targets[1])


class BackwardsWriter(Writer):
    """Writes a block of lanes there and back.

    Its values also are the tapes, by their stacks; what lanes end with, by their loop's targets; and of each
    lane that begins or ends, one after the other: after which turn, in which slot, and its number.
    """

    lane: LaneBackwards
    copies = TapedCopy
    most = MOST // 2  # what the turns of a block keep should stay near the processor

    def __init__(self, builder: Builder, lane: LaneBackwards, first: Operand, last: Operand):
        super().__init__(builder, lane, first, last)
        self.values.now |= {"turn": 0, "events": 0}
        left = self.emit("subtract", last, first)
        for target in lane.ends():
            name = f"{lane.name(target)}_ends"
            self.make(("end", target), "empty", (left,), dtype=target.type.dtype, name=name)
        events = builder.dimension_add(builder.dimension_multiply(left, 2), 1)
        for name in ("turns", "slots", "lanes"):
            self.make(f"event_{name}", "full", (events,), -1, dtype=np.dtype(int))
        self.make("event_begins", "zeros", (events,), dtype=np.dtype(bool))
        stacks = list(dict.fromkeys(lane.tapes.values()))
        self.tapes = by_dtype(stacks, lambda stack: stack.type.element.dtype)
        for dtype, alike in self.tapes.items():
            self.make(("tape", dtype), "empty", (SLOTS * ROOM * len(alike),), dtype=dtype, name="tape")
            array = self.values[("tape", dtype)]
            array.type = array.type.with_shape((Variable("room", INT),))
        self.rows: dict[Any, Operand] = {}

    # there

    def step_all(self) -> None:
        self.find_rows()
        for tape, row in self.rows.items():
            size = self.direct("size", self.values[tape], like=Variable(None, INT), axis=0)
            self.values.branch(self.emit("equal", row, size), lambda tape=tape: self.grow(tape))
        super().step_all()
        self.add("turn", 1)

    def find_rows(self) -> None:
        """Where each tape has the row of this turn."""
        for dtype, stacks in self.tapes.items():
            row = self.emit("multiply", self.values["turn"], SLOTS * len(stacks), name="row")
            self.rows[("tape", dtype)] = row

    def place_of(self, stack: Variable) -> tuple[Hashable, Operand]:
        """The tape with what was a stack, and the place there for this turn and slot."""
        dtype = stack.type.element.dtype
        first = self.builder.dimension_add(self.rows[("tape", dtype)], SLOTS * self.tapes[dtype].index(stack))
        return ("tape", dtype), self.builder.dimension_add(first, self.slot)

    def grow(self, tape: Hashable) -> None:
        array = self.values[tape]
        self.values.set(tape, self.direct("longer", array, like=array))

    def direct(self, primitive: str, array: Variable, like: Variable, **static: int) -> Variable:
        """Emit an operation on an array whose size is nowhere said."""
        made = Variable(like.name, like.type)
        location = self.builder.location
        self.builder.append(Assign((made,), PRIMITIVES[primitive], (array,), static, location))
        return made

    def step(self, slot: Variable) -> None:
        self.slot = slot
        super().step(slot)

    def begin(self, slot: Variable) -> None:
        self.put_down(self.values["waiting"], slot, True)
        super().begin(slot)

    def end(self, number: Operand, slot: Variable) -> None:
        lane = self.lane
        place = self.place(number)
        for target in lane.ends():
            carried = lane.loop.carried[lane.loop.targets.index(target)]
            self.write(("end", target), place, self.read(carried, slot))
        if self.checked:
            self.write("failed", place, self.no(self.read("sound", slot)))
        self.put_down(number, slot, False)
        self.values.set("left", self.emit("subtract", self.values["left"], 1, name="left"))

    def put_down(self, number: Operand, slot: Variable, begins: bool) -> None:
        """Put down that a lane begins, or ends."""
        self.add("events", 1)
        event = self.values["events"]
        for name, value in (("turns", self.values["turn"]), ("slots", slot), ("lanes", number)):
            self.write(f"event_{name}", event, value)
        if begins:
            self.write("event_begins", event, True)

    # back

    def follow(self) -> None:
        self.make_slots(self.lane.kept_back())
        values = self.values

        def happened() -> Operand:
            turn = self.emit("getitem", values["event_turns"], (values["events"],))
            return self.emit("equal", turn, values["turn"])

        def back() -> None:
            self.values.set("turn", self.emit("subtract", values["turn"], 1, name="turn"))
            self.find_rows()
            values.each("slot", SLOTS, self.step_back, fused=True)

        def turn() -> None:
            values.repeat(happened, self.undo)
            values.branch(self.emit("greater", values["turn"], 0), back)

        values.repeat(lambda: self.emit("greater", values["events"], 0), turn)

    def undo(self) -> None:
        """A lane that has ended comes back into its slot, one that has begun leaves it."""
        values, event = self.values, self.values["events"]
        slot, number = (
            self.read_number("event_slots", event, "slot"),
            self.read_number("event_lanes", event, "lane"),
        )
        begins = self.read("event_begins", event)
        values.branch(begins, lambda: self.leave(number, slot), lambda: self.come_back(number, slot))
        values.set("events", self.emit("subtract", values["events"], 1, name="events"))

    def come_back(self, number: Operand, slot: Variable) -> None:
        lane, back = self.lane, self.lane.back
        place = self.place(number)
        ends = {target: self.read(("end", target), place, target) for target in lane.ends()}
        sound = self.no(self.read("failed", place)) if self.checked else True
        copy = self.copies(self, ends | {lane.around.index: number}, sound)
        copy.block(Block(lane.before))
        copy.block(Block(lane.middle))
        copy.renaming.mapping |= dict(zip(back.carried, copy.renaming(back.initial)))
        for variable in lane.kept_back():
            self.write(variable, slot, copy.renaming(variable))
        if self.checked:
            self.write("sound", slot, copy.sound)

    def step_back(self, slot: Variable) -> None:
        lane, back = self.lane, self.lane.back
        self.slot = slot
        wanted = free_variables(back.body)
        held = {variable: self.read(variable, slot) for variable in lane.kept_back() if variable in wanted}
        copy = self.copies(self, held, self.sound(slot))
        for variable, value in zip(back.carried, copy.block(back.body), strict=True):
            self.write(variable, slot, value)
        if self.checked:
            self.write("sound", slot, copy.sound)

    def leave(self, number: Operand, slot: Variable) -> None:
        self.finish(number, slot, self.lane.back, self.lane.kept_back())
