"""The elements that a loop nest computes, and the indices at which it reads them.

Every value is computed at the outermost loop whose index it depends on, and once.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Container, Iterator
from typing import Any

import numpy as np

from .access import FILLS, Index, is_array, is_one, sources, whole
from .build import Builder, freeze
from .core import INT, Assign, Block, Dimension, If, Operand, Variable, type_of, variables_in
from .errors import Location
from .linear import least, linear_form
from .registry import PRIMITIVES, primitive

# Operations that cost no more than the branch that would avoid them.
CHEAP_NAMES = (
    "add subtract multiply negative positive absolute less less_equal greater greater_equal equal not_equal "
    "logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor invert maximum "
    "minimum square sign astype copy real imag conjugate isnan isfinite isinf zeros ones full arange getitem "
    "transpose broadcast_to reshape where moved"
)
CHEAP = frozenset(CHEAP_NAMES.split())


def placed(x: np.ndarray, shape: tuple[int, ...], offsets: tuple[int, ...], ends: tuple) -> np.ndarray:
    """An array of zeros of some shape with another in it, from an offset on along each axis."""
    made = np.zeros(shape, x.dtype)
    made[tuple(slice(offset, offset + size) for offset, size in zip(offsets, x.shape))] = x
    return made


# `ends`: along which axes the array ends before the result does.
moved = primitive("moved", placed, lambda builder, x, shape, **static: x.type.with_shape(shape))
slice_start = primitive(
    "slice_start",
    lambda size, start, stop, step: slice(start, stop, step).indices(size)[0],
    lambda builder, *operands: INT,
)


class Elements:
    """Computes elements for the statements of a nest; also the algebra (access.py) of the indices in it."""

    zero = 0

    def __init__(
        self,
        builder: Builder,
        definitions: dict[Variable, Assign],
        checked: Container[tuple],
        location: Location | None,
    ):
        self.builder = builder
        self.definitions = definitions
        self.checked = checked
        self.location = location
        self.base = len(builder.scopes)
        self.depths: dict[Variable, int] = {}
        self.current: dict[Variable, tuple[Index, Variable]] = {}
        self.branches = 0
        self.truths: dict[Variable, bool] = {}

    @contextlib.contextmanager
    def outermost(self, *operands: Operand) -> Iterator[None]:
        """Emit at the outermost loop at which the operands are known; in a branch, stay in it."""
        scopes = self.builder.scopes
        if not self.branches:
            known = [self.depths.get(v, self.base) for v in variables_in(operands)]
            self.builder.scopes = scopes[: max(known, default=self.base)]
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
        return self.builder.emit(
            PRIMITIVES["setitem"], array, at, self.cast(value, array.type.dtype), name=array.name
        )

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
        elif operand in self.current:
            value = self.load(self.current[operand][1], at)
        else:
            value = self.load(operand, at)
        self.remember(operand, at, value)
        return value

    def remember(self, array: Variable, at: Index, value: Operand) -> None:
        """Note an element for as long as it is known."""
        depth = self.depths.get(value, self.base) if isinstance(value, Variable) else self.base
        innermost = len(self.builder.scopes)
        scope = self.builder.scopes[(innermost if self.branches else min(depth, innermost)) - 1]
        scope.known["element", array, freeze(at)] = value

    def compute(self, statement: Assign, at: Index) -> Operand:
        """One element of the result of a statement."""
        name, target = statement.primitive.name, statement.targets[0]
        if name in FILLS:
            value = {"zeros": 0, "ones": 1}.get(name) if name != "full" else statement.operands[1]
            return self.filled(value, target.type.dtype)
        if name == "arange":
            return self.filled(self.counted(statement, at[0]), target.type.dtype)
        if name == "where" and (value := self.chosen(statement, at)) is not None:
            return value
        if name == "moved":
            return self.moved_element(statement, at)
        read = [self.element(operand, where) for operand, where in sources(statement, at, self)]
        if not statement.primitive.elementwise:
            return read[0]
        return self.emit(name, *read, **statement.static)

    def moved_element(self, statement: Assign, at: Index) -> Operand:
        """An element of an array that is moved along some axes, or 0 where it does not reach."""
        array, offsets, ends = statement.operands[0], statement.static["offsets"], statement.static["ends"]
        tests = [self.emit("greater_equal", one, offset) for one, offset in zip(at, offsets) if offset]
        for one, size, offset, end in zip(at, array.type.shape, offsets, ends):
            if end:
                tests.append(self.emit("less", one, self.plus(size, offset)))
        ((_, place),) = sources(statement, at, self)
        value = self.element(array, place)
        if not tests:
            return value
        inside = functools.reduce(lambda a, b: self.emit("logical_and", a, b), tests)
        return self.emit("where", inside, value, array.type.dtype.type(0))

    def filled(self, value: Operand, dtype: np.dtype) -> Operand:
        """A number as an element: NumPy's, for Python's is divided, inverted and compared by other rules."""
        if not isinstance(value, Variable):
            return dtype.type(value)
        of = type_of(value)
        return value if of.dtype == dtype and not of.weak else self.emit("astype", value, dtype=dtype)

    def counted(self, statement: Assign, position: Operand) -> Operand:
        """One element of arange: a float one counts in steps of the first difference, as NumPy does."""
        start, _, step = (*statement.operands, 1)[:3] if len(statement.operands) < 3 else statement.operands
        if any(type_of(o).dtype.kind == "f" for o in (start, step)):
            step = self.emit("subtract", self.emit("add", start, step), start)
        return self.emit("add", start, self.emit("multiply", position, step))

    def chosen(self, statement: Assign, at: Index) -> Operand | None:
        """An element of where, if only the side taken is computed, or it is known which that is."""
        costly = any(map(self.costly, statement.operands[1:]))
        if not costly and not self.truths:
            return None
        (test, place), *sides = sources(statement, at, self)
        with self.outermost(*at):
            test = self.element(test, place)
            taken = self.truths.get(test) if isinstance(test, Variable) else bool(test)
            if taken is not None:
                return self.side(statement, *sides[0 if taken else 1])
            return self.branch(statement, test, sides) if costly else None

    def branch(self, statement: Assign, test: Variable, sides: list[tuple[Operand, Index]]) -> Operand:
        target = Variable(statement.targets[0].name, statement.targets[0].type.with_shape(()))
        blocks = [Block(), Block()]
        self.branches += 1
        for truth, block, side in zip((True, False), blocks, sides):
            self.truths[test] = truth
            with self.builder.inside(block):
                block.results = (self.side(statement, *side),)
        del self.truths[test]
        self.branches -= 1
        if blocks[0].results == blocks[1].results:
            return blocks[0].results[0]
        self.builder.append(If((target,), test, *blocks, self.location))
        self.depths[target] = len(self.builder.scopes)
        return target

    def side(self, statement: Assign, operand: Operand, at: Index) -> Operand:
        """An element of what a choice is made from."""
        return self.cast(self.element(operand, at), statement.targets[0].type.dtype)

    def costly(self, operand: Operand) -> bool:
        """Whether an element of an operand takes work that a branch should avoid.

        What fewer axes have is computed in a loop further out.
        """
        rank = type_of(operand).ndim
        waiting, seen = [operand], set()
        while waiting:
            statement = self.definitions.get(waiting.pop())
            if statement is None or statement in seen or statement.targets[0].type.ndim < rank:
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
        return tuple(0 if is_one(size) else one for size, one in zip(shape, at[len(at) - len(shape) :]))

    def sliced(self, at: Operand, part: slice, array: Operand, axis: int) -> Operand:
        if whole(part):
            return at
        start = self.start(part, type_of(array).shape[axis])
        step = 1 if part.step is None else part.step
        if not isinstance(step, Variable) and step == -1:
            with self.outermost(start, at):
                value = self.builder.dimension_subtract(start, at)
            return self.note(value, start, at)
        moved = at if not isinstance(step, Variable) and step == 1 else self.emit("multiply", at, step)
        return self.plus(moved, start)

    def moved(self, at: Operand, offset: int, size: Dimension | None) -> Operand:
        at = self.plus(at, -offset)
        if size is not None:
            at = self.emit("minimum", at, self.plus(size, -1), weak=True)
        return self.emit("maximum", at, 0, weak=True) if offset else at

    def split(self, at: Index, sizes: tuple[Dimension, ...]) -> Operand:
        value, *rest = at
        for one, size in zip(rest, sizes[1:]):
            value = self.plus(self.emit("multiply", value, size), one)
        return value

    def start(self, part: slice, size: Dimension) -> Operand:
        """Where a slice begins, if it holds anything."""
        start, step = part.start, part.step
        if not isinstance(step, Variable):
            upward = step is None or step > 0
            if start is None:
                return 0 if upward else self.plus(size, -1)
            if upward and (self.from_start(start) or is_zero(start)):
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
        size = type_of(array).shape[axis]
        counted = self.counts(indices, at, size)
        if counted is not None:
            return counted
        position = self.plain(self.element(indices, at))
        if (indices, size) not in self.checked:
            self.emit("check_index", position, size, axis=axis)
        return self.wrapped(position, size)

    def counts(self, indices: Variable, at: Index, size: Dimension) -> Operand | None:
        """The element of an arange that counts through a whole axis: its own index."""
        statement = self.definitions.get(indices)
        if statement is None or statement.primitive.name not in ("arange", "getitem"):
            return None
        if statement.primitive.name == "getitem":
            ((array, where),) = sources(statement, at, self)
            return self.counts(array, where, size)
        start, stop, *step = statement.operands
        known = is_zero(start) and all(map(is_one, step)) and self.builder.same(stop, size)
        return at[0] if known else None

    def plain(self, position: Operand) -> Operand:
        """An integer of any dtype as a Python int."""
        if not isinstance(position, Variable):
            return int(position)
        return position if position.type.weak else self.emit("astype", position, dtype=INT.dtype, weak=True)

    def from_start(self, position: Operand) -> bool:
        """Whether a position is known not to count from the end."""
        form = linear_form(self.builder, position)
        return (low := least(self.builder, form)) is not None and low >= 0

    def wrapped(self, position: Operand, size: Dimension) -> Operand:
        """A position from the end as one from the start."""
        if not isinstance(position, Variable):
            return position if position >= 0 else self.plus(size, position)
        if self.from_start(position):
            return position
        below = self.emit("less", position, 0)
        return self.emit("where", below, self.emit("add", position, size), position, weak=True)


def is_zero(value: Operand) -> bool:
    return not isinstance(value, Variable) and value == 0
