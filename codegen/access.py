"""Which elements of its operands an element of a result is made from.

Views and elementwise operations move elements about without mixing them: element (i, j) of `x.T` is element
(j, i) of x. This is written once, over an algebra of indices: `Emit` (nests.py) computes the indices with
statements of the program, `Trace` only notes where they come from, for the decisions of clusters.py.
"""

from __future__ import annotations

from typing import Any, Protocol

from .build import freeze
from .core import ArrayType, Assign, Operand, Variable, type_of

VIEWS = frozenset({"getitem", "transpose", "broadcast_to", "reshape", "stop_gradient"})
FILLS = frozenset({"zeros", "ones", "full"})
REDUCTIONS = frozenset({"sum", "prod", "max", "min", "any", "all", "argmax", "argmin"})

Index = tuple[Any, ...]


class Algebra(Protocol):
    """What can be done with the index of an element along one axis."""

    zero: Any

    def sliced(self, at: Any, part: slice, array: Operand, axis: int) -> Any:
        """The index in `array` of element `at` of a slice of its axis."""

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
            return [(operands[0], unsqueezed(operands[0], statement.targets[0], at, algebra))]
        case "broadcast_to":
            return [(operands[0], aligned(operands[0], at, algebra))]
    return [(operand, aligned(operand, at, algebra)) for operand in operands]


def unsqueezed(array: Operand, result: Variable, at: Index, algebra: Algebra) -> Index:
    """The index in an array of which the result differs only by axes of size 1."""
    rest = iter(one for size, one in zip(result.type.shape, at) if not is_one(size))
    return tuple(algebra.zero if is_one(size) else next(rest) for size in type_of(array).shape)


def only_moves_ones(statement: Assign) -> bool:
    """Whether a reshape only adds or drops axes of size 1."""
    before, after = type_of(statement.operands[0]).shape, statement.targets[0].type.shape
    before, after = ([size for size in shape if not is_one(size)] for shape in (before, after))
    same = lambda a, b: a is b or (isinstance(a, int) and isinstance(b, int) and a == b)
    return len(before) == len(after) and all(map(same, before, after))


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
    """Indices as notes of where they come from: ("dim", d) for the index of loop d, and what it meets."""

    zero = ("zero",)

    def sliced(self, at, part, array, axis):
        return at if whole(part) else ("slice", at, freeze(part.start), freeze(part.step))

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
