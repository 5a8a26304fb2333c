"""The least that sizes can be, once checks have found that they are equal to others.

>>> from . import primitives
>>> from .build import Builder
>>> from .core import INT
>>> from .registry import PRIMITIVES
>>> b, n, m = Builder(), Variable("n", INT), Variable("m", INT)
>>> inner = b.emit(PRIMITIVES["maximum"], b.emit(PRIMITIVES["subtract"], n, 4), 0, weak=True)
>>> b.emit(PRIMITIVES["check_same"], inner, m, message="")
()
>>> sizes = CheckedSizes({m: 2})
>>> for statement in b.block.statements:
...     sizes.learn(statement)
>>> sizes.least(inner), sizes.least(n)
(2, 6)
"""

from __future__ import annotations

from collections import defaultdict

from .core import Assign, Operand, Statement, Variable

ARITHMETIC = ("add", "subtract", "maximum", "minimum")
MOST = 64  # nobody asks whether a size is larger


class CheckedSizes:
    """Follows the statements of a block; `known` are the least values of sizes that are given."""

    def __init__(self, known: dict[Variable, int]):
        self.known = dict(known)
        self.made: dict[Variable, Assign] = {}
        self.used: dict[Variable, list[Variable]] = defaultdict(list)
        self.equal: dict[Variable, list[Operand]] = defaultdict(list)

    def least(self, size: Operand) -> int | None:
        """A number that a size is known not to fall below."""
        return self.known.get(size) if isinstance(size, Variable) else size

    def learn(self, statement: Statement) -> None:
        """Take in what a statement says of sizes."""
        if not isinstance(statement, Assign):
            return
        name, operands = statement.primitive.name, statement.operands
        if name == "check_same":
            for one, other in (operands, operands[::-1]):
                if isinstance(one, Variable):
                    self.equal[one].append(other)
                    self.at_least(one, self.least(other))
        elif name in ("size", "slice_size"):
            self.at_least(statement.targets[0], 0)
        elif name in ARITHMETIC and is_integer(statement.targets[0]):
            (target,) = statement.targets
            self.made[target] = statement
            for operand in operands:
                if isinstance(operand, Variable):
                    self.used[operand].append(target)
            self.at_least(target, self.forward(statement))

    def at_least(self, size: Operand, bound: int | None) -> None:
        """Note that a size does not fall below a bound, and what follows for others."""
        if not isinstance(size, Variable) or bound is None or bound > MOST:
            return
        if size in self.known and self.known[size] >= bound:
            return
        self.known[size] = bound
        for other in self.equal[size]:
            self.at_least(other, bound)
        if size in self.made:
            self.backward(self.made[size], bound)
        for target in self.used[size]:
            self.at_least(target, self.forward(self.made[target]))

    def forward(self, statement: Assign) -> int | None:
        """The least that a size can be by what it is made from."""
        name, (a, b) = statement.primitive.name, map(self.least, statement.operands)
        if name == "maximum":
            return max((bound for bound in (a, b) if bound is not None), default=None)
        if a is None or b is None or name == "subtract" and isinstance(statement.operands[1], Variable):
            return None
        return {"add": a + b, "subtract": a - b, "minimum": min(a, b)}[name]

    def backward(self, statement: Assign, bound: int) -> None:
        """Note what a bound of a size says of what it is made from."""
        name, (a, b) = statement.primitive.name, statement.operands
        if name == "minimum":
            self.at_least(a, bound)
            self.at_least(b, bound)
        for one, other in ((a, b), (b, a)):
            if not isinstance(other, int):
                continue
            if name == "add":
                self.at_least(one, bound - other)
            elif name == "maximum" and other < bound:
                self.at_least(one, bound)
            elif name == "subtract" and other is b:
                self.at_least(one, bound + other)


def is_integer(variable: Variable) -> bool:
    return variable.type.dtype.kind == "i" and not variable.type.shape
