"""Indexing: reading and writing parts of an array, with NumPy's whole semantics.

An index is a tuple: an int, a slice, None (a new axis) or an integer array for each axis, no Ellipsis.

>>> from ..build import Builder
>>> from ..core import INT
>>> b, n = Builder(), Variable("n", INT)
>>> b.lower_bounds[n] = 2
>>> x = Variable("x", ArrayType(np.dtype("float32"), (n, 3)))
>>> i = Variable("i", ArrayType(np.dtype("int64"), (5,)))
>>> getitem.type_rule(b, x, (0, slice(None, 2))), getitem.type_rule(b, x, (None, i, i))
(float32[2], float32[1, 5])
>>> a, c = (getitem.type_rule(b, x, (s,)) for s in (slice(1, None), slice(None, -1)))
>>> a.shape[0] is c.shape[0]
True
"""
from __future__ import annotations

import operator

import numpy as np

from ..core import ArrayType, Dimension, Variable, type_of
from ..errors import IndexBoundsError, ShapeMismatchError, TypeMismatchError
from ..registry import primitive
from .slices import slice_size
from .structural import fit_broadcast, shown


def is_basic(index: tuple) -> bool:
    """Whether an index selects by integers, slices and new axes only, so that reading gives a view."""
    return not any(is_array(item) for item in index)


def is_array(item) -> bool:
    if isinstance(item, Variable):
        return bool(item.type.shape)
    return isinstance(item, np.ndarray) and item.ndim > 0


def result_shape(builder, shape: tuple[Dimension, ...], index: tuple) -> tuple[Dimension, ...]:
    """The shape of x[index], for x of this shape."""
    used = sum(item is not None for item in index)
    if used > len(shape):
        raise IndexBoundsError(f"too many indices for array: array is {len(shape)}-dimensional, "
                               f"but {used} were indexed", location=builder.location)
    basic = is_basic(index)
    sizes: list[Dimension] = []
    arrays: list[tuple[Dimension, ...]] = []
    places: list[int] = []
    first, axis = 0, 0
    for place, item in enumerate(index):
        if item is None:
            sizes.append(1)
            continue
        if isinstance(item, slice):
            sizes.append(slice_size(builder, shape[axis], item))
        else:
            check_integer(builder, item, shape[axis], axis)
            if not arrays:
                first = len(sizes)
            arrays.append(() if not is_array(item) else type_of(item).shape)
            places.append(place)
        axis += 1
    sizes += shape[axis:]
    if basic:
        return tuple(sizes)
    message = "shape mismatch: indexing arrays could not be broadcast together with shapes " \
        + " ".join(map(shown, arrays))
    # Indices apart from each other put their own axes first.
    together = places[-1] - places[0] == len(places) - 1
    where = first if together else 0
    sizes[where:where] = broadcast_indices(builder, arrays, message)
    return tuple(sizes)


def broadcast_indices(builder, shapes, message: str) -> tuple[Dimension, ...]:
    try:
        return builder.broadcast(*shapes)
    except ValueError:
        raise IndexBoundsError(message, location=builder.location) from None


def check_integer(builder, item, size: Dimension, axis: int) -> None:
    """Refuse what is not an integer, and a known integer outside a known size."""
    of = type_of(item)
    if of.dtype.kind not in "iu":
        kind = "an array of booleans that was not turned into positions" if of.dtype.kind == "b" else str(of)
        message = ("only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or "
                   f"boolean arrays are valid indices, not {kind}")
        raise TypeMismatchError(message, location=builder.location)
    size = builder.representative(size)
    if not isinstance(item, (Variable, np.ndarray)) and isinstance(size, int) and not -size <= item < size:
        raise IndexBoundsError(f"index {item} is out of bounds for axis {axis} with size {size}",
                               location=builder.location)


def getitem_type(builder, x, index):
    of = type_of(x)
    return ArrayType(of.dtype, result_shape(builder, of.shape, index))


def write_type(builder, x, index, value, unique=False):
    """The type of an array with a part overwritten or added to: its own."""
    of, part = type_of(x), type_of(value)
    into = result_shape(builder, of.shape, index)
    shape = part.shape
    message = f"could not broadcast input array from shape {shown(shape)} into shape {shown(into)}"
    while len(shape) > len(into) and builder.same(shape[0], 1):
        shape = shape[1:]
    fit_broadcast(builder, shape, into, message)
    if part.dtype.kind == "c" and of.dtype.kind != "c":
        raise TypeMismatchError(f"a complex value cannot be written into an array of {of.dtype}",
                                location=builder.location)
    return of


def add_type(builder, x, index, value, unique=False):
    """That of an array added to; here the value may have no axes to spare."""
    of = write_type(builder, x, index, value, unique)
    shape = type_of(value).shape
    if len(shape) > len(result_shape(builder, of.shape, index)):
        raise ShapeMismatchError(f"array of shape {shown(shape)} has too many axes to be added here",
                                 location=builder.location)
    return of


def getitem_implementation(x, index):
    return np.asarray(x)[index]


def setitem_implementation(x, index, value, unique=False):
    result = np.array(x)
    result[index] = value
    return result


def index_add_implementation(x, index, value, unique=False):
    result = np.array(x)
    if unique or not any(isinstance(item, np.ndarray) and item.ndim for item in index):
        result[index] += value
    else:
        np.add.at(result, index, value)
    return result


# `unique` says that an index of arrays holds no position twice (it comes from a mask).
getitem = primitive("getitem", getitem_implementation, getitem_type, functions=(operator.getitem,), view=True)
setitem = primitive("setitem", setitem_implementation, write_type, destructive=True)
index_add = primitive("index_add", index_add_implementation, add_type, destructive=True)
