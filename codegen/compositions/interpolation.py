"""np.interp."""
from __future__ import annotations

import builtins

import numpy as np

from ..registry import composition
from .arguments import cast


@composition(np.interp)
def interp(x, xp, fp, left=None, right=None, period=None):
    """np.interp: straight lines between the points (xp, fp), and constants beyond them."""
    fp = np.asarray(fp)
    x, xp = cast(np.asarray(x), np.dtype(np.float64)), cast(np.asarray(xp), np.dtype(np.float64))
    fp = cast(fp, np.dtype(np.complex128 if fp.dtype.kind == "c" else np.float64))
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    if xp.shape[0] != fp.shape[0]:
        raise ValueError("fp and xp are not of the same length.")
    if period is not None:
        x, xp, fp = periodic(x, xp, fp, period)
        left = right = None
    size = xp.shape[0]
    if size == 0:
        raise ValueError("array of sample points is empty")
    low = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, builtins.max(size - 2, 0))
    high = np.minimum(low + 1, size - 1)
    width = xp[high] - xp[low]
    slope = (fp[high] - fp[low]) / np.where(width == 0, 1.0, width)
    value = slope * (x - xp[low]) + fp[low]
    value = np.where(x < xp[0], fp[0] if left is None else left, value)
    if right is None:
        value = np.where(x >= xp[-1], fp[-1], value)
    else:
        value = np.where(x > xp[-1], right, np.where(x == xp[-1], fp[-1], value))
    return cast(value, fp.dtype)


def periodic(x, xp, fp, period):
    """The points within one period, in order, with one more at either end."""
    if period == 0:
        raise ValueError("period must be a non-zero value")
    period = abs(period)
    x, xp = x % period, xp % period
    order = np.argsort(xp)
    xp, fp = xp[order], fp[order]
    xp = np.concatenate((xp[-1:] - period, xp, xp[:1] + period))
    return x, xp, np.concatenate((fp[-1:], fp, fp[:1]))
