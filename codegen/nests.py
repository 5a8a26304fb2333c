"""Writing a loop nest: the elements of several results, computed one at a time.

Every value is computed at the outermost loop whose index it depends on, and once.

>>> from .build import Builder
>>> from .core import ArrayType, Assign, Variable, INT
>>> n = Variable("n", INT)
>>> x, y = (Variable(name, ArrayType(np.dtype(float), (n,))) for name in "xy")
>>> double = Assign((y,), PRIMITIVES["multiply"], (x, 2.0))
>>> builder = Builder()
>>> write_nest(builder, (n,), [double], {})
>>> [type(statement).__name__ for statement in builder.block.statements]
['Assign', 'For']
>>> [s.primitive.name for s in builder.block.statements[1].body.statements]
['getitem', 'multiply', 'setitem']
"""
from __future__ import annotations

import contextlib
from collections.abc import Container, Iterator
from typing import Any

import numpy as np

from .access import FILLS, REDUCTIONS, Index, indexed, is_array, is_one, sources, whole
from .build import Builder, freeze
from .core import INT, ArrayType, Assign, Block, Dimension, For, If, Operand, Variable, type_of, variables_in
from .errors import Location
from .primitives.indexing import result_shape
from .reduce import Reduction
from .registry import PRIMITIVES, primitive

INDEX_NAMES = "ijkl"
# Operations that cost no more than the branch that would avoid them.
CHEAP = frozenset(
    "add subtract multiply negative positive absolute less less_equal greater greater_equal equal not_equal "
    "logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor invert maximum minimum square "
    "sign astype copy real imag conjugate isnan isfinite isinf zeros ones full arange getitem transpose "
    "broadcast_to reshape".split()
)

slice_start = primitive("slice_start", lambda size, start, stop, step: slice(start, stop, step).indices(size)[0],
                        lambda builder, *operands: INT)


def write_nest(builder: Builder, space: tuple[Dimension, ...], outputs: list[Assign],
               definitions: dict[Variable, Assign], checked: Container[tuple] = ()) -> None:
    """Emit one nest of loops over `space` that computes the results of `outputs`.

    `definitions` are the elementwise operations and views whose elements are computed where they are read;
    `checked`, the arrays of indices known to be inside an axis of some size.
    """
    location = next((s.location for s in outputs if s.location), None)
    builder.location = location
    Nest(builder, space, [output_of(s) for s in outputs], definitions, checked, location).write()


def region(builder: Builder, statement: Assign) -> tuple[Dimension, ...]:
    """The index space of a statement that is computed by a nest."""
    name, target = statement.primitive.name, statement.targets[0]
    if name in ("setitem", "index_add"):
        array, index, value = statement.operands[:3]
        known = type_of(value).shape[-part_rank(array, index):]
        if len(known) == part_rank(array, index) and not any(map(is_one, known)):
            return known
        shape = result_shape(builder, type_of(array).shape, index)
        known = (1,) * (len(shape) - len(known)) + known
        return tuple(wide if is_one(size) else size for size, wide in zip(known, shape))
    if name in REDUCTIONS:
        return type_of(statement.operands[0]).shape
    return target.type.shape


def part_rank(array: Variable, index: tuple) -> int:
    """The number of dimensions of `array[index]`."""
    arrays = max((entry.type.ndim for entry in index if is_array(entry)), default=0)
    kept = sum(entry is None or isinstance(entry, slice) for entry in index)
    return kept + arrays + array.type.ndim - sum(entry is not None for entry in index)


class Store:
    """A result of which every element is stored."""

    depth: int | None = None

    def __init__(self, statement: Assign):
        self.statement = statement
        self.target = statement.targets[0]

    def initial(self, nest: Nest) -> Operand:
        return nest.builder.emit(PRIMITIVES["empty"], self.target.type.shape, dtype=self.target.type.dtype,
                                 name=self.target.name)

    def update(self, nest: Nest, current: Variable, at: Index) -> Variable:
        value = nest.compute(self.statement, at)
        nest.remember(self.target, at, value)
        return nest.store(current, at, value)


