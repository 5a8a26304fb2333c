"""The results of a loop nest: arrays that are stored whole, and parts of arrays that are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .access import REDUCTIONS, Index, indexed, is_array, is_one
from .build import Builder
from .core import Assign, Dimension, Operand, Variable, type_of
from .primitives.indexing import result_shape
from .reduce import Reduction
from .registry import PRIMITIVES

if TYPE_CHECKING:
    from .nests import Nest


def region(builder: Builder, statement: Assign) -> tuple[Dimension, ...]:
    """The index space of a statement that is computed by a nest."""
    name, target = statement.primitive.name, statement.targets[0]
    if name in ("setitem", "index_add"):
        array, index, value = statement.operands[:3]
        known = type_of(value).shape[-part_rank(array, index) :]
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
        return nest.builder.emit(
            PRIMITIVES["empty"], self.target.type.shape, dtype=self.target.type.dtype, name=self.target.name
        )

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

    def enter(self, nest: Nest, current: Variable, at: Index) -> None:
        """Let what reads the element that is to be written read it from the array as it is now."""
        array, index = self.statement.operands[:2]
        nest.current[array] = (indexed(array, index, at, nest), current)

    def value(self, nest: Nest, at: Index) -> Operand:
        """The new element."""
        array, _, value = self.statement.operands[:3]
        if is_array(value):
            value = nest.element(value, nest.fitted(value, at))
        if self.statement.primitive.name == "index_add":
            place, current = nest.current[array]
            value = nest.emit("add", nest.load(current, place), value)
        return value

    def store(self, nest: Nest, value: Operand) -> Variable:
        place, current = nest.current[self.statement.operands[0]]
        return nest.store(current, place, value)


def output_of(statement: Assign) -> Store | Write | Reduction:
    name = statement.primitive.name
    if name in ("setitem", "index_add"):
        return Write(statement)
    return Reduction(statement) if name in REDUCTIONS else Store(statement)
