"""Which elements of its operands an element of a result is made from.

Views and elementwise operations move elements about without mixing them: element (i, j) of `x.T` is element
(j, i) of x. This is written once, over an algebra of indices: `Emit` (nests.py) computes the indices with
statements of the program, `Trace` only notes where they come from, for the decisions of clusters.py.
"""

from __future__ import annotations

import itertools
from typing import Any, Protocol

from .build import freeze
from .core import ArrayType, Assign, Dimension, Operand, Variable, type_of

VIEWS = frozenset({"getitem", "transpose", "broadcast_to", "reshape", "stop_gradient"})
FILLS = frozenset({"zeros", "ones", "full"})
REDUCTIONS = frozenset({"sum", "prod", "max", "min", "any", "all", "argmax", "argmin"})

Index = tuple[Any, ...]


class Algebra(Protocol):
    """What can be done with the index of an element along one axis."""

    zero: Any

    def sliced(self, at: Any, part: slice, array: Operand, axis: int) -> Any:
        """The index in `array` of element `at` of a slice of its axis."""

    def moved(self, at: Any, offset: int, size: Dimension | None) -> Any:
        """The index before an axis of this size was moved; with None, it reaches the end."""

    def split(self, at: Index, sizes: tuple[Dimension, ...]) -> Any:
        """The index along an axis that a reshape splits into several of these sizes."""

    def fixed(self, position: Operand, array: Operand, axis: int) -> Any:
        """The index that an integer in an index means."""

    def gathered(self, indices: Variable, at: Index, array: Operand, axis: int) -> Any:
        """The index that element `at` of an array of integers means."""


def is_array(operand: Operand) -> bool:
    """Whether an operand is an array of at least one dimension."""
    return isinstance(operand, Variable) and isinstance(operand.type, ArrayType) and operand.type.ndim > 0


def is_one(size: Any) -> bool:
    return isinstance(size, int) and size == 1


def aligned(operand: Operand, at: Index, algebra: Algebra) -> Index:
    """The index in an operand that is broadcast to the rank of `at`."""
    shape = type_of(operand).shape
    last = at[len(at) - len(shape) :]
    return tuple(algebra.zero if is_one(size) else one for size, one in zip(shape, last))


def sources(statement: Assign, at: Index, algebra: Algebra) -> list[tuple[Operand, Index]]:
    """Each operand of an elementwise operation or a view, with the index of the element that is read."""
    operands = statement.operands
    match statement.primitive.name:
        case "getitem":
            return [(operands[0], indexed(operands[0], operands[1], at, algebra))]
        case "transpose":
            axes = statement.static["axes"]
            return [(operands[0], tuple(at[axes.index(axis)] for axis in range(len(at))))]
        case "reshape":
            return [(operands[0], reshaped(operands[0], statement.targets[0], at, algebra))]
        case "moved":
            return [(operands[0], moved(statement, at, algebra))]
        case "broadcast_to":
            return [(operands[0], aligned(operands[0], at, algebra))]
    return [(operand, aligned(operand, at, algebra)) for operand in operands]


def moved(statement: Assign, at: Index, algebra: Algebra) -> Index:
    """The index in an array that is moved along some axes: the nearest, where it does not reach."""
    offsets, ends = statement.static["offsets"], statement.static["ends"]
    moves = zip(at, offsets, ends, statement.operands[0].type.shape)
    return tuple(
        algebra.moved(one, offset, size if end else None) if offset or end else one
        for one, offset, end, size in moves
    )


def reshaped(array: Operand, result: Variable, at: Index, algebra: Algebra) -> Index:
    """The index in an array of whose axes at most one is split, but for those of size 1."""
    before, after = type_of(array).shape, result.type.shape
    rest = iter(parts_of_axes(before, after))
    parts = [[] if is_one(size) else next(rest) for size in before]
    index = lambda axes: [at[axis] for axis in axes]
    split = lambda axes: algebra.split(index(axes), tuple(after[axis] for axis in axes))
    return tuple(split(axes) if len(axes) > 1 else (*index(axes), algebra.zero)[0] for axes in parts)


