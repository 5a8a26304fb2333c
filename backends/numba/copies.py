"""Copies of arrays: `array.copy()`, `np.ascontiguousarray(array)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed, impl_ret_new_ref
from numba.extending import lower_builtin, type_callable
from numba.np import arrayobj

from .new_arrays import new


def copied(array): ...


def contiguous(array): ...


@type_callable(copied)
def type_copied(context: Any) -> Callable:
    return lambda array: array.copy(layout="C", readonly=False) if isinstance(array, types.Array) else None


@lower_builtin(copied, types.Array)
def lower_copied(context: Any, builder: Any, signature: Any, arguments: tuple) -> Any:
    return in_order(context, builder, signature, arguments[0])


@type_callable(contiguous)
def type_contiguous(context: Any) -> Callable:
    return lambda array: array.copy(layout="C") if isinstance(array, types.Array) and array.ndim else None


@lower_builtin(contiguous, types.Array)
def lower_contiguous(context: Any, builder: Any, signature: Any, arguments: tuple) -> Any:
    """The array itself where its elements follow each other, as in a column of one element."""
    of, result = signature.args[0], signature.return_type
    if of.layout == "C" or (of.layout == "F" and of.ndim == 1):
        return impl_ret_borrowed(context, builder, result, arguments[0])
    given = arrayobj.make_array(of)(context, builder, arguments[0])
    place = cgutils.alloca_once_value(builder, given._getvalue())
    with builder.if_else(follow_each_other(context, builder, given)) as (kept, moved):
        with kept:
            context.nrt.incref(builder, of, arguments[0])
        with moved:
            builder.store(in_order(context, builder, signature, arguments[0]), place)
    return impl_ret_new_ref(context, builder, result, builder.load(place))


def follow_each_other(context: Any, builder: Any, given: Any) -> Any:
    """Whether an array's elements lie in memory as in a new one."""
    expected, holds = given.itemsize, cgutils.true_bit
    axes = zip(*(cgutils.unpack_tuple(builder, part) for part in (given.shape, given.strides)))
    one = context.get_constant(types.intp, 1)
    for size, step in reversed(list(axes)):
        single = builder.icmp_signed("==", size, one)
        holds = builder.and_(holds, builder.or_(single, builder.icmp_signed("==", step, expected)))
        expected = builder.mul(expected, size)
    return holds


def in_order(context: Any, builder: Any, signature: Any, value: Any) -> Any:
    """A new array, by rows, with the elements of one."""
    of, result = signature.args[0], signature.return_type
    given = arrayobj.make_array(of)(context, builder, value)
    shape, strides = (cgutils.unpack_tuple(builder, part) for part in (given.shape, given.strides))
    made = new(context, builder, result, shape)
    if of.layout == "C":
        cgutils.raw_memcpy(builder, made.data, given.data, given.nitems, given.itemsize, align=1)
        return impl_ret_new_ref(context, builder, result, made._getvalue())
    into = cgutils.unpack_tuple(builder, made.strides)
    with cgutils.loop_nest(builder, shape, context.get_value_type(types.intp)) as indices:
        element = cgutils.get_item_pointer2(context, builder, given.data, shape, strides, of.layout, indices)
        place = cgutils.get_item_pointer2(context, builder, made.data, shape, into, "C", indices)
        builder.store(builder.load(element), place)
    return impl_ret_new_ref(context, builder, result, made._getvalue())
