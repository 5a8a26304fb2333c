"""Arrays that compiled code sees otherwise: `np.transpose`, `np.broadcast_to`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed, impl_ret_new_ref
from numba.core.typing.npydecl import parse_shape
from numba.extending import lower_builtin, type_callable
from numba.np import arrayobj

from .new_arrays import new, sizes_in

NUMBER = (types.Number, types.Boolean)


@functools.cache
def permuting(axes: tuple[int, ...]) -> Callable:
    """What stands for a transposition with these axes."""

    def permuted(array, axes): ...

    @type_callable(permuted)
    def type_permuted(context: Any) -> Callable:
        def typer(array, given):
            if not isinstance(array, types.Array) or array.ndim != len(axes):
                return None
            return array.copy(layout="A")

        return typer

    @lower_builtin(permuted, types.Array, types.Any)
    def lower_permuted(context: Any, builder: Any, signature: Any, arguments: tuple) -> Any:
        given = arrayobj.make_array(signature.args[0])(context, builder, arguments[0])
        shape, strides = (cgutils.unpack_tuple(builder, of) for of in (given.shape, given.strides))
        return view(
            context,
            builder,
            signature,
            given,
            [shape[axis] for axis in axes],
            [strides[axis] for axis in axes],
        )

    return permuted


def broadcast_to(array, shape): ...


@type_callable(broadcast_to)
def type_broadcast(context: Any) -> Callable:
    def typer(array, shape):
        ndim = parse_shape(shape)
        if isinstance(array, NUMBER) and ndim:
            return types.Array(types.unliteral(array), ndim, "A", readonly=True)
        if not isinstance(array, types.Array) or not array.ndim or ndim is None or ndim < array.ndim:
            return None
        return array.copy(ndim=ndim, layout="A", readonly=True)

    return typer


@lower_builtin(broadcast_to, types.Any, types.Any)
def lower_broadcast(context: Any, builder: Any, signature: Any, arguments: tuple) -> Any:
    of, (value, shape) = signature.args[0], arguments
    sizes = sizes_in(context, builder, signature.args[1], shape)
    zero = context.get_constant(types.intp, 0)
    if isinstance(of, NUMBER):
        given = new(context, builder, types.Array(signature.return_type.dtype, 0, "C"), [])
        context.pack_value(builder, of, value, given.data)
        made = view(context, builder, signature, given, sizes, [zero] * len(sizes), impl_ret_new_ref)
        return made
    given = arrayobj.make_array(of)(context, builder, value)
    own, strides = (cgutils.unpack_tuple(builder, part) for part in (given.shape, given.strides))
    missing = len(sizes) - len(own)
    steps, one = [zero] * missing, context.get_constant(types.intp, 1)
    for size, step, asked in zip(own, strides, sizes[missing:], strict=True):
        repeated = builder.icmp_signed("==", size, one)
        fits = builder.or_(repeated, builder.icmp_signed("==", size, asked))
        with cgutils.if_unlikely(builder, builder.not_(fits)):
            message = "operands could not be broadcast together with remapped shapes"
            context.call_conv.return_user_exc(builder, ValueError, (message,))
        steps.append(builder.select(repeated, zero, step))
    return view(context, builder, signature, given, sizes, steps)


def view(
    context: Any,
    builder: Any,
    signature: Any,
    given: Any,
    shape: list,
    strides: list,
    returned: Callable = impl_ret_borrowed,
) -> Any:
    """The elements of an array with another shape and strides."""
    of = signature.return_type
    made = arrayobj.make_array(of)(context, builder)
    arrayobj.populate_array(
        made,
        data=given.data,
        shape=shape,
        strides=strides,
        itemsize=given.itemsize,
        meminfo=given.meminfo,
        parent=given.parent,
    )
    return returned(context, builder, of, made._getvalue())
