"""numpy.linalg."""
from __future__ import annotations

import functools
import operator

import numpy as np

from ..primitives import linalg
from ..registry import composition
from .arguments import axis_index
from .known import known_equal, require_equal
from .reductions import root_of_squares

# NumPy does not name the types of its results.
SlogdetResult, EighResult, QRResult, SVDResult = (
    type(function(np.eye(1))) for function in (np.linalg.slogdet, np.linalg.eigh, np.linalg.qr, np.linalg.svd)
)


@composition(np.linalg.solve)
def solve(a, b):
    """np.linalg.solve."""
    return linalg.solve(np.asarray(a), np.asarray(b))


@composition(np.linalg.inv)
def inv(a):
    """np.linalg.inv."""
    return linalg.inv(np.asarray(a))


@composition(np.linalg.det)
def det(a):
    """np.linalg.det."""
    return linalg.det(np.asarray(a))


@composition(np.linalg.slogdet)
def slogdet(a):
    """np.linalg.slogdet."""
    sign, logarithm = linalg.slogdet(np.asarray(a))
    return SlogdetResult(sign, logarithm)


def adjoint(a):
    """The conjugate transpose."""
    return np.conj(np.swapaxes(a, -1, -2))


@composition(np.linalg.cholesky)
def cholesky(a, /, *, upper=False):
    """np.linalg.cholesky."""
    a = np.asarray(a)
    return adjoint(linalg.cholesky(adjoint(a))) if upper else linalg.cholesky(a)


@composition(np.linalg.qr)
def qr(a, mode="reduced"):
    """np.linalg.qr, reduced."""
    if mode not in ("reduced", "r"):
        raise NotImplementedError(f"qr with mode={mode!r}; mode='reduced' and mode='r' are supported")
    q, r = linalg.qr(np.asarray(a))
    return r if mode == "r" else QRResult(q, r)


@composition(np.linalg.svd)
def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    """np.linalg.svd."""
    a = np.asarray(a)
    if hermitian:
        raise NotImplementedError("svd with hermitian=True; use eigh")
    if not compute_uv:
        return linalg.svdvals(a)
    u, s, vh = linalg.svd(a, full_matrices=bool(full_matrices))
    return SVDResult(u, s, vh)


@composition(np.linalg.svdvals)
def svdvals(x, /):
    """np.linalg.svdvals."""
    return linalg.svdvals(np.asarray(x))


def triangle(UPLO):
    """Which triangle of a Hermitian matrix is read."""
    UPLO = UPLO.upper()
    if UPLO not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return UPLO


@composition(np.linalg.eigh)
def eigh(a, UPLO="L"):
    """np.linalg.eigh."""
    values, vectors = linalg.eigh(np.asarray(a), UPLO=triangle(UPLO))
    return EighResult(values, vectors)


@composition(np.linalg.eigvalsh)
def eigvalsh(a, UPLO="L"):
    """np.linalg.eigvalsh."""
    return linalg.eigvalsh(np.asarray(a), UPLO=triangle(UPLO))


@composition(np.linalg.pinv)
def pinv(a, rcond=None, hermitian=False, *, rtol=None):
    """np.linalg.pinv."""
    a = np.asarray(a)
    if hermitian:
        lower = np.tril(a, -1)
        a = lower + adjoint(np.tril(a))
    if rcond is None:
        rcond = 1e-15 if rtol is None else rtol
    return linalg.pinv(a, rcond)


@composition(np.linalg.matrix_power)
def matrix_power(a, n):
    """np.linalg.matrix_power, of a power known when compiling."""
    a, n = np.asarray(a), operator.index(n)
    require_equal(a.shape[-2], a.shape[-1], "Last 2 dimensions of the array must be square")
    if n == 0:
        return np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape).copy()
    if n < 0:
        a, n = linalg.inv(a), -n
    square, result = a, None
    while n > 0:
        if n % 2:
            result = square if result is None else linalg.matmul(result, square)
        n = n // 2
        if n > 0:
            square = linalg.matmul(square, square)
    return result


@composition(np.linalg.multi_dot)
def multi_dot(arrays):
    """np.linalg.multi_dot, from left to right or from right to left, whichever ends in a vector."""
    arrays = [np.asarray(one) for one in arrays]
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    if arrays[-1].ndim == 1:
        return functools.reduce(lambda right, left: linalg.matmul(left, right), arrays[::-1])
    return functools.reduce(linalg.matmul, arrays)


@composition(np.linalg.matrix_rank)
def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    """np.linalg.matrix_rank."""
    A = np.asarray(A)
    if A.ndim < 2:
        return np.any(A != 0).astype(int)
    values = np.abs(linalg.eigvalsh(A, UPLO="L")) if hermitian else linalg.svdvals(A)
    if tol is None:
        largest = greatest(values, -1, True)
        relative = max(A.shape[-2], A.shape[-1]) * np.finfo(values.dtype).eps if rtol is None else rtol
        tol = largest * relative
    else:
        tol = np.asarray(tol)[..., None]
    return np.count_nonzero(values > tol, axis=-1)


