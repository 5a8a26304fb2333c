"""Calls of NumPy's functions that generated code makes often, lowered without compiling anything for them.

Numba has most of NumPy as Python functions, which each process compiles for each combination of types: 30 ms
for `np.empty`, 200 for a product of matrices, 3 s for `np.transpose`, whose errors need Numba's strings.
What these functions do in the end is done here at the call itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numba.core import cgutils, ir, types
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.imputils import impl_ret_borrowed, impl_ret_new_ref
from numba.core.typing.npydecl import parse_dtype, parse_shape
from numba.extending import lower_builtin, type_callable
from numba.np import arrayobj, linalg

from .signs import Definitions, is_expression


@register_pass(mutates_CFG=False, analysis_only=False)
class DirectCalls(FunctionPass):
    """Replaces `np.zeros` and others by what stands for them here."""

    _name = "chainrule_direct_calls"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        definitions = Definitions(state.func_ir.blocks)
        for block in state.func_ir.blocks.values():
            for call in block.find_exprs(op="call"):
                found = definitions.only(call.func)
                if is_expression(found, "getattr") and (chosen := direct(found, call, definitions)):
                    definitions.assignment[call.func.name].value = ir.Global(found.attr, chosen, call.loc)
        state.typingctx.refresh()
        state.targetctx.refresh()
        return True


def direct(function: Any, call: Any, definitions: Definitions) -> Callable | None:
    """What stands for a function in a call, or None."""
    module = definitions.only(function.value)
    if not isinstance(module, ir.Global) or module.value is not np:
        return None
    if function.attr != "transpose":
        return DIRECT.get(function.attr)
    given = definitions.only(call.args[1]) if len(call.args) == 2 else None
    axes = [definitions.integer(item) for item in given.items] if is_expression(given, "build_tuple") else []
    return permuting(tuple(axes)) if set(axes) == set(range(len(axes))) != set() else None


def empty(shape, dtype=None): ...


def zeros(shape, dtype=None): ...


def contiguous(array): ...


def product(a, b, out=None): ...


DIRECT = {"empty": empty, "zeros": zeros, "ascontiguousarray": contiguous, "dot": product}


@type_callable(empty)
@type_callable(zeros)
def type_new(context: Any) -> Callable:
    def typer(shape, dtype=None):
        ndim = parse_shape(shape)
        is_float = dtype is None or (isinstance(dtype, types.Function) and dtype.typing_key is float)
        of = types.float64 if is_float else parse_dtype(dtype)
        return None if ndim is None or of is None else types.Array(of, ndim, "C")

    return typer


@lower_builtin(empty, types.VarArg(types.Any))
def lower_empty(context: Any, builder: Any, signature: Any, arguments: tuple) -> Any:
    array = new(context, builder, signature, arguments)
    return impl_ret_new_ref(context, builder, signature.return_type, array._getvalue())


@lower_builtin(zeros, types.VarArg(types.Any))
def lower_zeros(context: Any, builder: Any, signature: Any, arguments: tuple) -> Any:
    array = new(context, builder, signature, arguments)
    cgutils.memset(builder, array.data, builder.mul(array.itemsize, array.nitems), 0)
    return impl_ret_new_ref(context, builder, signature.return_type, array._getvalue())


def new(context: Any, builder: Any, signature: Any, arguments: tuple) -> Any:
    shape = arrayobj._parse_shape(context, builder, signature.args[0], arguments[0])
    return arrayobj._empty_nd_impl(context, builder, signature.return_type, shape)


@type_callable(contiguous)
def type_contiguous(context: Any) -> Callable:
    return lambda array: array.copy(layout="C") if isinstance(array, types.Array) and array.ndim else None


@lower_builtin(contiguous, types.Array)
def lower_contiguous(context: Any, builder: Any, signature: Any, arguments: tuple) -> Any:
    return arrayobj._as_layout_array(context, builder, signature, arguments, "C")


@type_callable(product)
def type_product(context: Any) -> Callable:
    def typer(a, b, out=None):
        if not all(isinstance(one, types.Array) and one.ndim in (1, 2) for one in (a, b)):
            return None
        if a.dtype != b.dtype:
            return None
        ndim = a.ndim + b.ndim - 2
        return out or (types.Array(a.dtype, ndim, "C") if ndim else a.dtype)

    return typer


@lower_builtin(product, types.VarArg(types.Any))
def lower_product(context: Any, builder: Any, signature: Any, arguments: tuple) -> Any:
    linalg.ensure_blas()
    result = signature.return_type
    with linalg.make_contiguous(context, builder, result(*signature.args[:2]), arguments[:2]) as (
        made,
        operands,
    ):
        if not isinstance(result, types.Array):
            return linalg.dot_2_vv(context, builder, made, operands)
        if len(arguments) == 3 and isinstance(signature.args[2], types.Array):
            return multiply(context, builder, made, operands, arguments[2])
        a, b = (arrayobj.make_array(of)(context, builder, value) for of, value in zip(made.args, operands))
        rows, columns = cgutils.unpack_tuple(builder, a.shape), cgutils.unpack_tuple(builder, b.shape)
        out = arrayobj._empty_nd_impl(context, builder, result, [*rows[:-1], *columns[1:]])
        written = multiply(context, builder, made, operands, out._getvalue())
        # It comes back with a reference of its own, beside the one that it was made with.
        context.nrt.decref(builder, result, written)
        return impl_ret_new_ref(context, builder, result, written)


def multiply(context: Any, builder: Any, signature: Any, operands: tuple, out: Any) -> Any:
    """Write the product of two matrices, or of one and a vector, to an array."""
    result = signature.return_type
    lower = linalg.dot_3_mm if result.ndim == 2 else linalg.dot_3_vm
    return lower(context, builder, result(*signature.args, result), (*operands, out))


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
        made = arrayobj.make_array(signature.return_type)(context, builder)
        given = arrayobj.make_array(signature.args[0])(context, builder, arguments[0])
        shape, strides = (cgutils.unpack_tuple(builder, of) for of in (given.shape, given.strides))
        arrayobj.populate_array(
            made,
            data=given.data,
            shape=[shape[axis] for axis in axes],
            strides=[strides[axis] for axis in axes],
            itemsize=given.itemsize,
            meminfo=given.meminfo,
            parent=given.parent,
        )
        return impl_ret_borrowed(context, builder, signature.return_type, made._getvalue())

    return permuted
