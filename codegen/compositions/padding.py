"""np.pad."""
from __future__ import annotations

import builtins

import numpy as np

from ..registry import composition
from .arguments import along


@composition(np.pad)
def pad(array, pad_width, mode="constant", *, constant_values=0, reflect_type="even"):
    """np.pad, in the modes whose new elements are constants or copies of single elements."""
    a = np.asarray(array)
    widths = axis_pairs(pad_width, a.ndim)
    if mode == "empty":
        return pad_constant(a, widths, axis_pairs(0, a.ndim))
    if mode == "constant":
        return pad_constant(a, widths, axis_pairs(constant_values, a.ndim))
    if mode not in ("edge", "reflect", "symmetric", "wrap") or reflect_type != "even":
        raise NotImplementedError(
            f"np.pad with mode={mode!r}, reflect_type={reflect_type!r} is not supported: "
            "use constant, edge, reflect, symmetric or wrap"
        )
    for axis in range(a.ndim):
        before, after = widths[axis]
        if before == 0 and after == 0:
            continue
        size = a.shape[axis]
        if size == 0:
            raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
        a = a[along(axis, source_positions(np.arange(-before, size + after), size, mode))]
    return a


def axis_pairs(value, ndim):
    """A (before, after) pair for each axis, from any of NumPy's forms of such an argument."""
    if isinstance(value, dict):
        by_axis = {axis % ndim: one for axis, one in value.items()}
        return tuple([pair(by_axis[axis]) if axis in by_axis else (0, 0) for axis in range(ndim)])
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, (tuple, list)):
        return ((value, value),) * ndim
    if not isinstance(value[0], (tuple, list)):
        return (pair(value),) * ndim
    if len(value) not in (1, ndim):
        raise ValueError(
            f"operands could not be broadcast together with remapped shapes: a pair for each of {ndim} axes"
        )
    return tuple([pair(value[axis if len(value) > 1 else 0]) for axis in range(ndim)])


def pair(value):
    """One number or two, as two."""
    if not isinstance(value, (tuple, list)):
        return (value, value)
    if len(value) > 2:
        raise ValueError("operands could not be broadcast together: more than two widths")
    return (value[0], value[-1])


def pad_constant(a, widths, values):
    """The array in the middle of one constant, or, axis by axis, between the constants of that axis."""
    first = values[0][0] if values else 0
    if builtins.all(one is first for two in values for one in two):
        sizes = [before + size + after for (before, after), size in zip(widths, a.shape)]
        padded = np.full(tuple(sizes), first, a.dtype)
        padded[middle(widths, a.shape)] = a
        return padded
    for axis in range(a.ndim):
        parts = []
        for width, value in zip(widths[axis], values[axis]):
            parts.append(np.full(a.shape[:axis] + (width,) + a.shape[axis + 1 :], value, a.dtype))
        a = np.concatenate((parts[0], a, parts[1]), axis=axis)
    return a


def middle(widths, shape):
    """The index of the original array in the padded one."""
    return tuple([slice(before, before + size) for (before, _), size in zip(widths, shape)])


def source_positions(positions, size, mode):
    """Which element of an axis each position outside or inside it takes."""
    if mode == "edge":
        return np.clip(positions, 0, size - 1)
    if mode == "wrap":
        return positions % size
    if mode == "symmetric":
        within = positions % (2 * size)
        return np.where(within >= size, 2 * size - 1 - within, within)
    period = builtins.max(2 * size - 2, 1)
    within = positions % period
    return np.where(within >= size, period - within, within)
