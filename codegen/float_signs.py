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
from collections.abc import Iterable, Iterator
from typing import Any

from .core import Assign, Block, If, Operand, StackType, Statement, Variable, type_of, walk
from .registry import array_scalar
from .union import Union

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
        stacks, pushed = Union(), []
        for statement in walk(block):
            if isinstance(statement, Assign):
                self.made.update(dict.fromkeys(statement.targets, statement))
                if statement.primitive.name in ("push", "pop"):
                    stacks.join(statement.targets[0], statement.operands[0])
                if statement.primitive.name == "push":
                    pushed.append(statement.operands)
                continue
            if isinstance(statement, If):
                ends = zip(statement.targets, statement.body.results, statement.orelse.results)
                self.made.update((target, (one, other)) for target, one, other in ends)
            for versions in versions_of_stacks(statement):
                stacks.join(*versions)
        self.what_is_taken(stacks, pushed)

    def what_is_taken(self, stacks: Union, pushed: list[tuple]) -> None:
        """What is taken from a stack is any of what is put on it, if it is made here."""
        put: dict[Variable, list[Operand]] = {}
        for stack, value in pushed:
            put.setdefault(stacks.find(stack), []).append(value)
        new = {stacks.find(of) for of, made in self.made.items() if named(made, "stack")}
        for taken, made in list(self.made.items()):
            if named(made, "pop") and taken is made.targets[1] and stacks.find(made.operands[0]) in new:
                self.made[taken] = tuple(put.get(stacks.find(made.operands[0]), ()))

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
            return is_even(operands[1]) or self.keeps_sign(*operands, depth - 1)
        if name == "divide" and not self.never_zero(operands[1], depth - 1):
            return False  # 1.0 / -0.0 is negative
        if name in ("maximum", "fmax"):
            return any(self.never_negative(of, depth - 1) for of in operands)
        return name in KEEPING and all(self.never_negative(of, depth - 1) for of in operands)

    def keeps_sign(self, base: Operand, exponent: Operand, depth: int) -> bool:
        """Whether a power is never below zero, as its base is not: (-0.0) ** -1 is."""
        finite = not isinstance(exponent, Variable) and exponent >= 0 or self.never_zero(base, depth)
        return finite and self.never_negative(base, depth)

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

    def never(self, operand: Operand, signs: Iterable[str]) -> bool:
        """Whether a float is never any of "negative" and "zero"."""
        tests = {"negative": self.never_negative, "zero": self.never_zero}
        return all(tests[sign](operand) for sign in signs)

    def is_positive(self, operand: Operand, depth: int = DEEP) -> bool:
        """Whether a float is never zero or below."""
        return self.never_zero(operand, depth) and self.never_negative(operand, depth)


def named(made: Any, name: str) -> bool:
    return isinstance(made, Assign) and made.primitive.name == name


def versions_of_stacks(statement: Statement) -> Iterator[tuple[Variable, ...]]:
    """The variables that are one stack, in a branch or a loop."""
    if isinstance(statement, If):
        ends = zip(statement.targets, statement.body.results, statement.orelse.results)
    else:
        ends = zip(statement.targets, statement.carried, statement.initial, statement.body.results)
    yield from (versions for versions in ends if isinstance(versions[0].type, StackType))


def is_float(variable: Variable) -> bool:
    of = type_of(variable)
    return not getattr(of, "shape", ()) and of.dtype.kind == "f"


def is_even(exponent: Operand) -> bool:
    known = type(exponent) in (int, float) and math.isfinite(exponent)
    return known and exponent % 2 == 0
