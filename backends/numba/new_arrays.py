"""Arrays that compiled code makes: `np.empty`, `np.zeros`, `np.full`, `np.arange` of integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.core.imputils import impl_ret_new_ref
from numba.core.typing.npydecl import parse_dtype, parse_shape
from numba.extending import lower_builtin, type_callable
from numba.np import arrayobj

from . import subroutines

CACHE_LINE = 64  # bytes: no vector of elements then lies across two lines
TOO_BIG = "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size."


def empty(shape, dtype=None): ...


def zeros(shape, dtype=None): ...


def full(shape, fill_value, dtype=None): ...


def arange(start, stop=None): ...


@type_callable(empty)
@type_callable(zeros)
def type_new(context: Any) -> Callable:
    return lambda shape, dtype=None: array_type(shape, types.float64 if dtype is None else dtype)


@type_callable(full)
def type_full(context: Any) -> Callable:
    return lambda shape, fill_value, dtype=None: array_type(shape, fill_value if dtype is None else dtype)


def array_type(shape: Any, dtype: Any) -> Any:
    """The type of a new array; None where it is not an array of numbers."""
    is_float = isinstance(dtype, types.Function) and dtype.typing_key is float
    is_number = isinstance(dtype, (types.Number, types.Boolean))
    of = types.float64 if is_float else types.unliteral(dtype) if is_number else parse_dtype(dtype)
    ndim = parse_shape(shape)
    return None if ndim is None or of is None else types.Array(of, ndim, "C")


@lower_builtin(empty, types.VarArg(types.Any))
def lower_empty(context: Any, builder: Any, signature: Any, arguments: tuple) -> Any:
    return given(context, builder, signature, made_as(context, builder, signature, arguments))


@lower_builtin(zeros, types.VarArg(types.Any))
def lower_zeros(context: Any, builder: Any, signature: Any, arguments: tuple) -> Any:
    array = made_as(context, builder, signature, arguments)
    cgutils.memset(builder, array.data, builder.mul(array.itemsize, array.nitems), 0)
    return given(context, builder, signature, array)


@lower_builtin(full, types.VarArg(types.Any))
def lower_full(context: Any, builder: Any, signature: Any, arguments: tuple) -> Any:
    array, of = made_as(context, builder, signature, arguments), signature.return_type.dtype
    value = context.cast(builder, arguments[1], signature.args[1], of)
    with cgutils.for_range(builder, array.nitems) as loop:
        context.pack_value(builder, of, value, cgutils.gep(builder, array.data, loop.index))
    return given(context, builder, signature, array)


def made_as(context: Any, builder: Any, signature: Any, arguments: tuple) -> Any:
    sizes = sizes_in(context, builder, signature.args[0], arguments[0])
    return new(context, builder, signature.return_type, sizes)


def given(context: Any, builder: Any, signature: Any, array: Any) -> Any:
    return impl_ret_new_ref(context, builder, signature.return_type, array._getvalue())


@type_callable(arange)
def type_arange(context: Any) -> Callable:
    """One or two integers; all else is Numba's."""

    def typer(start, stop=None):
        arguments = (start,) if stop is None else (start, stop)
        if all(isinstance(one, types.Integer) for one in arguments):
            return types.Array(types.int64, 1, "C")
        known = context.resolve_function_type(context.resolve_value_type(np.arange), arguments, {})
        return known and known.return_type

    return typer


@lower_builtin(arange, types.VarArg(types.Any))
def lower_arange(context: Any, builder: Any, signature: Any, arguments: tuple) -> Any:
    if not all(isinstance(one, types.Integer) for one in signature.args):
        known = context.typing_context.resolve_value_type(np.arange)
        whole = context.typing_context.resolve_function_type(known, signature.args, {})
        missing = [context.get_dummy_value()] * (len(whole.args) - len(arguments))
        return context.get_function(known, whole)(builder, (*arguments, *missing))
    bounds = [context.cast(builder, *one, types.int64) for one in zip(arguments, signature.args)]
    start, stop = ([context.get_constant(types.int64, 0)] * 2 + bounds)[-2:]
    count = builder.sub(stop, start)
    zero = context.get_constant(types.int64, 0)
    count = builder.select(builder.icmp_signed("<", count, zero), zero, count)
    array = new(context, builder, signature.return_type, [count])
    with cgutils.for_range(builder, count) as loop:
        builder.store(builder.add(start, loop.index), cgutils.gep(builder, array.data, loop.index))
    return given(context, builder, signature, array)


def new(context: Any, builder: Any, of: Any, sizes: list) -> Any:
    """A new array of a type, with these sizes."""
    item = arrayobj.get_itemsize(context, of)
    signature = types.MemInfoPointer(types.voidptr)(*[types.intp] * len(sizes))
    meminfo = subroutines.call(context, builder, f"memory_of_{item}", signature, sizes, allocate(of))
    itemsize = context.get_constant(types.intp, item)
    strides = [itemsize] * bool(sizes)
    for size in reversed(sizes[1:]):
        strides.insert(0, builder.mul(strides[0], size))
    made = arrayobj.make_array(of)(context, builder)
    data = context.nrt.meminfo_data(builder, meminfo)
    arrayobj.populate_array(
        made,
        data=builder.bitcast(data, context.get_data_type(of.dtype).as_pointer()),
        shape=sizes,
        strides=strides,
        itemsize=itemsize,
        meminfo=meminfo,
    )
    return made


def sizes_in(context: Any, builder: Any, of: Any, value: Any) -> list:
    """The sizes in a shape, which is a tuple or a number."""
    if isinstance(of, types.Integer):
        return [context.cast(builder, value, of, types.intp)]
    parts = cgutils.unpack_tuple(builder, value)
    return [context.cast(builder, part, kind, types.intp) for part, kind in zip(parts, of, strict=True)]


def allocate(of: Any) -> Callable:
    """The lowering that allocates memory for an array of a type."""

    def lower(context: Any, builder: Any, signature: Any, sizes: list) -> Any:
        raising = context.call_conv.return_user_exc
        amount = context.get_constant(types.intp, arrayobj.get_itemsize(context, of))
        overflow, zero = cgutils.false_bit, context.get_constant(types.intp, 0)
        for size in sizes:
            with cgutils.if_unlikely(builder, builder.icmp_signed("<", size, zero)):
                raising(builder, ValueError, ("negative dimensions are not allowed",))
            product = builder.smul_with_overflow(amount, size)
            amount = builder.extract_value(product, 0)
            overflow = builder.or_(overflow, builder.extract_value(product, 1))
        with cgutils.if_unlikely(builder, overflow):
            raising(builder, ValueError, (TOO_BIG,))
        meminfo = context.nrt.meminfo_alloc_aligned_unchecked(builder, amount, CACHE_LINE)
        with cgutils.if_unlikely(builder, cgutils.is_null(builder, meminfo)):
            raising(builder, MemoryError, ("Allocation failed (probably too large).",))
        return meminfo

    return lower
