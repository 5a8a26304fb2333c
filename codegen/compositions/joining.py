"""Putting arrays together and taking them apart."""
from __future__ import annotations

import builtins

import numpy as np

from ..primitives import structural
from ..registry import composition
from .arguments import along, axis_index, cast, existing


def items_of(arrays):
    """A sequence of arrays, which may be given as one array."""
    return [np.asarray(arrays[place]) for place in range(len(arrays))]


@composition(np.concatenate)
def concatenate(arrays, /, axis=0, *, dtype=None):
    """np.concatenate."""
    if isinstance(arrays, np.ndarray) and arrays.ndim > 1 and axis is not None:
        joined = join_first_axis(arrays, axis_index(axis, arrays.ndim - 1))
        return joined if dtype is None else cast(joined, np.dtype(dtype))
    items = items_of(arrays)
    if len(items) == 0:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        items, axis = [np.ravel(one) for one in items], 0
    if items[0].ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = axis_index(axis, items[0].ndim)
    for place, one in enumerate(items):
        if one.ndim != items[0].ndim:
            raise ValueError(
                "all the input arrays must have same number of dimensions, but the array at index 0 has "
                f"{items[0].ndim} dimension(s) and the array at index {place} has {one.ndim} dimension(s)"
            )
    if dtype is not None:
        items = [cast(one, np.dtype(dtype)) for one in items]
    return items[0].copy() if len(items) == 1 else structural.concatenate(tuple(items), axis=axis)


def join_first_axis(a, axis):
    """The items of an array joined along an axis of theirs."""
    moved = np.moveaxis(a, 0, axis)
    sizes = moved.shape
    return moved.reshape(sizes[:axis] + (sizes[axis] * sizes[axis + 1],) + sizes[axis + 2 :]).copy()


@composition(np.stack)
def stack(arrays, axis=0, *, dtype=None):
    """np.stack."""
    if isinstance(arrays, np.ndarray):
        stacked = np.moveaxis(arrays, 0, axis).copy()
        return stacked if dtype is None else cast(stacked, np.dtype(dtype))
    items = items_of(arrays)
    if len(items) == 0:
        raise ValueError("need at least one array to stack")
    for one in items:
        if one.ndim != items[0].ndim:
            raise ValueError("all input arrays must have the same shape")
    axis = axis_index(axis, items[0].ndim + 1)
    return concatenate([np.expand_dims(one, axis) for one in items], axis, dtype=dtype)


@composition(*existing("vstack", "row_stack"))
def vstack(tup, *, dtype=None):
    """np.vstack."""
    return concatenate([np.atleast_2d(one) for one in items_of(tup)], 0, dtype=dtype)


@composition(np.hstack)
def hstack(tup, *, dtype=None):
    """np.hstack."""
    items = [np.atleast_1d(one) for one in items_of(tup)]
    return concatenate(items, 0 if len(items) > 0 and items[0].ndim == 1 else 1, dtype=dtype)


@composition(np.dstack)
def dstack(tup):
    """np.dstack."""
    return concatenate([np.atleast_3d(one) for one in items_of(tup)], 2)


@composition(np.column_stack)
def column_stack(tup):
    """np.column_stack."""
    items = items_of(tup)
    return concatenate([one.reshape(one.size, 1) if one.ndim < 2 else one for one in items], 1)


@composition(np.block)
def block(arrays):
    """np.block."""
    depth = nesting(arrays)
    if depth == 0:
        return np.asarray(arrays).copy()
    rank = builtins.max(depth, deepest_rank(arrays))
    return join_blocks(arrays, depth, rank)


def nesting(arrays):
    """How deep lists of blocks are nested, which must be the same everywhere."""
    if isinstance(arrays, tuple):
        raise TypeError("arrays is a tuple. Only lists can be used to arrange blocks")
    if not isinstance(arrays, list):
        return 0
    if len(arrays) == 0:
        raise ValueError("List at arrays cannot be empty")
    depths = [nesting(one) for one in arrays]
    if len(set(depths)) != 1:
        raise ValueError("List depths are mismatched")
    return 1 + depths[0]


def deepest_rank(arrays):
    """The largest rank among the blocks."""
    if isinstance(arrays, list):
        return builtins.max([deepest_rank(one) for one in arrays])
    return np.ndim(arrays)


def join_blocks(arrays, depth, rank):
    """Innermost lists join along the last axis, the next along the last but one, and so on."""
    if depth == 0:
        a = np.asarray(arrays)
        return a.reshape((1,) * (rank - a.ndim) + a.shape)
    return concatenate([join_blocks(one, depth - 1, rank) for one in arrays], rank - depth)