class Write:
    """A part of an array that is overwritten or added to."""

    depth: int | None = None

    def __init__(self, statement: Assign):
        self.statement = statement
        self.target = statement.targets[0]

    def initial(self, nest: Nest) -> Operand:
        return self.statement.operands[0]

    def update(self, nest: Nest, current: Variable, at: Index) -> Variable:
        array, index, value = self.statement.operands[:3]
        place = indexed(array, index, at, nest)
        nest.current[array] = (place, current)
        if is_array(value):
            value = nest.element(value, nest.fitted(value, at))
        if self.statement.primitive.name == "index_add":
            value = nest.emit("add", nest.load(current, place), value)
        return nest.store(current, place, value)


def output_of(statement: Assign) -> Store | Write | Reduction:
    name = statement.primitive.name
    if name in ("setitem", "index_add"):
        return Write(statement)
    return Reduction(statement) if name in REDUCTIONS else Store(statement)


class Nest:
    """The nest under construction; also the algebra (access.py) of the indices in it."""

    zero = 0

    def __init__(self, builder: Builder, space: tuple[Dimension, ...], outputs: list,
                 definitions: dict[Variable, Assign], checked: Container[tuple], location: Location | None):
        self.builder = builder
        self.space = space
        self.outputs = outputs
        self.definitions = definitions
        self.checked = checked
        self.location = location
        self.base = len(builder.scopes)
        self.depths: dict[Variable, int] = {}
        self.current: dict[Variable, tuple[Index, Variable]] = {}
        self.branches = 0

    def write(self) -> None:
        initial = {output: output.initial(self) for output in self.outputs if output.depth != 0}
        final = self.loop(0, (), initial, {output: output.target for output in self.outputs})
        for output in self.outputs:
            if final[output] is not output.target and not self.renamed(final[output], output.target):
                copy = PRIMITIVES["astype"], (final[output],), {"dtype": output.target.type.dtype}
                self.builder.append(Assign((output.target,), *copy, self.location))

    def renamed(self, array: Operand, target: Variable) -> bool:
        """Let the write that made an array assign the target instead."""
        if not is_array(array):
            return False
        for statement in reversed(self.builder.block.statements):
            if array in statement.targets:
                statement.targets = tuple(target if t is array else t for t in statement.targets)
                return True
        return False

    def loop(self, axis: int, at: Index, state: dict[Any, Operand],
             names: dict[Any, Variable]) -> dict[Any, Operand]:
        """Emit the loops from `axis` inward; `state` is what is carried, the results are its new values."""
        starting = [output for output in self.outputs if output.depth == axis]
        carried = dict(state)
        for output in starting:
            carried.pop(output, None)
            carried |= {(output, part): value for part, value in output.identities().items()}
        if axis == len(self.space):
            new = self.innermost(at, carried)
        elif is_one(self.space[axis]):
            new = self.loop(axis + 1, (*at, 0), carried, {})
        else:
            new = self.one_loop(axis, at, carried, names)
        for output in starting:
            parts = {part: new.pop((output, part)) for part in output.identities()}
            new[output] = output.finish(self, parts, state.get(output), at)
        return new

    def one_loop(self, axis: int, at: Index, state: dict[Any, Operand],
                 names: dict[Any, Variable]) -> dict[Any, Operand]:
        named = lambda key: key[0].part_name(key[1]) if isinstance(key, tuple) else key.target.name
        index = Variable(INDEX_NAMES[axis] if axis < len(INDEX_NAMES) else f"i{axis}", INT)
        carried = {key: Variable(named(key), carried_type(key, value)) for key, value in state.items()}
        targets = {key: self.final(key, value, names) for key, value in carried.items()}
        self.builder.lower_bounds[index] = 0
        body = Block()
        with self.builder.inside(body):
            for variable in (index, *carried.values()):
                self.depths[variable] = len(self.builder.scopes)
            new = self.loop(axis + 1, (*at, index), carried, {})
            body.results = tuple(new[key] for key in state)
        self.builder.append(For(tuple(targets.values()), index, 0, self.space[axis], 1, tuple(carried.values()),
                                tuple(state.values()), body, self.location))
        for target in targets.values():
            self.depths[target] = len(self.builder.scopes)
        return targets

    def final(self, key: Any, carried: Variable, names: dict[Any, Variable]) -> Variable:
        """The variable for what a loop ends with: the statement's own, where that is the end of it."""
        if key in names:
            return names[key]
        if isinstance(key, tuple) and key[0] in names and key[0].is_final(key[1]):
            return names[key[0]]
        return Variable(carried.name, carried.type)

    def innermost(self, at: Index, state: dict[Any, Variable]) -> dict[Any, Operand]:
        new = dict(state)
        self.current.clear()
        for output in self.outputs:
            if output.depth is None:
                new[output] = output.update(self, state[output], at)
            elif output.scalar:
                parts = {part: state[output, part] for part in output.identities()}
                updated = output.update(self, parts, at)
                new |= {(output, part): value for part, value in updated.items()}
            else:
                new[output] = output.update_in_place(self, state[output], at)
        return new

    # statements at the right depth

    @contextlib.contextmanager
    def outermost(self, *operands: Operand) -> Iterator[None]:
        """Emit at the outermost loop at which the operands are known; in a branch, stay in it."""
        scopes = self.builder.scopes
        if not self.branches:
            known = [self.depths.get(v, self.base) for v in variables_in(operands)]
            self.builder.scopes = scopes[:max(known, default=self.base)]
        try:
            yield
        finally:
            self.builder.scopes = scopes

    def note(self, value: Operand, *operands: Operand) -> Operand:
        """Note the depth of a value that was computed from operands."""
        if isinstance(value, Variable) and value not in self.depths:
            known = [self.depths.get(v, self.base) for v in variables_in(operands)]
            self.depths[value] = len(self.builder.scopes) if self.branches else max(known, default=self.base)
        return value

    def emit(self, name: str, *operands: Operand, **static: Any) -> Operand:
        with self.outermost(*operands):
            value = self.builder.emit(PRIMITIVES[name], *operands, **static)
        return self.note(value, *operands)

    def plus(self, a: Operand, b: Operand) -> Operand:
        with self.outermost(a, b):
            value = self.builder.dimension_add(a, b)
        return self.note(value, a, b)

    def load(self, array: Variable, at: Index) -> Operand:
        return self.emit("getitem", array, at)

    def store(self, array: Variable, at: Index, value: Operand) -> Variable:
        return self.builder.emit(PRIMITIVES["setitem"], array, at, self.cast(value, array.type.dtype),
                                 name=array.name)

    def cast(self, value: Operand, dtype: np.dtype) -> Operand:
        """The value in a dtype, as an assignment into an array converts it."""
        of = type_of(value)
        if of.dtype == dtype or (not isinstance(value, Variable) and of.weak and dtype.kind == of.dtype.kind):
            return value
        return self.emit("astype", value, dtype=dtype)

    # elements

    def element(self, operand: Operand, at: Index) -> Operand:
        """One element of an operand: read, or computed here."""
        if not is_array(operand):
            return operand
        key = ("element", operand, freeze(at))
        for scope in reversed(self.builder.scopes):
            if key in scope.known:
                return scope.known[key]
        statement = self.definitions.get(operand)
        if statement is not None:
            value = self.compute(statement, at)
        elif operand in self.current and self.current[operand][0] == at:
            value = self.load(self.current[operand][1], at)
        else:
            value = self.load(operand, at)
        self.remember(operand, at, value)
        return value

    def remember(self, array: Variable, at: Index, value: Operand) -> None:
        """Note an element for as long as it is known."""
        depth = self.depths.get(value, self.base) if isinstance(value, Variable) else self.base
        scope = self.builder.scopes[(len(self.builder.scopes) if self.branches else depth) - 1]
        scope.known["element", array, freeze(at)] = value

    def compute(self, statement: Assign, at: Index) -> Operand:
        """One element of the result of a statement."""
        name, target = statement.primitive.name, statement.targets[0]
        if name in FILLS:
            value = {"zeros": 0, "ones": 1}.get(name) if name != "full" else statement.operands[1]
            return self.filled(value, target.type.dtype)
        if name == "arange":
            return self.cast(self.counted(statement, at[0]), target.type.dtype)
        if name == "where" and any(self.costly(side) for side in statement.operands[1:]):
            return self.branch(statement, at)
        read = [self.element(operand, where) for operand, where in sources(statement, at, self)]
        if not statement.primitive.elementwise:
            return read[0]
        return self.emit(name, *read, **statement.static)

    def filled(self, value: Operand, dtype: np.dtype) -> Operand:
        return self.cast(value, dtype) if isinstance(value, Variable) else dtype.type(value)

    def counted(self, statement: Assign, position: Operand) -> Operand:
        """One element of arange: a float one counts in steps of the first difference, as NumPy does."""
        start, _, step = (*statement.operands, 1)[:3] if len(statement.operands) < 3 else statement.operands
        if any(type_of(o).dtype.kind == "f" for o in (start, step)):
            step = self.emit("subtract", self.emit("add", start, step), start)
        return self.emit("add", start, self.emit("multiply", position, step))

    def branch(self, statement: Assign, at: Index) -> Operand:
        """An element of where: only the side that is taken is computed."""
        (test, place), *sides = sources(statement, at, self)
        test = self.element(test, place)
        target = Variable(statement.targets[0].name, statement.targets[0].type.with_shape(()))
        blocks = [Block(), Block()]
        self.branches += 1
        for block, (side, where) in zip(blocks, sides):
            with self.builder.inside(block):
                block.results = (self.cast(self.element(side, where), target.type.dtype),)
        self.branches -= 1
        if blocks[0].results == blocks[1].results:
            return blocks[0].results[0]
        self.builder.append(If((target,), test, *blocks, self.location))
        self.depths[target] = len(self.builder.scopes)
        return target

    def costly(self, operand: Operand) -> bool:
        """Whether an element of an operand takes work that a branch should avoid."""
        waiting, seen = [operand], set()
        while waiting:
            statement = self.definitions.get(waiting.pop())
            if statement is None or statement in seen:
                continue
            seen.add(statement)
            if statement.primitive.name not in CHEAP:
                return True
            waiting.extend(variables_in(statement.operands))
        return False

    # the algebra of indices

    def fitted(self, value: Variable, at: Index) -> Index:
        """The index in a value that is broadcast to the part of an array that it is written into."""
        shape = value.type.shape
        at = (0,) * (len(shape) - len(at)) + at
        return tuple(0 if is_one(size) else one for size, one in zip(shape, at[len(at) - len(shape):]))

    def sliced(self, at: Operand, part: slice, array: Operand, axis: int) -> Operand:
        if whole(part):
            return at
        start = self.start(part, type_of(array).shape[axis])
        step = 1 if part.step is None else part.step
        moved = at if not isinstance(step, Variable) and step == 1 else self.emit("multiply", at, step)
        return self.plus(moved, start)

    def start(self, part: slice, size: Dimension) -> Operand:
        """Where a slice begins, if it holds anything."""
        start, step = part.start, part.step
        if not isinstance(step, Variable):
            upward = step is None or step > 0
            if start is None:
                return 0 if upward else self.plus(size, -1)
            if upward and (self.builder.lower_bound(start) or -1) >= 0 or (upward and is_zero(start)):
                return start
        with self.outermost(size, start, step):
            value = self.builder.emit(slice_start, size, start, part.stop, 1 if step is None else step)
        return self.note(value, size, start, part.stop, step)

    def fixed(self, position: Operand, array: Operand, axis: int) -> Operand:
        size = type_of(array).shape[axis]
        if not isinstance(position, Variable):
            return int(position) if position >= 0 else self.plus(size, int(position))
        return self.wrapped(self.plain(position), size)

    def gathered(self, indices: Variable, at: Index, array: Operand, axis: int) -> Operand:
        position = self.plain(self.element(indices, at))
        size = type_of(array).shape[axis]
        if (indices, size) not in self.checked:
            self.emit("check_index", position, size, axis=axis)
        return self.wrapped(position, size)

    def plain(self, position: Operand) -> Operand:
        """An integer of any dtype as a Python int."""
        if not isinstance(position, Variable):
            return int(position)
        return position if position.type.weak else self.emit("astype", position, dtype=INT.dtype, weak=True)

    def wrapped(self, position: Operand, size: Dimension) -> Operand:
        """A position from the end as one from the start."""
        if not isinstance(position, Variable):
            return position if position >= 0 else self.plus(size, position)
        if (self.builder.lower_bound(position) or -1) >= 0:
            return position
        below = self.emit("less", position, 0)
        return self.emit("where", below, self.emit("add", position, size), position, weak=True)


def is_zero(value: Operand) -> bool:
    return not isinstance(value, Variable) and value == 0


def carried_type(key: Any, value: Operand) -> ArrayType:
    """The type of what a loop carries: an accumulator's does not depend on its first value."""
    return key[0].part_type(key[1]) if isinstance(key, tuple) else type_of(value)
