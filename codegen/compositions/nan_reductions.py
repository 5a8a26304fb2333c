"""Reductions that leave NaNs out."""
from __future__ import annotations

import numpy as np

from ..registry import composition
from .arguments import cast
from .reductions import root_of_squares


def without_nan(a, value):
    """The array with NaNs replaced."""
    return np.where(np.isnan(a), a.dtype.type(value), a) if a.dtype.kind in "fc" else a


@composition(np.nansum)
def nansum(a, axis=None, dtype=None, *, keepdims=False):
    """np.nansum."""
    return np.sum(without_nan(np.asarray(a), 0), axis, dtype, keepdims=keepdims)


@composition(np.nanprod)
def nanprod(a, axis=None, dtype=None, *, keepdims=False):
    """np.nanprod."""
    return np.prod(without_nan(np.asarray(a), 1), axis, dtype, keepdims=keepdims)


@composition(np.nancumsum)
def nancumsum(a, axis=None, dtype=None):
    """np.nancumsum."""
    return np.cumsum(without_nan(np.asarray(a), 0), axis, dtype)


@composition(np.nancumprod)
def nancumprod(a, axis=None, dtype=None):
    """np.nancumprod."""
    return np.cumprod(without_nan(np.asarray(a), 1), axis, dtype)


@composition(np.nanmax)
def nanmax(a, axis=None, *, keepdims=False):
    """np.nanmax: NaN where there is nothing else."""
    a = np.asarray(a)
    if a.dtype.kind not in "fc":
        return np.max(a, axis, keepdims=keepdims)
    largest = np.max(without_nan(a, -np.inf), axis, keepdims=keepdims)
    return np.where(np.all(np.isnan(a), axis, keepdims=keepdims), a.dtype.type(np.nan), largest)


@composition(np.nanmin)
def nanmin(a, axis=None, *, keepdims=False):
    """np.nanmin: NaN where there is nothing else."""
    a = np.asarray(a)
    if a.dtype.kind not in "fc":
        return np.min(a, axis, keepdims=keepdims)
    smallest = np.min(without_nan(a, np.inf), axis, keepdims=keepdims)
    return np.where(np.all(np.isnan(a), axis, keepdims=keepdims), a.dtype.type(np.nan), smallest)


@composition(np.nanargmax)
def nanargmax(a, axis=None, *, keepdims=False):
    """np.nanargmax."""
    a = np.asarray(a)
    refuse_all_nan(a, axis)
    return np.argmax(without_nan(a, -np.inf), axis, keepdims=keepdims)


@composition(np.nanargmin)
def nanargmin(a, axis=None, *, keepdims=False):
    """np.nanargmin."""
    a = np.asarray(a)
    refuse_all_nan(a, axis)
    return np.argmin(without_nan(a, np.inf), axis, keepdims=keepdims)


def refuse_all_nan(a, axis):
    """A slice of nothing but NaNs has no position to give."""
    if a.dtype.kind in "fc" and np.any(np.all(np.isnan(a), axis)):
        raise ValueError("All-NaN slice encountered")


def count_numbers(a, axis, keepdims):
    """How many elements of a slice are not NaN."""
    return np.sum(~np.isnan(a), axis, keepdims=keepdims)


@composition(np.nanmean)
def nanmean(a, axis=None, dtype=None, *, keepdims=False):
    """np.nanmean."""
    a = np.asarray(a)
    if a.dtype.kind not in "fc":
        return np.mean(a, axis, dtype, keepdims=keepdims)
    final = a.dtype if dtype is None else np.dtype(dtype)
    total = np.sum(without_nan(a, 0), axis, dtype, keepdims=keepdims)
    return cast(total / count_numbers(a, axis, keepdims), final)


@composition(np.nanvar)
def nanvar(a, axis=None, dtype=None, *, ddof=0, keepdims=False, correction=None):
    """np.nanvar."""
    a = np.asarray(a)
    ddof = ddof if correction is None else correction
    if a.dtype.kind not in "fc":
        return np.var(a, axis, dtype, ddof=ddof, keepdims=keepdims)
    center = nanmean(a, axis, dtype, keepdims=True)
    deviation = np.where(np.isnan(a), a.dtype.type(0), a - center)
    if deviation.dtype.kind == "c":
        squares = np.square(np.real(deviation)) + np.square(np.imag(deviation))
    else:
        squares = np.square(deviation)
    final = squares.dtype if a.dtype.kind == "c" or dtype is None else np.dtype(dtype)
    total = np.sum(squares, axis, final, keepdims=keepdims)
    freedom = count_numbers(a, axis, keepdims) - ddof
    variance = cast(total / freedom, final)
    return np.where(freedom <= 0, final.type(np.nan), variance)


@composition(np.nanstd)
def nanstd(a, axis=None, dtype=None, *, ddof=0, keepdims=False, correction=None):
    """np.nanstd."""
    variance = nanvar(a, axis, dtype, ddof=ddof, keepdims=keepdims, correction=correction)
    return root_of_squares(variance)
