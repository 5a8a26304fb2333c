"""Creation: arrays made from sizes and scalars alone.

>>> from ..build import Builder
>>> n = Variable("n", INT)
>>> zeros.type_rule(Builder(), (n, 3), dtype="float32"), array.type_rule(Builder(), ((1, 2.0), (3, 4)))
(float32[n, 3], float64[2, 2])
"""
from __future__ import annotations

import numpy as np

from ..core import INT, ArrayType, Dimension, Variable, type_of
from ..errors import ShapeMismatchError, TypeMismatchError
from ..registry import PRIMITIVES, primitive
from .promotion import common_dtype


def shape_of(builder, shape) -> tuple[Dimension, ...]:
    """A shape operand (a tuple, or one size) as a tuple of dimensions."""
    sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
    for size in sizes:
        of = type_of(size)
        if of.shape or of.dtype.kind not in "iu":
            raise TypeMismatchError(f"a size must be an integer, not {of}", location=builder.location)
        if not isinstance(size, Variable) and size < 0:
            raise ShapeMismatchError("negative dimensions are not allowed", location=builder.location)
    return tuple(builder.representative(size) if isinstance(size, Variable) else int(size) for size in sizes)


def filled_type(builder, shape, dtype=float):
    return ArrayType(np.dtype(dtype), shape_of(builder, shape))


def full_type(builder, shape, value, dtype=None):
    of = type_of(value)
    if of.shape:
        raise ShapeMismatchError("full takes a scalar", location=builder.location)
    return ArrayType(of.dtype if dtype is None else np.dtype(dtype), shape_of(builder, shape))


def arange_type(builder, start, stop, step=1, dtype=None):
    """The type of arange: of integers, its size is arithmetic; of floats, it is read off at run time."""
    types = [type_of(o) for o in (start, stop, step)]
    dtype = common_dtype((*types, INT)) if dtype is None else np.dtype(dtype)
    if not any(isinstance(o, Variable) for o in (start, stop, step)):
        return ArrayType(dtype, (len(np.arange(start, stop, step)),))
    if all(t.dtype.kind in "iu" for t in types) and isinstance(step, int) and step != 0:
        return ArrayType(dtype, (range_size(builder, start, stop, step),))
    return ArrayType(dtype, (None,))


def range_size(builder, start: Dimension, stop: Dimension, step: int) -> Dimension:
    """len(range(start, stop, step)), for a known step."""
    span = builder.dimension_subtract(stop, start) if step > 0 else builder.dimension_subtract(start, stop)
    return divide_up(builder, builder.dimension_max(span, 0), abs(step))


def divide_up(builder, size: Dimension, step: int) -> Dimension:
    """size / step rounded up, of a size that is not negative."""
    if isinstance(size, int) or step == 1:
        return size if step == 1 else -(-size // step)
    quotient = builder.emit(PRIMITIVES["floor_divide"], builder.dimension_add(size, step - 1), step)
    builder.lower_bounds.setdefault(quotient, -(-(builder.lower_bound(size) or 0) // step))
    return quotient


def array_type(builder, items, dtype=None):
    """The type of an array of nested tuples of scalars."""
    shape, scalars = nested_shape(builder, items)
    if dtype is None:
        # np.array gives a Python number its full width, beside whatever it stands.
        dtype = np.result_type(*(type_of(s).dtype for s in scalars)) if scalars else float
    return ArrayType(np.dtype(dtype), shape)


def nested_shape(builder, items) -> tuple[tuple[int, ...], list]:
    if not isinstance(items, (tuple, list)):
        if type_of(items).shape:
            raise ShapeMismatchError("array takes scalars", location=builder.location)
        return (), [items]
    parts = [nested_shape(builder, item) for item in items]
    if len({shape for shape, _ in parts}) > 1:
        message = "setting an array element with a sequence. The requested array has an inhomogeneous shape"
        raise ShapeMismatchError(message, location=builder.location)
    inner = parts[0][0] if parts else ()
    return (len(items), *inner), [scalar for _, scalars in parts for scalar in scalars]


zeros = primitive("zeros", lambda shape, dtype=float: np.zeros(shape, dtype), filled_type, allocates=True,
                  printed="np.zeros")
ones = primitive("ones", lambda shape, dtype=float: np.ones(shape, dtype), filled_type, allocates=True,
                 printed="np.ones")
empty = primitive("empty", lambda shape, dtype=float: np.empty(shape, dtype), filled_type, allocates=True,
                  printed="np.empty")
full = primitive("full", lambda shape, value, dtype=None: np.full(shape, value, dtype), full_type,
                 allocates=True, printed="np.full")
arange = primitive("arange", lambda start, stop, step=1, dtype=None: np.arange(start, stop, step, dtype),
                   arange_type, allocates=True, printed="np.arange")
array = primitive("array", lambda items, dtype=None: np.array(items, dtype), array_type, allocates=True,
                  printed="np.array")
constant = primitive("constant", lambda value: np.array(value), lambda builder, value: type_of(value),
                     allocates=True)
