"""Stacks of arrays that loops fill whose turns can be counted: parts of one array, one after the other.

    tape = []                                     tape = np.empty(room)
    for k in range(1, n):                         for k in range(1, n):
        x = np.empty(k)                               x = tape[count : count + k]
        ...                               ->          ...
        tape.append(x)                                count = count + k
    for k in range(n - 1, 0, -1):                 for k in range(n - 1, 0, -1):
        x = tape.pop()                                count = count - k
        ...                                           x = tape[count : count + k]

So no turn allocates, and no more memory is taken than the arrays have elements. Stacks that are filled and
emptied at the same places with arrays of the same sizes have one count.

An array is put there only if the turn that pushes it makes it, if nothing writes to it after, and if it is
no result of the program, which would hold on to all the others.

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

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from .adopt import adopt, open_program
from .array_stacks import Survey, is_stack
from .arrays_over_time import Histories
from .build import Builder, bound_index
from .core import (
    INT,
    ArrayType,
    Assign,
    Block,
    For,
    Operand,
    Program,
    Statement,
    Variable,
    While,
    blocks_of,
    bound_in,
    variables_in,
    walk,
)
from .registry import PRIMITIVES
from .stack_room import Counting


def stacks_in_rows(program: Program) -> Program:
    """The program with stacks of arrays in parts of arrays, where it can be counted how many there are."""
    found = list(Places(program).counted())
    if not found:
        return program
    return Program(program.name, program.parameters, Writer(program, found).block(program.body))


@dataclass(eq=False)
class Tape:
    """A stack; the array that is put on it, as its turn makes it and takes it off; the loops around both."""

    stack: Variable
    made: Assign
    taken: Assign
    pushing: tuple[For, ...]
    popping: tuple[For, ...]

    @property
    def sizes(self) -> tuple:
        return self.made.targets[0].type.shape

    @property
    def shared(self) -> tuple:
        """What tapes with one count have in common."""
        return self.pushing, self.popping, self.sizes, self.taken.targets[1].type.shape


class Places:
    """Where each stack of a program is filled and emptied."""

    def __init__(self, program: Program):
        self.survey = Survey(program)
        if not any(variable.type.element.shape for variable, *_ in self.survey.found):
            self.survey.found.clear()
            return
        self.order: dict[Variable, int] = {}
        self.around: dict[Block, tuple[Statement, ...]] = {}
        self.carriers: defaultdict[Variable, list[Statement]] = defaultdict(list)
        self.definitions: dict[Variable, Assign] = {}
        self.note(program.body, ())
        self.histories = Histories(program.body)
        self.given = {self.histories.of(v) for v in variables_in(program.results)}
        self.writes: defaultdict[Variable, list[Assign]] = defaultdict(list)
        for statement in walk(program.body):
            if isinstance(statement, Assign) and statement.primitive.destructive:
                self.writes[self.histories.of(statement.targets[0])].append(statement)

    def note(self, block: Block, around: tuple[Statement, ...]) -> None:
        self.around[block] = around
        for statement in block.statements:
            if isinstance(statement, Assign):
                self.definitions.update(dict.fromkeys(statement.targets, statement))
            for variable in bound_in(statement):
                self.order[variable] = len(self.order)
            for inner in blocks_of(statement):
                self.note(inner, (*around, statement))
            for target in statement.targets:
                self.order[target] = len(self.order)
                if is_stack(target) and not isinstance(statement, Assign):
                    self.carriers[self.survey.of(target)].append(statement)

    def counted(self) -> Iterator[Tape]:
        """The stacks whose arrays can be parts of one."""
        operations: defaultdict[Variable, list[tuple[Block, Assign]]] = defaultdict(list)
        for variable, block, made in self.survey.found:
            if variable.type.element.shape and self.survey.of(variable) not in self.survey.lists:
                operations[self.survey.of(variable)].append((block, made))
        for stack, steps in operations.items():
            tape = self.tape(stack, steps)
            if tape is not None and self.fits(tape):
                yield tape

    def tape(self, stack: Variable, steps: list[tuple[Block, Assign]]) -> Tape | None:
        """A stack that one loop fills and a later one empties, each in one place."""
        if [made.primitive.name for _, made in steps] != ["stack", "push", "pop"]:
            return None
        (home, _), (full, push), (empty, pop) = steps
        outer = len(self.around[home])
        pushing, popping = self.around[full][outer:], self.around[empty][outer:]
        if not pushing or not popping or pushing[0] is popping[0]:
            return None
        known = all(isinstance(loop, For) and loop in (*pushing, *popping) for loop in self.carriers[stack])
        if not known or not all(isinstance(loop, For) for loop in (*pushing, *popping)):
            return None
        made = self.maker(full, push.operands[1])
        return None if made is None else Tape(stack, made, pop, pushing, popping)

    def maker(self, block: Block, value: Operand) -> Assign | None:
        """What makes an array in a block that it fills, if all writes to the array are there."""
        makers = {target: statement for statement in block.statements for target in statement.targets}
        chain: list[Statement] = []
        array = value
        while (made := makers.get(array)) is not None:
            chain.append(made)
            if isinstance(made, For):
                array = made.initial[made.targets.index(array)]
            elif isinstance(made, Assign) and made.primitive.destructive and not is_stack(array):
                array = made.operands[0]
            else:
                break
        if not isinstance(made, Assign) or made.primitive is not PRIMITIVES["empty"]:
            return None
        within = [statement for statement in walk(Block(chain)) if isinstance(statement, Assign)]
        history = self.histories.of(value)
        if history in self.given or any(write not in within for write in self.writes[history]):
            return None
        return made

    def fits(self, tape: Tape) -> bool:
        """Whether it is known before how much there is to keep, and of each array when it is taken off."""
        taken = tape.taken.targets[1]
        history = self.histories.of(taken)
        if history in self.given or self.writes[history]:
            return False
        if tape.made.targets[0].type.dtype != taken.type.dtype:
            return False
        before = self.order[taken]
        if not all(self.order.get(size, -1) < before for size in variables_in(taken.type.shape)):
            return False
        return Counting(tape.pushing, self.definitions).countable(tape.sizes)


class Writer:
    """Writes the program with the tapes found; `count` is the present count of each kind of tape."""

    def __init__(self, program: Program, tapes: list[Tape]):
        self.versions = Survey(program).of
        self.tapes = {tape.stack: tape for tape in tapes}
        self.made = {tape.made: tape for tape in tapes}
        # By what makes each array that is put there: what is put on two stacks is kept once.
        self.arrays: dict[Assign, Variable] = {}
        self.rooms: dict[tuple, Operand] = {}
        self.count: dict[tuple, Operand] = {}
        self.next: dict[tuple, Operand] = {}
        self.definitions = {t: s for s in walk(program.body) if isinstance(s, Assign) for t in s.targets}
        self.builder = Builder()
        open_program(self.builder, program)

    def tape(self, operand: Operand) -> Tape | None:
        return self.tapes.get(self.versions(operand)) if is_stack(operand) else None

    def block(self, block: Block) -> Block:
        """A block, without the results that are tapes."""
        with self.builder.inside(Block()) as made:
            for statement in block.statements:
                self.builder.location = statement.location
                if isinstance(statement, Assign):
                    self.assign(statement)
                elif isinstance(statement, For):
                    self.loop(statement)
                else:
                    names = ("test", "body") if isinstance(statement, While) else ("body", "orelse")
                    parts = {name: self.block(getattr(statement, name)) for name in names}
                    adopt(self.builder, replace(statement, **parts))
            made.results = self.left(block.results)
        return made

    def left(self, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
        return tuple(operand for operand in operands if self.tape(operand) is None)

    def assign(self, statement: Assign) -> None:
        tape = next(filter(None, map(self.tape, statement.targets)), None)
        if statement in self.made:
            tape = self.made[statement]
            self.row(tape, statement.targets[0], self.count[tape.shared])
        elif tape is None:
            adopt(self.builder, statement)
        elif statement.primitive.name == "push":
            self.push(tape.shared, self.builder.product(tape.sizes))
        elif statement.primitive.name == "pop":
            self.pop(tape, statement.targets[1])

    def row(self, tape: Tape, target: Variable, start: Operand) -> None:
        """Let an array be a part of the tape."""
        shape = target.type.shape
        operands = self.arrays[tape.made], start, self.builder.product(shape), shape
        adopt(self.builder, Assign((target,), PRIMITIVES["row"], operands, {}, self.builder.location))

    def push(self, shared: tuple, size: Operand) -> None:
        if shared not in self.next:
            self.next[shared] = self.counted("add", shared, size)

    def pop(self, tape: Tape, target: Variable) -> None:
        if tape.shared not in self.next:
            size = self.builder.product(target.type.shape)
            self.next[tape.shared] = self.counted("subtract", tape.shared, size)
        self.row(tape, target, self.next[tape.shared])

    def counted(self, name: str, shared: tuple, size: Operand) -> Variable:
        target, operands = Variable("count", INT), (self.count[shared], size)
        adopt(self.builder, Assign((target,), PRIMITIVES[name], operands, {}, self.builder.location))
        return target

    def start(self, tape: Tape) -> None:
        """Make the array of a tape, before the loop that fills it."""
        self.count[tape.shared] = 0
        if tape.made in self.arrays:
            return
        kind, dtype = (tape.pushing, tape.sizes), tape.made.targets[0].type.dtype
        if kind not in self.rooms:
            self.rooms[kind] = Counting(tape.pushing, self.definitions).room(self.builder, tape.sizes)
        shape = (self.rooms[kind],)
        array = Variable(tape.stack.name, ArrayType(dtype, shape))
        made = Assign((array,), PRIMITIVES["empty"], (shape,), {"dtype": dtype}, self.builder.location)
        adopt(self.builder, made)
        self.arrays[tape.made] = array

    def loop(self, loop: For) -> None:
        """A loop that carries the counts of its tapes in place of them."""
        kinds: dict[tuple, None] = {}
        for tape in filter(None, map(self.tape, loop.targets)):
            if loop is tape.pushing[0]:
                self.start(tape)
            kinds[tape.shared] = None
        before = {kind: self.count[kind] for kind in kinds}
        carried, targets = ({kind: Variable("count", INT) for kind in kinds} for _ in range(2))
        self.count |= carried
        bound_index(self.builder, loop.index, loop.start, loop.stop, loop.step)
        body = self.block(loop.body)
        self.count |= {kind: self.next.pop(kind) for kind in kinds if kind in self.next}
        body.results += tuple(self.count[kind] for kind in kinds)
        kept = [k for k, target in enumerate(loop.targets) if self.tape(target) is None]
        pick = lambda operands, more: (*(operands[k] for k in kept), *more.values())
        parts = {"carried": pick(loop.carried, carried), "initial": pick(loop.initial, before)}
        self.count |= targets
        self.builder.location = loop.location
        adopt(self.builder, replace(loop, targets=pick(loop.targets, targets), body=body, **parts))
