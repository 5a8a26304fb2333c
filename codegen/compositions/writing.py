"""Functions that write into their first argument."""
from __future__ import annotations

import numpy as np

from ..primitives import indexing, sorting, structural
from ..registry import composition
from .arguments import axis_index, cast, product
from .indexing import positions_along, positions_within


def full_index(index, ndim):
    """Any index as a tuple with an entry for each axis: masks as positions, no Ellipsis."""
    given = index if isinstance(index, tuple) else (index,)
    entries = []
    for entry in given:
        if isinstance(entry, list):
            entry = np.asarray(entry)
        if isinstance(entry, np.ndarray) and entry.dtype.kind == "b":
            entries.extend(np.nonzero(entry))
        else:
            entries.append(entry)
    used = len([entry for entry in entries if entry is not None and entry is not Ellipsis])
    rest = (slice(None),) * (ndim - used)
    for place, entry in enumerate(entries):
        if entry is Ellipsis:
            return tuple(entries[:place]) + rest + tuple(entries[place + 1 :])
    return tuple(entries) + rest


@composition(np.add.at)
def add_at(a, indices, b):
    """np.add.at: an index that occurs twice is added to twice."""
    b = np.asarray(b)
    require_same_kind(b, a)
    a[...] = indexing.index_add(a, full_index(indices, a.ndim), cast(b, a.dtype))


@composition(np.subtract.at)
def subtract_at(a, indices, b):
    """np.subtract.at."""
    b = np.asarray(b)
    require_same_kind(b, a)
    a[...] = indexing.index_add(a, full_index(indices, a.ndim), cast(-b, a.dtype))


def require_same_kind(value, a):
    """Refuse a write that would drop a fraction or an imaginary part."""
    if not np.can_cast(value.dtype, a.dtype, casting="same_kind"):
        raise TypeError(f"Cannot cast from {value.dtype!r} to {a.dtype!r} with casting rule 'same_kind'")


def accumulate_at(function, a, indices, b):
    """ufunc.at for a function whose repeats have to be applied one after another."""
    positions = np.arange(product(a.shape)).reshape(a.shape)[full_index(indices, a.ndim)]
    values = np.ravel(structural.broadcast_to(np.asarray(b), positions.shape))
    positions = np.ravel(positions)
    require_same_kind(values, a)
    flat = np.ravel(a).copy()
    for place in range(positions.shape[0]):
        flat[positions[place]] = function(flat[positions[place]], values[place])
    a[...] = flat.reshape(a.shape)


@composition(np.multiply.at)
def multiply_at(a, indices, b):
    """np.multiply.at."""
    accumulate_at(np.multiply, a, indices, b)


@composition(np.divide.at)
def divide_at(a, indices, b):
    """np.divide.at."""
    accumulate_at(np.divide, a, indices, b)


@composition(np.maximum.at)
def maximum_at(a, indices, b):
    """np.maximum.at."""
    accumulate_at(np.maximum, a, indices, b)


@composition(np.minimum.at)
def minimum_at(a, indices, b):
    """np.minimum.at."""
    accumulate_at(np.minimum, a, indices, b)


@composition(np.copyto)
def copyto(dst, src, casting="same_kind", where=True):
    """np.copyto."""
    src = np.asarray(src) if isinstance(src, (tuple, list)) else src
    if np.ndim(src) > 0 and not np.can_cast(src.dtype, dst.dtype, casting=casting):
        raise TypeError(
            f"Cannot cast array data from {src.dtype!r} to {dst.dtype!r} according to the rule {casting!r}"
        )
    everywhere = isinstance(where, bool) and where
    dst[...] = src if everywhere else np.where(where, src, dst)


@composition(method="fill")
def fill(a, value):
    """The array method fill."""
    a[...] = value


@composition(np.fill_diagonal)
def fill_diagonal(a, val, wrap=False):
    """np.fill_diagonal."""
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if wrap:
        raise NotImplementedError("np.fill_diagonal with wrap=True is not supported: leave wrap out")
    for size in a.shape[1:]:
        if a.ndim > 2 and size != a.shape[0]:
            raise ValueError("All dimensions of input must be of equal length")
    size = a.shape[0]
    if a.ndim == 2 and a.shape[1] < size:
        size = a.shape[1]
    positions = np.arange(size)
    if np.ndim(val) > 0:
        val = np.ravel(val)
        val = val[positions % val.shape[0]]
    a[(positions,) * a.ndim] = val


@composition(np.put_along_axis)
def put_along_axis(arr, indices, values, axis):
    """np.put_along_axis."""
    indices = np.asarray(indices)
    if axis is None:
        put(arr, indices, values)
    else:
        arr[positions_along(arr, indices, axis_index(axis, arr.ndim))] = values


@composition(np.put, method="put")
def put(a, ind, v, mode="raise"):
    """np.put: values are repeated as often as they are needed."""
    ind, total = np.ravel(ind), product(a.shape)
    if mode == "raise":
        ind = np.where(ind < 0, ind + total, ind)
    else:
        ind = positions_within(ind, total, mode)
    v = np.ravel(v)
    a[np.unravel_index(ind, a.shape)] = cast(v[np.arange(ind.shape[0]) % v.shape[0]], a.dtype)


@composition(np.place)
def place(arr, mask, vals):
    """np.place: the values go, in order, to the elements where the mask holds."""
    positions = np.nonzero(np.reshape(mask, arr.shape))
    vals = np.ravel(vals)
    arr[positions] = cast(vals[np.arange(positions[0].shape[0]) % vals.shape[0]], arr.dtype)


@composition(np.putmask)
def putmask(a, mask, values):
    """np.putmask: an element where the mask holds takes the value at its own flat position."""
    positions = np.nonzero(np.reshape(mask, a.shape))
    values = np.ravel(values)
    a[positions] = cast(values[np.ravel_multi_index(positions, a.shape) % values.shape[0]], a.dtype)


@composition(method="sort")
def sort_method(a, axis=-1, kind=None, *, stable=None):
    """The array method sort, in place."""
    a[...] = sorting.sort(a, axis=axis_index(axis, a.ndim))
