"""Making arrays."""
from __future__ import annotations

import builtins

import numpy as np

from ..primitives import creation, elementwise, structural
from ..registry import composition
from .arguments import axis_index, c_order, cast, default_dtype, existing, shape_tuple
from .known import require_equal


@composition(np.array)
def array(object, dtype=None, *, copy=True, order="K", ndmin=0):
    """np.array: a new array from an array, a scalar, or nested lists of scalars and arrays."""
    made = asarray(object, dtype, order)
    if copy and made is object:
        made = structural.copy(made)
    return made if made.ndim >= ndmin else made.reshape((1,) * (ndmin - made.ndim) + made.shape)


@composition(np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray)
def asarray(a, dtype=None, order=None, *, copy=None):
    """np.asarray: an array as it is, anything else as a new array."""
    c_order(order)
    if isinstance(a, range):
        a = list(a)
    if isinstance(a, (list, tuple)):
        return from_items(a, dtype)
    if copy and isinstance(a, np.ndarray):
        a = structural.copy(a)
    if isinstance(a, (np.ndarray, np.generic)):
        return a if dtype is None else cast(a, np.dtype(dtype))
    return elementwise.astype(a, dtype=np.result_type(a) if dtype is None else np.dtype(dtype))


@composition(np.asarray_chkfinite)
def asarray_chkfinite(a, dtype=None, order=None):
    """np.asarray_chkfinite."""
    a = asarray(a, dtype, order)
    if a.dtype.kind in "fc" and np.any(~np.isfinite(a)):
        raise ValueError("array must not contain infs or NaNs")
    return a


def from_items(items, dtype):
    """An array from a list: in one go if it nests nothing but scalars, else by stacking its items."""
    if len(items) == 0:
        return zeros((0,), dtype)
    if only_scalars(items):
        chosen = default_dtype(*leaves(items)) if dtype is None else np.dtype(dtype)
        return creation.array(nested_tuple(items), dtype=chosen)
    return np.stack([asarray(item, dtype) for item in items])


def only_scalars(item):
    """Whether nested lists hold no arrays and no empty lists."""
    if isinstance(item, (list, tuple)):
        return len(item) > 0 and builtins.all(only_scalars(inner) for inner in item)
    return np.ndim(item) == 0


def leaves(item):
    """The scalars in nested lists, in order."""
    if not isinstance(item, (list, tuple)):
        return [item]
    found = []
    for inner in item:
        found.extend(leaves(inner))
    return found


def nested_tuple(item):
    """Nested lists as nested tuples; all lists of one depth must be equally long."""
    if not isinstance(item, (list, tuple)):
        return item
    inner = tuple([nested_tuple(one) for one in item])
    lengths = {len(one) if isinstance(one, tuple) else -1 for one in inner}
    if len(lengths) != 1:
        message = "setting an array element with a sequence. The requested array has an inhomogeneous shape"
        raise ValueError(message)
    return inner


@composition(np.copy, method="copy")
def copy(a, order="K"):
    """np.copy."""
    c_order(order)
    return array(a)


@composition(*existing("astype"))
def astype(x, dtype, /, *, copy=True):
    """np.astype."""
    if x.dtype == np.dtype(dtype):
        return structural.copy(x) if copy else x
    return elementwise.astype(x, dtype=np.dtype(dtype))


@composition(method="astype")
def astype_method(a, dtype, order="K", casting="unsafe", subok=True, copy=True):
    """The array method astype."""
    c_order(order)
    if not np.can_cast(a.dtype, np.dtype(dtype), casting):
        raise TypeError(
            f"Cannot cast array data from {a.dtype!r} to {np.dtype(dtype)!r} "
            f"according to the rule {casting!r}"
        )
    return astype(a, dtype, copy=copy)


@composition(np.zeros)
def zeros(shape, dtype=None, order="C"):
    """np.zeros."""
    c_order(order)
    return creation.zeros(shape_tuple(shape), dtype=np.dtype(dtype))


@composition(np.ones)
def ones(shape, dtype=None, order="C"):
    """np.ones."""
    c_order(order)
    return creation.ones(shape_tuple(shape), dtype=np.dtype(dtype))


@composition(np.empty)
def empty(shape, dtype=None, order="C"):
    """np.empty."""
    c_order(order)
    return creation.empty(shape_tuple(shape), dtype=np.dtype(dtype))


