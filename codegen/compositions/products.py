"""Products and sums of products of arrays."""
from __future__ import annotations

import operator

import numpy as np

from ..primitives import linalg, structural
from ..primitives.convolution import convolve as convolve_full
from ..primitives.einsum import einsum as einsum_explicit
from ..registry import composition
from .arguments import axis_index, product
from .known import known_equal
from .subscripts import explicit, interleaved


@composition(np.matmul, operator.matmul, operator.imatmul)
def matmul(x1, x2):
    """np.matmul."""
    return linalg.matmul(np.asarray(x1), np.asarray(x2))


@composition(np.dot, method="dot")
def dot(a, b):
    """np.dot."""
    a, b = np.asarray(a), np.asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if b.ndim <= 2:
        return linalg.matmul(a, b)
    return tensordot(a, b, axes=(a.ndim - 1, b.ndim - 2))


@composition(np.vdot)
def vdot(a, b):
    """np.vdot."""
    return linalg.matmul(np.conj(np.ravel(a)), np.ravel(b))


@composition(np.inner)
def inner(a, b):
    """np.inner."""
    a, b = np.asarray(a), np.asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if b.ndim == 1:
        return linalg.matmul(a, b)
    return tensordot(a, b, axes=(a.ndim - 1, b.ndim - 1))


@composition(np.outer)
def outer(a, b):
    """np.outer."""
    return np.ravel(a)[:, None] * np.ravel(b)[None, :]


@composition(np.vecdot)
def vecdot(x1, x2, axis=-1):
    """np.vecdot."""
    x1, x2 = np.asarray(x1), np.asarray(x2)
    x1 = np.moveaxis(x1, axis, -1)
    x2 = np.moveaxis(x2, axis, -1)
    return np.squeeze(linalg.matmul(np.conj(x1)[..., None, :], x2[..., :, None]), (-2, -1))


def axes_of(axes, ndim):
    """The contracted axes of one operand of tensordot."""
    axes = list(axes) if isinstance(axes, (tuple, list, range, np.ndarray)) else [axes]
    return [axis_index(axis, ndim) for axis in axes]


@composition(np.tensordot)
def tensordot(a, b, axes=2):
    """np.tensordot."""
    a, b = np.asarray(a), np.asarray(b)
    if isinstance(axes, (tuple, list)):
        left, right = axes_of(axes[0], a.ndim), axes_of(axes[1], b.ndim)
    else:
        if axes > a.ndim or axes > b.ndim:
            raise IndexError("tuple index out of range")
        left, right = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    if len(left) != len(right):
        raise ValueError("shape-mismatch for sum")
    if len(left) > 1:  # of one axis, the size is checked by matmul
        for one, other in zip(left, right):
            if a.shape[one] != b.shape[other]:
                raise ValueError("shape-mismatch for sum")
    kept_left = [axis for axis in range(a.ndim) if axis not in left]
    kept_right = [axis for axis in range(b.ndim) if axis not in right]
    rows, columns = [a.shape[axis] for axis in kept_left], [b.shape[axis] for axis in kept_right]
    inner, opposite = product([a.shape[axis] for axis in left]), product([b.shape[axis] for axis in right])
    first = structural.reshape(np.transpose(a, kept_left + left), (product(rows), inner))
    second = structural.reshape(np.transpose(b, right + kept_right), (opposite, product(columns)))
    return structural.reshape(linalg.matmul(first, second), tuple(rows + columns))


@composition(np.einsum)
def einsum(*operands, optimize=False):
    """np.einsum, in both of its forms."""
    if isinstance(operands[0], str):
        subscripts, arrays = operands[0], [np.asarray(one) for one in operands[1:]]
    else:
        subscripts, arrays = interleaved(operands)
        arrays = [np.asarray(one) for one in arrays]
    terms, output = explicit(subscripts, [one.ndim for one in arrays])
    for place, term in enumerate(terms):
        for letter in term:
            if has_stretched(letter, place, terms, arrays):
                arrays[place] = np.squeeze(arrays[place], terms[place].index(letter))
                terms[place] = terms[place].replace(letter, "", 1)
    return einsum_explicit(*arrays, subscripts=",".join(terms) + "->" + output)


def has_stretched(letter, place, terms, arrays):
    """Whether an operand's axis is of size 1 where another operand's is not: a factor without that axis."""
    if terms[place].count(letter) > 1:
        return False
    size = arrays[place].shape[terms[place].index(letter)]
    for other in range(len(terms)):
        if other != place and letter in terms[other]:
            opposite = arrays[other].shape[terms[other].index(letter)]
            if known_equal(size, 1) and not known_equal(opposite, 1):
                return True
    return False


@composition(np.kron)
def kron(a, b):
    """np.kron."""
    a, b = np.asarray(a), np.asarray(b)
    ndim = max(a.ndim, b.ndim)
    rows, columns = (1,) * (ndim - a.ndim) + a.shape, (1,) * (ndim - b.ndim) + b.shape
    spread, inside, shape = (), (), ()
    for size, width in zip(rows, columns):
        spread, inside, shape = spread + (size, 1), inside + (1, width), shape + (size * width,)
    return structural.reshape(structural.reshape(a, spread) * structural.reshape(b, inside), shape)


@composition(np.cross)
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """np.cross, of vectors of three elements."""
    if axis is not None:
        axisa, axisb, axisc = axis, axis, axis
    a, b = np.moveaxis(np.asarray(a), axisa, -1), np.moveaxis(np.asarray(b), axisb, -1)
    for size in (a.shape[-1], b.shape[-1]):
        if size != 3:
            raise ValueError("incompatible dimensions for cross product (both must be 3)")
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    u, v, w = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=axisc)


@composition(np.trace, method="trace")
def trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    """np.trace."""
    return np.sum(np.diagonal(a, offset, axis1, axis2), -1, dtype)


@composition(np.convolve)
def convolve(a, v, mode="full"):
    """np.convolve."""
    a, v = np.atleast_1d(a), np.atleast_1d(v)
    whole = convolve_full(a, v, mode="full")
    if mode == "full":
        return whole
    short, long = min(a.shape[0], v.shape[0]), max(a.shape[0], v.shape[0])
    if mode == "same":
        return whole[(short - 1) // 2:(short - 1) // 2 + long]
    if mode == "valid":
        return whole[short - 1:long]
    raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")


@composition(np.correlate)
def correlate(a, v, mode="valid"):
    """np.correlate."""
    a, v = np.asarray(a), np.flip(np.conj(np.asarray(v)))
    if mode != "same":
        return convolve(a, v, mode)
    size, width = a.shape[0], v.shape[0]
    start = size // 2 if size < width else (width - 1) // 2
    return convolve_full(a, v, mode="full")[start:start + max(size, width)]
