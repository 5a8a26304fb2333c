"""Stacks of arrays as parts of larger arrays, one after the other: no turn allocates an array to be kept.

    tape = []                                     tape = np.empty(room)
    for k in range(1, n):                         for k in range(1, n):
        x = np.empty(k)                               x = tape[count : count + k]
        ...                               ->          ...
        tape.append(x)                                count = count + k
    for k in range(n - 1, 0, -1):                 for k in range(n - 1, 0, -1):
        x = tape.pop()                                count = count - k
        ...                                           x = tape[count : count + k]

Where it can be counted before how many elements there will be, no more memory is taken than they need. Else
arrays of one size go into a larger one as long as that has room, which is then put on the stack:

    while test:                                   while test:
        x = np.empty(n)                               if count == rows.shape[0]:
        ...                               ->              tape.append(rows)
        tape.append(x)                                    rows, count = np.empty(16 * n), 0
                                                      x = rows[count : count + n]
                                                      ...
                                                      count = count + n

Stacks that are filled and emptied at the same places with arrays of the same sizes have one count. No later
pass may drop what fills a part because its result is not read.

>>> from .build import Builder
>>> from .core import FLOAT, INT, StackType
>>> from .primitives import creation, stacks
>>> n, builder = Variable("n", INT), Builder()
>>> of, bodies = FLOAT.with_shape((n,)), (Block(), Block())
>>> versions = [Variable("tape", StackType(of)) for _ in range(5)]
>>> made = builder.emit(stacks.stack, element=of)
>>> with builder.inside(bodies[0]):
...     x = builder.emit(creation.empty, (n,), dtype="float64")
...     bodies[0].results = (builder.emit(stacks.push, versions[0], x),)
>>> with builder.inside(bodies[1]):
...     left, _ = builder.emit(stacks.pop, versions[2])
...     bodies[1].results = (left,)
>>> for body, at, initial in zip(bodies, (0, 2), (made, versions[1])):
...     ends = (versions[at + 1],), Variable("k", INT), 0, n, 1, (versions[at],), (initial,)
...     builder.append(For(*ends, body))
>>> rows = stacks_in_rows(Program("f", (n,), builder.block)).body.statements
>>> [getattr(statement, "primitive", "loop") for statement in rows]
[maximum, multiply, empty, 'loop', 'loop']
>>> [[s.primitive for s in loop.body.statements] for loop in rows[3:]]
[[row, add], [subtract, row]]
"""

from __future__ import annotations

from dataclasses import replace

from .adopt import adopt, open_program
from .array_stacks import Survey, is_stack
from .build import Builder, bound_index
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
    Variable,
    While,
    walk,
)
from .registry import PRIMITIVES
from .stack_places import Loop, Places, Tape

AT_ONCE = 16  # arrays that a larger one has room for
SMALL = 512  # elements of the arrays of which so many are taken at once


def stacks_in_rows(program: Program) -> Program:
    """The program with stacks of arrays in parts of larger arrays, where it is known how long they are."""
    stacks = (s for s in walk(program.body) if isinstance(s, Assign) and s.primitive.name == "push")
    if not any(push.targets[0].type.element.shape for push in stacks):
        return program
    found = list(Places(program).tapes())
    return Program(program.name, program.parameters, Writer(program, found).block(program.body))