@composition(np.full)
def full(shape, fill_value, dtype=None, order="C"):
    """np.full."""
    c_order(order)
    if np.ndim(fill_value) == 0:
        chosen = np.result_type(fill_value) if dtype is None else np.dtype(dtype)
        return creation.full(shape_tuple(shape), fill_value, dtype=chosen)
    filled = np.broadcast_to(asarray(fill_value, dtype), shape_tuple(shape))
    return structural.copy(filled)


@composition(np.zeros_like)
def zeros_like(a, dtype=None, order="K", *, shape=None):
    """np.zeros_like."""
    a = asarray(a)
    return zeros(a.shape if shape is None else shape, a.dtype if dtype is None else dtype, order)


@composition(np.ones_like)
def ones_like(a, dtype=None, order="K", *, shape=None):
    """np.ones_like."""
    a = asarray(a)
    return ones(a.shape if shape is None else shape, a.dtype if dtype is None else dtype, order)


@composition(np.empty_like)
def empty_like(prototype, dtype=None, order="K", *, shape=None):
    """np.empty_like."""
    prototype = asarray(prototype)
    dtype = prototype.dtype if dtype is None else dtype
    return empty(prototype.shape if shape is None else shape, dtype, order)


@composition(np.full_like)
def full_like(a, fill_value, dtype=None, order="K", *, shape=None):
    """np.full_like."""
    a = asarray(a)
    dtype = a.dtype if dtype is None else dtype
    return full(a.shape if shape is None else shape, fill_value, dtype, order)


@composition(np.arange)
def arange(start_or_stop, stop=None, step=1, dtype=None):
    """np.arange."""
    start = 0 if stop is None else start_or_stop
    stop = start_or_stop if stop is None else stop
    step = 1 if step is None else step
    chosen = default_dtype(start, stop, step) if dtype is None else np.dtype(dtype)
    return creation.arange(start, stop, step, dtype=chosen)


@composition(np.linspace)
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    """np.linspace."""
    divisions = num - 1 if endpoint else num
    start, stop = asarray(start) * 1.0, asarray(stop) * 1.0
    inexact = np.result_type(start, stop)
    change = stop - start
    counts = creation.arange(0, num, 1, dtype=np.finfo(inexact).dtype).reshape((num,) + (1,) * change.ndim)
    step = change / divisions if divisions > 0 else change * np.nan
    values = counts * (step if divisions > 0 else change) + start
    if endpoint and num > 1:
        values[-1] = stop
    if axis != 0:
        values = np.moveaxis(values, 0, axis)
    final = inexact if dtype is None else np.dtype(dtype)
    values = cast(np.floor(values) if final.kind in "iu" else values, final)
    return (values, step) if retstep else values


@composition(np.logspace)
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """np.logspace."""
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    values = np.power(base if np.ndim(base) == 0 else np.expand_dims(asarray(base), axis), exponents)
    return values if dtype is None else cast(values, np.dtype(dtype))


@composition(np.geomspace)
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """np.geomspace."""
    start, stop = asarray(start), asarray(stop)
    if np.any(start == 0) or np.any(stop == 0):
        raise ValueError("Geometric sequence cannot include zero")
    inexact = np.result_type(start, stop, np.float64)
    start, stop = cast(start, inexact), cast(stop, inexact)
    sign = np.sign(start)
    start, stop = start / sign, stop / sign
    values = np.power(10.0, linspace(np.log10(start), np.log10(stop), num, endpoint))
    if num > 0:
        values[0] = start
    if num > 1 and endpoint:
        values[-1] = stop
    values = values * sign
    if axis != 0:
        values = np.moveaxis(values, 0, axis)
    return values if dtype is None else cast(values, np.dtype(dtype))


@composition(np.eye)
def eye(N, M=None, k=0, dtype=float, order="C"):
    """np.eye."""
    c_order(order)
    rows, columns = arange(N), arange(N if M is None else M)
    return elementwise.astype(rows[:, None] + k == columns, dtype=np.dtype(dtype))


@composition(np.identity)
def identity(n, dtype=None):
    """np.identity."""
    return eye(n, dtype=dtype)


@composition(np.tri)
def tri(N, M=None, k=0, dtype=float):
    """np.tri."""
    rows, columns = arange(N), arange(N if M is None else M)
    return cast(rows[:, None] + k >= columns, np.dtype(dtype))


