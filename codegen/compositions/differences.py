"""Running totals, differences, and the derivatives and integrals of sampled functions."""
from __future__ import annotations

import numpy as np

from ..primitives import scans
from ..registry import composition
from .arguments import along, axis_index, cast
from .reductions import accumulator


def running(primitive, a, axis, dtype):
    """A scan along one axis, or of the flattened array."""
    a = np.asarray(a)
    if axis is None or a.ndim == 0:
        if axis is not None and axis not in (0, -1):
            raise np.exceptions.AxisError(axis, 0)
        a, axis = np.ravel(a), 0
    axis = axis_index(axis, a.ndim)
    working = accumulator(a.dtype) if dtype is None else np.dtype(dtype)
    return cast(primitive(cast(a, working), axis=axis), working)


@composition(np.cumsum, method="cumsum")
def cumsum(a, axis=None, dtype=None):
    """np.cumsum."""
    return running(scans.cumsum, a, axis, dtype)


@composition(np.cumprod, method="cumprod")
def cumprod(a, axis=None, dtype=None):
    """np.cumprod."""
    return running(scans.cumprod, a, axis, dtype)


@composition(np.add.accumulate)
def add_accumulate(array, axis=0, dtype=None):
    """np.add.accumulate: as np.cumsum, but along the first axis by default."""
    return running(scans.cumsum, array, axis, dtype)


@composition(np.multiply.accumulate)
def multiply_accumulate(array, axis=0, dtype=None):
    """np.multiply.accumulate."""
    return running(scans.cumprod, array, axis, dtype)


@composition(np.diff)
def diff(a, n=1, axis=-1, prepend=None, append=None):
    """np.diff."""
    if n == 0:
        return a
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    a = np.asarray(a)
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = axis_index(axis, a.ndim)
    parts = [] if prepend is None else [edge_part(prepend, a, axis)]
    parts.append(a)
    if append is not None:
        parts.append(edge_part(append, a, axis))
    if len(parts) > 1:
        a = np.concatenate(parts, axis)
    for _ in range(n):
        later, earlier = a[along(axis, slice(1, None))], a[along(axis, slice(None, -1))]
        a = later != earlier if a.dtype.kind == "b" else later - earlier
    return a


def edge_part(part, a, axis):
    """What goes before or after an array: an array, or a scalar made as wide as the array."""
    part = np.asarray(part)
    if part.ndim == 0:
        return np.broadcast_to(part, a.shape[:axis] + (1,) + a.shape[axis + 1 :])
    return part


@composition(np.ediff1d)
def ediff1d(ary, to_end=None, to_begin=None):
    """np.ediff1d."""
    flat = np.ravel(ary)
    parts = [] if to_begin is None else [end_part(to_begin, flat, "to_begin")]
    parts.append(flat[1:] - flat[:-1])
    if to_end is not None:
        parts.append(end_part(to_end, flat, "to_end"))
    return np.concatenate(parts) if len(parts) > 1 else parts[0]


def end_part(part, flat, name):
    """An end of ediff1d in the array's dtype."""
    part = np.ravel(part)
    if not np.can_cast(part.dtype, flat.dtype, casting="same_kind"):
        raise TypeError(
            f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule."
        )
    return cast(part, flat.dtype)


@composition(np.trapezoid)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    """np.trapezoid."""
    y = np.asarray(y)
    axis = axis_index(axis, y.ndim)
    if x is None:
        width = dx
    else:
        x = np.asarray(x)
        width = diff(x, axis=0 if x.ndim == 1 else axis)
        if x.ndim == 1:
            width = width.reshape((-1,) + (1,) * (y.ndim - axis - 1))
    later, earlier = y[along(axis, slice(1, None))], y[along(axis, slice(None, -1))]
    return np.sum(width * (later + earlier) / 2.0, axis)


@composition(np.gradient)
def gradient(f, *varargs, axis=None, edge_order=1):
    """np.gradient."""
    f = np.asarray(f)
    axes = tuple(range(f.ndim)) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = [axis_index(one, f.ndim) for one in axes]
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' greater than 2 not supported")
    one_grid = len(varargs) == 1 and np.ndim(varargs[0]) > 0
    if len(varargs) not in (0, 1, len(axes)) or (one_grid and len(axes) != 1):
        raise TypeError("invalid number of arguments")
    if f.dtype.kind in "biu":
        f = cast(f, np.dtype(np.float64))
    slopes = []
    for place, one in enumerate(axes):
        spacing = 1.0 if len(varargs) == 0 else varargs[place if len(varargs) > 1 else 0]
        slopes.append(slope_along(f, spacing, one, edge_order))
    return slopes[0] if len(axes) == 1 else tuple(slopes)


def slope_along(f, spacing, axis, edge_order):
    """Central differences along one axis, one-sided ones at its ends."""
    if f.shape[axis] < edge_order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, "
            "at least (edge_order + 1) elements are required."
        )
    if np.ndim(spacing) == 0:
        before = after = spacing
        inner = (part(f, axis, 2, None) - part(f, axis, None, -2)) / (2.0 * spacing)
    else:
        steps = diff(np.asarray(spacing)).reshape((-1,) + (1,) * (f.ndim - axis - 1))
        before, after = steps[:-1], steps[1:]
        inner = (
            -after / (before * (before + after)) * part(f, axis, None, -2)
            + (after - before) / (before * after) * part(f, axis, 1, -1)
            + before / (after * (before + after)) * part(f, axis, 2, None)
        )
        before, after = steps, steps[::-1]
    first = end_slope(f, before, axis, edge_order)
    last = -end_slope(np.flip(f, axis), after, axis, edge_order)
    return cast(np.concatenate((first, inner, last), axis), f.dtype)


def part(f, axis, start, stop):
    """A slice along one axis."""
    return f[along(axis, slice(start, stop))]


def end_slope(f, spacing, axis, edge_order):
    """The one-sided slope at the start of an axis."""
    step = spacing if np.ndim(spacing) == 0 else spacing[:1]
    if edge_order == 1:
        return (part(f, axis, 1, 2) - part(f, axis, 0, 1)) / step
    if np.ndim(spacing) == 0:
        return (-1.5 * part(f, axis, 0, 1) + 2.0 * part(f, axis, 1, 2) - 0.5 * part(f, axis, 2, 3)) / step
    second = spacing[1:2]
    return (
        -(2.0 * step + second) / (step * (step + second)) * part(f, axis, 0, 1)
        + (step + second) / (step * second) * part(f, axis, 1, 2)
        - step / (second * (step + second)) * part(f, axis, 2, 3)
    )
