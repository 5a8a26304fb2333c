"""Rewrites of transposes: one moves into what it is of, where it meets others."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from .core import ArrayType, Operand, Variable, type_of
from .registry import PRIMITIVES
from .rewrites import rewrite
from .rewrites_of_products import COLUMN, is_identity, vector_of

if TYPE_CHECKING:
    from .algebra import Rewriter


@rewrite("transpose")
def transpose_moved_in(r: Rewriter, of: ArrayType, x: Operand, axes: tuple):
    """(x.T * y).T -> x * y.T, (x.T * d).T -> x * d[:, None], (x.T @ y).T -> y.T @ x; so are inverses"""
    if axes != (1, 0):
        return None
    inner, outer = parted(r, x)
    fewer = bool(inner) and sum(saved(r, operand) for operand in outer) >= 0
    return turned(r, x, inner) if fewer else None


def parted(r: Rewriter, x: Operand) -> tuple[set[Operand], list[Operand]]:
    """The elementwise operations and products that only make up this matrix, and what they are made from."""
    inner: set[Operand] = set()
    read: Counter[Operand] = Counter([x])
    while found := [v for v in read if v not in inner and read[v] >= r.uses[v] and is_turnable(r, v)]:
        inner.update(found)
        for variable in found:
            read.update(o for o in r.definition(variable).operands if isinstance(o, Variable))
    return inner, [variable for variable in read if variable not in inner]


def is_turnable(r: Rewriter, x: Operand) -> bool:
    """Whether the transpose of a matrix is an operation on those of its operands."""
    made = r.definition(x)
    if made is None or type_of(x).ndim != 2:
        return False
    product = made.primitive.name in ("matmul", "inv") and all(type_of(o).ndim == 2 for o in made.operands)
    return product or (made.primitive.elementwise and not is_identity(r, x))


def saved(r: Rewriter, x: Operand) -> int:
    """How many transposes fewer there are in the transpose of an operand than in itself."""
    if type_of(x).ndim < 2 or is_identity(r, x) or vector_of(r, x)[0] is not None:
        return 0
    return 1 if r.made_by(x, "transpose") else -1


def turned(r: Rewriter, x: Operand, inner: set[Operand]) -> Operand:
    """The transpose of a matrix; of a vector that is broadcast, the column."""
    if type_of(x).ndim == 0 or is_identity(r, x):
        return x
    if type_of(x).ndim == 1:
        return r.builder.emit(PRIMITIVES["getitem"], x, COLUMN)
    made = r.definition(x)
    if x in inner:
        parts = [turned(r, operand, inner) for operand in made.operands]
        ordered = reversed(parts) if made.primitive.name == "matmul" else parts
        return r.builder.emit(made.primitive, *ordered, **made.static)
    if r.made_by(x, "transpose"):
        return made.operands[0]
    vector, index = vector_of(r, x)
    if vector is None:
        return r.builder.emit(PRIMITIVES["transpose"], x, axes=(1, 0))
    return vector if index == COLUMN else r.builder.emit(PRIMITIVES["getitem"], vector, COLUMN)
