"""Medians, quantiles and histograms."""
from __future__ import annotations

import builtins

import numpy as np

from ..primitives import sorting
from ..registry import composition
from .arguments import cast, product, reduced_axes
from .reductions import mean_dtype, result_dtype


def sorted_over(a, axis):
    """The array with the reduced axes made into one last axis, sorted along it."""
    axes = reduced_axes(axis, a.ndim)
    kept = [place for place in range(a.ndim) if place not in axes]
    if a.ndim != 1:
        count = product([a.shape[place] for place in axes])
        a = np.transpose(a, kept + list(axes)).reshape(tuple([a.shape[place] for place in kept]) + (count,))
    return sorting.sort(a, axis=len(kept))


def kept_shape(a, axis):
    """The shape of a reduction that keeps its axes as axes of size 1."""
    axes = reduced_axes(axis, a.ndim)
    return tuple([1 if place in axes else size for place, size in enumerate(a.shape)])


@composition(np.median)
def median(a, axis=None, *, keepdims=False):
    """np.median."""
    a = np.asarray(a)
    ordered = cast(sorted_over(a, axis), mean_dtype(a.dtype))
    size = ordered.shape[-1]
    if size == 0:
        middle = np.full(ordered.shape[:-1], np.nan, ordered.dtype)
    elif size % 2 == 1:
        middle = ordered[..., size // 2]
    else:
        middle = (ordered[..., size // 2 - 1] + ordered[..., size // 2]) / 2
    if a.dtype.kind in "fc" and size > 0:
        # NaNs are sorted to the end.
        middle = np.where(np.isnan(ordered[..., -1]), ordered[..., -1], middle)
    middle = cast(middle, result_dtype(a, None))
    return middle.reshape(kept_shape(a, axis)) if keepdims else middle


@composition(np.quantile)
def quantile(a, q, axis=None, *, method="linear", keepdims=False):
    """np.quantile, by the methods that take the nearest two elements."""
    return quantile_over(np.asarray(a), np.asarray(q), is_weak(q), axis, method, keepdims)


def is_weak(q):
    """Whether a quantile is a Python scalar, which doesn't widen the result."""
    return isinstance(q, (int, float)) and not isinstance(q, np.generic)


def quantile_over(a, q, weak, axis, method, keepdims):
    """The quantiles `q`, an array; `weak` if it was a Python scalar."""
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    if a.dtype.kind == "b":
        raise TypeError("numpy boolean subtract, the `-` operator, is not supported")
    if method not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise NotImplementedError(f"np.quantile with method={method!r} is not supported: use method='linear'")
    if np.any((q < 0) | (q > 1)):
        raise ValueError("Quantiles must be in the range [0, 1]")
    ordered = np.moveaxis(sorted_over(a, axis), -1, 0)
    size = ordered.shape[0]
    position = q * (size - 1)
    found = at_position(ordered, position, method, weak and a.dtype.kind == "f")
    if a.dtype.kind == "f":
        found = np.where(np.isnan(ordered[-1]), ordered[-1], found)
    if keepdims:
        found = found.reshape(q.shape + kept_shape(a, axis))
    return found


def at_position(ordered, position, method, weak):
    """The value at a fractional position along the first axis of a sorted array."""
    if position.dtype.kind in "iu" and method != "midpoint":
        return ordered[position]
    below = cast(np.floor(position), np.dtype(np.intp))
    if method == "lower":
        return ordered[below]
    if method == "higher":
        return ordered[cast(np.ceil(position), np.dtype(np.intp))]
    if method == "nearest":
        return ordered[cast(np.rint(position), np.dtype(np.intp))]
    part = position - below
    if method == "midpoint":
        part = np.where(part == 0, part, 0.5)
    part = cast(part, ordered.dtype if weak else position.dtype)
    part = part.reshape(part.shape + (1,) * (ordered.ndim - 1))
    low, high = ordered[below], ordered[np.minimum(below + 1, ordered.shape[0] - 1)]
    step = high - low
    return np.where(part >= 0.5, high - step * (1 - part), low + step * part)


@composition(np.percentile)
def percentile(a, q, axis=None, *, method="linear", keepdims=False):
    """np.percentile."""
    fraction = np.asarray(q) / 100
    return quantile_over(np.asarray(a), fraction, is_weak(q), axis, method, keepdims)


@composition(np.bincount)
def bincount(x, /, weights=None, minlength=0):
    """np.bincount."""
    x = np.asarray(x)
    if x.ndim == 0:
        raise ValueError("object of too small depth for desired array")
    if x.ndim > 1:
        raise ValueError("object too deep for desired array")
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if x.shape[0] == 0:
        return np.zeros(minlength, np.intp if weights is None else float)
    if np.min(x) < 0:
        raise ValueError("'list' argument must have no negative elements")
    counts = np.zeros(builtins.max(int(np.max(x)) + 1, minlength), np.intp if weights is None else float)
    if weights is None:
        np.add.at(counts, x, 1)
    else:
        weights = np.asarray(weights)
        if weights.shape[0] != x.shape[0]:
            raise ValueError("The weights and list don't have the same length.")
        np.add.at(counts, x, weights)
    return counts


@composition(np.cov)
def cov(m, y=None, rowvar=True, bias=False, ddof=None):
    """np.cov, without weights."""
    x = np.atleast_2d(m)
    if not rowvar and np.ndim(m) > 1:
        x = x.T
    if y is not None:
        y = np.atleast_2d(y)
        x = np.concatenate((x, y if rowvar or y.shape[0] == 1 else y.T), axis=0)
    x = cast(x, np.result_type(x, np.float64))
    ddof = (0 if bias else 1) if ddof is None else ddof
    deviation = x - np.mean(x, axis=1, keepdims=True)
    products = np.matmul(deviation, np.conjugate(deviation.T))
    return np.squeeze(products / builtins.max(x.shape[1] - ddof, 0))


@composition(np.corrcoef)
def corrcoef(x, y=None, rowvar=True):
    """np.corrcoef."""
    covariance = cov(x, y, rowvar)
    if covariance.ndim == 0:
        return covariance / covariance
    deviation = np.sqrt(np.real(np.diagonal(covariance)))
    return np.clip(covariance / deviation[:, None] / deviation[None, :], -1, 1)
