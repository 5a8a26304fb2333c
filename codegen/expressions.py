"""How each primitive reads in NumPy source: from a statement to an expression.

A primitive's `printed` is one of

    "+", "<", "@", ...         an infix operator on its two operands
    "unary -", "~", "not"      a prefix operator on its operand
    "np.linalg.solve"          a function: operands are its arguments, static keywords its keywords
    ".conj"                    a method of the first operand
    function                   called as function(*trees, **static), gives a gast expression

In the last, `trees` are the operands as gast expressions (a tuple operand is a gast.Tuple) and `static`
the keywords as they are. Keywords equal to NumPy's own defaults are left out; `weak` is never passed: where
the result is a Python scalar and its operands are not, the expression is put in `float(...)`.
What reads better than this rule has an entry in forms.py, which sees the statement itself.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from .core import ArrayType, Assign, Operand, Variable, type_of
from .forms import FORMS, PYTHON, default, form, is_int, weak_operand
from .primitives.promotion import common_dtype
from .trees import (
    COMPARISONS,
    OPERATORS,
    UNARY,
    call,
    constant,
    dtype_tree,
    infix,
    list_tree,
    method,
    name,
    plain,
    tuple_tree,
    unary,
)

__all__ = ["Expressions", "form"]

Tree = Any


class Expressions:
    """Makes the trees of operands: `inlined` maps a variable to its statement, `names` to its name."""

    def __init__(self, names: dict[Variable, str], inlined: dict[Variable, Assign]):
        self.names, self.inlined = names, inlined

    def tree(self, operand: Operand, as_plain: bool = False) -> Tree:
        """The tree of an operand; constants without their NumPy type if `as_plain`."""
        if isinstance(operand, Variable):
            return self.variable(operand)
        if isinstance(operand, tuple):
            return tuple_tree(self.tree(item, as_plain) for item in operand)
        if isinstance(operand, list):
            return list_tree(self.tree(item, as_plain) for item in operand)
        if isinstance(operand, slice):
            return self.slice(operand)
        return plain(operand) if as_plain else constant(operand)

    def variable(self, variable: Variable) -> Tree:
        if variable not in self.inlined:
            return name(self.names[variable])
        tree = self.expression(self.inlined[variable])
        tree.variable = variable
        return tree

    def slice(self, operand: slice) -> Tree:
        part = lambda bound: None if bound is None else self.tree(bound, True)
        step = None if is_int(operand.step, 1) else operand.step
        start = None if step is None and is_int(operand.start, 0) else operand.start
        return gast.Slice(part(start), part(operand.stop), part(step))

    def index(self, index: tuple) -> Tree:
        """What stands between the brackets of x[...]."""
        items = list(index)
        while len(items) > 1 and items[-1] == slice(None):
            items.pop()
        trees = [self.tree(item, True) for item in items]
        return trees[0] if len(trees) == 1 else tuple_tree(trees)

    def expression(self, statement: Assign) -> Tree:
        """The tree of what a statement computes."""
        primitive = statement.primitive
        special = FORMS.get(primitive.name)
        if special is not None:
            return special(statement, self)
        printed = primitive.printed
        if printed is None:
            raise NotImplementedError(f"the primitive {primitive.name} has no printed form")
        operands = self.operands(statement)
        static = {k: v for k, v in statement.static.items() if k != "weak"}
        if callable(printed):
            return self.weak(statement, printed(*operands, **static))
        if printed in UNARY and len(operands) == 1:
            return self.weak(statement, unary(printed, *operands), python=True)
        if (printed in OPERATORS or printed in COMPARISONS) and len(operands) == 2 and not static:
            return self.weak(statement, infix(printed, *operands), python=True)
        keywords = {k: self.keyword(k, v) for k, v in static.items() if not default(k, v)}
        if printed.startswith("."):
            return self.weak(statement, method(operands[0], printed[1:], *operands[1:], **keywords))
        return self.weak(statement, call(printed, *operands, **keywords))

    def keyword(self, key: str, value: Any) -> Tree:
        return dtype_tree(value) if key == "dtype" else constant(value)

    def weak(self, statement: Assign, tree: Tree, python: bool = False) -> Tree:
        """A Python scalar where the type says so; `python`: an operator, which keeps Python scalars."""
        of = statement.targets[0].type if statement.targets else None
        if not isinstance(of, ArrayType) or not of.weak:
            return tree
        if python and all(weak_operand(operand) for operand in statement.operands):
            return tree
        return call(PYTHON[of.dtype.kind], tree)

    def operands(self, statement: Assign) -> list[Tree]:
        """The trees of all operands, constants without their type where the result does not depend on it."""
        if not statement.primitive.elementwise:
            return [self.tree(operand) for operand in statement.operands]
        skip = 1 if statement.primitive.name == "where" else 0
        return [self.tree(operand, position < skip or untyped(statement.operands[skip:], position - skip))
                for position, operand in enumerate(statement.operands)]


def untyped(operands: tuple, position: int) -> bool:
    """Whether the constant at `position` may lose its NumPy type without changing any dtype."""
    value = operands[position]
    if not isinstance(value, np.generic):
        return True
    # Any other constant may lose its type as well, so it cannot be what keeps the dtype.
    weaker = [type_of(o.item()) if isinstance(o, np.generic) else type_of(o) for o in operands]
    if all(of.weak for of in weaker):
        return False
    return common_dtype([type_of(operand) for operand in operands]) == common_dtype(weaker)
