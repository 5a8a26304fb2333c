"""Linear algebra on the last two axes; axes before them are batches, as in NumPy."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..build import Builder
from ..core import ArrayType, Dimension, Operand, type_of
from ..errors import ShapeMismatchError
from ..registry import primitive
from .cofactor import cofactor_matrix, cofactor_slope
from .probing import result_dtype, result_dtypes
from .slices import smaller


def matmul_type(builder: Builder, a: Operand, b: Operand) -> ArrayType:
    left, right = type_of(a), type_of(b)
    for position, of in enumerate((left, right)):
        if of.ndim == 0:
            raise ShapeMismatchError(f"matmul: Input operand {position} does not have enough dimensions (has "
                                     "0, gufunc core with signature (n?,k),(k,m?)->(n?,m?) requires 1)",
                                     location=builder.location)
    inner = right.shape[max(right.ndim - 2, 0)]
    builder.require_same(left.shape[-1], inner, mismatch("matmul", 1, 0, "(n?,k),(k,m?)->(n?,m?)",
                                                         inner, left.shape[-1]), enforced=True)
    batch = builder.broadcast(left.shape[:-2], right.shape[:-2])
    rows = left.shape[-2:-1]
    columns = right.shape[-1:] if right.ndim > 1 else ()
    return ArrayType(np.result_type(left.dtype, right.dtype), batch + rows + columns)


def mismatch(name: str, operand: int, axis: int, signature: str, got: Dimension, expected: Dimension) -> str:
    """NumPy's words for core dimensions that do not fit."""
    return (f"{name}: Input operand {operand} has a mismatch in its core dimension {axis}, with gufunc "
            f"signature {signature} (size {got} is different from {expected})")


def require_matrix(builder: Builder, a: Operand) -> ArrayType:
    of = type_of(a)
    if of.ndim < 2:
        raise ShapeMismatchError(f"{of.ndim}-dimensional array given. Array must be at least two-dimensional",
                                 location=builder.location)
    return of


def require_square(builder: Builder, a: Operand) -> ArrayType:
    of = require_matrix(builder, a)
    builder.require_same(of.shape[-2], of.shape[-1], "Last 2 dimensions of the array must be square",
                         enforced=True)
    return of


def square_type(function: Callable, drop: int = 0) -> Callable:
    """The type rule of a function of square matrices whose one result has `drop` fewer axes."""

    def rule(builder: Builder, a: Operand, **static) -> ArrayType:
        of = require_square(builder, a)
        dtype = result_dtype(function, a, location=builder.location, **static)
        return ArrayType(dtype, of.shape[:of.ndim - drop])

    return rule


def solve_type(builder: Builder, a: Operand, b: Operand) -> ArrayType:
    of, right = require_square(builder, a), type_of(b)
    if right.ndim == 0:
        raise ShapeMismatchError("solve: Input operand 1 does not have enough dimensions (has 0, gufunc core "
                                 "with signature (m,m),(m,n)->(m,n) requires 2)", location=builder.location)
    vector = right.ndim == 1
    name, signature = ("solve1", "(m,m),(m)->(m)") if vector else ("solve", "(m,m),(m,n)->(m,n)")
    rows = right.shape[0 if vector else -2]
    builder.require_same(of.shape[-1], rows, mismatch(name, 1, 0, signature, rows, of.shape[-1]),
                         enforced=True)
    batch = builder.broadcast(of.shape[:-2], () if vector else right.shape[:-2])
    columns = () if vector else right.shape[-1:]
    dtype = result_dtype(np.linalg.solve, a, b, location=builder.location)
    return ArrayType(dtype, batch + of.shape[-1:] + columns)


def slogdet_type(builder: Builder, a: Operand) -> tuple[ArrayType, ...]:
    of = require_square(builder, a)
    dtypes = result_dtypes(np.linalg.slogdet, a, location=builder.location)
    return tuple(ArrayType(dtype, of.shape[:-2]) for dtype in dtypes)


