"""Tapes: where the forward sweep keeps values for the backward sweep.

In a `for` loop whose length and whose values' sizes are known before it, an array with a row an iteration; in
other loops a stack; for a branch outside all loops, the value itself, as a result of the branch.

While the sweeps are built, `save` and `restore` stand for writing and reading a tape. The threader replaces
them, and carries each tape through the loops and branches that write it.
"""
from __future__ import annotations

import dataclasses

from ..codegen.adopt import adopt, open_program
from ..codegen.build import Builder
from ..codegen.core import (
    INT,
    Assign,
    Block,
    Dimension,
    For,
    If,
    Operand,
    Program,
    StackType,
    Statement,
    Variable,
    While,
    walk,
)
from ..codegen.primitives.creation import range_size
from ..codegen.registry import PRIMITIVES, Primitive
from .calls import emit, scalar_zero
from .levels import Level

SAVE = Primitive("save", None, None, effect=True)
RESTORE = Primitive("restore", None, None)

HOISTED = ("add", "subtract", "multiply", "negative", "maximum", "minimum")


@dataclasses.dataclass(eq=False)
class Tape:
    """Keeps one variable of one block of the forward sweep."""

    variable: Variable
    level: Level
    kind: str  # "array", "stack" or "value"
    final: Variable | None = None

    @classmethod
    def of(cls, variable: Variable, level: Level) -> Tape:
        loops, sizes = level.loops, variable.type.shape
        if not loops:
            if all(not isinstance(s, Variable) or level.is_outside(s) for s in sizes):
                return cls(variable, level, "value", Variable(variable.name, variable.type))
        elif all(isinstance(loop, For) and isinstance(loop.step, int) for loop in loops):
            known = (*sizes, *(end for loop in loops for end in (loop.start, loop.stop)))
            if all(hoistable(size, level) for size in known):
                return cls(variable, level, "array")
        return cls(variable, level, "stack")

    @property
    def place(self) -> tuple:
        """What says at which row of the array a value is kept: (index, start, step) of each loop."""
        return tuple((loop.index, loop.start, loop.step) for loop in self.level.loops)


def hoistable(size: Dimension, level: Level) -> bool:
    """Whether a size can be computed before all loops and branches around a level."""
    if not isinstance(size, Variable) or level.is_outside(size):
        return True
    made = level.definitions.get(size)
    cheap = made is not None and made.primitive.name in HOISTED
    return cheap and all(hoistable(o, level) for o in made.operands)


def with_saves(block: Block, sweep) -> Block:
    """The forward sweep with its values saved, and the trips of its `while` loops counted."""
    saves: dict[Variable, list[Statement]] = {}
    for tape in sweep.kept.get(block, ()):
        operands = (tape.variable, tape.place) if tape.kind == "array" else (tape.variable,)
        saves.setdefault(tape.variable, []).append(Assign((), SAVE, operands, {"tape": tape}))
    statements: list[Statement] = []
    for statement in block.statements:
        made = statement if isinstance(statement, Assign) else compound_with_saves(statement, sweep)
        statements.append(made)
        for target in made.targets:
            statements += saves.pop(target, ())
    at_entry = [save for made in saves.values() for save in made]
    return Block(at_entry + statements, block.results)


def compound_with_saves(statement: Statement, sweep) -> Statement:
    parts = {"body": with_saves(statement.body, sweep)}
    if isinstance(statement, If):
        parts["orelse"] = with_saves(statement.orelse, sweep)
    elif isinstance(statement, While):
        parts["test"] = with_saves(statement.test, sweep)
        if statement in sweep.counts:
            before, after, body = Variable("trips", INT), Variable("trips", INT), parts["body"]
            count = Assign((after,), PRIMITIVES["add"], (before, 1), {}, statement.location)
            parts["body"] = Block([*body.statements, count], (*body.results, after))
            parts |= {"carried": (*statement.carried, before), "initial": (*statement.initial, 0)}
            parts |= {"targets": (*statement.targets, sweep.counts[statement])}
    return dataclasses.replace(statement, **parts)


