"""The size of a slice, in a normal form, so that x[1:] and x[:-1] are known to be equally long.

>>> from ..build import Builder
>>> from ..core import INT
>>> b, n = Builder(), Variable("n", INT)
>>> b.lower_bounds[n] = 2
>>> middle = slice_size(b, n, slice(1, -1))
>>> [slice_size(b, n, s) is middle for s in (slice(2, None), slice(None, -2))]
[True, True]
>>> slice_size(b, n, slice(-2, None)), slice_size(b, 7, slice(None, None, -2))
(2, 4)
"""
from __future__ import annotations

from ..core import INT, Dimension, Operand, Variable, type_of
from ..errors import ShapeMismatchError, TypeMismatchError
from ..linear import at_most
from ..registry import PRIMITIVES, primitive
from .creation import divide_up


def slice_size_implementation(size, start, stop, step):
    return len(range(*slice(start, stop, step).indices(size)))


slice_size_primitive = primitive("slice_size", slice_size_implementation, lambda builder, *operands: INT)


def slice_size(builder, size: Dimension, part: slice) -> Dimension:
    """How many elements a slice takes from an axis of this size."""
    size = builder.representative(size)
    start, stop = (plain(builder, bound) for bound in (part.start, part.stop))
    step = 1 if part.step is None else plain(builder, part.step)
    if not isinstance(step, Variable) and step == 0:
        raise ShapeMismatchError("slice step cannot be zero", location=builder.location)
    if not any(isinstance(o, Variable) for o in (size, start, stop, step)):
        return slice_size_implementation(size, start, stop, step)
    if isinstance(step, Variable):
        return by_primitive(builder, size, start, stop, step)
    length = (upward if step > 0 else downward)(builder, size, start, stop)
    if length is None:
        return by_primitive(builder, size, start, stop, step)
    return divide_up(builder, length, abs(step))


def plain(builder, bound: Operand) -> Operand:
    """A bound as None, a Python int or an integer variable."""
    if bound is None or (isinstance(bound, int) and not isinstance(bound, bool)):
        return bound
    of = type_of(bound)
    if of.shape or of.dtype.kind not in "iu":
        raise TypeMismatchError("slice indices must be integers or None or have an __index__ method",
                                location=builder.location)
    return bound if isinstance(bound, Variable) else int(bound)


def by_primitive(builder, size, start, stop, step) -> Dimension:
    """The size as it is worked out at run time."""
    result = builder.emit(slice_size_primitive, size, start, stop, step)
    if isinstance(result, Variable):
        builder.lower_bounds.setdefault(result, 0)
    return result


def upward(builder, size: Dimension, start: Operand, stop: Operand) -> Dimension | None:
    """The length of size[start:stop], or None where no formula is known."""
    start = 0 if start is None else start
    if from_end(stop):
        stop = 0 if stop is None else stop
        if from_end(start):
            if start >= stop:
                return 0
            return stop - start if at_least(builder, size, -start) else None
        if not_negative(builder, start):
            end = builder.dimension_add(size, stop)
            return positive_part(builder, builder.dimension_subtract(end, start))
        return None
    if not not_negative(builder, stop) or from_end(start) or not not_negative(builder, start):
        return None
    if isinstance(start, int) and isinstance(stop, int) and start >= stop:
        return 0
    return positive_part(builder, builder.dimension_subtract(smaller(builder, stop, size), start))


def downward(builder, size: Dimension, start: Operand, stop: Operand) -> Dimension | None:
    """The length of size[start:stop:-1], or None where no formula is known."""
    stop = -1 if stop is None else stop if not_negative(builder, stop) else None
    if stop is None:
        return None
    if from_end(start):
        last = builder.dimension_add(size, -1 if start is None else start)
        return positive_part(builder, builder.dimension_subtract(last, stop))
    if not not_negative(builder, start):
        return None
    taken = smaller(builder, builder.dimension_add(start, 1), size)
    return positive_part(builder, builder.dimension_subtract(taken, builder.dimension_add(stop, 1)))


def from_end(bound: Operand) -> bool:
    """Whether a bound is known to count from the end."""
    return bound is None or (isinstance(bound, int) and bound < 0)


def not_negative(builder, bound: Operand) -> bool:
    """Whether a bound is known to count from the start."""
    return at_least(builder, bound, 0)


def at_least(builder, size: Operand, bound: int) -> bool:
    return size is not None and at_most(builder, bound, size)


def positive_part(builder, size: Dimension) -> Dimension:
    """max(size, 0), where that is not plain."""
    return builder.dimension_max(size, 0)


def smaller(builder, a: Dimension, b: Dimension) -> Dimension:
    """min(a, b), where that is not plain."""
    for one, other in ((a, b), (b, a)):
        if at_most(builder, one, other):
            return one
    result = builder.emit(PRIMITIVES["minimum"], a, b, weak=True)
    bounds = builder.lower_bound(a), builder.lower_bound(b)
    if None not in bounds:
        builder.lower_bounds.setdefault(result, min(bounds))
    return result
