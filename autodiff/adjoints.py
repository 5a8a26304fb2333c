"""The running cotangents of one block of the backward sweep; what is absent is zero."""
from __future__ import annotations

from ..codegen.build import Builder
from ..codegen.core import Operand, Variable
from .activity import Activity
from .calls import conform, emit, name_after, zeros


class Adjoints:
    """Cotangents of active variables, added up as the sweep meets the places where each was read."""

    def __init__(self, builder: Builder, activity: Activity):
        self.builder = builder
        self.activity = activity
        self.values: dict[Variable, Operand] = {}

    def get(self, variable: Operand) -> Operand | None:
        return self.values.get(variable) if isinstance(variable, Variable) else None

    def take(self, variable: Variable) -> Operand | None:
        """The cotangent of a variable whose every reading has been met."""
        return self.values.pop(variable, None)

    def set(self, variable: Variable, cotangent: Operand) -> None:
        self.values[variable] = name_after(cotangent, variable, "_bar")

    def add(self, operand: Operand, cotangent: Operand | None) -> None:
        """Add to the cotangent of an operand, if it is active."""
        if cotangent is None or operand not in self.activity:
            return
        cotangent = conform(self.builder, cotangent, operand.type)
        have = self.values.get(operand)
        self.set(operand, cotangent if have is None else emit(self.builder, "add", have, cotangent))

    def instantiated(self, variable: Variable) -> Operand:
        have = self.get(variable)
        return zeros(self.builder, variable.type) if have is None else have
