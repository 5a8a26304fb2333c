"""Sums, means, extremes and other reductions."""
from __future__ import annotations

import builtins

import numpy as np

from ..primitives import reductions as reduce
from ..primitives import structural
from ..registry import composition
from .arguments import axis_index, cast, product, reduced_axes
from .known import require_equal


def reduced(primitive, a, axis, keepdims):
    """A reduction with its axes in the form that the primitive takes."""
    return primitive(a, axis=reduced_axes(axis, a.ndim), keepdims=keepdims)


def accumulator(dtype):
    """The dtype that NumPy sums integers in: at least the platform's."""
    if dtype.kind == "b" or (dtype.kind == "i" and dtype.itemsize < 8):
        return np.dtype(np.int64)
    return np.dtype(np.uint64) if dtype.kind == "u" else dtype


def selected(a, where, other):
    """The elements of an array where a mask says so, and a number elsewhere."""
    if where is None:
        return a
    return np.where(np.broadcast_to(where, a.shape), a, a.dtype.type(other))


def bounded(primitive, choose, a, axis, keepdims, initial, where):
    """A maximum or minimum of the elements that a mask selects, and of one number more."""
    axes = reduced_axes(axis, a.ndim)
    counted = [a.shape[one] for one in axes]
    if isinstance(product(counted), int) and product(counted) == 0:
        kept = [one for one in range(a.ndim) if keepdims or one not in axes]
        return np.full(tuple([1 if one in axes else a.shape[one] for one in kept]), initial, dtype=a.dtype)
    if where is not None:
        a = np.where(np.broadcast_to(where, a.shape), a, initial)
    found = reduced(primitive, a, axis, keepdims) if len(axes) > 0 else a
    return cast(choose(found, initial), a.dtype)


@composition(np.sum, method="sum")
def sum(a, axis=None, dtype=None, *, keepdims=False, initial=None, where=None):
    """np.sum."""
    a = selected(np.asarray(a), where, 0)
    if dtype is not None:
        a = cast(a, np.dtype(dtype))
    if len(reduced_axes(axis, a.ndim)) == 0:
        total = structural.copy(cast(a, accumulator(a.dtype)))
    else:
        total = reduced(reduce.sum, a, axis, keepdims)
    if initial is not None:
        total = cast(total + initial, total.dtype)
    return total if dtype is None else cast(total, np.dtype(dtype))


@composition(np.prod, method="prod")
def prod(a, axis=None, dtype=None, *, keepdims=False, initial=None, where=None):
    """np.prod."""
    a = selected(np.asarray(a), where, 1)
    if dtype is not None:
        a = cast(a, np.dtype(dtype))
    if len(reduced_axes(axis, a.ndim)) == 0:
        total = structural.copy(cast(a, accumulator(a.dtype)))
    else:
        total = reduced(reduce.prod, a, axis, keepdims)
    if initial is not None:
        total = cast(total * initial, total.dtype)
    return total if dtype is None else cast(total, np.dtype(dtype))


@composition(np.max, np.amax, method="max")
def max(a, axis=None, *, keepdims=False, initial=None, where=None):
    """np.max."""
    if initial is not None:
        return bounded(reduce.max, np.maximum, np.asarray(a), axis, keepdims, initial, where)
    if where is not None:
        raise ValueError("reduction operation 'maximum' does not have an identity, so to use a where mask "
                         "one has to specify 'initial'")
    a = np.asarray(a)
    if len(reduced_axes(axis, a.ndim)) == 0:
        return structural.copy(a)
    return reduced(reduce.max, a, axis, keepdims)


@composition(np.min, np.amin, method="min")
def min(a, axis=None, *, keepdims=False, initial=None, where=None):
    """np.min."""
    if initial is not None:
        return bounded(reduce.min, np.minimum, np.asarray(a), axis, keepdims, initial, where)
    if where is not None:
        raise ValueError("reduction operation 'minimum' does not have an identity, so to use a where mask "
                         "one has to specify 'initial'")
    a = np.asarray(a)
    if len(reduced_axes(axis, a.ndim)) == 0:
        return structural.copy(a)
    return reduced(reduce.min, a, axis, keepdims)


