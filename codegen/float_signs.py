"""What the signs of numbers are known to be: which are never below zero, and which never zero.

Of a NaN neither holds, nor its opposite: what is said here is that `x < 0`, or `x == 0`, is never true.

>>> from .build import Builder
>>> from .core import FLOAT
>>> from .primitives import elementwise as e
>>> builder, x = Builder(), Variable("x", FLOAT)
>>> square = builder.emit(e.multiply, x, x)
>>> total = builder.emit(e.add, square, 0.5)
>>> signs = FloatSigns(builder.block)
>>> [signs.never_negative(of) and signs.never_zero(of) for of in (x, square, total)]
[False, False, True]
"""

from __future__ import annotations

import math
from typing import Any

from .core import Assign, Block, If, Operand, Variable, type_of, walk
from .registry import array_scalar

DEEP = 12  # operations that are looked through
NATURAL = frozenset({"square", "absolute", "fabs", "sqrt", "exp", "exp2", "cosh", "expit"})
# These are not below zero where their operands are not.
KEEPING = frozenset({"add", "multiply", "divide", "minimum", "fmin", "positive", "astype"})


class FloatSigns:
    """What follows from how the numbers of a block are made, and from what is known besides.

    `established` has what holds of variables here: pairs of one and "negative" or "zero", which it never is.
    """

    def __init__(self, block: Block):
        self.made: dict[Variable, Any] = {}
        self.established: set[tuple[Variable, str]] = set()
        for statement in walk(block):
            if isinstance(statement, Assign):
                self.made.update(dict.fromkeys(statement.targets, statement))
            elif isinstance(statement, If):
                ends = zip(statement.body.results, statement.orelse.results)
                self.made.update(zip(statement.targets, ends))

    def never_negative(self, operand: Operand, depth: int = DEEP) -> bool:
        """Whether a float is never below zero."""
        if not isinstance(operand, Variable):
            return not array_scalar(operand) or not operand < 0
        if (operand, "negative") in self.established:
            return True
        made = self.made.get(operand)
        if made is None or depth == 0 or not is_float(operand):
            return False
        if isinstance(made, tuple):
            return all(self.never_negative(of, depth - 1) for of in made)
        name, operands = made.primitive.name, made.operands
        if name in NATURAL or (name == "multiply" and operands[0] is operands[1]):
            return True
        if name == "power":
            return is_even(operands[1]) or self.never_negative(operands[0], depth - 1)
        if name in ("maximum", "fmax"):
            return any(self.never_negative(of, depth - 1) for of in operands)
        return name in KEEPING and all(self.never_negative(of, depth - 1) for of in operands)

    def never_zero(self, operand: Operand, depth: int = DEEP) -> bool:
        """Whether a float is never zero."""
        if not isinstance(operand, Variable):
            return array_scalar(operand) and operand != 0
        if (operand, "zero") in self.established:
            return True
        made = self.made.get(operand)
        if made is None or depth == 0 or not is_float(operand):
            return False
        if isinstance(made, tuple):
            return all(self.never_zero(of, depth - 1) for of in made)
        name, operands = made.primitive.name, made.operands
        if name == "cosh":
            return True
        if name in ("negative", "absolute", "fabs", "sqrt", "positive"):
            return self.never_zero(operands[0], depth - 1)
        if name == "add":
            apart = any(self.never_zero(of, depth - 1) for of in operands)
            return apart and all(self.never_negative(of, depth - 1) for of in operands)
        if name == "maximum":
            return any(self.is_positive(of, depth - 1) for of in operands)
        return False

    def is_positive(self, operand: Operand, depth: int = DEEP) -> bool:
        """Whether a float is never zero or below."""
        return self.never_zero(operand, depth) and self.never_negative(operand, depth)


def is_float(variable: Variable) -> bool:
    of = type_of(variable)
    return not getattr(of, "shape", ()) and of.dtype.kind == "f"


def is_even(exponent: Operand) -> bool:
    known = type(exponent) in (int, float) and math.isfinite(exponent)
    return known and exponent % 2 == 0
