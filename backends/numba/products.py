"""Lowering a product into an array: by loops of our own or BLAS, and with how many of its threads."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.np import arrayobj, linalg

from . import matrix_vector
from .blas_calls import threads_for

ONE = ir.IntType(64)(1)
WAITS = 4  # the elements of a matrix times a vector come from memory: each takes so many multiplications


def multiply(context: Any, builder: Any, signature: Any, operands: tuple, out: Any) -> Any:
    """Write the product of two matrices, or of one and a vector, to an array."""
    full = signature.return_type(*signature.args, signature.return_type)
    arrays = [arrayobj.make_array(of)(context, builder, one) for of, one in zip(full.args, (*operands, out))]
    if full.return_type.ndim == 2:
        return matrices(context, builder, full, (*operands, out), arrays)
    return with_vector(context, builder, full, (*operands, out), arrays)


def matrices(context: Any, builder: Any, signature: Any, operands: tuple, arrays: list) -> Any:
    """A matrix of one row or column is a vector to BLAS."""
    (rows, inner), right, shape = (cgutils.unpack_tuple(builder, of.shape) for of in arrays)
    columns = right[1]
    agree(context, builder, [(right[0], inner), *zip(shape, (rows, columns))])
    a, b, out = zip(signature.args, ((rows, inner), right, shape), (of.data for of in arrays))
    of, result = signature.args[:2], signature.return_type
    work = builder.mul(builder.mul(rows, inner), columns)
    with threads_for(builder, work), unless_empty(builder, work, arrays[2]):
        is_row, is_column = (builder.icmp_signed("==", size, ONE) for size in (rows, columns))
        with builder.if_else(is_column) as (one_column, more):
            with one_column:
                turned = of[0].layout == result.layout
                linalg.call_xxgemv(context, builder, turned, *a, b[2], out[2])
            with more, builder.if_else(is_row) as (one_row, both):
                with one_row:
                    turned = of[1].layout != result.layout
                    linalg.call_xxgemv(context, builder, turned, *b, a[2], out[2])
                with both:
                    linalg.call_xxgemm(context, builder, *a, *b, *out)
    return impl_ret_borrowed(context, builder, result, operands[2])


def with_vector(context: Any, builder: Any, signature: Any, operands: tuple, arrays: list) -> Any:
    """A small matrix and a vector whose sizes agree are multiplied here."""
    place = 0 if signature.args[0].ndim == 2 else 1
    matrix, vector, out = arrays[place], arrays[1 - place], arrays[2]
    (rows,), (columns,) = (cgutils.unpack_tuple(builder, of.shape) for of in (out, vector))
    by_rows = (signature.args[place].layout == "C") == (place == 0)
    dtype = signature.return_type.dtype
    if dtype not in matrix_vector.KINDS:
        return in_blas(context, builder, signature, operands, arrays)
    suits = matrix_vector.suits(builder, dtype, by_rows, rows, columns)
    shape = cgutils.unpack_tuple(builder, matrix.shape)
    for size, other in zip(shape, (rows, columns) if place == 0 else (columns, rows)):
        suits = builder.and_(suits, builder.icmp_signed("==", size, other))
    with builder.if_else(suits) as (here, there):
        with here:
            data = matrix.data, vector.data, out.data
            matrix_vector.multiply(context, builder, dtype, by_rows, *data, rows, columns)
            impl_ret_borrowed(context, builder, signature.return_type, operands[2])
        with there:
            in_blas(context, builder, signature, operands, arrays)
    return operands[2]


def in_blas(context: Any, builder: Any, signature: Any, operands: tuple, arrays: list) -> Any:
    """A matrix and a vector."""
    place = 0 if signature.args[0].ndim == 2 else 1
    of, matrix, vector, out = signature.args[place], arrays[place], arrays[1 - place], arrays[2]
    shape = cgutils.unpack_tuple(builder, matrix.shape)
    (rows,), (columns,) = (cgutils.unpack_tuple(builder, one.shape) for one in (out, vector))
    agree(context, builder, zip(shape, (rows, columns) if place == 0 else (columns, rows)))
    turned = of.layout == ("F" if place else "C")
    elements = builder.mul(rows, columns)
    waiting = threads_for(builder, builder.mul(elements, ir.IntType(64)(WAITS)))
    with waiting, unless_empty(builder, elements, out):
        linalg.call_xxgemv(context, builder, turned, of, shape, matrix.data, vector.data, out.data)
    return impl_ret_borrowed(context, builder, signature.return_type, operands[2])


def inner(context: Any, builder: Any, signature: Any, operands: tuple) -> Any:
    """The product of two vectors."""
    a, b = (arrayobj.make_array(of)(context, builder, one) for of, one in zip(signature.args, operands))
    (size,), (other,) = (cgutils.unpack_tuple(builder, of.shape) for of in (a, b))
    agree(context, builder, [(size, other)])
    dtype = signature.return_type
    out = cgutils.alloca_once_value(builder, context.get_constant_null(dtype))
    with builder.if_then(builder.icmp_signed("!=", size, size.type(0))):
        linalg.call_xxdot(context, builder, False, dtype, size, a.data, b.data, out)
    return builder.load(out)


def agree(context: Any, builder: Any, sizes: Iterable) -> None:
    """Refuse sizes that differ, and those that BLAS has no numbers for."""
    raising = context.call_conv.return_user_exc
    for size, other in sizes:
        with cgutils.if_unlikely(builder, builder.icmp_signed("!=", size, other)):
            raising(builder, ValueError, ("incompatible array sizes for np.dot",))
        with cgutils.if_unlikely(builder, builder.icmp_signed(">", size, size.type(2**31 - 1))):
            raising(builder, OverflowError, ("array size too large to fit in C int",))


@contextlib.contextmanager
def unless_empty(builder: Any, work: Any, out: Any) -> Iterator[None]:
    """What is lowered inside is done if there is something to multiply; without it, a product is zero."""
    with builder.if_else(builder.icmp_signed("==", work, work.type(0)), likely=False) as (nothing, some):
        with nothing:
            cgutils.memset(builder, out.data, builder.mul(out.itemsize, out.nitems), 0)
        with some:
            yield
