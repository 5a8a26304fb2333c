"""What must be copied so that writes in place are right.

A program is functional: `y = setitem(x, i, v)` leaves x as it was. To write into x itself, x's memory must
be ours, and nothing that is read later may share it. Every variable stands for a set of buffers: a fresh
one where a primitive makes an array, its operand's where it makes a view, both branches' after an `if`.

A loop's carried variable that is written in the loop is exclusive: it is taken to be the only holder of a
buffer of its own at the start of each turn; the entry and the end of the body are then held to
that, by copying where they do not keep it. So a loop that fills an array copies nothing, nor does one that
swaps two. A buffer made in an earlier turn is another buffer than the one that the same statement
makes in this turn: at the end of a turn it is renamed to `old`, after the loop to `left`.
"""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from .alias import NOTHING, SMALL_VIEWS, Buffer, Buffers, Loop, has_memory, is_view
from .core import Assign, Block, For, If, Operand, Program, StackType, Statement, Variable, While
from .later_reads import LaterReads, Level


@dataclass(slots=True)
class Copies:
    """Where copies go: see inplace.py, which makes them."""

    written: set[Assign] = field(default_factory=set)
    views: set[Variable] = field(default_factory=set)
    pushed: set[Assign] = field(default_factory=set)
    initial: set[Variable] = field(default_factory=set)
    turned: set[Variable] = field(default_factory=set)

    def __bool__(self) -> bool:
        return any((self.written, self.views, self.pushed, self.initial, self.turned))

    def add(self, other: Copies) -> None:
        """Take copies over: those of parts first, for they may make copies of whole arrays needless."""
        parts = ("views", "pushed")
        for name in parts if other.views or other.pushed else self.__slots__:
            getattr(self, name).update(getattr(other, name))


