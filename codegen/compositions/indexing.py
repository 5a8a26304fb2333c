"""Reading arrays at positions."""
from __future__ import annotations

import numpy as np

from ..primitives import sorting, structural
from ..registry import composition
from .arguments import along, axis_index, cast, product, shape_tuple, spread


@composition(np.take)
def take(a, indices, axis=None, *, mode="raise"):
    """np.take."""
    a = np.asarray(a)
    if axis is None:
        a, axis = np.ravel(a), 0
    axis = axis_index(axis, a.ndim)
    return a[along(axis, positions_within(indices, a.shape[axis], mode))]


@composition(method="take")
def take_method(a, indices, axis=None, *, mode="raise"):
    """The array method take."""
    return take(a, indices, axis, mode=mode)


def unsafe_positions(dtype):
    """The error for positions that are not integers."""
    return TypeError(f"Cannot cast array data from {dtype!r} to dtype('int64') according to the rule 'safe'")


def positions_within(indices, size, mode):
    """Positions as the mode has them; 'raise' leaves the check to indexing."""
    if isinstance(indices, (tuple, list)):
        indices = np.asarray(indices) if len(indices) > 0 else np.zeros(0, np.intp)
    if np.result_type(indices).kind not in "biu":
        raise unsafe_positions(np.result_type(indices))
    if np.result_type(indices).kind == "b":
        indices = cast(np.asarray(indices), np.dtype(np.intp))
    if mode == "raise":
        return indices
    if mode == "wrap":
        return indices % size
    if mode == "clip":
        return np.clip(indices, 0, size - 1)
    raise ValueError("clipmode must be one of 'clip', 'raise', or 'wrap'")


def positions_along(a, indices, axis):
    """The index tuple of take_along_axis: `indices` on one axis, each place itself on the others."""
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if indices.ndim != a.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    index = [spread(size, place, a.ndim) for place, size in enumerate(a.shape)]
    index[axis] = indices
    return tuple(index)


@composition(np.take_along_axis)
def take_along_axis(arr, indices, axis=-1):
    """np.take_along_axis."""
    a, indices = np.asarray(arr), np.asarray(indices)
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        a, axis = np.ravel(a), 0
    axis = axis_index(axis, a.ndim)
    return a[positions_along(a, indices, axis)]


@composition(np.choose)
def choose(a, choices, *, mode="raise"):
    """np.choose."""
    a = np.asarray(a)
    if a.dtype.kind not in "biu":
        raise unsafe_positions(a.dtype)
    count = len(choices)
    if mode == "raise":
        if np.any((a < 0) | (a >= count)):
            raise ValueError("invalid entry in choice array")
    else:
        a = positions_within(a, count, mode)
    if isinstance(choices, np.ndarray):
        return choose_item(a, choices)
    chosen = choices[count - 1]
    for place in reversed(range(count - 1)):
        chosen = np.where(a == place, choices[place], chosen)
    shape = np.broadcast_shapes(a.shape, *[np.shape(choice) for choice in choices])
    chosen = cast(np.asarray(chosen), np.result_type(*[np.asarray(choice) for choice in choices]))
    return chosen if count > 1 else structural.copy(structural.broadcast_to(chosen, shape))


def choose_item(a, choices):
    """The choice among the items of one array."""
    shape = np.broadcast_shapes(a.shape, choices.shape[1:])
    wide = choices.reshape(choices.shape[:1] + (1,) * (len(shape) - choices.ndim + 1) + choices.shape[1:])
    wide = structural.broadcast_to(wide, choices.shape[:1] + shape)
    places = [spread(size, place, len(shape)) for place, size in enumerate(shape)]
    return wide[tuple([structural.broadcast_to(a, shape)] + places)]


@composition(method="choose")
def choose_method(a, choices, *, mode="raise"):
    """The array method choose."""
    return choose(a, choices, mode=mode)


@composition(np.compress)
def compress(condition, a, axis=None):
    """np.compress."""
    condition = np.asarray(condition)
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    return take(a, np.nonzero(condition)[0], axis)


@composition(method="compress")
def compress_method(a, condition, axis=None):
    """The array method compress."""
    return compress(condition, a, axis)


