"""The methods reduce, accumulate and outer of NumPy's functions of two numbers.

>>> np.subtract.outer in FUNCTIONS, np.hypot.reduce in FUNCTIONS
(True, True)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..primitives.reductions import NO_IDENTITY
from ..registry import FUNCTIONS, composition, enter
from .arguments import axis_index, cast
from .special import logsumexp


def outer_of(function: np.ufunc) -> Callable:
    """`function.outer`: of each element of the one array with each of the other."""

    def outer(a, b):
        a, b = np.asarray(a), np.asarray(b)
        return function(np.reshape(a, a.shape + (1,) * b.ndim), b)

    return outer


def reduce_of(function: np.ufunc) -> Callable:
    """`function.reduce`: one element after the other, along one axis."""

    identity = function.identity
    starts = identity is not None and np.isfinite(identity)

    def reduce(array, axis=0, *, keepdims=False):
        rows = along_first(array, axis, function)
        if rows.shape[0] == 0:
            if identity is None:
                raise ValueError(NO_IDENTITY.format(function.__name__))
            total = np.full(rows.shape[1:], identity, dtype=rows.dtype)
        else:
            total = function(rows.dtype.type(identity), rows[0]) if starts else np.copy(rows[0])
        for k in range(1, rows.shape[0]):
            total = function(total, rows[k])
        return np.expand_dims(total, axis) if keepdims else total

    return reduce


def accumulate_of(function: np.ufunc) -> Callable:
    """`function.accumulate`: the results of the reductions of ever more elements."""

    def accumulate(array, axis=0):
        rows = along_first(array, axis, function)
        totals = np.copy(rows)
        for k in range(1, rows.shape[0]):
            totals[k] = function(totals[k - 1], rows[k])
        return np.moveaxis(totals, 0, axis)

    return accumulate


def along_first(array, axis, function):
    """An array with one axis, that a method works along, put first, in the dtype of the method's result."""
    array = np.asarray(array)
    dtype = function.resolve_dtypes((array.dtype, array.dtype, None))[2]
    array = cast(array, dtype) if dtype.kind in "fc" else array
    if axis is None and array.ndim == 1:
        axis = 0
    if axis is None or isinstance(axis, (tuple, list)):
        raise NotImplementedError("along several axes; give one axis, or use np.ravel before")
    if array.ndim == 0:
        raise TypeError("cannot reduce on a scalar")
    return np.moveaxis(array, axis_index(axis, array.ndim), 0)


@composition(np.logaddexp.reduce)
def logaddexp_reduce(array, axis=0, *, keepdims=False):
    """np.logaddexp.reduce."""
    return logsumexp(array, axis, keepdims=keepdims)


METHODS_OF = {"outer": outer_of, "reduce": reduce_of, "accumulate": accumulate_of}

for _function in [known for known in list(FUNCTIONS) if isinstance(known, np.ufunc) and known.nin == 2]:
    if _function.nout == 1 and _function.signature is None and _function.__name__ in dir(np):
        for _name, _make in METHODS_OF.items():
            if getattr(_function, _name) not in FUNCTIONS:
                enter(getattr(_function, _name), _make(_function))