def parts_of_axes(before: tuple[Dimension, ...], after: tuple[Dimension, ...]) -> list[list[int]] | None:
    """The axes after a reshape that each axis before it becomes, if one of them is split at most.

    Axes of size 1 do not count.
    """
    old = [size for size in before if not is_one(size)]
    new = [axis for axis, size in enumerate(after) if not is_one(size)]
    sizes, single = [after[axis] for axis in new], lambda axes: [[axis] for axis in axes]
    first = min(alike(old, sizes), len(old) - 1)
    last = min(alike(old[::-1], sizes[::-1]), len(old) - 1 - first)
    if not old or len(new) < len(old) or first + last < len(old) - 1:
        return single(new) if not old and not new else None
    end = len(new) - last
    return [*single(new[:first]), new[first:end], *single(new[end:])]


def alike(one: list[Dimension], other: list[Dimension]) -> int:
    """How many sizes are the same at the beginning."""
    same = lambda a, b: a is b or (isinstance(a, int) and isinstance(b, int) and a == b)
    pairs = itertools.takewhile(lambda pair: same(*pair), zip(one, other))
    return sum(1 for _ in pairs)


def indexed(array: Operand, index: tuple, at: Index, algebra: Algebra) -> Index:
    """The index in `array` of element `at` of `array[index]`, by NumPy's rules for where axes go."""
    at = list(at)
    arrays = [entry for entry in index if is_array(entry)]
    rank = max((entry.type.ndim for entry in arrays), default=0)
    together: list = []
    if arrays:
        advanced = [k for k, entry in enumerate(index) if entry is not None and not isinstance(entry, slice)]
        first, last = advanced[0], advanced[-1]
        lead = first if last - first + 1 == len(advanced) else 0
        together, at = at[lead : lead + rank], at[:lead] + at[lead + rank :]
    found: list = []
    for entry in index:
        axis = len(found)
        if entry is None:
            at.pop(0)
        elif isinstance(entry, slice):
            found.append(algebra.sliced(at.pop(0), entry, array, axis))
        elif is_array(entry):
            found.append(algebra.gathered(entry, aligned(entry, tuple(together), algebra), array, axis))
        else:
            found.append(algebra.fixed(entry, array, axis))
    return (*found, *at)


def whole(part: slice) -> bool:
    """Whether a slice takes all of an axis, in order."""
    return (
        part.start in (None, 0) and part.stop is None and part.step in (None, 1)
        if not any(isinstance(p, Variable) for p in (part.start, part.stop, part.step))
        else False
    )


class Trace:
    """Indices as notes of where they come from: ("dim", d) for the index of loop d, and what it meets.

    A slice of a slice is noted as one, so that the same element has the same note.
    """

    zero = ("zero",)

    def sliced(self, at, part, array, axis):
        start = 0 if part.start is None else part.start
        if part.step not in (None, 1) or type(start) is not int or start < 0:
            return at if whole(part) else ("slice", at, freeze(part.start), freeze(part.step))
        at, before = at[1:] if at[0] == "after" else (at, 0)
        return ("after", at, before + start) if before + start else at

    def moved(self, at, offset, size):
        return ("moved", at, offset)

    def split(self, at, sizes):
        return ("split", *at, freeze(sizes[1:]))

    def fixed(self, position, array, axis):
        return ("at", position if isinstance(position, Variable) else int(position))

    def gathered(self, indices, at, array, axis):
        return ("gather", indices, at)


TRACE = Trace()


def loop_dims(note: Any) -> set[int]:
    """The loops that a note of Trace depends on."""
    if isinstance(note, tuple):
        if note and note[0] == "dim":
            return {note[1]}
        return set().union(*map(loop_dims, note))
    return set()


def gathers(note: Any) -> bool:
    return isinstance(note, tuple) and (note[:1] == ("gather",) or any(map(gathers, note)))
