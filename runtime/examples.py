"""vmap when nothing is compiled: the function is called for one example after the other.

So a debugger that stops in it stops at the user's own line, with the values of one example.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..codegen.build import Builder
from ..codegen.errors import ShapeMismatchError, TypeMismatchError, UnsupportedError
from ..codegen.specialise import put_together
from ..codegen.specialise.merge import take_apart


class Concrete:
    """Stands for the specialiser where all values are known."""

    def __init__(self):
        self.builder = Builder()

    @staticmethod
    def shape(leaf: Any) -> tuple:
        return np.shape(leaf)


def one_by_one(vmap: Any, arguments: tuple, keywords: dict, size: int, axes: list) -> Any:
    """The function's values for each example, put together along the axes of the results."""
    leaves: list[Any] = []
    templates = [take_apart(value, leaves) for value in (arguments, keywords)]
    values = []
    for k in range(size):
        pairs = zip(leaves, axes, strict=True)
        row = [leaf if axis is None else np.take(leaf, k, axis) for leaf, axis in pairs]
        given, named = (put_together(template, row) for template in templates)
        values.append(vmap.function(*given, **named))
    return stacked(values, vmap)


def stacked(values: list, vmap: Any) -> Any:
    """The values of all examples as one, each leaf along the axis that out_axes gives it."""
    from .batching import axes_of

    axes = axes_of(vmap.out_axes, values[0], "out_axes")
    rows: list[list[Any]] = []
    for value in values:
        leaves: list[Any] = []
        template = take_apart(value, leaves)
        rows.append(leaves)
        if len(leaves) != len(axes):
            raise TypeMismatchError(
                "vmap of a function whose results differ in structure from one example to another",
                "return the same structure on every way through the function",
            )
    joined = [join(list(column), axis) for column, axis in zip(zip(*rows, strict=True), axes, strict=True)]
    return put_together(template, joined)


def join(column: list, axis: int | None) -> Any:
    if axis is not None:
        return np.stack(alike(column), checked_axis(axis, np.ndim(column[0]) + 1))
    if any(not np.array_equal(value, column[0], equal_nan=True) for value in column):
        raise ShapeMismatchError(
            "vmap has mapped output, but out_axes is None for it",
            "give out_axes the axis that its examples go along",
        )
    return column[0]


def alike(column: list) -> list:
    """The values of all examples as arrays, if they are of one shape."""
    arrays = [np.asarray(value) for value in column]
    if any(array.shape != arrays[0].shape for array in arrays):
        raise UnsupportedError(
            "vmap of a function that returns a value whose shape differs from one example to another",
            "pad it to one shape, or use a loop",
        )
    return arrays


def checked_axis(axis: int, rank: int, where: Any = None) -> int:
    """An axis of a result counted from 0; one that the result with its batch doesn't have is refused."""
    if not -rank <= axis < rank:
        many = "axis" if rank == 1 else "axes"
        raise ShapeMismatchError(
            f"vmap out_axes has {axis}, but the output has {rank} {many} with its batch",
            f"give an axis from {-rank} to {rank - 1}",
            where,
        )
    return axis % rank
