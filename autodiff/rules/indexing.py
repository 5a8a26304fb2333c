"""Derivatives of reading and writing parts of arrays.

A rule for several operands at once, under a tuple of positions, takes a tuple of tangents or gives a tuple of
cotangents: writing needs no array but the running one.
"""
import numpy as np

from ...codegen.primitives.indexing import getitem, index_add, setitem
from ...codegen.primitives.slices import slice_size_primitive
from ...codegen.registry import derivative, zero_derivative

derivative(getitem, jvp=lambda t, out, x, index: getitem(t, index),
           vjp=lambda ct, out, x, index: index_add(np.zeros_like(x), index, ct))


def last_written(ct, index, unique):
    """The cotangent of a written value: of several values written to one place, the last one stays."""
    part = getitem(ct, index)
    if unique or all(item is None or isinstance(item, slice) or np.ndim(item) == 0 for item in index):
        return part
    order = np.reshape(np.arange(np.size(part)), np.shape(part))
    last = getitem(setitem(np.zeros(np.shape(ct), dtype=np.int64), index, order), index)
    return np.where(last == order, part, 0)


def setitem_vjp(ct, out, x, index, value, unique=False):
    """Both cotangents; the value's is read before the place is cleared."""
    value_bar = last_written(ct, index, unique)
    return setitem(ct, index, 0), value_bar


derivative(setitem, 0, jvp=lambda t, out, x, index, value, unique=False: setitem(t, index, 0),
           vjp=lambda ct, out, x, index, value, unique=False: setitem(ct, index, 0))
derivative(setitem, 2,
           jvp=lambda t, out, x, index, value, unique=False: setitem(np.zeros_like(out), index, t),
           vjp=lambda ct, out, x, index, value, unique=False: last_written(ct, index, unique))
derivative(setitem, (0, 2), jvp=lambda t, out, x, index, value, unique=False: setitem(t[0], index, t[1]),
           vjp=setitem_vjp)

derivative(index_add, 0, jvp=lambda t, out, x, index, value, unique=False: t,
           vjp=lambda ct, out, x, index, value, unique=False: ct)
derivative(index_add, 2,
           jvp=lambda t, out, x, index, value, unique=False:
               index_add(np.zeros_like(out), index, t, unique=unique),
           vjp=lambda ct, out, x, index, value, unique=False: getitem(ct, index))
derivative(index_add, (0, 2),
           jvp=lambda t, out, x, index, value, unique=False: index_add(t[0], index, t[1], unique=unique),
           vjp=lambda ct, out, x, index, value, unique=False: (ct, getitem(ct, index)))

zero_derivative(slice_size_primitive)