class Writer:
    """Writes the program with the tapes found.

    `now` has the present count of each kind of tape. Where turns cannot be counted before, it also has the
    array that is filled, under what makes its parts, and the stack of those that are full, under the tape.
    """

    def __init__(self, program: Program, tapes: list[Tape]):
        self.versions = Survey(program).of
        self.tapes = {tape.stack: tape for tape in tapes}
        self.made = {tape.made: tape for tape in tapes}
        self.now: dict = {}
        self.next: dict[tuple, Operand] = {}
        self.rooms: dict[tuple, Operand] = {}
        self.ready: set[tuple] = set()
        self.builder = Builder()
        open_program(self.builder, program)

    def tape(self, operand: Operand) -> Tape | None:
        return self.tapes.get(self.versions(operand)) if is_stack(operand) else None

    def emit(self, name: str, target: Variable, *operands: Operand, **static: Operand) -> Variable:
        adopt(self.builder, Assign((target,), PRIMITIVES[name], operands, static, self.builder.location))
        return target

    def block(self, block: Block) -> Block:
        """A block, without the results that are tapes."""
        with self.builder.inside(Block()) as made:
            for statement in block.statements:
                self.builder.location = statement.location
                if isinstance(statement, Assign):
                    self.assign(statement)
                elif isinstance(statement, If):
                    body, orelse = self.block(statement.body), self.block(statement.orelse)
                    adopt(self.builder, replace(statement, body=body, orelse=orelse))
                else:
                    self.loop(statement)
            made.results = tuple(operand for operand in block.results if self.tape(operand) is None)
        return made

    def assign(self, statement: Assign) -> None:
        tape = next(filter(None, map(self.tape, statement.targets)), None)
        if statement in self.made:
            self.make(self.made[statement], statement.targets[0])
        elif tape is None:
            adopt(self.builder, statement)
        elif statement.primitive.name == "push":
            self.push(tape)
        elif statement.primitive.name == "pop":
            self.pop(tape, statement.targets[1])

    # arrays as parts of larger ones

    def make(self, tape: Tape, target: Variable) -> None:
        """Let the array that is to be put on a tape be a part of it."""
        kind = tape.kind
        counts = self.next if tape.carried is not None else self.now
        if tape.counting is None and kind not in self.ready:
            self.ready.add(kind)
            counts[kind] = self.with_room(kind, counts[kind])
        self.row(tape, target, counts[kind])

    def row(self, tape: Tape, target: Variable, start: Operand) -> None:
        shape = target.type.shape
        self.emit("row", target, self.now[tape.made], start, self.builder.product(shape), shape)

    def push(self, tape: Tape) -> None:
        if tape.kind not in self.next:
            size = self.builder.product(tape.sizes)
            self.next[tape.kind] = self.emit("add", Variable("count", INT), self.now[tape.kind], size)

    def pop(self, tape: Tape, target: Variable) -> None:
        kind = tape.kind
        if kind not in self.next:
            count = self.now[kind] if tape.counting is not None else self.with_elements(kind)
            size = self.builder.product(target.type.shape)
            self.next[kind] = self.emit("subtract", Variable("count", INT), count, size)
        self.row(tape, target, self.next[kind])

    def of_kind(self, kind: tuple) -> list[Tape]:
        return [tape for tape in self.tapes.values() if tape.kind == kind]

    def with_room(self, kind: tuple, count: Operand) -> Variable:
        """Let arrays that are full be put on their stacks; the count in those that there are then."""
        tapes = self.of_kind(kind)
        keys = [*tapes, *(tape.made for tape in tapes)]
        size = self.emit("size", Variable(None, INT), self.now[tapes[0].made], axis=0)
        test = self.emit("equal", Variable(None, BOOL), count, size)
        with self.builder.inside(Block()) as full:
            stacks = [self.emit("push", self.version(t), self.now[t], self.now[t.made]) for t in tapes]
            full.results = (*stacks, *map(self.new, tapes), 0)
        return self.either(keys, test, full, count)

    def with_elements(self, kind: tuple) -> Variable:
        """Let arrays of which no part is left be followed by those before them; the count in those."""
        tapes = self.of_kind(kind)
        keys, count = [*tapes, *(tape.made for tape in tapes)], self.now[kind]
        test = self.emit("equal", Variable(None, BOOL), count, 0)
        with self.builder.inside(Block()) as empty:
            left = [(self.version(tape), self.version(tape.made)) for tape in tapes]
            for tape, targets in zip(tapes, left):
                popped = PRIMITIVES["pop"], (self.now[tape],)
                adopt(self.builder, Assign(targets, *popped, {}, self.builder.location))
            stacks, arrays = zip(*left)
            size = self.emit("size", Variable(None, INT), arrays[0], axis=0)
            empty.results = (*stacks, *arrays, size)
        return self.either(keys, test, empty, count)

    def either(self, keys: list, test: Operand, changed: Block, count: Operand) -> Variable:
        """Let stacks and arrays be the changed ones where a test holds; the count then."""
        targets = [*map(self.version, keys), Variable("count", INT)]
        same = Block([], (*(self.now[key] for key in keys), count))
        adopt(self.builder, If(tuple(targets), test, changed, same, self.builder.location))
        self.now |= zip(keys, targets)
        return targets[-1]

    # before and around loops

    def version(self, key: Tape | Assign) -> Variable:
        """A new variable for the larger arrays of a tape, or for the one that is filled."""
        tape = key if isinstance(key, Tape) else self.made[key]
        array = ArrayType(tape.made.targets[0].type.dtype, (self.rooms[tape.filling],))
        return Variable(tape.stack.name, StackType(array)) if key is tape else Variable("rows", array)

    def new(self, tape: Tape) -> Variable:
        array = self.version(tape.made)
        return self.emit("empty", array, array.type.shape, dtype=array.type.dtype)

    def start(self, tape: Tape, loop: Loop) -> Operand:
        """Make the array of a tape, before the loop that fills it; what an array in it is at first."""
        self.now[tape.kind] = 0
        if tape.made not in self.now:
            if tape.filling not in self.rooms:
                self.rooms[tape.filling] = self.room(tape)
            self.now[tape.made] = self.new(tape)
            if tape.counting is None:
                stack = self.version(tape)
                self.now[tape] = self.emit("stack", stack, element=stack.type.element)
            else:
                self.now[tape.made].name = tape.stack.name
        if tape.carried is None:
            return None
        before = loop.initial[tape.carried]
        first = Variable(loop.carried[tape.carried].name, before.type)
        self.row(tape, first, 0)
        return self.copied(before, first, ())

    def room(self, tape: Tape) -> Operand:
        """How many elements an array of a tape has."""
        builder = self.builder
        if tape.counting is not None:
            room = tape.counting.room(builder, tape.sizes)
            return room if tape.carried is None else builder.dimension_add(room, builder.product(tape.sizes))
        size = builder.product(tape.sizes)
        several = builder.dimension_multiply(AT_ONCE, size)
        if isinstance(size, int):
            return several if size < SMALL else size
        return builder.emit(PRIMITIVES["where"], builder.emit(PRIMITIVES["less"], size, SMALL), several, size)

    def copied(self, before: Operand, array: Variable, at: tuple) -> Variable:
        """An array with the elements of another."""
        if len(at) == array.type.ndim:
            element = Variable(None, array.type.with_shape(()))
            self.emit("getitem", element, before, at)
            return self.emit("setitem", Variable(array.name, array.type), array, at, element)
        index, carried, target = Variable("i", INT), *(Variable(array.name, array.type) for _ in range(2))
        with self.builder.inside(Block()) as body:
            body.results = (self.copied(before, carried, (*at, index)),)
        size = array.type.shape[len(at)]
        ends = (target,), index, 0, size, 1, (carried,), (array,)
        adopt(self.builder, For(*ends, body, self.builder.location, fused=True))
        return target

    def loop(self, loop: Loop) -> None:
        """A loop that carries the counts of its tapes, and what grows, in place of them."""
        keys: dict = {}
        initial = list(loop.initial)
        for tape in filter(None, map(self.tape, loop.targets)):
            if loop is tape.pushing[0]:
                first = self.start(tape, loop)
                if tape.carried is not None:
                    initial[tape.carried] = first
            grows = (tape, tape.made) if tape.counting is None else ()
            keys |= dict.fromkeys((*grows, tape.kind))
        before = {key: self.now[key] for key in keys}
        carried, targets = ({key: self.carrier(key) for key in keys} for _ in range(2))
        self.now |= carried
        parts = {"test": self.block(loop.test)} if isinstance(loop, While) else {}
        if isinstance(loop, For):
            bound_index(self.builder, loop.index, loop.start, loop.stop, loop.step)
        body = self.block(loop.body)
        kinds = {key for key in keys if key in self.next}
        self.now |= {key: self.next.pop(key) for key in kinds}
        self.ready -= kinds
        body.results += tuple(self.now[key] for key in keys)
        kept = [k for k, target in enumerate(loop.targets) if self.tape(target) is None]
        pick = lambda operands, more: (*(operands[k] for k in kept), *more.values())
        parts |= {"carried": pick(loop.carried, carried), "initial": pick(initial, before), "body": body}
        self.now |= targets
        self.builder.location = loop.location
        adopt(self.builder, replace(loop, targets=pick(loop.targets, targets), **parts))

    def carrier(self, key: tuple | Tape | Assign) -> Variable:
        return Variable("count", INT) if isinstance(key, tuple) else self.version(key)
