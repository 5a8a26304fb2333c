"""Derivatives of running totals."""
from __future__ import annotations

import numpy as np

from ...codegen.primitives import scans
from ...codegen.registry import derivative

derivative(
    scans.cumsum,
    jvp=lambda t, out, x, axis: np.cumsum(t, axis=axis),
    vjp=lambda ct, out, x, axis: np.flip(np.cumsum(np.flip(ct, axis), axis=axis), axis),
)


def cumprod_jvp(t, out, x, axis):
    """Each product is the one before it times an element, and so by the product rule is its tangent."""
    factor, product, change = np.moveaxis(x, axis, 0), np.moveaxis(out, axis, 0), np.moveaxis(t, axis, 0)
    result = np.zeros_like(product)
    before = np.ones(product.shape[1:], out.dtype)
    tangent = np.zeros(product.shape[1:], out.dtype)
    for i in range(product.shape[0]):
        tangent = tangent * factor[i] + before * change[i]
        before = product[i]
        result[i] = tangent
    return np.moveaxis(result, 0, axis)


def cumprod_vjp(ct, out, x, axis):
    """The same recurrence from the end: no division, so zeros are nothing special."""
    factor, product, change = np.moveaxis(x, axis, 0), np.moveaxis(out, axis, 0), np.moveaxis(ct, axis, 0)
    result = np.zeros_like(product)
    total = np.zeros(product.shape[1:], out.dtype)
    for i in range(product.shape[0] - 1, 0, -1):
        total = total + change[i]
        result[i] = total * product[i - 1]
        total = total * factor[i]
    result[:1] = total + change[:1]
    return np.moveaxis(result, 0, axis)


derivative(scans.cumprod, jvp=cumprod_jvp, vjp=cumprod_vjp)