def eigh_type(builder: Builder, a: Operand, *, UPLO: str = "L") -> tuple[ArrayType, ...]:
    of = require_square(builder, a)
    values, vectors = result_dtypes(np.linalg.eigh, a, location=builder.location)
    return ArrayType(values, of.shape[:-1]), ArrayType(vectors, of.shape)


def qr_type(builder: Builder, a: Operand) -> tuple[ArrayType, ...]:
    of = require_matrix(builder, a)
    *batch, rows, columns = of.shape
    rank = smaller(builder, rows, columns)
    dtype = result_dtype(np.linalg.inv, a, location=builder.location)
    return ArrayType(dtype, (*batch, rows, rank)), ArrayType(dtype, (*batch, rank, columns))


def svd_type(builder: Builder, a: Operand, *, full_matrices: bool) -> tuple[ArrayType, ...]:
    of = require_matrix(builder, a)
    *batch, rows, columns = of.shape
    rank = smaller(builder, rows, columns)
    left, values, right = result_dtypes(np.linalg.svd, a, location=builder.location)
    return (ArrayType(left, (*batch, rows, rows if full_matrices else rank)),
            ArrayType(values, (*batch, rank)),
            ArrayType(right, (*batch, columns if full_matrices else rank, columns)))


def svdvals_type(builder: Builder, a: Operand) -> ArrayType:
    of = require_matrix(builder, a)
    dtype = result_dtype(np.linalg.svdvals, a, location=builder.location)
    return ArrayType(dtype, (*of.shape[:-2], smaller(builder, *of.shape[-2:])))


def pinv_type(builder: Builder, a: Operand, rcond: Operand) -> ArrayType:
    of = require_matrix(builder, a)
    dtype = result_dtype(np.linalg.pinv, a, location=builder.location)
    return ArrayType(dtype, (*of.shape[:-2], of.shape[-1], of.shape[-2]))


def cofactor_type(builder: Builder, a: Operand, *directions: Operand) -> ArrayType:
    dtype = np.result_type(*(type_of(operand).dtype for operand in (a, *directions)))
    batch = builder.broadcast(*(type_of(operand).shape[:-2] for operand in (a, *directions)))
    return ArrayType(dtype, batch + require_square(builder, a).shape[-2:])


matmul = primitive("matmul", np.matmul, matmul_type, printed="@")
solve = primitive("solve", np.linalg.solve, solve_type, printed="np.linalg.solve")
inv = primitive("inv", np.linalg.inv, square_type(np.linalg.inv), printed="np.linalg.inv")
det = primitive("det", np.linalg.det, square_type(np.linalg.det, 2), printed="np.linalg.det")
slogdet = primitive("slogdet", np.linalg.slogdet, slogdet_type, printed="np.linalg.slogdet")
cholesky = primitive("cholesky", np.linalg.cholesky, square_type(np.linalg.cholesky),
                     printed="np.linalg.cholesky")
qr = primitive("qr", np.linalg.qr, qr_type, printed="np.linalg.qr")
svd = primitive("svd", lambda a, full_matrices: np.linalg.svd(a, full_matrices=full_matrices), svd_type,
                printed="np.linalg.svd")
svdvals = primitive("svdvals", np.linalg.svdvals, svdvals_type, printed="np.linalg.svdvals")
eigh = primitive("eigh", np.linalg.eigh, eigh_type, printed="np.linalg.eigh")
eigvalsh = primitive("eigvalsh", np.linalg.eigvalsh, square_type(np.linalg.eigvalsh, 1),
                     printed="np.linalg.eigvalsh")
pinv = primitive("pinv", np.linalg.pinv, pinv_type, printed="np.linalg.pinv")
cofactor = primitive("cofactor", cofactor_matrix, square_type(np.linalg.inv), printed="cofactor_matrix")
cofactor_along = primitive("cofactor_along", cofactor_slope, cofactor_type, printed="cofactor_slope")
