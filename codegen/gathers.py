"""Additions of one array to shifted parts of another, as one sum of shifted reads: gathered, not scattered.

    y = index_add(y, (slice(None, -2),), v)          padded = zeros(n + 2)
    y = index_add(y, (slice(1, -1),), v)       ->    padded = setitem(padded, (slice(2, n),), v)
    y = index_add(y, (slice(2, None),), v)           t = add(add(padded[2:], padded[1:-1]), padded[:-2])
                                                     y = index_add(y, (slice(None),), t)

So each element is read and written once, in order. What is read beyond the edges is zero. That pays in
loops, where one padded array serves all turns, and from three additions on.

>>> from .core import FLOAT, INT
>>> from .primitives import elementwise
>>> b, body = Builder(), Block()
>>> x, y, v = (Variable(name, FLOAT.with_shape((size,))) for name, size in (("x", 6), ("y", 6), ("v", 4)))
>>> with b.inside(body):
...     z = b.emit(PRIMITIVES["index_add"], y, (slice(None, -2),), v)
...     z = b.emit(PRIMITIVES["index_add"], z, (slice(2, None),), v)
...     less = b.emit(elementwise.negative, v)
...     body.results = (b.emit(PRIMITIVES["index_add"], z, (slice(1, -1),), less),)
>>> b.append(For((Variable("z", y.type),), Variable("i", INT), 0, 9, 1, (y,), (x,), body))
>>> [s.primitive for s in gather(Program("f", (x, v), b.block)).body.statements[0].body.statements]
[negative, zeros, setitem, getitem, getitem, add, getitem, negative, add, index_add]
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .adopt import adopt, open_program
from .build import Builder, freeze
from .core import (
    Assign,
    Block,
    Dimension,
    For,
    Operand,
    Program,
    Statement,
    Variable,
    While,
    blocks_of,
    type_of,
    uses_in,
)
from .errors import Location
from .lasting_arrays import is_zeros
from .linear_functions import fewest_arguments, linear_function
from .primitives.indexing import is_basic
from .registry import PRIMITIVES

FEWEST = 3  # additions that are gathered
Part = tuple[tuple, Operand, Location | None]  # an index, what is added there, and for which line


def gather(program: Program) -> Program:
    """The program with additions to several shifted parts of an array gathered."""
    gatherer = Gatherer(program)
    return Program(program.name, program.parameters, gatherer.block(program.body))


@dataclass(frozen=True)
class Shift:
    """An addition of a whole array `value` to the part of another that begins at `offsets`.

    `fixed` are the integers of the index, each at its axis.
    """

    statement: Assign
    value: Variable
    offsets: tuple[int, ...]
    fixed: tuple


@dataclass(frozen=True)
class Bounds:
    """Along one axis: where the parts begin, at the least and at the most, and what is written in all."""

    low: int
    high: int
    length: Dimension
    part: slice


class Gatherer:
    """Copies a program block by block."""

    def __init__(self, program: Program):
        self.builder = Builder()
        self.loops = 0
        open_program(self.builder, program)
        self.uses = uses_in(program)

    def block(self, block: Block) -> Block:
        made = Block([], block.results)
        with self.builder.inside(made):
            gathered = self.gathered(block)
            for statement in block.statements:
                if statement in gathered:
                    self.additions(gathered[statement])
                elif not any(statement in run for run in gathered.values()):
                    adopt(self.builder, self.inside(statement))
        return made

    def inside(self, statement: Statement) -> Statement:
        """A statement with the blocks in it rewritten."""
        names = ("test", "body") if isinstance(statement, While) else ("body", "orelse")
        turns = isinstance(statement, (For, While))
        self.loops += turns
        parts = {name: self.block(inner) for name, inner in zip(names, blocks_of(statement))}
        self.loops -= turns
        return replace(statement, **parts) if parts else statement

    # which additions

    def gathered(self, block: Block) -> dict[Assign, list[Assign]]:
        """Runs of additions to one array, at the statement that ends each; to zeros, a write is one too."""
        runs: dict[Variable, list[Assign]] = {}
        if not self.loops:
            return {}
        zeros = self.only_written(block)
        for statement in block.statements:
            name = statement.primitive.name if isinstance(statement, Assign) else None
            if name == "index_add":
                array = statement.operands[0]
                run = runs.pop(array, []) if self.uses[array] == 1 else []
                runs[statement.targets[0]] = [*run, statement]
            elif name == "setitem" and statement.operands[0] in zeros and is_basic(statement.operands[1]):
                runs[statement.targets[0]] = [statement]
        return {run[-1]: run for run in runs.values() if len(run) > 1}

    def only_written(self, block: Block) -> set[Variable]:
        """Arrays of zeros that a single statement reads."""
        made = (s.targets[0] for s in block.statements if is_zeros(s))
        return {array for array in made if self.uses[array] == 1}

    def groups(self, run: list[Assign]) -> list[list[Shift]]:
        """The additions of a run that differ by their offsets only, where there are enough."""
        found: dict[tuple, list[Shift]] = {}
        for shift in filter(None, map(shift_of, run)):
            shape = tuple(map(self.builder.representative, shift.value.type.shape))
            found.setdefault((shift.fixed, shape), []).append(shift)
        return [group for group in found.values() if len({shift.offsets for shift in group}) >= FEWEST]

    # what they become

    def additions(self, run: list[Assign]) -> None:
        """Emit the additions of a run, gathered as far as that takes fewer arrays."""
        sums: dict[tuple, tuple[tuple, Variable]] = {}
        left = list(run)
        for group in self.groups(run):
            arguments = fewest_arguments(self.builder, [shift.value for shift in group])
            if len(arguments) >= len(group):
                continue
            left = [statement for statement in left if all(statement is not s.statement for s in group)]
            self.builder.location = group[-1].statement.location
            index, total = self.gather(group, arguments)
            if freeze(index) in sums:
                total = self.assign("add", total.type.shape, sums[freeze(index)][1], total)
            sums[freeze(index)] = index, total
        parts = [(s.operands[1], s.operands[2], s.location) for s in left]
        parts += [(index, total, run[-1].location) for index, total in sums.values()]
        self.add(run[0].operands[0], parts, run[-1].targets[0])

    def add(self, array: Variable, parts: list[Part], target: Variable) -> None:
        """Emit the additions to parts of an array; the last makes `target`."""
        made = self.builder.definitions.get(array)
        empty = made is not None and is_zeros(made) and self.uses[array] == 1
        for number, (index, value, location) in enumerate(parts):
            after = target if number == len(parts) - 1 else Variable(target.name, target.type)
            name = "index_add"
            if empty and number == 0 and is_basic(index):
                name = "setitem"
                if is_everything(index) and self.is_sum(value):
                    self.rename(value, after)
                    array = after
                    continue
            adopt(self.builder, Assign((after,), PRIMITIVES[name], (array, index, value), {}, location))
            array = after

    def is_sum(self, value: Operand) -> bool:
        """Whether a value was added up here, so that nothing else reads it."""
        return isinstance(value, Variable) and not self.uses[value]

    def rename(self, value: Variable, target: Variable) -> None:
        """Let the statement that makes a value make another variable instead."""
        made = self.builder.definitions[value]
        made.targets = (target,)
        self.builder.definitions[target] = made

    def gather(self, group: list[Shift], arguments: list[Variable]) -> tuple[tuple, Variable]:
        """The index of what a group adds to, and what is added there."""
        array, index, value = group[0].statement.operands
        axes = [axis for axis, entry in enumerate(index) if isinstance(entry, slice)]
        axes += range(len(index), array.type.ndim)
        bounds = [
            self.bounds(array.type.shape[axis], axis, k, size, group)
            for k, (axis, size) in enumerate(zip(axes, value.type.shape))
        ]
        padded = {argument: self.padded(argument, bounds) for argument in arguments}
        parts = iter(bounds)
        index = tuple(
            entry if axis not in axes else next(parts).part
            for axis, entry in enumerate([*index, *(slice(None),) * (array.type.ndim - len(index))])
        )
        return index, self.total(group, padded, bounds)

    def bounds(self, size: Dimension, axis: int, place: int, part: Dimension, group: list[Shift]) -> Bounds:
        last = max(group, key=lambda shift: shift.offsets[place])
        low, high = min(shift.offsets[place] for shift in group), last.offsets[place]
        stop = self.stop(last.statement.operands[1], axis, size)
        if stop is None:
            stop = self.builder.dimension_min(self.builder.dimension_add(part, high), size)
        stop = self.builder.dimension_max(stop, low)
        whole = low == 0 and self.builder.same(stop, size)
        length = self.builder.dimension_add(stop, -low)
        return Bounds(low, high, length, slice(None) if whole else slice(low, stop))

    def stop(self, index: tuple, axis: int, size: Dimension) -> Dimension | None:
        """Where the part that an index takes ends, if that is at the end of the axis or before it."""
        stop = index[axis].stop if axis < len(index) else None
        if stop is None:
            return size
        return self.builder.dimension_add(size, stop) if type(stop) is int and stop < 0 else None

    def padded(self, value: Variable, bounds: list[Bounds]) -> Variable:
        """A copy of an array with zeros around it."""
        edges = [bound.high - bound.low for bound in bounds]
        add = self.builder.dimension_add
        shape = tuple(add(size, 2 * edge) for size, edge in zip(value.type.shape, edges))
        zeros = self.builder.emit(PRIMITIVES["zeros"], shape, dtype=value.type.dtype, name="padded")
        inner = [slice(edge, add(size, edge)) if edge else slice(None)
                 for size, edge in zip(value.type.shape, edges)]  # fmt: skip
        return self.assign("setitem", shape, zeros, tuple(inner), value, name="padded")

    def total(self, group: list[Shift], padded: dict[Variable, Variable], bounds: list[Bounds]) -> Variable:
        """The sum of what is added: each function of the shifted arrays once, of sums of these."""
        shape = tuple(bound.length for bound in bounds)
        shifts: dict[Variable, list[tuple[int, ...]]] = {}
        for shift in group:
            shifts.setdefault(shift.value, []).append(shift.offsets)
        total = None
        for value, offsets in shifts.items():
            function = linear_function(self.builder, value, list(padded))
            sums = {v: self.shifted(padded[v], offsets, bounds, shape) for v in function.arguments}
            term = function.of(sums, lambda name, *operands: self.assign(name, shape, *operands))
            total = term if total is None else self.assign("add", shape, total, term)
        return total

    def shifted(
        self, padded: Variable, offsets: list[tuple[int, ...]], bounds: list[Bounds], shape: tuple
    ) -> Variable:
        """The sum of the parts of a padded array that begin at offsets before the edge."""
        total = None
        for place in offsets:
            starts = [bound.high - offset for bound, offset in zip(bounds, place)]
            stops = [self.builder.dimension_add(size, start) for size, start in zip(shape, starts)]
            part = self.assign("getitem", shape, padded, tuple(map(slice, starts, stops)))
            total = part if total is None else self.assign("add", shape, total, part)
        return total

    def assign(self, primitive: str, shape: tuple, *operands: Operand, name: str | None = None) -> Variable:
        """One statement, of which the sizes are known to fit."""
        array = next(o for o in operands if isinstance(o, Variable))
        target = Variable(name, array.type.with_shape(shape))
        adopt(self.builder, Assign((target,), PRIMITIVES[primitive], operands, {}, self.builder.location))
        return target


def is_everything(index: tuple) -> bool:
    return all(isinstance(entry, slice) and entry == slice(None) for entry in index)


def shift_of(statement: Assign) -> Shift | None:
    """An addition as one of a whole array at constant offsets, if it is one."""
    array, index, value = statement.operands
    if not isinstance(value, Variable) or type_of(value).dtype != array.type.dtype:
        return None
    if array.type.dtype.kind not in "fc" or any(isinstance(d, int) and d == 1 for d in value.type.shape):
        return None
    entries = [*index, *(slice(None),) * (array.type.ndim - len(index))]
    offsets, fixed = [], []
    for entry in entries:
        if isinstance(entry, slice):
            start = 0 if entry.start is None else entry.start
            if entry.step not in (None, 1) or type(start) is not int or start < 0:
                return None
            offsets.append(start)
            fixed.append(None)
        elif entry is None or (isinstance(entry, (Variable, np.ndarray)) and type_of(entry).shape):
            return None
        else:
            fixed.append(freeze(entry))
    if len(offsets) != value.type.ndim or not offsets:
        return None
    return Shift(statement, value, tuple(offsets), tuple(fixed))
