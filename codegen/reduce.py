"""Reductions inside a loop nest: what is carried from element to element.

Where the axes that are kept come first, the running value is a scalar; otherwise it is a row, updated in
place, so that memory is read in its own order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .access import Index, is_one
from .core import INT, ArrayType, Assign, Operand, Variable
from .registry import PRIMITIVES

if TYPE_CHECKING:
    from .nests import Nest

STEPS = {
    "sum": "add",
    "prod": "multiply",
    "max": "maximum",
    "min": "minimum",
    "any": "logical_or",
    "all": "logical_and",
}
NAMES = {
    "sum": "total",
    "prod": "product",
    "max": "largest",
    "min": "smallest",
    "any": "found",
    "all": "holds",
}


class Reduction:
    """One reduction of a nest."""

    def __init__(self, statement: Assign):
        self.statement = statement
        self.name = statement.primitive.name
        self.operand = statement.operands[0]
        self.target = statement.targets[0]
        axis = statement.static["axis"]
        self.axes = axis if isinstance(axis, tuple) else (axis,)
        self.keepdims = bool(statement.static.get("keepdims", False))
        shape = self.operand.type.shape
        self.kept = tuple(a for a in range(len(shape)) if a not in self.axes)
        moving = [a for a in self.kept if not is_one(shape[a])]
        reduced = [a for a in self.axes if not is_one(shape[a])]
        self.scalar = not moving or not reduced or max(moving) < min(reduced)
        self.depth = (max(moving) + 1 if moving else 0) if self.scalar else len(shape) + 1

    @property
    def dtype(self) -> np.dtype:
        """The dtype that is accumulated in: a sum of single precision keeps the digits that pairs would."""
        dtype = self.target.type.dtype
        if self.scalar and self.name in ("sum", "prod") and dtype in (np.float16, np.float32, np.complex64):
            return np.dtype(complex if dtype.kind == "c" else float)
        return dtype

    def part_type(self, part: str) -> ArrayType:
        if part == "position":
            return INT
        return ArrayType(self.operand.type.dtype if self.seeks else self.dtype)

    def part_name(self, part: str) -> str:
        if self.seeks:
            return part if part == "position" else "best"
        return self.target.name or NAMES[self.name]

    @property
    def seeks(self) -> bool:
        return self.name in ("argmax", "argmin")

    def is_final(self, part: str) -> bool:
        """Whether a carried scalar ends as the result itself."""
        return not self.seeks and not self.target.type.shape and self.dtype == self.target.type.dtype

    def identity(self) -> Any:
        """What the running value begins as."""
        dtype = self.part_type("value").dtype
        if self.name in ("max", "min", "argmax", "argmin"):
            return lowest(dtype) if self.name in ("max", "argmax") else highest(dtype)
        return literal(dtype, 0 if self.name in ("sum", "any") else 1)

    def identities(self) -> dict[str, Any]:
        if not self.scalar:
            return {}
        if not self.seeks:
            return {"value": self.identity()}
        return {"value": self.identity(), "position": -1}

    def initial(self, nest: Nest) -> Operand:
        shape, name, dtype = self.target.type.shape, self.target.name, self.target.type.dtype
        if self.scalar:
            return nest.builder.emit(PRIMITIVES["empty"], shape, dtype=dtype, name=name)
        if self.name in ("sum", "any"):
            return nest.builder.emit(PRIMITIVES["zeros"], shape, dtype=dtype, name=name)
        if self.name in ("prod", "all"):
            return nest.builder.emit(PRIMITIVES["ones"], shape, dtype=dtype, name=name)
        return nest.builder.emit(PRIMITIVES["full"], shape, self.identity(), dtype=dtype, name=name)

    def place(self, at: Index) -> Index:
        """Where the result for an element stands."""
        last = (0,) * len(self.operand.type.shape)
        at = (*at, *last[len(at) :])
        if self.keepdims:
            return tuple(0 if axis in self.axes else one for axis, one in enumerate(at))
        return tuple(at[axis] for axis in self.kept)

    def step(self, nest: Nest, running: Operand, at: Index) -> Operand:
        value = nest.element(self.operand, at)
        if self.name in ("any", "all") and self.operand.type.dtype.kind != "b":
            value = nest.emit("not_equal", value, literal(self.operand.type.dtype, 0))
        return nest.emit(STEPS[self.name], running, nest.cast(value, self.dtype))

    def update(self, nest: Nest, parts: dict[str, Variable], at: Index) -> dict[str, Operand]:
        """The carried scalars after one more element."""
        if not self.seeks:
            return {"value": self.step(nest, parts["value"], at)}
        value, best, position = nest.element(self.operand, at), parts["value"], parts["position"]
        better = nest.emit("greater" if self.name == "argmax" else "less", value, best)
        first = nest.emit("less", position, 0)
        better = nest.emit("logical_or", better, first)
        if self.operand.type.inexact:
            # The first nan is the largest and the smallest.
            nan = nest.emit(
                "logical_and", nest.emit("not_equal", value, value), nest.emit("equal", best, best)
            )
            better = nest.emit("logical_or", better, nan)
        return {
            "value": nest.emit("where", better, value, best),
            "position": nest.emit("where", better, at[self.axes[0]], position, weak=True),
        }

    def update_in_place(self, nest: Nest, current: Variable, at: Index) -> Variable:
        place = self.place(at)
        return nest.store(current, place, self.step(nest, nest.load(current, place), at))

    def finish(self, nest: Nest, parts: dict[str, Operand], array: Operand | None, at: Index) -> Operand:
        """The result, when the reduced axes have been gone through."""
        value = parts["position" if self.seeks else "value"]
        if not self.target.type.shape:
            return value
        if array is None:
            array = self.initial(nest)
        return nest.store(array, self.place(at), value)


def literal(dtype: np.dtype, value: Any) -> Any:
    """A constant of a dtype, as plain as it can be written."""
    python = {np.dtype(bool): bool, np.dtype(np.int64): int, np.dtype(float): float}.get(dtype)
    return python(value) if python else dtype.type(value)


def lowest(dtype: np.dtype) -> Any:
    if dtype.kind == "b":
        return False
    return literal(dtype, -np.inf if dtype.kind == "f" else np.iinfo(dtype).min)


def highest(dtype: np.dtype) -> Any:
    if dtype.kind == "b":
        return True
    return literal(dtype, np.inf if dtype.kind == "f" else np.iinfo(dtype).max)
