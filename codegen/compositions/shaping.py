"""The same elements in another shape or order."""
from __future__ import annotations

import builtins

import numpy as np

from ..primitives import structural
from ..registry import composition
from .arguments import along, axis_index, axis_indices, product, shape_tuple
from .known import known_equal


@composition(np.reshape)
def reshape(a, /, shape, order="C", *, copy=None):
    """np.reshape, in C or Fortran order."""
    a = np.asarray(a)
    if order == "F":
        return transpose(reshape(transpose(a), shape_tuple(shape)[::-1]))
    if order != "C" and a.ndim > 1:
        raise layout_order("reshape", order)
    shaped = structural.reshape(a, complete_shape(a.shape, shape_tuple(shape)))
    return structural.copy(shaped) if copy else shaped


def layout_order(name, order):
    """The refusal of orders that depend on where elements lie in memory."""
    return NotImplementedError(f"{name} with order={order!r} depends on the memory layout: use 'C' or 'F'")


def complete_shape(old, shape):
    """The shape with its -1, if any, worked out."""
    unknown = [axis for axis, size in enumerate(shape) if known_equal(size, -1)]
    if len(unknown) == 0:
        return shape
    if len(unknown) > 1:
        raise ValueError("can only specify one unknown dimension")
    others = product(shape[: unknown[0]] + shape[unknown[0] + 1 :])
    if others == 0:
        raise ValueError("cannot reshape an array into a shape of size 0 with an unknown dimension")
    return along_shape(shape, unknown[0], product(old) // others)


def along_shape(shape, axis, size):
    """The shape with the size of one axis replaced."""
    return shape[:axis] + (size,) + shape[axis + 1 :]


@composition(method="reshape")
def reshape_method(a, *shape, order="C", copy=None):
    """The array method reshape, which takes the shape as one argument or as several."""
    return reshape(a, shape[0] if len(shape) == 1 else shape, order, copy=copy)


@composition(np.ravel, method="ravel")
def ravel(a, order="C"):
    """np.ravel, in C or Fortran order."""
    a = np.asarray(a)
    if order == "F":
        a = transpose(a)
    elif order != "C" and a.ndim > 1:
        raise layout_order("ravel", order)
    return a if a.ndim == 1 else structural.reshape(a, (product(a.shape),))


@composition(method="flatten")
def flatten(a, order="C"):
    """The array method flatten: a copy in one dimension."""
    return structural.copy(ravel(a, order))


@composition(np.shape)
def shape(a):
    """np.shape."""
    return np.asarray(a).shape


@composition(np.size)
def size(a, axis=None):
    """np.size."""
    a = np.asarray(a)
    if axis is None:
        return product(a.shape)
    return product([a.shape[one] for one in axis_indices(axis, a.ndim)])


@composition(np.transpose)
def transpose(a, axes=None):
    """np.transpose."""
    a = np.asarray(a)
    if a.ndim < 2 and axes is None:
        return a
    if axes is None:
        return structural.transpose(a, axes=tuple(range(a.ndim))[::-1])
    if len(axes) != a.ndim:
        raise ValueError("axes don't match array")
    axes = tuple([axis_index(axis, a.ndim) for axis in axes])
    if len(set(axes)) != a.ndim:
        raise ValueError("repeated axis in transpose")
    return structural.transpose(a, axes=axes)


@composition(method="transpose")
def transpose_method(a, *axes):
    """The array method transpose, which takes the axes as one argument or as several."""
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
        return transpose(a, axes[0])
    return transpose(a, axes if axes else None)


@composition(np.matrix_transpose)
def matrix_transpose(x, /):
    """np.matrix_transpose."""
    x = np.asarray(x)
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return swapaxes(x, -1, -2)


@composition(np.moveaxis)
def moveaxis(a, source, destination):
    """np.moveaxis."""
    a = np.asarray(a)
    source, destination = axis_indices(source, a.ndim), axis_indices(destination, a.ndim)
    if len(source) != len(destination):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [axis for axis in range(a.ndim) if axis not in source]
    for place, axis in sorted(zip(destination, source)):
        order.insert(place, axis)
    return a if order == list(range(a.ndim)) else structural.transpose(a, axes=tuple(order))


@composition(np.rollaxis)
def rollaxis(a, axis, start=0):
    """np.rollaxis."""
    a = np.asarray(a)
    axis = axis_index(axis, a.ndim)
    start = start + a.ndim if start < 0 else start
    if not 0 <= start < a.ndim + 1:
        raise np.exceptions.AxisError(f"'start' arg requires {-a.ndim} <= start < {a.ndim + 1}")
    return moveaxis(a, axis, start - 1 if axis < start else start)


@composition(np.swapaxes, method="swapaxes")
def swapaxes(a, axis1, axis2):
    """np.swapaxes."""
    a = np.asarray(a)
    axis1, axis2 = axis_index(axis1, a.ndim), axis_index(axis2, a.ndim)
    if axis1 == axis2:
        return a
    order = [axis2 if axis == axis1 else axis1 if axis == axis2 else axis for axis in range(a.ndim)]
    return structural.transpose(a, axes=tuple(order))


@composition(np.expand_dims)
def expand_dims(a, axis):
    """np.expand_dims."""
    a = np.asarray(a)
    rank = a.ndim + (len(axis) if isinstance(axis, (tuple, list)) else 1)
    new, old = axis_indices(axis, rank), list(a.shape)
    return structural.reshape(a, tuple([1 if place in new else old.pop(0) for place in range(rank)]))


@composition(np.squeeze, method="squeeze")
def squeeze(a, axis=None):
    """np.squeeze."""
    a = np.asarray(a)
    if axis is None:
        removed = [place for place in range(a.ndim) if a.shape[place] == 1]
    else:
        removed = axis_indices(axis, a.ndim)
        for place in removed:
            if a.shape[place] != 1:
                raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    if len(removed) == 0:
        return a
    return structural.reshape(a, tuple([a.shape[place] for place in range(a.ndim) if place not in removed]))


@composition(np.broadcast_to)
def broadcast_to(array, shape):
    """np.broadcast_to."""
    return structural.broadcast_to(np.asarray(array), shape_tuple(shape))


@composition(np.broadcast_shapes)
def broadcast_shapes(*args):
    """np.broadcast_shapes."""
    shapes = [shape_tuple(one) for one in args]
    rank = builtins.max([len(one) for one in shapes], default=0)
    result = []
    for place in range(-rank, 0):
        size = 1
        for one in shapes:
            if len(one) >= -place:
                size = common_size(size, one[place])
        result.append(size)
    return tuple(result)


def common_size(size, other):
    """The size that two sizes broadcast to."""
    if size == 1:
        return other
    if other != 1 and other != size:
        raise ValueError("shape mismatch: objects cannot be broadcast to a single shape.")
    return size


@composition(np.broadcast_arrays)
def broadcast_arrays(*args):
    """np.broadcast_arrays."""
    arrays = [np.asarray(one) for one in args]
    shape = broadcast_shapes(*[one.shape for one in arrays])
    return tuple([structural.broadcast_to(one, shape) for one in arrays])


@composition(np.atleast_1d)
def atleast_1d(*arys):
    """np.atleast_1d."""
    made = [np.asarray(one) for one in arys]
    made = [one.reshape(1) if one.ndim == 0 else one for one in made]
    return made[0] if len(made) == 1 else tuple(made)


@composition(np.atleast_2d)
def atleast_2d(*arys):
    """np.atleast_2d."""
    made = [np.asarray(one) for one in arys]
    made = [one.reshape((1,) * (2 - one.ndim) + one.shape) if one.ndim < 2 else one for one in made]
    return made[0] if len(made) == 1 else tuple(made)


@composition(np.atleast_3d)
def atleast_3d(*arys):
    """np.atleast_3d."""
    made = [three_dimensional(np.asarray(one)) for one in arys]
    return made[0] if len(made) == 1 else tuple(made)


def three_dimensional(a):
    """A vector becomes (1, n, 1), a matrix (m, n, 1)."""
    if a.ndim == 0:
        return a.reshape(1, 1, 1)
    if a.ndim == 1:
        return a.reshape((1,) + a.shape + (1,))
    return a.reshape(a.shape + (1,)) if a.ndim == 2 else a


@composition(np.flip)
def flip(m, axis=None):
    """np.flip."""
    m = np.asarray(m)
    axes = tuple(range(m.ndim)) if axis is None else axis_indices(axis, m.ndim)
    return m[tuple([slice(None, None, -1) if place in axes else slice(None) for place in range(m.ndim)])]


@composition(np.fliplr)
def fliplr(m):
    """np.fliplr."""
    if np.ndim(m) < 2:
        raise ValueError("Input must be >= 2-d.")
    return flip(m, 1)


@composition(np.flipud)
def flipud(m):
    """np.flipud."""
    if np.ndim(m) < 1:
        raise ValueError("Input must be >= 1-d.")
    return flip(m, 0)


@composition(np.rot90)
def rot90(m, k=1, axes=(0, 1)):
    """np.rot90."""
    m = np.asarray(m)
    axes = tuple(axes)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    if axes[0] == axes[1] or abs(axes[0] - axes[1]) == m.ndim:
        raise ValueError("Axes must be different.")
    k = k % 4
    if k == 0:
        return m[:]
    if k == 2:
        return flip(flip(m, axes[0]), axes[1])
    return swapaxes(flip(m, axes[1]), *axes) if k == 1 else flip(swapaxes(m, *axes), axes[1])


@composition(np.roll)
def roll(a, shift, axis=None):
    """np.roll."""
    a = np.asarray(a)
    if axis is None:
        return roll_axis(ravel(a), shift, 0).reshape(a.shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,)
    if len(axes) != len(shifts) and len(axes) != 1 and len(shifts) != 1:
        raise ValueError("shape mismatch: 'shift' and 'axis' should be scalars or 1D sequences of one length")
    for place in range(builtins.max(len(axes), len(shifts))):
        one = axis_index(axes[place if len(axes) > 1 else 0], a.ndim)
        a = roll_axis(a, shifts[place if len(shifts) > 1 else 0], one)
    return a


def roll_axis(a, shift, axis):
    """Two slices change places; where the shift may exceed the size, every position is worked out."""
    size = a.shape[axis]
    if isinstance(shift, (int, np.integer)) and shift == 0:
        return a
    if size >= abs(shift):
        parts = (a[along(axis, slice(-shift, None))], a[along(axis, slice(None, -shift))])
        return structural.reshape(structural.concatenate(parts, axis=axis), a.shape)
    return a[along(axis, (np.arange(size) - shift) % builtins.max(size, 1))]


@composition(np.tile)
def tile(A, reps):
    """np.tile."""
    a = np.asarray(A)
    reps = shape_tuple(reps)
    a = a.reshape((1,) * (len(reps) - a.ndim) + a.shape)
    reps = (1,) * (a.ndim - len(reps)) + reps
    apart, wide = (), ()
    for count, size in zip(reps, a.shape):
        apart, wide = apart + (1, size), wide + (count, size)
    joined = tuple([count * size for count, size in zip(reps, a.shape)])
    return structural.copy(structural.reshape(structural.broadcast_to(a.reshape(apart), wide), joined))


@composition(np.repeat, method="repeat")
def repeat(a, repeats, axis=None):
    """np.repeat."""
    a = np.asarray(a)
    if axis is None:
        a, axis = ravel(a), 0
    axis = axis_index(axis, a.ndim)
    size = a.shape[axis]
    if np.ndim(repeats) > 0:
        repeats = structural.broadcast_to(np.asarray(repeats), (size,))
        ends = np.cumsum(repeats)
        total = int(np.sum(repeats))
        return a[along(axis, np.searchsorted(ends, np.arange(total), side="right"))]
    before, after = a.shape[:axis], a.shape[axis + 1 :]
    wide = structural.broadcast_to(a.reshape(before + (size, 1) + after), before + (size, repeats) + after)
    return structural.copy(structural.reshape(wide, before + (size * repeats,) + after))


@composition(np.resize)
def resize(a, new_shape):
    """np.resize."""
    a, shape = ravel(a), shape_tuple(new_shape)
    if a.shape[0] == 0:
        return np.zeros(shape, a.dtype)
    return a[np.arange(product(shape)) % a.shape[0]].reshape(shape)


@composition(np.diagonal, method="diagonal")
def diagonal(a, offset=0, axis1=0, axis2=1):
    """np.diagonal."""
    a = np.asarray(a)
    if a.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    axis1, axis2 = axis_index(axis1, a.ndim), axis_index(axis2, a.ndim)
    if axis1 == axis2:
        raise ValueError("axis1 and axis2 cannot be the same")
    down, right = builtins.max(-offset, 0), builtins.max(offset, 0)
    rows, columns = a.shape[axis1] - down, a.shape[axis2] - right
    positions = np.arange(rows if rows == columns else builtins.max(builtins.min(rows, columns), 0))
    moved = moveaxis(a, (axis1, axis2), (a.ndim - 2, a.ndim - 1))
    return moved[(slice(None),) * (a.ndim - 2) + (positions + down, positions + right)]