@composition(np.tril)
def tril(m, k=0):
    """np.tril."""
    m = asarray(m)
    return np.where(lower_triangle(m, k), m, m.dtype.type(0))


def lower_triangle(m, k):
    """Where a matrix is on or below a diagonal; a vector counts as the row of a square one."""
    return tri(m.shape[-2] if m.ndim > 1 else m.shape[0], m.shape[-1], k, bool)


@composition(np.triu)
def triu(m, k=0):
    """np.triu."""
    m = asarray(m)
    return np.where(lower_triangle(m, k - 1), m.dtype.type(0), m)


@composition(np.diag)
def diag(v, k=0):
    """np.diag."""
    v = asarray(v)
    if v.ndim == 2:
        return np.diagonal(v, k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    size = v.shape[0] + abs(k)
    made = zeros((size, size), v.dtype)
    positions = arange(v.shape[0])
    made[positions + builtins.max(-k, 0), positions + builtins.max(k, 0)] = v
    return made


@composition(np.diagflat)
def diagflat(v, k=0):
    """np.diagflat."""
    return diag(np.ravel(v), k)


@composition(np.vander)
def vander(x, N=None, increasing=False):
    """np.vander."""
    x = asarray(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    powers = arange(x.shape[0] if N is None else N)
    return cast(x, np.promote_types(x.dtype, int))[:, None] ** (powers if increasing else powers[::-1])


@composition(np.indices)
def indices(dimensions, dtype=int, sparse=False):
    """np.indices."""
    dimensions = tuple(dimensions)
    grids = [
        arange(size, dtype=dtype).reshape((1,) * axis + (size,) + (1,) * (len(dimensions) - axis - 1))
        for axis, size in enumerate(dimensions)
    ]
    if sparse:
        return tuple(grids)
    if not grids:
        return zeros((0,), dtype)
    return np.stack([np.broadcast_to(grid, dimensions) for grid in grids])


@composition(np.fromfunction)
def fromfunction(function, shape, *, dtype=float, **kwargs):
    """np.fromfunction."""
    grids = indices(shape, dtype)
    return function(*[grids[axis] for axis in range(len(shape))], **kwargs)


@composition(np.meshgrid)
def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """np.meshgrid."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    grids = []
    for position, x in enumerate(xi):
        axis = 1 - position if indexing == "xy" and len(xi) > 1 and position < 2 else position
        grids.append(np.reshape(x, (1,) * axis + (-1,) + (1,) * (len(xi) - axis - 1)))
    if not sparse:
        grids = np.broadcast_arrays(*grids)
    return tuple([structural.copy(grid) for grid in grids]) if copy else tuple(grids)


@composition(np.tril_indices)
def tril_indices(n, k=0, m=None):
    """np.tril_indices."""
    return np.nonzero(tri(n, m, k, bool))


@composition(np.triu_indices)
def triu_indices(n, k=0, m=None):
    """np.triu_indices."""
    return np.nonzero(~tri(n, m, k - 1, bool))


@composition(np.tril_indices_from)
def tril_indices_from(arr, k=0):
    """np.tril_indices_from."""
    return tril_indices(arr.shape[-2], k, arr.shape[-1])


@composition(np.triu_indices_from)
def triu_indices_from(arr, k=0):
    """np.triu_indices_from."""
    return triu_indices(arr.shape[-2], k, arr.shape[-1])


@composition(np.diag_indices)
def diag_indices(n, ndim=2):
    """np.diag_indices."""
    return (arange(n),) * ndim


@composition(np.diag_indices_from)
def diag_indices_from(arr):
    """np.diag_indices_from."""
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    for size in arr.shape[1:]:
        require_equal(arr.shape[0], size, "All dimensions of input must be of equal length")
    return diag_indices(arr.shape[0], arr.ndim)


@composition(np.ix_)
def ix_(*args):
    """np.ix_."""
    axes = []
    for position, one in enumerate(args):
        one = asarray(one)
        if one.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        one = np.nonzero(one)[0] if one.dtype.kind == "b" else one
        axes.append(np.expand_dims(one, [axis for axis in range(len(args)) if axis != position]))
    return tuple(axes)


@composition(*existing("unstack"))
def unstack(x, /, *, axis=0):
    """np.unstack."""
    moved = np.moveaxis(x, axis_index(axis, x.ndim), 0)
    return tuple([moved[position] for position in range(x.shape[axis])])
