"""Which variables of a function in Numba's form are never negative: as indices they need no wrapping around.

This is assumed of every variable, and taken back where an assignment may make one negative, until nothing
changes. What is computed from sizes and counters of loops is then left.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from typing import Any

from numba.core import ir

from .python_functions import largest

Names = set[str]

ADDING = (operator.add, operator.iadd)
GROWING = (*ADDING, operator.mul, operator.imul)
SHRINKING = (operator.floordiv, operator.ifloordiv)


class Definitions:
    """What the variables of a function are assigned."""

    def __init__(self, blocks: dict):
        self.made: dict[str, list] = defaultdict(list)
        self.assignment: dict[str, Any] = {}
        for block in blocks.values():
            for inst in block.find_insts(ir.Assign):
                self.made[inst.target.name].append(inst.value)
                self.assignment[inst.target.name] = inst

    def only(self, variable: Any) -> Any:
        """What a variable is, if it is assigned once, through other names of it."""
        values = self.made.get(variable.name, ())
        if len(values) != 1:
            return None
        return self.only(values[0]) if isinstance(values[0], ir.Var) else values[0]

    def integer(self, variable: Any) -> int | None:
        """The number in a variable, if it is known."""
        found = self.only(variable)
        if is_expression(found, "unary") and found.fn is operator.neg:
            inner = self.integer(found.value)
            return None if inner is None else -inner
        known = isinstance(found, (ir.Const, ir.Global, ir.FreeVar)) and type(found.value) is int
        return found.value if known else None


class Signs(Definitions):
    """The variables of a function that are never negative, and those in each tuple."""

    def __init__(self, blocks: dict):
        super().__init__(blocks)
        self.indices: dict[str, bool] = {}
        self.natural = self.found(set(self.made))

    def found(self, names: Names) -> Names:
        """Those of some names that are never negative, if only these are taken to be."""
        while True:
            kept = {name for name in names if all(self.is_natural(value, names) for value in self.made[name])}
            if len(kept) == len(names):
                return kept
            names = kept

    def is_natural(self, value: Any, names: Names) -> bool:
        if isinstance(value, (ir.Const, ir.Global, ir.FreeVar)):
            return type(value.value) is int and value.value >= 0
        if isinstance(value, ir.Var):
            return value.name in names
        if not isinstance(value, ir.Expr):
            return False
        if value.op in ("binop", "inplace_binop"):
            both = value.lhs.name in names and value.rhs.name in names
            return both and (value.fn in SHRINKING or self.stays_small(value))
        if value.op == "cast":
            return value.value.name in names
        if value.op == "static_getitem":
            return self.is_shape(value.value)
        if value.op == "call":
            return self.calls(value, max, largest) and any(of.name in names for of in value.args)
        return value.op == "pair_first" and self.counts_in(value.value, names)

    def stays_small(self, value: Any) -> bool:
        """Whether what is added and multiplied cannot grow beyond all integers turn by turn of a loop."""
        if value.fn in ADDING and any(self.integer(of) is not None for of in (value.lhs, value.rhs)):
            return True
        return value.fn in GROWING and self.is_index(value.lhs) and self.is_index(value.rhs)

    def is_index(self, variable: Any) -> bool:
        """Whether a variable is a size, a counter of a loop, a number, or a sum or product of such."""
        if variable.name not in self.indices:
            self.indices[variable.name] = False
            found = self.only(variable)
            if isinstance(found, ir.Expr) and found.op in ("binop", "inplace_binop"):
                made = found.fn in GROWING and self.is_index(found.lhs) and self.is_index(found.rhs)
            elif is_expression(found, "cast"):
                made = self.is_index(found.value)
            else:
                made = is_expression(found, "pair_first") or is_expression(found, "static_getitem")
                made = made or self.integer(variable) is not None
            self.indices[variable.name] = made
        return self.indices[variable.name]

    def is_shape(self, variable: Any) -> bool:
        return is_expression(found := self.only(variable), "getattr") and found.attr == "shape"

    def counts_in(self, variable: Any, names: Names) -> bool:
        """Whether a variable holds the next turn of a loop over a range without negative numbers."""
        for op in ("iternext", "getiter", "call"):
            if not is_expression(found := self.only(variable), op):
                return False
            variable = found.func if op == "call" else found.value
        if not self.calls(found, range) or found.kws:
            return False
        return self.is_range_of_naturals(found.args, names)

    def calls(self, call: Any, *functions: Any) -> bool:
        """Whether a call is of one of some functions."""
        called = self.only(call.func)
        return isinstance(called, ir.Global) and any(called.value is function for function in functions)

    def is_range_of_naturals(self, bounds: list, names: Names) -> bool:
        """Whether a range goes up from a number that is not negative, or down to one or to 0."""
        if len(bounds) < 3:
            return len(bounds) == 1 or bounds[0].name in names
        step, stop = self.integer(bounds[2]), self.integer(bounds[1])
        if step is None:
            return False
        return bounds[0].name in names if step > 0 else bounds[1].name in names or stop == -1

    def items(self, variable: Any, count: int) -> list[str | None]:
        """The variables that a tuple was made of, where that is known."""
        found = self.only(variable)
        if is_expression(found, "build_tuple") and len(found.items) == count:
            return [item.name for item in found.items]
        return [None] * count


def is_expression(value: Any, op: str) -> bool:
    return isinstance(value, ir.Expr) and value.op == op