@composition(np.linalg.cond)
def cond(x, p=None):
    """np.linalg.cond."""
    x = np.asarray(x)
    if known_equal(x.shape[-1], 0) or known_equal(x.shape[-2], 0):
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    if p is None or p == 2:
        values = linalg.svdvals(x)
        return values[..., 0] / values[..., -1]
    if p == -2:
        values = linalg.svdvals(x)
        return values[..., -1] / values[..., 0]
    return norm(x, p, (-2, -1)) * norm(linalg.inv(x), p, (-2, -1))


def floating(x):
    """The array, in floats."""
    x = np.asarray(x)
    return x.astype(np.float64) if x.dtype.kind in "biu" else x


def greatest(size, axis, keepdims):
    """The largest of numbers that are not negative: 0 if there are none."""
    if known_equal(size.shape[axis], 0):
        return np.sum(size, axis=axis, keepdims=keepdims)
    return np.max(size, axis=axis, keepdims=keepdims)


def length(x, axes, keepdims):
    """The root of the sum of squares."""
    squares = np.real(np.conj(x) * x) if x.dtype.kind == "c" else x * x
    return root_of_squares(np.sum(squares, axis=axes, keepdims=keepdims))


@composition(np.linalg.norm)
def norm(x, ord=None, axis=None, keepdims=False):
    """np.linalg.norm."""
    x = floating(x)
    if axis is None and (ord is None or (ord in ("f", "fro") and x.ndim == 2) or (ord == 2 and x.ndim == 1)):
        return length(x, tuple(range(x.ndim)), keepdims)
    if axis is None:
        axis = tuple(range(x.ndim))
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = [axis_index(one, x.ndim) for one in axes]
    if len(axes) == 1:
        return vector_length(x, ord, axes[0], keepdims)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    if axes[0] == axes[1]:
        raise ValueError("Duplicate axes given.")
    value = matrix_length(np.moveaxis(x, axes, (-2, -1)), ord)
    return np.expand_dims(value, tuple(axes)) if keepdims else value


def vector_length(x, ord, axis, keepdims):
    """The norm of vectors along one axis."""
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord is None or ord == 2:
        return length(x, axis, keepdims)
    if ord == 0:
        return np.sum((x != 0).astype(np.real(x).dtype), axis=axis, keepdims=keepdims)
    size = np.abs(x)
    if ord == np.inf:
        return greatest(size, axis, keepdims)
    if ord == -np.inf:
        return np.min(size, axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(size, axis=axis, keepdims=keepdims)
    total = np.sum(size ** ord, axis=axis, keepdims=keepdims)
    zero = total == 0
    return np.where(zero, 0, np.where(zero, 1, total) ** (1 / ord))


def matrix_length(x, ord):
    """The norm of matrices in the last two axes."""
    if ord is None or ord in ("f", "fro"):
        return length(x, (-2, -1), False)
    if ord == "nuc":
        return np.sum(linalg.svdvals(x), axis=-1)
    if ord == 2:
        return greatest(linalg.svdvals(x), -1, False)
    if ord == -2:
        return np.min(linalg.svdvals(x), axis=-1)
    if ord not in (1, -1, np.inf, -np.inf):
        raise ValueError("Invalid norm order for matrices.")
    sums = np.sum(np.abs(x), axis=-2 if ord in (1, -1) else -1)
    return greatest(sums, -1, False) if ord > 0 else np.min(sums, axis=-1)


@composition(np.linalg.vector_norm)
def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """np.linalg.vector_norm."""
    x = np.asarray(x)
    if axis is None:
        value = vector_length(floating(np.ravel(x)), ord, 0, False)
        return np.reshape(value, (1,) * x.ndim) if keepdims else value
    if isinstance(axis, (tuple, list)):
        raise NotImplementedError("vector_norm over several axes; reshape them into one")
    return vector_length(floating(x), ord, axis_index(axis, x.ndim), keepdims)


@composition(np.linalg.matrix_norm)
def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """np.linalg.matrix_norm."""
    return norm(x, ord, (-2, -1), keepdims)


@composition(np.linalg.trace)
def trace(x, /, *, offset=0, dtype=None):
    """np.linalg.trace."""
    return np.trace(x, offset, -2, -1, dtype)


@composition(np.linalg.diagonal)
def diagonal(x, /, *, offset=0):
    """np.linalg.diagonal."""
    return np.diagonal(x, offset, -2, -1)


@composition(np.linalg.matmul)
def matmul(x1, x2, /):
    """np.linalg.matmul."""
    return np.matmul(x1, x2)


@composition(np.linalg.tensordot)
def tensordot(x1, x2, /, *, axes=2):
    """np.linalg.tensordot."""
    return np.tensordot(x1, x2, axes)


@composition(np.linalg.vecdot)
def vecdot(x1, x2, /, *, axis=-1):
    """np.linalg.vecdot."""
    return np.vecdot(x1, x2, axis=axis)


@composition(np.linalg.outer)
def outer(x1, x2, /):
    """np.linalg.outer."""
    return np.outer(x1, x2)


@composition(np.linalg.cross)
def cross(x1, x2, /, *, axis=-1):
    """np.linalg.cross."""
    return np.cross(x1, x2, axis=axis)


@composition(np.linalg.matrix_transpose)
def matrix_transpose(x, /):
    """np.linalg.matrix_transpose."""
    return np.swapaxes(x, -1, -2)
