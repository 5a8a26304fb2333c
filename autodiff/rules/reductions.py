"""Derivatives of sums, products and extremes."""
from __future__ import annotations

import numpy as np

from ...codegen.primitives import reductions
from ...codegen.registry import derivative, zero_derivative

zero_derivative(reductions.any, reductions.all, reductions.argmax, reductions.argmin)


def spread(reduced, x, axis, keepdims):
    """What is reduced over `axis`, with the axes of x again."""
    return reduced if keepdims else np.expand_dims(reduced, axis)


derivative(
    reductions.sum,
    jvp=lambda t, out, x, axis, keepdims=False: np.sum(t, axis=axis, keepdims=keepdims),
    vjp=lambda ct, out, x, axis, keepdims=False: np.broadcast_to(spread(ct, x, axis, keepdims), x.shape),
)


def products_of_others(x, axis):
    """For each element, the product of all others over `axis`, without a division that a zero would spoil."""
    result = np.ones_like(x)
    for one in axis:
        result = result * products_along(x, one)
        x = np.prod(x, axis=one, keepdims=True)
    return result


def products_along(x, axis):
    """For each element, the product of those before it along `axis` times that of those after it."""
    lead = (slice(None),) * axis
    first = np.ones_like(x[(*lead, slice(None, 1))])
    before = np.concatenate((first, np.cumprod(x[(*lead, slice(None, -1))], axis=axis)), axis=axis)
    after = np.concatenate((first, np.cumprod(x[(*lead, slice(None, 0, -1))], axis=axis)), axis=axis)
    return before * after[(*lead, slice(None, None, -1))]


def prod_jvp(t, out, x, axis, keepdims=False):
    return np.sum(t * products_of_others(x, axis), axis=axis, keepdims=keepdims)


def prod_vjp(ct, out, x, axis, keepdims=False):
    return spread(ct, x, axis, keepdims) * products_of_others(x, axis)


derivative(reductions.prod, jvp=prod_jvp, vjp=prod_vjp)


def ties(out, x, axis, keepdims):
    """Where x is the extreme, and at how many places it is."""
    tied = x == spread(out, x, axis, keepdims)
    return tied, np.sum(tied, axis=axis, keepdims=True).astype(x.dtype)


def extreme_jvp(t, out, x, axis, keepdims=False):
    tied, count = ties(out, x, axis, keepdims)
    return np.sum(np.where(tied, t / count, 0), axis=axis, keepdims=keepdims)


def extreme_vjp(ct, out, x, axis, keepdims=False):
    tied, count = ties(out, x, axis, keepdims)
    return np.where(tied, spread(ct, x, axis, keepdims) / count, 0)


for extreme in (reductions.max, reductions.min):
    derivative(extreme, jvp=extreme_jvp, vjp=extreme_vjp)