class Threader:
    """Replaces every save and restore of a whole program, sweep by sweep.

    `state` holds, for each tape, the variable that is the tape at this point.
    """

    def __init__(self, program: Program):
        self.builder = Builder()
        open_program(self.builder, program)
        self.state: dict[Tape, Operand] = {}

    def sweep(self, statements: list[Statement]) -> list[Statement]:
        """The statements of a sweep with its tapes made, written and read."""
        made = self.builder.block.statements
        before = len(made)
        for statement in statements:
            if not isinstance(statement, Assign):
                self.allocate(statement, self.state)
            self.statement(statement, self.state)
        return made[before:]

    def allocate(self, statement: Statement, state: dict[Tape, Operand]) -> None:
        """Make the tapes that a statement writes, before it."""
        self.builder.location = statement.location
        for tape in touched(statement, "save"):
            of = tape.variable.type
            if tape.kind == "stack":
                state[tape] = emit(self.builder, "stack", element=of, mirrored=True)
            elif tape.kind == "array":
                ends = [(self.hoist(loop.start, tape), self.hoist(loop.stop, tape), loop.step)
                        for loop in tape.level.loops]
                rows = [range_size(self.builder, *end) for end in ends]
                shape = (*rows, *(self.hoist(size, tape) for size in of.shape))
                state[tape] = emit(self.builder, "empty", shape, dtype=of.dtype)

    def hoist(self, size: Dimension, tape: Tape) -> Dimension:
        if not isinstance(size, Variable) or tape.level.is_outside(size):
            return size
        made = tape.level.definitions[size]
        return self.builder.emit(made.primitive, *(self.hoist(o, tape) for o in made.operands), **made.static)

    def statement(self, statement: Statement, state: dict[Tape, Operand], top: bool = True) -> None:
        match statement:
            case Assign(primitive=primitive) if primitive is SAVE:
                self.save(statement, state)
            case Assign(primitive=primitive) if primitive is RESTORE:
                self.restore(statement, state)
            case Assign():
                adopt(self.builder, statement)
            case If():
                self.branch(statement, state, top)
            case For() | While():
                self.loop(statement, state)

    def row(self, place: tuple) -> tuple:
        """The iteration numbers of the loops at (index, start, step)."""
        return tuple(self.iteration(*loop) for loop in place)

    def iteration(self, index: Operand, start: Operand, step: int) -> Operand:
        builder = self.builder
        done = builder.dimension_subtract(*((index, start) if step > 0 else (start, index)))
        return done if abs(step) == 1 else emit(builder, "floor_divide", done, abs(step))

    def save(self, statement: Assign, state: dict[Tape, Operand]) -> None:
        tape, value = statement.static["tape"], statement.operands[0]
        self.builder.location = statement.location
        if tape.kind == "value":
            state[tape] = value
        elif tape.kind == "stack":
            state[tape] = emit(self.builder, "push", state[tape], value)
        else:
            state[tape] = emit(self.builder, "setitem", state[tape], self.row(statement.operands[1]), value)
        self.name(state[tape], tape)

    def restore(self, statement: Assign, state: dict[Tape, Operand]) -> None:
        tape, location = statement.static["tape"], statement.location
        if tape.kind == "stack":
            left = Variable(self.label(tape), StackType(tape.variable.type))
            targets, name, operands = (left, *statement.targets), "pop", (state[tape],)
            state[tape] = left
        else:
            row = self.row(statement.operands)
            targets, name, operands = statement.targets, "getitem", (state[tape], row)
        adopt(self.builder, Assign(targets, PRIMITIVES[name], operands, {}, location))

    def label(self, tape: Tape) -> str:
        return f"{tape.variable.name or 'kept'}_tape"

    def name(self, value: Operand, tape: Tape) -> None:
        if isinstance(value, Variable) and value.name is None:
            value.name = self.label(tape)

    def block(self, block: Block, state: dict[Tape, Operand]) -> Block:
        with self.builder.inside(Block()) as made:
            for statement in block.statements:
                self.statement(statement, state, top=False)
            made.results = block.results
        return made

    def loop(self, loop: For | While, state: dict[Tape, Operand]) -> None:
        tapes = touched(loop, "save", "restore")
        entry = [Variable(self.label(t), state[t].type) for t in tapes]
        inner = {**state, **dict(zip(tapes, entry))}
        parts = {"initial": (*loop.initial, *(state[t] for t in tapes)), "carried": (*loop.carried, *entry)}
        if isinstance(loop, While):
            parts["test"] = self.block(loop.test, inner)
        body = self.block(loop.body, inner)
        body.results += tuple(inner[t] for t in tapes)
        targets = [Variable(self.label(t), state[t].type) for t in tapes]
        parts |= {"body": body, "targets": (*loop.targets, *targets)}
        self.builder.append(dataclasses.replace(loop, **parts))
        state.update(zip(tapes, targets))

    def branch(self, statement: If, state: dict[Tape, Operand], top: bool) -> None:
        tapes = touched(statement, "save", "restore")
        parts, ends = {}, {}
        for side in ("body", "orelse"):
            ends[side] = dict(state)
            parts[side] = self.block(getattr(statement, side), ends[side])
        for side, made in parts.items():
            with self.builder.inside(made):
                made.results += tuple(self.placeholder(t) if t not in ends[side] else ends[side][t]
                                      for t in tapes)
        targets = [t.final if top and t.kind == "value" else Variable(self.label(t), tape_type(t, state))
                   for t in tapes]
        parts["targets"] = (*statement.targets, *targets)
        self.builder.append(dataclasses.replace(statement, **parts))
        state.update(zip(tapes, targets))

    def placeholder(self, tape: Tape) -> Operand:
        """What stands for a value in the branch that does not make it; nothing reads it."""
        of = tape.variable.type
        return emit(self.builder, "empty", of.shape, dtype=of.dtype) if of.shape else scalar_zero(of)


def tape_type(tape: Tape, state: dict[Tape, Operand]):
    return tape.variable.type if tape.kind == "value" else state[tape].type


def touched(statement: Statement, *names: str) -> list[Tape]:
    """The tapes that a loop or branch changes: arrays and values by saving, stacks also by restoring."""
    found: dict[Tape, None] = {}
    for inner in walk(Block([statement])):
        if isinstance(inner, Assign) and inner.primitive in (SAVE, RESTORE) and inner.primitive.name in names:
            tape = inner.static["tape"]
            if inner.primitive is SAVE or tape.kind == "stack":
                found[tape] = None
    return list(found)
