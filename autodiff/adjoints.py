"""The running cotangents of one block of the backward sweep; what is absent is zero.

The cotangent of a side of `where(test, x, y)` is zero where the other side was taken. Multiplied by an
infinite partial derivative that zero would give NaN: so it is kept as the whole cotangent and the test,
elementwise operations transpose the whole cotangent, and zeros are put in only when something else reads it.

    y = where(test, log(x), 0)       ->       x_bar = where(test, y_bar / x, 0)
"""
from __future__ import annotations

from dataclasses import dataclass

from ..codegen.build import Builder
from ..codegen.core import Operand, Variable
from .activity import Activity
from .calls import conform, emit, name_after, zeros


@dataclass(frozen=True)
class Mask:
    """Where a cotangent counts: where `test` is `taken`."""

    test: Operand
    taken: bool

    def apply(self, builder: Builder, cotangent: Operand) -> Operand:
        sides = (cotangent, 0) if self.taken else (0, cotangent)
        return emit(builder, "where", self.test, *sides)

    def narrowed(self, builder: Builder, inner: Mask) -> Mask:
        """Where both masks hold."""
        if self == inner:
            return self
        tests = (m.test if m.taken else emit(builder, "logical_not", m.test) for m in (self, inner))
        return Mask(emit(builder, "logical_and", *tests), True)


class Adjoints:
    """Cotangents of active variables, added up as the sweep meets the places where each was read."""

    def __init__(self, builder: Builder, activity: Activity):
        self.builder = builder
        self.activity = activity
        self.values: dict[Variable, Operand] = {}
        self.masks: dict[Variable, Mask] = {}

    def __contains__(self, variable: Operand) -> bool:
        return isinstance(variable, Variable) and variable in self.values

    def get(self, variable: Operand) -> Operand | None:
        if variable not in self:
            return None
        mask = self.masks.pop(variable, None)
        if mask is not None:
            self.set(variable, mask.apply(self.builder, self.values[variable]))
        return self.values[variable]

    def take(self, variable: Variable) -> Operand | None:
        """The cotangent of a variable whose every reading has been met."""
        self.get(variable)
        return self.values.pop(variable, None)

    def take_masked(self, variable: Variable) -> tuple[Operand, Mask | None]:
        """The whole cotangent, and where it counts (everywhere, if that is None)."""
        return self.values.pop(variable), self.masks.pop(variable, None)

    def set(self, variable: Variable, cotangent: Operand) -> None:
        self.values[variable] = name_after(cotangent, variable, "_bar")

    def add(self, operand: Operand, cotangent: Operand | None, mask: Mask | None = None) -> None:
        """Add to the cotangent of an operand, if it is active."""
        if cotangent is None or operand not in self.activity:
            return
        cotangent = conform(self.builder, cotangent, operand.type)
        if operand in self and self.masks.get(operand) != mask:
            cotangent = cotangent if mask is None else mask.apply(self.builder, cotangent)
            mask = None
            self.get(operand)
        if operand in self:
            cotangent = emit(self.builder, "add", self.values[operand], cotangent)
        if mask is None:
            self.set(operand, cotangent)
        else:
            self.values[operand], self.masks[operand] = cotangent, mask

    def instantiated(self, variable: Variable) -> Operand:
        have = self.get(variable)
        return zeros(self.builder, variable.type) if have is None else have