@composition(np.any, method="any")
def any(a, axis=None, *, keepdims=False, where=None):
    """np.any."""
    a = np.asarray(a) if where is None else selected(np.asarray(a) != 0, where, False)
    if len(reduced_axes(axis, a.ndim)) == 0:
        return a != 0
    return reduced(reduce.any, a, axis, keepdims)


@composition(np.all, method="all")
def all(a, axis=None, *, keepdims=False, where=None):
    """np.all."""
    a = np.asarray(a) if where is None else selected(np.asarray(a) != 0, where, True)
    if len(reduced_axes(axis, a.ndim)) == 0:
        return a != 0
    return reduced(reduce.all_, a, axis, keepdims)


@composition(np.add.reduce)
def add_reduce(array, axis=0, dtype=None, *, keepdims=False, initial=None, where=None):
    """np.add.reduce: as np.sum, but along the first axis by default."""
    return sum(array, axis, dtype, keepdims=keepdims, initial=initial, where=where)


@composition(np.multiply.reduce)
def multiply_reduce(array, axis=0, dtype=None, *, keepdims=False, initial=None, where=None):
    """np.multiply.reduce."""
    return prod(array, axis, dtype, keepdims=keepdims, initial=initial, where=where)


@composition(np.maximum.reduce)
def maximum_reduce(array, axis=0, *, keepdims=False):
    """np.maximum.reduce."""
    return max(array, axis, keepdims=keepdims)


@composition(np.minimum.reduce)
def minimum_reduce(array, axis=0, *, keepdims=False):
    """np.minimum.reduce."""
    return min(array, axis, keepdims=keepdims)


@composition(np.logical_or.reduce)
def logical_or_reduce(array, axis=0, *, keepdims=False):
    """np.logical_or.reduce."""
    return any(array, axis, keepdims=keepdims)


@composition(np.logical_and.reduce)
def logical_and_reduce(array, axis=0, *, keepdims=False):
    """np.logical_and.reduce."""
    return all(array, axis, keepdims=keepdims)


@composition(np.ptp)
def ptp(a, axis=None, *, keepdims=False):
    """np.ptp."""
    return max(a, axis, keepdims=keepdims) - min(a, axis, keepdims=keepdims)


@composition(np.count_nonzero)
def count_nonzero(a, axis=None, *, keepdims=False):
    """np.count_nonzero."""
    return sum(np.asarray(a) != 0, axis, keepdims=keepdims)


def positioned(primitive, a, axis, keepdims):
    """argmax or argmin: along one axis, or in the flattened array."""
    a = np.asarray(a)
    if axis is None or a.ndim == 0:
        reduced_axes(axis, a.ndim)
        found = primitive(np.ravel(a), axis=0)
        return found.reshape((1,) * a.ndim) if keepdims else found
    return primitive(a, axis=axis_index(axis, a.ndim), keepdims=keepdims)


@composition(np.argmax, method="argmax")
def argmax(a, axis=None, *, keepdims=False):
    """np.argmax."""
    return positioned(reduce.argmax, a, axis, keepdims)


@composition(np.argmin, method="argmin")
def argmin(a, axis=None, *, keepdims=False):
    """np.argmin."""
    return positioned(reduce.argmin, a, axis, keepdims)


def count_over(a, axis, where=None, keepdims=False):
    """How many elements a mean over `axis` puts together."""
    if where is not None:
        return sum(np.broadcast_to(where, a.shape), axis, keepdims=keepdims)
    if axis is not None and a.ndim == 0 and not isinstance(axis, (tuple, list)):
        axis_index(axis, a.ndim)
    return product([a.shape[one] for one in reduced_axes(axis, a.ndim)])


def mean_dtype(dtype):
    """The dtype that NumPy works means out in: double for integers, single for half."""
    if dtype.kind in "biu":
        return np.dtype(np.float64)
    return np.dtype(np.float32) if dtype == np.float16 else dtype


def result_dtype(a, dtype):
    """The dtype of a mean or variance."""
    if dtype is not None:
        return np.dtype(dtype)
    return a.dtype if a.dtype == np.float16 else mean_dtype(a.dtype)


