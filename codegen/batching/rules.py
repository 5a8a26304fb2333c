"""What a batching rule is given, and where rules are entered.

A rule is a function of a `Batching`, one operation to be done for a whole batch: it emits the operation with
the batch as the first axis and returns the result (a tuple for several), batched on its first axis.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..build import Builder
from ..core import ArrayType, Assign, Dimension, Operand, Variable, type_of
from ..registry import PRIMITIVES, Primitive

# Primitives that need lanes in some cases: function(statement, whether an operand differs).
LANED: dict[Primitive, Callable[[Assign, Callable[[Operand], bool]], bool]] = {}

# Primitives that read the other examples of a named batch axis: whether their result differs among them.
COLLECTIVES: dict[str, bool] = {}

ALL = slice(None)


def batching(*primitives: Primitive | str, lanes: Callable | None = None) -> Callable:
    """Enter the decorated rule for primitives; `lanes` says in which cases there must be lanes instead."""

    def enter(rule: Callable) -> Callable:
        for one in primitives:
            primitive = PRIMITIVES[one] if isinstance(one, str) else one
            primitive.batch = rule
            if lanes is not None:
                LANED[primitive] = lanes
        return rule

    return enter


class Batching:
    """One operation, its operands replaced by those of the whole batch.

    `operands` are the new ones, `given` those for one example (whose types tell their ranks), and
    `differs(operand of one example)` whether the new one has the batch as its first axis. `axis` is what
    collectives name this batch by, and `here` marks one over it.
    """

    def __init__(self, builder: Builder, size: Dimension, statement: Assign, operands: tuple,
                 differs: Callable[[Operand], bool], types: tuple, here: bool = False,
                 axis: object = None):
        self.builder = builder
        self.size = size
        self.statement = statement
        self.primitive = statement.primitive
        self.given = statement.operands
        self.operands = operands
        self.static = statement.static
        self.differs = differs
        self.types = types
        self.here = here
        self.axis = axis

    def emit(self, name: str | Primitive, *operands: Operand, **static: Any) -> Any:
        return self.builder.emit(PRIMITIVES[name] if isinstance(name, str) else name, *operands, **static)

    def again(self, *operands: Operand, **static: Any) -> Any:
        """The same primitive on these operands; keywords not given are as they were."""
        return self.builder.emit(self.primitive, *operands, **{**self.static, **static})

    def rank(self, position: int) -> int:
        """The rank of an operand in one example."""
        return rank_of(self.given[position])

    def batched(self, position: int) -> bool:
        return self.differs(self.given[position])

    def padded(self, position: int, rank: int) -> Operand:
        """An operand that, if batched, has axes of size 1 after the batch, up to `rank` behind it."""
        operand = self.operands[position]
        return pad(self.builder, operand, rank) if self.batched(position) else operand

    def full(self, position: int) -> Operand:
        """An operand with the batch as its first axis, whether or not it differs."""
        return self.operands[position] if self.batched(position) else self.repeat(self.operands[position])

    def repeat(self, operand: Operand) -> Operand:
        return repeat(self.builder, operand, self.size)


def rank_of(operand: Operand) -> int:
    return len(type_of(operand).shape)


def pad(builder: Builder, operand: Operand, rank: int) -> Operand:
    """A batched array with new axes after the batch, up to `rank` axes behind it."""
    missing = rank - (rank_of(operand) - 1)
    if missing <= 0:
        return operand
    return builder.emit(PRIMITIVES["getitem"], operand, (ALL, *(None,) * missing))


def repeat(builder: Builder, operand: Operand, size: Dimension) -> Operand:
    """A value that is the same for all examples, once for each."""
    of = type_of(operand)
    made = builder.definitions.get(operand) if isinstance(operand, Variable) else None
    if made is not None and made.primitive.name in ("zeros", "ones", "empty", "full"):
        shape, *rest = made.operands
        shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        return builder.emit(made.primitive, (size, *shape), *rest, **made.static)
    if not of.shape:
        name, more = "full", (operand,)
        if not isinstance(operand, Variable) and operand in (0, 1) and not np.signbit(np.real(operand)):
            name, more = ("ones" if operand == 1 else "zeros"), ()
        return builder.emit(PRIMITIVES[name], (size,), *more, dtype=of.dtype)
    wide = builder.emit(PRIMITIVES["broadcast_to"], operand, (size, *of.shape))
    return builder.emit(PRIMITIVES["copy"], wide)


def batched_type(of: ArrayType, size: Dimension) -> ArrayType:
    return ArrayType(of.dtype, (size, *of.shape))


def moved_first(builder: Builder, operand: Operand, axis: int) -> Operand:
    """The array with one axis moved to the front."""
    return moved(builder, operand, axis, 0)


def moved(builder: Builder, operand: Operand, source: int, destination: int) -> Operand:
    """np.moveaxis of one axis."""
    if source == destination:
        return operand
    axes = [axis for axis in range(rank_of(operand)) if axis != source]
    axes.insert(destination, source)
    return builder.emit(PRIMITIVES["transpose"], operand, axes=tuple(axes))
