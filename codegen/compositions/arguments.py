"""Putting NumPy's forms of arguments (axes, shapes, orders) into the one form that primitives take."""
from __future__ import annotations

import operator

import numpy as np

from ..primitives import elementwise
from .known import known_equal


def axis_index(axis, ndim):
    """An axis counted from the front."""
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return axis + ndim if axis < 0 else axis


def axis_indices(axis, ndim):
    """One axis or several, in the order given, counted from the front, each once."""
    if not isinstance(axis, (tuple, list)):
        axis = (axis,)
    axes = tuple([axis_index(one, ndim) for one in axis])
    if len(set(axes)) != len(axes):
        raise ValueError("repeated axis")
    return axes


def reduced_axes(axis, ndim):
    """The axes a reduction goes over, in order; None means all of them."""
    if axis is None or (ndim == 0 and axis in (0, -1)):
        return tuple(range(ndim))
    if not isinstance(axis, (tuple, list)):
        axis = (axis,)
    axes = tuple(sorted([axis_index(one, ndim) for one in axis]))
    if len(set(axes)) != len(axes):
        raise ValueError("duplicate value in 'axis'")
    return axes


def along(axis, index):
    """The index tuple that applies `index` to one axis."""
    return (slice(None),) * axis + (index,)


def product(sizes):
    """The product of sizes, known to be 0 where one of them is."""
    if any(known_equal(size, 0) for size in sizes):
        return 0
    total = 1
    for size in sizes:
        total = total * size
    return total


def shape_tuple(shape):
    """A shape given as an int, a tuple or a list, as a tuple."""
    if isinstance(shape, np.ndarray):
        shape = shape.tolist()
    return tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)


def c_order(order):
    """Refuse memory layouts that the language has no notion of."""
    if order not in ("C", "K", "A", None):
        raise NotImplementedError(f"order={order!r} is not supported: arrays are laid out in C order here")


def cast(a, dtype):
    """The array in another dtype, or the array itself where it has that dtype."""
    return a if a.dtype == dtype else elementwise.astype(a, dtype=dtype)


def default_dtype(*values):
    """The dtype NumPy gives an array made from these values, where a Python scalar counts in full."""
    return np.result_type(*[np.result_type(value) for value in values])


def spread(size, axis, ndim):
    """The positions along one axis, shaped to broadcast against an array of rank `ndim`."""
    return np.arange(size).reshape((1,) * axis + (size,) + (1,) * (ndim - axis - 1))


def existing(*names):
    """The NumPy functions of these names, as far as the installed NumPy has them."""
    return [getattr(np, name) for name in names if hasattr(np, name)]
