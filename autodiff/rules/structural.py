"""Derivatives of the structural and creating primitives.

The passes sum a cotangent over the axes along which its operand was broadcast.
"""
import numpy as np

from ...codegen.primitives import creation, structural
from ...codegen.primitives.creation import arange, array, full
from ...codegen.primitives.indexing import getitem
from ...codegen.primitives.structural import broadcast_to, concatenate, copy, reshape, transpose
from ...codegen.registry import derivative, zero_derivative

derivative(reshape, jvp=lambda t, out, x, shape: reshape(t, shape),
           vjp=lambda ct, out, x, shape: reshape(ct, np.shape(x)))


def inverse(axes):
    """The axes of the transpose that undoes a transpose."""
    return tuple(axes.index(axis) for axis in range(len(axes)))


derivative(transpose, jvp=lambda t, out, x, axes: transpose(t, axes=axes),
           vjp=lambda ct, out, x, axes: transpose(ct, axes=inverse(axes)))
derivative(broadcast_to, jvp=lambda t, out, x, shape: broadcast_to(t, shape),
           vjp=lambda ct, out, x, shape: ct)
derivative(copy, jvp=lambda t, out, x: t, vjp=lambda ct, out, x: ct)


def concatenate_vjp(ct, out, arrays, axis=0):
    """Each array's part of the cotangent."""
    parts = []
    stop = 0
    for one in arrays:
        start, stop = stop, stop + one.shape[axis]
        parts.append(getitem(ct, (slice(None),) * axis + (slice(start, stop),)))
    return tuple(parts)


derivative(concatenate, jvp=lambda t, out, arrays, axis=0: concatenate(t, axis=axis), vjp=concatenate_vjp)

derivative(full, 1, jvp=lambda t, out, shape, value, dtype=None: full(shape, t, dtype=dtype),
           vjp=lambda ct, out, shape, value, dtype=None: np.sum(ct))


def nested(ct, items, index=()):
    """The elements of an array as nested tuples, as they stand in `items`."""
    if isinstance(items, (tuple, list)):
        return tuple(nested(ct, item, index + (i,)) for i, item in enumerate(items))
    return getitem(ct, index)


derivative(array, jvp=lambda t, out, items, dtype=None: array(t, dtype=dtype),
           vjp=lambda ct, out, items, dtype=None: nested(ct, items))

derivative(arange, 0, jvp=lambda t, out, start, stop, step, dtype=None: full(out.shape, t, dtype=dtype),
           vjp=lambda ct, out, start, stop, step, dtype=None: np.sum(ct))
derivative(arange, 1, jvp=lambda t, out, start, stop, step, dtype=None: None,
           vjp=lambda ct, out, start, stop, step, dtype=None: None)
derivative(arange, 2, jvp=lambda t, out, start, stop, step, dtype=None: t * np.arange(out.shape[0]),
           vjp=lambda ct, out, start, stop, step, dtype=None: np.sum(ct * np.arange(out.shape[0])))

zero_derivative(structural.size, structural.count_nonzero, structural.nonzero)
zero_derivative(creation.zeros, creation.ones, creation.empty, creation.constant)