@composition(np.mean, method="mean")
def mean(a, axis=None, dtype=None, *, keepdims=False, where=None):
    """np.mean."""
    a = np.asarray(a)
    working = mean_dtype(a.dtype) if dtype is None else np.dtype(dtype)
    total = sum(a, axis, working, keepdims=keepdims, where=where)
    return cast(total / count_over(a, axis, where, keepdims), result_dtype(a, dtype))


@composition(np.var, method="var")
def var(a, axis=None, dtype=None, *, ddof=0, keepdims=False, mean=None, correction=None, where=None):
    """np.var."""
    a = np.asarray(a)
    ddof = ddof if correction is None else correction
    working = mean_dtype(a.dtype) if dtype is None else np.dtype(dtype)
    count = count_over(a, axis, where, keepdims)
    if mean is None:
        mean = sum(a, axis, working, keepdims=True, where=where) / count_over(a, axis, where, True)
    deviation = a - mean
    if deviation.dtype.kind == "c":
        squares = np.square(np.real(deviation)) + np.square(np.imag(deviation))
        working = squares.dtype
    else:
        squares = np.square(deviation)
    total = sum(squares, axis, working, keepdims=keepdims, where=where)
    if where is not None:
        count = np.maximum(count - ddof, 0)
    elif ddof != 0:
        count = builtins.max(count - ddof, 0)
    final = result_dtype(a, dtype)
    return cast(total / count, working if final.kind == "c" else final)


def root_of_squares(total):
    """The root of a sum of squares. At 0, where it has no derivative, its derivative is 0."""
    zero = total == 0
    return np.where(zero, 0, np.sqrt(np.where(zero, 1, total)))


@composition(np.std, method="std")
def std(a, axis=None, dtype=None, *, ddof=0, keepdims=False, mean=None, correction=None, where=None):
    """np.std."""
    a = np.asarray(a)
    working = mean_dtype(a.dtype) if dtype is None else np.dtype(dtype)
    variance = var(a, axis, working, ddof=ddof, keepdims=keepdims, mean=mean, correction=correction,
                   where=where)
    final = result_dtype(a, dtype)
    return cast(root_of_squares(variance), variance.dtype if final.kind == "c" else final)


@composition(np.average)
def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """np.average."""
    a = np.asarray(a)
    if weights is None:
        averaged = mean(a, axis, keepdims=keepdims)
        scale = count_over(a, axis) * np.ones_like(averaged)
        return (averaged, scale) if returned else averaged
    weights = np.asarray(weights)
    dtype = np.result_type(a, weights, np.float64) if a.dtype.kind in "biu" else np.result_type(a, weights)
    weights = weights_over(a, axis, weights)
    scale = sum(weights, axis, dtype, keepdims=keepdims)
    if any(scale == 0.0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    averaged = sum(cast(a, dtype) * cast(weights, dtype), axis, keepdims=keepdims) / scale
    if not returned:
        return averaged
    return averaged, structural.copy(structural.broadcast_to(scale, averaged.shape))


INCONSISTENT_WEIGHTS = "Shape of weights must be consistent with shape of a along specified axis."


def weights_over(a, axis, weights):
    """Weights of an array's shape, or of the shape of the axes averaged over, broadcast to the array's."""
    if axis is None and weights.ndim != a.ndim:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if weights.ndim == a.ndim:
        for axis in range(a.ndim):
            require_equal(weights.shape[axis], a.shape[axis], INCONSISTENT_WEIGHTS)
        return weights
    axes = [axis_index(one, a.ndim) for one in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    if weights.ndim != len(axes):
        raise ValueError(INCONSISTENT_WEIGHTS)
    for place, axis in enumerate(axes):
        require_equal(weights.shape[place], a.shape[axis], INCONSISTENT_WEIGHTS)
    weights = np.transpose(weights, [axes.index(one) for one in sorted(axes)])
    return structural.broadcast_to(np.expand_dims(weights, reduced_axes_left(axes, a.ndim)), a.shape)


def reduced_axes_left(axes, ndim):
    """The axes that are not among `axes`."""
    return tuple([axis for axis in range(ndim) if axis not in axes])

