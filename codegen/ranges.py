"""What is known of integers: a variable plus a constant, and the range of a loop's index.

>>> from .core import INT
>>> from .primitives import elementwise as e
>>> b = Builder()
>>> n, i = Variable("n", INT), Variable("i", INT)
>>> ranges = Ranges(b)
>>> ranges.enter_loop(i, 1, b.emit(e.subtract, n, 1), 1)
>>> [ranges.within(b.emit(e.add, i, k), n) for k in (-1, 1, 2)]
[True, True, False]
"""
from __future__ import annotations

from .build import Builder, bound_index
from .core import Operand, Variable


class Ranges:
    """The ranges of the indices of open loops, on top of the lower bounds that a builder knows."""

    def __init__(self, builder: Builder):
        self.builder = builder
        self.below: dict[Variable, tuple[Operand, int]] = {}

    def offset(self, operand: Operand) -> tuple[Variable | None, int]:
        """An integer operand as a variable (or none) and a constant added to it."""
        operand = self.builder.representative(operand)
        if not isinstance(operand, Variable):
            return None, int(operand)
        made = self.builder.definitions.get(operand)
        if made is not None and made.primitive.name in ("add", "subtract"):
            base, constant = made.operands
            if isinstance(base, Variable) and type(constant) is int:
                return base, constant if made.primitive.name == "add" else -constant
        return operand, 0

    def enter_loop(self, index: Variable, start: Operand, stop: Operand, step: Operand) -> None:
        """Record what `for index in range(start, stop, step)` says of its index."""
        bound_index(self.builder, index, start, step)
        if isinstance(step, int) and step > 0:
            self.below[index] = stop, 0
        elif isinstance(step, int) and step < 0:
            self.below[index] = start, 1
            if isinstance(stop, int):
                self.builder.lower_bounds[index] = stop + 1

    def within(self, index: Operand, size: Operand) -> bool:
        """Whether an index is known to be from 0 to below a size."""
        if not isinstance(index, (int, Variable)):
            return False
        base, offset = self.offset(index)
        low = 0 if base is None else self.builder.lower_bound(base)
        if low is None or low + offset < 0:
            return False
        if base is None:
            least = self.builder.lower_bound(size)
            return least is not None and offset < least
        if base not in self.below:
            return False
        limit, more = self.below[base]
        if not isinstance(limit, (int, Variable)):
            return False
        (stop, stop_offset), (end, end_offset) = self.offset(limit), self.offset(size)
        return stop is end and stop_offset + more + offset <= end_offset
