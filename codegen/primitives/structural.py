"""Structural primitives: the same elements in another shape or order.

>>> from ..build import Builder
>>> n, b = Variable("n", INT), Builder()
>>> x = Variable("x", ArrayType(np.dtype("float32"), (n, 3)))
>>> transpose.type_rule(b, x, axes=(1, 0)), reshape.type_rule(b, x, (3, n))
(float32[3, n], float32[3, n])
>>> b.block.statements
[]
"""
from __future__ import annotations

import numpy as np

from ..core import INT, ArrayType, Dimension, Variable, type_of
from ..errors import ShapeMismatchError
from ..registry import METHODS, primitive
from .creation import shape_of
from .promotion import common_dtype


def shown(shape) -> str:
    """A shape as NumPy's messages write it."""
    return "(" + ",".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def size_type(builder, x, axis):
    return INT


def reshape_type(builder, x, shape):
    """The type of a reshape to a complete shape; what sizes do not cancel is checked at run time."""
    of, shape = type_of(x), shape_of(builder, shape)
    old, new = factors(builder, of.shape), factors(builder, shape)
    if old == new:
        return of.with_shape(shape)
    total, wanted = builder.product(of.shape), builder.product(shape)
    builder.require_same(total, wanted, f"cannot reshape array of size {total} into shape {shown(shape)}")
    return of.with_shape(shape)


def factors(builder, shape) -> tuple[int, list[int]]:
    """The known factor of a shape's number of elements, and its unknown factors by identity, in order."""
    known, unknown = 1, []
    waiting = list(shape)
    while waiting:
        size = builder.representative(waiting.pop())
        if not isinstance(size, Variable):
            known *= int(size)
            continue
        made = builder.definitions.get(size)
        if made is not None and made.primitive.name == "multiply":
            waiting.extend(made.operands)
        else:
            unknown.append(id(size))
    return known, sorted(unknown)


def transpose_type(builder, x, axes):
    of = type_of(x)
    if sorted(axes) != list(range(of.ndim)):
        raise ShapeMismatchError("axes don't match array", location=builder.location)
    return of.with_shape(tuple(of.shape[axis] for axis in axes))


def broadcast_to_type(builder, x, shape):
    of, shape = type_of(x), shape_of(builder, shape)
    message = ("operands could not be broadcast together with remapped shapes "
               f"[original->remapped]: {shown(of.shape)}  and requested shape {shown(shape)}")
    fit_broadcast(builder, of.shape, shape, message)
    return ArrayType(of.dtype, shape)


def fit_broadcast(builder, shape, into, message: str) -> None:
    """Check, now or at run time, that `shape` broadcasts to exactly `into`."""
    if len(shape) > len(into):
        raise ShapeMismatchError(message, location=builder.location)
    for size, wide in zip(reversed(shape), reversed(into), strict=False):
        if not builder.same(size, 1):
            builder.require_same(wide, size, message)


def concatenate_type(builder, arrays, axis):
    """The type of arrays joined along an axis."""
    types = [type_of(a) for a in arrays]
    if not types:
        raise ShapeMismatchError("need at least one array to concatenate", location=builder.location)
    rank = types[0].ndim
    if not all(t.ndim == rank for t in types):
        message = "all the input array dimensions must match: " + ", ".join(shown(t.shape) for t in types)
        raise ShapeMismatchError(message, location=builder.location)
    if not 0 <= axis < rank:
        message = "zero-dimensional arrays cannot be concatenated" if rank == 0 else \
            f"axis {axis} is out of bounds for array of dimension {rank}"
        raise ShapeMismatchError(message, location=builder.location)
    shape = list(types[0].shape)
    message = "all the input array dimensions except for the concatenation axis must match exactly: " \
        + ", ".join(shown(t.shape) for t in types)
    for t in types[1:]:
        for other in range(rank):
            if other != axis:
                builder.require_same(shape[other], t.shape[other], message)
                shape[other] = builder.representative(shape[other])
        shape[axis] = builder.dimension_add(shape[axis], t.shape[axis])
    return ArrayType(common_dtype(types), tuple(shape))


def same_type(builder, x):
    return type_of(x)


def count_nonzero_type(builder, x):
    return INT


def nonzero_type(builder, x):
    """One array of positions an axis, all of one size, which is counted."""
    rank = type_of(x).ndim
    if rank == 0:
        raise ShapeMismatchError("nonzero of a 0-dimensional array: use atleast_1d(x).nonzero()",
                                 location=builder.location)
    count: Dimension = builder.emit(count_nonzero, x)
    if isinstance(count, Variable):
        builder.lower_bounds.setdefault(count, 0)
    return (ArrayType(np.dtype(np.intp), (count,)),) * rank


def copied(x):
    """A copy; of a stack (a list), one that holds the same items."""
    if isinstance(x, list):
        return x.copy()
    return np.array(x) if np.ndim(x) else np.array(x)[()]


size = primitive("size", lambda x, axis: np.shape(x)[axis], size_type)
reshape = primitive("reshape", lambda x, shape: np.reshape(x, shape), reshape_type, view=True)
transpose = primitive("transpose", lambda x, axes: np.transpose(x, axes), transpose_type, view=True)
broadcast_to = primitive("broadcast_to", lambda x, shape: np.broadcast_to(x, shape), broadcast_to_type,
                         view=True)
concatenate = primitive("concatenate", lambda arrays, axis=0: np.concatenate(arrays, axis), concatenate_type)
copy = primitive("copy", copied, same_type,
                 functions=(np.copy,), printed="np.copy")
count_nonzero = primitive("count_nonzero", lambda x: int(np.count_nonzero(x)), count_nonzero_type,
                          printed="np.count_nonzero")
nonzero = primitive("nonzero", lambda x: np.nonzero(x), nonzero_type, functions=(np.nonzero,),
                    printed="np.nonzero")
METHODS["copy"], METHODS["nonzero"] = copy, nonzero
