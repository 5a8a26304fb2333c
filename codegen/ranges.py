"""What is known of integers: a variable plus a constant, and linear inequalities between them.

>>> from .core import INT
>>> from .primitives import elementwise as e
>>> b = Builder()
>>> n, i = Variable("n", INT), Variable("i", INT)
>>> ranges = Ranges(b)
>>> with ranges.loop(i, 1, b.emit(e.subtract, n, 1), 1):
...     print([ranges.within(b.emit(e.add, i, k), n) for k in (-1, 1, 2)])
...     print(ranges.at_most(i, n), ranges.at_most(n, i), ranges.at_most(2, n))
[True, True, False]
True False True
>>> ranges.at_most(2, n)  # the loop may have had no turn
False
"""
from __future__ import annotations

import contextlib
from collections.abc import Iterator

from .build import Builder, bound_index
from .core import Operand, Variable
from .inequalities import Form, impossible
from .linear import linear_form


class Ranges:
    """The ranges of the indices of loops, on top of the lower bounds that a builder knows."""

    def __init__(self, builder: Builder):
        self.builder = builder
        self.holds: list[Form] = []

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

    @contextlib.contextmanager
    def loop(self, index: Variable, start: Operand, stop: Operand, step: Operand) -> Iterator[None]:
        """What `for index in range(start, stop, step)` says of its index holds in its turns, not after."""
        outside = len(self.holds)
        self.enter(index, start, stop, step)
        try:
            yield
        finally:
            del self.holds[outside:]

    def enter(self, index: Variable, start: Operand, stop: Operand, step: Operand) -> None:
        bound_index(self.builder, index, start, stop, step)
        if type(step) is not int or not all(isinstance(bound, (int, Variable)) for bound in (start, stop)):
            return
        index, start, stop = map(self.form, (index, start, stop))
        self.holds += [index - start, stop - index - 1] if step > 0 else [start - index, index - stop - 1]

    def form(self, operand: Operand) -> Form:
        return Form(*linear_form(self.builder, operand))

    def within(self, index: Operand, size: Operand) -> bool:
        """Whether an index is known to be from 0 to below a size."""
        if not isinstance(index, (int, Variable)):
            return False
        return self.at_most(0, index) and self.at_most(index, size, -1)

    def at_most(self, a: Operand, b: Operand, more: int = 0) -> bool:
        """Whether a <= b + more is known."""
        above = self.form(a) - self.form(b) - more - 1
        return impossible([above, *self.about(above)])

    def about(self, form: Form) -> list[Form]:
        """What is known of the variables in a form, and of those that are compared with them."""
        seen: set = set()
        waiting, found = list(form.terms), []
        left = list(self.holds)
        while waiting:
            variable = waiting.pop()
            if variable in seen:
                continue
            seen.add(variable)
            bound = self.builder.lower_bounds.get(variable)
            if bound is not None:
                found.append(Form({variable: 1}, -bound))
            for known in [known for known in left if variable in known.terms]:
                left.remove(known)
                found.append(known)
                waiting += known.terms
        return found