class Sharing:
    """Finds the copies that a program needs, by walking through it until nothing changes."""

    def __init__(self, program: Program, owned_parameters: Iterable[Variable] = ()):
        self.program = program
        self.later = LaterReads(program.body)
        self.parameters = frozenset(owned_parameters)
        self.copies, self.found = Copies(), Copies()
        self.exclusive: set[Variable] = set()
        self.earlier: dict[tuple[Variable, str], Buffers] = {}
        self.buffers: dict[tuple, Buffer] = {}
        self.changed = True

    def solve(self) -> Copies:
        while True:
            self.changed, self.found = False, Copies()
            self.walk()
            if self.changed:
                continue  # what was taken for granted did not hold: what was found means nothing
            if not self.found:
                return self.copies
            self.copies.add(self.found)
            self.earlier.clear()

    def walk(self) -> None:
        self.own: dict[Variable, Buffers] = {}
        self.held: dict[Variable, Buffers] = {}
        self.holders: dict[Buffer, list[Variable]] = defaultdict(list)
        self.makers: dict[Variable, Assign] = {}
        self.pushes: list[tuple[Assign, Buffers, Loop]] = []
        self.loops: list[Loop] = [None]
        self.markers: dict[Buffer, Variable] = {}
        self.branches = 0
        for parameter in self.program.parameters:
            made = self.buffer(parameter, "parameter", owned=parameter in self.parameters)
            self.define(parameter, frozenset((made,)) if has_memory(parameter) else NOTHING)
        self.block(self.program.body)

    # what variables stand for

    def buffer(self, maker: object, what: str = "", loop: Loop | str = "here", owned: bool = True) -> Buffer:
        """The buffer made at a place, the same at each walk."""
        key = maker, what
        if key not in self.buffers:
            self.buffers[key] = Buffer(self.loops[-1] if loop == "here" else loop, owned)
        return self.buffers[key]

    def define(self, variable: Variable, own: Buffers, held: Buffers = NOTHING) -> None:
        self.own[variable], self.held[variable] = own, held
        for buffer in own | held:
            self.holders[buffer].append(variable)

    def own_of(self, operand: Operand) -> Buffers:
        """The buffers that an operand may stand for."""
        if isinstance(operand, Variable):
            if operand not in self.own and has_memory(operand):
                self.define(operand, frozenset((self.buffer(operand, "free", None, owned=False),)))
            return self.own.get(operand, NOTHING)
        if isinstance(operand, np.ndarray):
            return frozenset((self.buffer(id(operand), "constant", None, owned=False),))
        return NOTHING

    def held_of(self, operand: Operand) -> Buffers:
        """The buffers of what a stack holds."""
        return self.held.get(operand, NOTHING) if isinstance(operand, Variable) else NOTHING

    def all_of(self, operand: Operand) -> Buffers:
        return self.own_of(operand) | self.held_of(operand)

    # statements

    def block(self, block: Block, loop: Statement | None = None) -> None:
        with self.later.inside(block, loop) as level:
            self.statements(block, level)

    def statements(self, block: Block, level: Level) -> None:
        for position, statement in enumerate(block.statements):
            level.position = position
            match statement:
                case Assign():
                    self.assign(statement)
                case If():
                    self.branches += 1
                    self.block(statement.body)
                    self.block(statement.orelse)
                    self.branches -= 1
                    results = statement.body.results, statement.orelse.results
                    for target, yes, no in zip(statement.targets, *results):
                        held = self.held_of(yes) | self.held_of(no)
                        self.define(target, self.own_of(yes) | self.own_of(no), held)
                case _:
                    self.loop(statement)
        level.position = len(block.statements) + 1

    def assign(self, statement: Assign) -> None:
        targets = statement.targets
        for target in targets:
            self.makers[target] = statement
        if statement.primitive.destructive:
            self.write(statement)
        elif is_view(statement):
            self.view(statement)
        else:
            owned = statement.primitive.name != "constant"
            for target in targets:
                if has_memory(target):
                    self.define(target, frozenset((self.buffer(target, owned=owned),)))

    def write(self, statement: Assign) -> None:
        name, operands, targets = statement.primitive.name, statement.operands, statement.targets
        copied = statement in self.copies.written
        if not copied and not self.claim(operands[0]):
            self.found.written.add(statement)
            copied = True
        own = frozenset((self.buffer(statement, "written"),)) if copied else self.own_of(operands[0])
        held = self.held_of(operands[0])
        if name == "push":
            if statement in self.copies.pushed or statement in self.found.pushed:
                held |= frozenset((self.buffer(statement, "pushed"),))
            else:
                held |= self.own_of(operands[1])
                self.pushes.append((statement, self.own_of(operands[1]), self.loops[-1]))
        self.define(targets[0], own, held)
        for target in targets[1:]:
            self.define(target, held if has_memory(target) else NOTHING)

    def view(self, statement: Assign) -> None:
        (target,) = statement.targets
        if target in self.copies.views:
            own = frozenset((self.buffer(target, "copied"),))
        else:
            own = self.own_of(statement.operands[0]) or frozenset((self.buffer(target),))
        if statement.primitive.name == "broadcast_to":
            # NumPy lets nobody write to one
            own |= frozenset((self.buffer(target, "read only", owned=False),))
        self.define(target, own)

    # claiming a buffer for writing

    def claim(self, operand: Operand) -> bool:
        """Whether an operand's memory may be written now; what others must be copied for that is noted."""
        own = self.own_of(operand)
        if self.make_exclusive(own):
            return True
        if not own or not all(buffer.owned and buffer.loop is self.loops[-1] for buffer in own):
            return False
        return self.part(operand, self.readers(own), own)

    def make_exclusive(self, own: Buffers) -> bool:
        """From the next walk on, take carried variables of this loop that are to be written as exclusive."""
        here = self.loops[-1]
        needed = [self.markers[buffer] for buffer in own if buffer in self.markers and buffer.loop is here]
        needed = [carried for carried in needed if carried not in self.exclusive]
        self.exclusive.update(needed)
        self.changed |= bool(needed)
        return bool(needed)

    def readers(self, own: Buffers) -> list[Variable]:
        """Variables read later that may share these buffers."""
        found: dict[Variable, None] = {}
        for buffer in own:
            live = [holder for holder in self.holders[buffer] if self.later.live(holder)]
            if not self.branches:
                self.holders[buffer] = live  # in a branch, what is dead here may be read in the other
            found.update(dict.fromkeys(v for v in live if buffer in self.own[v] or buffer in self.held[v]))
        return list(found)

    def part(self, operand: Operand, readers: list[Variable], own: Buffers) -> bool:
        """Note copies that part the readers from an operand's buffers; False if it must be copied itself."""
        base, sources = operand, {operand}
        while self.makers.get(base) is not None and base in self.own:
            if not (is_view(self.makers[base]) or self.makers[base].primitive.destructive):
                break
            base = self.makers[base].operands[0]
            if not isinstance(base, Variable):
                break
            sources.add(base)
        views = [v for v in readers if not isinstance(v.type, StackType)]
        if any(v in sources or not self.copyable(v) for v in views):
            return False
        pushes: list[Assign] = []
        for stack in (v for v in readers if isinstance(v.type, StackType)):
            if own & self.own[stack] or not (found := self.pushes_of(own & self.held[stack])):
                return False
            pushes += found
        first = [v for v in views if not (self.bases(v) & set(views))]
        self.found.views.update(first)
        self.found.pushed.update(pushes)
        for view in views:
            self.own[view] = frozenset((self.buffer(view, "copied"),))
        for stack in readers:
            self.held[stack] -= own
        return True

    def copyable(self, variable: Variable) -> bool:
        maker = self.makers.get(variable)
        return is_view(maker) and maker.primitive.name in SMALL_VIEWS and variable not in self.copies.views

    def bases(self, variable: Variable) -> set[Variable]:
        """The variables that a view looks at, directly or through other views."""
        found: set[Variable] = set()
        while is_view(self.makers.get(variable)):
            variable = self.makers[variable].operands[0]
            if not isinstance(variable, Variable):
                break
            found.add(variable)
        return found

    def pushes_of(self, shared: Buffers) -> list[Assign]:
        """The pushes that put these buffers on a stack; none if they are in a deeper loop than we are in."""
        roots = {buffer.root or buffer for buffer in shared}
        found = [(p, loop) for p, own, loop in self.pushes if any((b.root or b) in roots for b in own)]
        deeper = any(all(loop is not outer for outer in self.loops) for _, loop in found)
        return [] if deeper else [push for push, _ in found]

    # loops

    def loop(self, statement: For | While) -> None:
        self.enter(statement)
        self.loops.append(statement)
        for carried, initial in zip(statement.carried, statement.initial):
            if not has_memory(carried):
                continue
            marker = self.buffer(carried, "carried")
            self.markers[marker] = carried
            own = frozenset((marker,))
            if carried not in self.exclusive:
                own |= self.own_of(initial) | self.earlier.get((carried, "own"), NOTHING)
            self.define(carried, own, self.held_of(initial) | self.earlier.get((carried, "held"), NOTHING))
        if isinstance(statement, While):
            with self.later.inside(statement.test, statement) as level:
                self.statements(statement.test, level)
                level.position += 1
                self.block(statement.body, statement)
        else:
            self.block(statement.body, statement)
        results = [self.result(statement, k) for k in range(len(statement.carried))]
        self.loops.pop()
        self.leave(statement, results)

    def enter(self, statement: For | While) -> None:
        """Let the exclusive variables of a loop begin with memory of their own."""
        around = Level({}, self.later.around(statement))
        for place, (carried, initial) in enumerate(zip(statement.carried, statement.initial)):
            if carried not in self.exclusive or carried in self.copies.initial:
                continue
            others = [
                other
                for k, other in enumerate(statement.initial)
                if k != place and statement.carried[k] not in self.copies.initial | self.found.initial
            ]
            shared = any(self.own_of(initial) & self.all_of(other) for other in others)
            with self.later.holding(around):
                if shared or not self.claim(initial):
                    self.found.initial.add(carried)

    def result(self, statement: For | While, place: int) -> tuple[Buffers, Buffers]:
        """The buffers a carried variable has at the end of a turn."""
        carried, operand = statement.carried[place], statement.body.results[place]
        held = self.held_of(operand)
        if carried not in self.exclusive:
            return self.own_of(operand), held
        if carried in self.copies.turned:
            return frozenset((self.buffer(carried, "turned"),)), held
        own = self.own_of(operand)
        if self.make_exclusive(own):
            return own, held
        clean = all(buffer.owned and buffer.loop is statement for buffer in own) and own
        others = [
            other
            for k, other in enumerate(statement.body.results)
            if k != place
            and self.all_of(other) & own
            and statement.carried[k] not in self.copies.turned | self.found.turned
        ]
        if not clean or not self.part(operand, others, own):
            self.found.turned.add(carried)
            own = frozenset((self.buffer(carried, "turned"),))
        return own, held

    def leave(self, statement: For | While, results: list[tuple[Buffers, Buffers]]) -> None:
        """Carry what a turn ends with to the next turn, and out of the loop."""
        outer = self.loops[-1]

        def old(b: Buffer) -> Buffer:
            return b.renamed("old", statement, False) if b.loop is statement and b.kind != "old" else b

        def left(b: Buffer) -> Buffer:
            return b.renamed("left", outer, (b.root or b).owned) if b.loop is statement else b

        for carried, target, initial, (own, held) in zip(
            statement.carried, statement.targets, statement.initial, results
        ):
            if not has_memory(carried):
                continue
            for what, buffers in (("own", own), ("held", held)):
                before = self.earlier.get((carried, what), NOTHING)
                after = before | frozenset(map(old, buffers))
                self.changed |= after != before and (what == "held" or carried not in self.exclusive)
                self.earlier[carried, what] = after
            held = frozenset(map(left, held)) | self.held_of(initial)
            if carried in self.exclusive:
                own = frozenset((self.buffer(target, "left", outer),))
            else:
                own = frozenset(map(left, own)) | self.own_of(initial)
            self.define(target, own, held)
