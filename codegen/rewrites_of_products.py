"""Rewrites of products with identity and diagonal matrices: they are products with vectors, or none.

A derivative by every element of a vector begins with an identity matrix, and what is done to each element
makes it a diagonal one. Elements that such a product would multiply with 0 are left out, be they infinite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .core import ArrayType, Operand, Variable, type_of
from .identities import Call, is_number
from .registry import PRIMITIVES
from .rewrites import rewrite

if TYPE_CHECKING:
    from .algebra import Rewriter

ALL = slice(None)
COLUMN, ROW = (ALL, None), (None, ALL)


def is_identity(r: Rewriter, x: Operand) -> bool:
    """Whether a matrix is np.eye(n), which is made as arange(n)[:, None] == arange(n)."""
    cast = r.made_by(x, "astype")
    mask = r.made_by(cast.operands[0], "equal") if cast is not None else None
    if mask is None or not r.builder.same(*mask.operands[0].type.shape[:1], mask.operands[1].type.shape[-1]):
        return False
    rows, columns = mask.operands
    column = r.made_by(rows, "getitem")
    return (
        column is not None
        and column.operands[1] == COLUMN
        and all(counts_from_zero(r, steps) for steps in (column.operands[0], columns))
    )


def counts_from_zero(r: Rewriter, x: Operand) -> bool:
    """Whether an array is np.arange(n)."""
    made = r.made_by(x, "arange")
    if made is None or not is_number(made.operands[0], 0):
        return False
    return len(made.operands) < 3 or is_number(made.operands[2], 1)


# The operands of which one must be diagonal for the result to be so.
DIAGONAL = {"multiply": (0, 1), "divide": (0,), "negative": (0,), "where": (1, 2)}


def diagonal(r: Rewriter, x: Operand) -> Operand | None:
    """The diagonal of a matrix that is 0 elsewhere: a vector, or the number that is everywhere on it."""
    if not isinstance(x, Variable) or type_of(x).ndim != 2:
        return None
    if is_identity(r, x):
        return x.type.dtype.type(1)
    made = r.made_by(x, *DIAGONAL)
    for place in DIAGONAL[made.primitive.name] if made is not None else ():
        inner = diagonal(r, made.operands[place])
        if inner is None or not r.same_shape(type_of(made.operands[place]).shape, x.type.shape):
            continue
        parts = [inner if k == place else along(r, o) for k, o in enumerate(made.operands)]
        empty = made.primitive.name != "where" or is_number(made.operands[3 - place], 0)
        if empty and all(part is not None for part in parts):
            return scaled(r, made.primitive.name, parts, inner)
    return None


def along(r: Rewriter, x: Operand) -> Operand | None:
    """What an operand of an elementwise operation with a diagonal matrix has beside the diagonal."""
    return x if type_of(x).ndim <= 1 else vector_of(r, x)[0]


def vector_of(r: Rewriter, x: Operand) -> tuple[Operand | None, tuple]:
    """The vector of which a matrix is the only column or row, with the index that makes it so; or None."""
    made = r.made_by(x, "getitem", "reshape")
    if made is None or type_of(made.operands[0]).ndim != 1:
        return None, ()
    (size,) = type_of(made.operands[0]).shape
    for index, shape in ((COLUMN, (size, 1)), (ROW, (1, size))):
        if (
            made.operands[1] == index
            or made.primitive.name == "reshape"
            and r.same_shape(x.type.shape, shape)
        ):
            return made.operands[0], index
    return None, ()


def scaled(r: Rewriter, name: str, parts: list[Operand], inner: Operand) -> Operand:
    """An operation on a diagonal, of which one part is that of a diagonal matrix."""
    if name == "multiply" and is_number(inner, 1):
        return parts[1] if parts[0] is inner else parts[0]
    plain = (part.item() if isinstance(part, np.float64) else part for part in parts)
    return r.builder.emit(PRIMITIVES[name], *plain)


@rewrite("matmul")
def product_with_diagonal(r: Rewriter, of: ArrayType, x: Operand, y: Operand):
    """np.eye(n) @ y -> y; (np.eye(n) * d) @ y -> d[:, None] * y; x @ (np.eye(n) * d) -> x * d"""
    if not type_of(x).dtype == type_of(y).dtype == of.dtype or of.dtype.kind not in "iufc" or of.ndim > 2:
        return None
    if (left := diagonal(r, x)) is not None:
        return times(r, left if type_of(y).ndim == 1 else as_column(r, left), y)
    return times(r, x, right) if (right := diagonal(r, y)) is not None else None


def times(r: Rewriter, x: Operand, y: Operand) -> Operand | Call:
    if is_number(x, 1) or is_number(y, 1):
        return y if is_number(x, 1) else x
    return Call(PRIMITIVES["multiply"], (x, y), {})


def as_column(r: Rewriter, x: Operand) -> Operand:
    return r.builder.emit(PRIMITIVES["getitem"], x, COLUMN) if type_of(x).ndim else x


@rewrite("sum")
def sum_of_diagonal(r: Rewriter, of: ArrayType, x: Operand, axis: tuple = (), **static: Any):
    """np.sum(np.eye(n) * d, axis=1) -> d"""
    if static.get("keepdims") or len(axis) != 1 or type_of(x).dtype != of.dtype:
        return None
    found = diagonal(r, x)
    if found is None or type_of(found).ndim:
        return found
    return Call(PRIMITIVES["broadcast_to"], (of.dtype.type(found), of.shape), {}) if number(found) else None


def number(x: Operand) -> bool:
    return not isinstance(x, Variable)


@rewrite("transpose")
def transpose_of_identity(r: Rewriter, of: ArrayType, x: Operand, axes: tuple):
    """np.eye(n).T -> np.eye(n)"""
    return x if is_identity(r, x) else None


@rewrite("solve")
def solve_for_identity(r: Rewriter, of: ArrayType, a: Operand, b: Operand):
    """np.linalg.solve(a, np.eye(n)) -> np.linalg.inv(a)"""
    return Call(PRIMITIVES["inv"], (a,), {}) if type_of(a).ndim == 2 and is_identity(r, b) else None


@rewrite("einsum")
def einsum_with_identity(r: Rewriter, of: ArrayType, *operands: Operand, subscripts: str):
    """np.einsum("ij,aj->ai", x, np.eye(n)) -> np.einsum("ia->ai", x)"""
    inputs, output = subscripts.split("->")
    parts = inputs.split(",")
    for place, part in enumerate(parts):
        if len(parts) == 1 or not is_identity(r, operands[place]) or len(set(part)) < 2:
            continue
        left = parts[:place] + parts[place + 1 :]
        others = operands[:place] + operands[place + 1 :]
        for gone, kept in (part, part[::-1]):
            if (
                gone in output
                or gone not in "".join(left)
                or {type_of(o).dtype for o in others} != {of.dtype}
            ):
                continue
            inputs = ",".join(left).replace(gone, kept)
            return Call(r.primitive, others, {"subscripts": f"{inputs}->{output}"})
    return None


@rewrite("einsum")
def einsum_that_transposes(r: Rewriter, of: ArrayType, *operands: Operand, subscripts: str):
    """np.einsum("ij->ji", x) -> x.T"""
    before, after = subscripts.split("->")
    if len(operands) > 1 or sorted(before) != sorted(set(after)) or type_of(operands[0]).dtype != of.dtype:
        return None
    return Call(PRIMITIVES["transpose"], operands, {"axes": tuple(map(before.index, after))})
