"""Whether the examples of a batch had better be done together than one after the other.

Together, a matrix that multiplies a vector of each example multiplies a matrix of them, and is read once.
Else nothing is gained, and all that differs is held for all examples at once. So they are done together where

- there is such a product or solve,
- whatever differs is a number or a vector, so that nothing larger than a matrix is held, and
- nothing must be done in lanes.

>>> import numpy as np
>>> from ..parse import parse_text
>>> from ..specialise import Parameter, specialise
>>> matrix, vector = (ArrayType(np.dtype(float), (3,) * rank) for rank in (2, 1))
>>> def answer(text):
...     parameters = [Parameter(matrix, "a"), Parameter(vector, "x")]
...     return better_together(specialise(parse_text(text), parameters).program, (False, True))
>>> answer("def f(a, x): return a @ x"), answer("def f(a, x): return a @ (a * x)")
(True, False)
>>> answer("def f(a, x): return 2 * x"), answer("def f(a, x): return a @ x if x[0] > 0 else x")
(False, False)
"""

from __future__ import annotations

from collections.abc import Iterator

from ..core import ArrayType, Assign, Dimension, Program, Statement, Variable, bound_in, type_of, walk
from ..custom_calls import is_custom_call
from .analysis import Analysis

PRODUCTS = frozenset({"matmul", "einsum", "solve"})


def better_together(program: Program, axes: tuple[bool, ...]) -> bool:
    """Whether a program is better run once for a batch; `axes` says which parameters differ in it."""
    analysis = Analysis(program, axes)
    statements = list(walk(program.body))
    if analysis.laned or any(map(is_custom_call, statements)):
        return False
    held = (v for v in (*program.parameters, *assigned(statements)) if v in analysis.batched)
    return all(map(is_narrow, held)) and any(is_product(s, analysis) for s in statements)


def assigned(statements: list[Statement]) -> Iterator[Variable]:
    for statement in statements:
        yield from (*statement.targets, *bound_in(statement))


def is_narrow(variable: Variable) -> bool:
    """Whether a value is a number or a vector, be it a column or a row."""
    return isinstance(variable.type, ArrayType) and sum(not is_one(n) for n in variable.type.shape) <= 1


def is_one(size: Dimension) -> bool:
    return isinstance(size, int) and size == 1


def is_product(statement: Statement, analysis: Analysis) -> bool:
    """Whether a matrix that is the same for all examples meets a vector that is not."""
    if not isinstance(statement, Assign) or statement.primitive.name not in PRODUCTS:
        return False
    matrices = [o for o in statement.operands if type_of(o).ndim > 1]
    return bool(matrices) and analysis.differs(statement.operands)
