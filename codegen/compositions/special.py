"""Functions of scipy.special that are compositions of others."""
from __future__ import annotations

import numpy as np

from ..late import LateFunction, special
from ..registry import composition
from .arguments import reduced_axes
from .known import known_equal


def floating(a):
    """An array of at least one axis, of floats."""
    a = np.atleast_1d(a)
    return a.astype(np.float64) if a.dtype.kind in "biu" else a


def finite_peak(a, axes):
    """The largest element, or 0 where that is infinite: what exponents may have subtracted from them."""
    peak = np.max(a, axis=axes, keepdims=True)
    return np.where(np.isfinite(peak), peak, 0)


@composition(LateFunction("scipy.special", "logsumexp"))
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    """scipy.special.logsumexp, of real numbers."""
    a = floating(a)
    refuse_complex(a)
    if b is not None:
        b = np.asarray(b)
        a, b = np.broadcast_arrays(np.where(b == 0, -np.inf, a), b)
    axes = reduced_axes(axis, a.ndim)
    nothing = any(known_equal(a.shape[axis], 0) for axis in axes)
    peak = np.sum(a, axis=axes, keepdims=True) if nothing else finite_peak(a, axes)
    terms = np.exp(a - peak) if b is None else b * np.exp(a - peak)
    total = np.sum(terms, axis=axes, keepdims=keepdims)
    shift = peak if keepdims else np.squeeze(peak, axes)
    magnitude = np.abs(total) if return_sign else total
    empty = magnitude == 0  # where all elements are -inf, so is the result, and nothing moves it
    result = np.where(empty, -np.inf, np.log(np.where(empty, 1, magnitude)) + shift).astype(a.dtype)
    return (result, np.sign(total)) if return_sign else result


def refuse_complex(a):
    if a.dtype.kind == "c":
        raise NotImplementedError("of complex numbers; take the logarithm of a sum of exponentials")


@composition(LateFunction("scipy.special", "softmax"))
def softmax(x, axis=None):
    """scipy.special.softmax."""
    x = floating(x) if np.ndim(x) else np.asarray(x) * 1.0
    axes = reduced_axes(axis, x.ndim)
    powers = np.exp(x - np.max(x, axis=axes, keepdims=True))
    return powers / np.sum(powers, axis=axes, keepdims=True)


@composition(LateFunction("scipy.special", "log_softmax"))
def log_softmax(x, axis=None):
    """scipy.special.log_softmax."""
    x = floating(x)
    axes = reduced_axes(axis, x.ndim)
    centered = x - finite_peak(x, axes)
    return centered - np.log(np.sum(np.exp(centered), axis=axes, keepdims=True))


@composition(np.i0)
def i0(x):
    """np.i0."""
    return special.i0(x)
