"""Loops whose turns do not depend on each other, and so may be done in any order, or at the same time.

Each turn writes, and of what is written reads, only the part of an array that has the loop's index along one
axis, or else reduces (reductions.py). What is marked is the outermost loops of a program:

>>> import numpy as np
>>> from .build import Builder
>>> from .core import INT, ArrayType
>>> from .registry import PRIMITIVES
>>> x = Variable("x", ArrayType(np.dtype(float), (Variable("n", INT),)))
>>> def doubled(source, at):
...     i, y, builder = Variable("i", INT), Variable("y", x.type), Builder()
...     with builder.inside(Block()) as body:
...         value = builder.emit(PRIMITIVES["getitem"], y if source == "y" else x, (at(builder, i),))
...         body.results = (builder.emit(PRIMITIVES["setitem"], y, (i,), value),)
...     result = Variable("y", x.type)
...     return For((result,), i, 0, x.type.shape[0], 1, (y,), (Variable("y", x.type),), body)
>>> before = lambda builder, i: builder.dimension_add(i, -1)
>>> is_independent(doubled("x", before)), is_independent(doubled("y", lambda builder, i: i))
(True, True)
>>> is_independent(doubled("y", before))
False
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from .access import is_array
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
    assigned_in,
    operands_of,
    uses_in,
    variables_in,
)
from .reductions import reductions

CHECKS = ("check", "check_same", "check_index")
FEW = 64  # turns that are not worth a function of their own


def mark_independent(program: Program) -> Program:
    """The program with those of its outermost loops marked whose turns do not depend on each other."""
    marked = [
        replace(s, independent=True) if isinstance(s, For) and may_be_shared(s) else s
        for s in program.body.statements
    ]
    return Program(program.name, program.parameters, Block(marked, program.body.results))


def confirm_independent(program: Program) -> Program:
    """The program, once arrays are smaller, with marks where the arrays of a turn can be a core's own."""
    uses = uses_in(program)
    made = {s.targets[0] for s in program.body.statements if is_fresh(s) and uses[s.targets[0]] == 1}

    def confirmed(loop: For) -> bool:
        ends = zip(loop.carried, loop.initial, loop.targets)
        own = [c for c, initial, target in ends if not uses[target] and (initial in made or not is_array(c))]
        return is_independent(loop, own, reductions(loop))

    statements = [
        replace(s, independent=confirmed(s)) if isinstance(s, For) and s.independent else s
        for s in program.body.statements
    ]
    return Program(program.name, program.parameters, Block(statements, program.body.results))


def is_fresh(statement: Statement) -> bool:
    """Whether a statement makes an array that nothing else shares."""
    return isinstance(statement, Assign) and statement.primitive.name in ("empty", "zeros")


def may_be_shared(loop: For) -> bool:
    """Whether the turns of a loop are not few, and do not depend on each other but for what they reduce."""
    known = isinstance(loop.start, int) and isinstance(loop.stop, int)
    short = known and abs(loop.stop - loop.start) < FEW
    return not short and not only_fills(loop) and is_independent(loop, (), reductions(loop))


def only_fills(loop: For) -> bool:
    """Whether all that turns do is to write numbers that are there before."""
    inside = assigned_in(loop)
    return all(
        isinstance(statement, Assign)
        and statement.primitive.name == "setitem"
        and not is_array(statement.operands[2])
        and inside.isdisjoint(variables_in(statement.operands[2]))
        for statement in loop.body.statements
    )


def is_independent(loop: For, own: Sequence[Variable] = (), reduced: Collection[int] = ()) -> bool:
    """Whether the turns of a loop do not depend on each other.

    Nothing in `own` is read in another turn; in the places of `reduced` is what may be reduced in any order.
    """
    places = [k for k, carried in enumerate(loop.carried) if carried not in own]
    numbers = [k for k in places if k not in reduced]
    if not counts_up(loop) or not places:
        return False
    if not all(is_array(loop.carried[k]) and is_array(loop.initial[k]) for k in numbers):
        return False
    turns = Turns(loop.index)
    turns.arrays.update((loop.carried[k], k) for k in numbers)
    return turns.apart(loop.body) and turns.numbers([loop.body.results[k] for k in numbers]) == numbers


def counts_up(loop: For) -> bool:
    """Whether the index takes consecutive values from 0 on, or from another known place, in either order."""
    if not isinstance(loop.step, int) or abs(loop.step) != 1:
        return False
    first = loop.start if loop.step == 1 else loop.stop
    return isinstance(first, int) and first >= (0 if loop.step == 1 else -1)


class Turns:
    """Follows the arrays that a loop writes through its body; they are known by their numbers."""

    def __init__(self, index: Variable):
        self.index = index
        self.arrays: dict[Variable, int] = {}
        self.axes: dict[int, int] = {}

    def numbers(self, operands: Sequence[Operand]) -> list[int | None]:
        return [self.arrays.get(o) if isinstance(o, Variable) else None for o in operands]

    def apart(self, block: Block) -> bool:
        """Whether a turn keeps to its own part of each array."""
        return all(map(self.statement, block.statements))

    def statement(self, statement: Statement) -> bool:
        match statement:
            case Assign():
                return self.assign(statement)
            case If():
                ends = statement.body.results, statement.orelse.results
                inside = self.apart(statement.body) and self.apart(statement.orelse)
                return inside and self.same(statement.targets, *ends)
            case For() | While():
                starts = self.numbers(statement.initial)
                self.arrays.update((c, k) for c, k in zip(statement.carried, starts) if k is not None)
                blocks = [statement.test] if isinstance(statement, While) else []
                inside = all(map(self.apart, [*blocks, statement.body]))
                return inside and self.same(statement.targets, statement.carried, statement.body.results)

    def same(self, targets: tuple, *ends: tuple) -> bool:
        """Whether values that become one are of one array; the targets then are too."""
        for target, *values in zip(targets, *ends):
            found = set(self.numbers(values))
            if len(found) > 1:
                return False
            if found != {None}:
                self.arrays[target] = found.pop()
        return True

    def assign(self, statement: Assign) -> bool:
        primitive, operands = statement.primitive, statement.operands
        if primitive.effect and primitive.name not in CHECKS:
            return False
        if primitive.name == "size":
            return True
        number = self.arrays.get(operands[0]) if operands and isinstance(operands[0], Variable) else None
        if number is None:
            return not any(variable in self.arrays for variable in variables_in(operands_of(statement)))
        if any(variable in self.arrays for variable in variables_in(operands[1:])):
            return False
        if not primitive.destructive and primitive.name != "getitem" or not self.own(number, operands[1]):
            return False
        if primitive.destructive:
            self.arrays[statement.targets[0]] = number
        return True

    def own(self, number: int, index: tuple) -> bool:
        """Whether an index means a part of an array that is this turn's alone."""
        if any(map(is_array, index)):
            return False
        entries = [entry for entry in index if entry is not None]
        axes = [axis for axis, entry in enumerate(entries) if entry is self.index]
        return bool(axes) and self.axes.setdefault(number, axes[0]) in axes