@composition(np.array_split)
def array_split(ary, indices_or_sections, axis=0):
    """np.array_split."""
    a = np.asarray(ary)
    axis = axis_index(axis, a.ndim)
    size = a.shape[axis]
    if np.ndim(indices_or_sections) > 0:
        ends = [0] + list(indices_or_sections)
        parts = [a[along(axis, slice(start, stop))] for start, stop in zip(ends[:-1], ends[1:])]
        return parts + [a[along(axis, slice(ends[-1], None))]]
    sections = int(indices_or_sections)
    if sections <= 0:
        raise ValueError("number sections must be larger than 0.")
    each, extra = size // sections, size % sections
    starts = [place * each + builtins.min(place, extra) for place in range(sections + 1)]
    return [a[along(axis, slice(start, stop))] for start, stop in zip(starts[:-1], starts[1:])]


@composition(np.split)
def split(ary, indices_or_sections, axis=0):
    """np.split."""
    a = np.asarray(ary)
    if np.ndim(indices_or_sections) > 0:
        return array_split(a, indices_or_sections, axis)
    axis = axis_index(axis, a.ndim)
    if a.shape[axis] % indices_or_sections != 0:
        raise ValueError("array split does not result in an equal division")
    each = a.shape[axis] // indices_or_sections
    # Rows of a reshape are known to be equally long; slices at computed places are not.
    apart = a.reshape(a.shape[:axis] + (indices_or_sections, each) + a.shape[axis + 1 :])
    return [apart[along(axis, place)] for place in range(indices_or_sections)]


@composition(np.hsplit)
def hsplit(ary, indices_or_sections):
    """np.hsplit."""
    if np.ndim(ary) == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(ary, indices_or_sections, 1 if np.ndim(ary) > 1 else 0)


@composition(np.vsplit)
def vsplit(ary, indices_or_sections):
    """np.vsplit."""
    if np.ndim(ary) < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


@composition(np.dsplit)
def dsplit(ary, indices_or_sections):
    """np.dsplit."""
    if np.ndim(ary) < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


@composition(np.append)
def append(arr, values, axis=None):
    """np.append."""
    return concatenate((arr, values), axis)


@composition(np.delete)
def delete(arr, obj, axis=None):
    """np.delete."""
    a = np.asarray(arr)
    if axis is None:
        a, axis = np.ravel(a), 0
    axis = axis_index(axis, a.ndim)
    size = a.shape[axis]
    if not isinstance(obj, slice) and np.ndim(obj) == 0:
        check_position(obj, axis, size)
        place = obj + size if obj < 0 else obj
        parts = (a[along(axis, slice(None, place))], a[along(axis, slice(place + 1, None))])
        return structural.concatenate(parts, axis=axis)
    keep = np.ones(size, bool)
    keep[obj if isinstance(obj, slice) or len(obj) > 0 else np.zeros(0, int)] = False
    return a[along(axis, np.flatnonzero(keep))]


@composition(np.insert)
def insert(arr, obj, values, axis=None):
    """np.insert, at one place or several."""
    a = np.asarray(arr)
    if axis is None:
        a, axis = np.ravel(a), 0
    axis = axis_index(axis, a.ndim)
    size = a.shape[axis]
    values = cast(np.asarray(values), a.dtype)
    if not isinstance(obj, slice) and np.ndim(obj) == 0:
        check_position(obj, axis, size + 1 if obj >= 0 else size)
        place = obj + size if obj < 0 else obj
        values = values.reshape((1,) * (a.ndim - values.ndim) + values.shape)
        values = np.moveaxis(values, 0, axis)
        wide = np.broadcast_to(values, a.shape[:axis] + (values.shape[axis],) + a.shape[axis + 1 :])
        parts = (a[along(axis, slice(None, place))], wide, a[along(axis, slice(place, None))])
        return structural.concatenate(parts, axis=axis)
    places = np.arange(size)[obj] if isinstance(obj, slice) else np.asarray(obj)
    places = np.where(places < 0, places + size, places)
    order = np.argsort(places, kind="stable")
    places[order] += np.arange(places.shape[0])
    total = size + places.shape[0]
    keep = np.ones(total, bool)
    keep[places] = False
    made = np.zeros(a.shape[:axis] + (total,) + a.shape[axis + 1 :], a.dtype)
    made[along(axis, places)] = values
    made[along(axis, np.flatnonzero(keep))] = a
    return made


def check_position(place, axis, size):
    """Refuse a position outside an axis."""
    if place < -size or place >= size:
        raise IndexError(f"index {place} is out of bounds for axis {axis} with size {size}")