@composition(np.extract)
def extract(condition, arr):
    """np.extract."""
    return np.ravel(arr)[np.nonzero(np.ravel(condition))[0]]


@composition(np.nonzero, method="nonzero")
def nonzero(a):
    """np.nonzero."""
    a = np.asarray(a)
    if a.ndim == 0:
        raise ValueError(
            "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead."
        )
    return structural.nonzero(a)


@composition(np.flatnonzero)
def flatnonzero(a):
    """np.flatnonzero."""
    return nonzero(np.ravel(a))[0]


@composition(np.argwhere)
def argwhere(a):
    """np.argwhere."""
    a = np.asarray(a)
    if a.ndim == 0:
        return np.zeros((nonzero(np.ravel(a))[0].shape[0], 0), np.intp)
    return np.stack(nonzero(a), axis=1)


@composition(np.searchsorted)
def searchsorted(a, v, side="left", sorter=None):
    """np.searchsorted."""
    if side not in ("left", "right"):
        raise ValueError(f"search side must be one of 'left' or 'right' (got {side!r})")
    a, v = np.asarray(a), np.asarray(v)
    if sorter is not None:
        a = a[np.asarray(sorter)]
    dtype = np.result_type(a, v)
    return sorting.searchsorted(cast(a, dtype), cast(v, dtype), side=side)


@composition(method="searchsorted")
def searchsorted_method(a, v, side="left", sorter=None):
    """The array method searchsorted."""
    return searchsorted(a, v, side, sorter)


@composition(np.digitize)
def digitize(x, bins, right=False):
    """np.digitize."""
    x, bins = np.asarray(x), np.asarray(bins)
    if x.dtype.kind == "c":
        raise TypeError("x may not be complex")
    side = "left" if right else "right"
    if np.all(bins[1:] >= bins[:-1]):
        return searchsorted(bins, x, side)
    if not np.all(bins[1:] <= bins[:-1]):
        raise ValueError("bins must be monotonically increasing or decreasing")
    return bins.shape[0] - searchsorted(bins[::-1], x, side)


@composition(np.unravel_index)
def unravel_index(indices, shape, order="C"):
    """np.unravel_index."""
    indices, sizes = np.asarray(indices), shape_tuple(shape)
    total = product(sizes)
    if np.any((indices < 0) | (indices >= total)):
        raise ValueError(f"index is out of bounds for array with size {total}")
    found = []
    for size in sizes if order == "F" else sizes[::-1]:
        found.append(indices % size)
        indices = indices // size
    return tuple(found if order == "F" else found[::-1])


@composition(np.ravel_multi_index)
def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    """np.ravel_multi_index."""
    dims = shape_tuple(dims)
    if len(multi_index) != len(dims):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(dims)}")
    modes = mode if isinstance(mode, (tuple, list)) else (mode,) * len(dims)
    places = list(range(len(dims)))
    total = 0
    for place in places[::-1] if order == "F" else places:
        index, size = np.asarray(multi_index[place]), dims[place]
        if modes[place] == "wrap":
            index = index % size
        elif modes[place] == "clip":
            index = np.clip(index, 0, size - 1)
        elif np.any((index < 0) | (index >= size)):
            raise ValueError("invalid entry in coordinates array")
        total = total * size + index
    return total


@composition(method="item")
def item(a, *args):
    """The array method item: one element as a Python scalar."""
    args = args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
    if len(args) == a.ndim and a.ndim > 0:
        element = a[tuple(args)]
    elif len(args) == 1:
        element = np.ravel(a)[args[0]]
    elif len(args) == 0:
        if product(a.shape) != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        element = a.reshape(())
    else:
        raise ValueError("incorrect number of indices for array")
    return python_scalar(element)


def python_scalar(element):
    """A 0-dimensional array as a Python scalar."""
    return {"b": bool, "i": int, "u": int, "f": float, "c": complex}[element.dtype.kind](element)


@composition(method="tolist")
def tolist(a):
    """The array method tolist: nested lists of Python scalars."""
    if a.ndim == 0:
        return python_scalar(a)
    return [tolist(a[place]) for place in range(a.shape[0])]
