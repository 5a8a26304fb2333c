"""Lowering a product into an array: by loops of our own or BLAS, and with how many of its threads."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.np import arrayobj, linalg

from . import matrix_vector
from .blas_calls import threads_for

ONE = ir.IntType(64)(1)
WAITS = 4  # the elements of a matrix times a vector come from memory: each takes so many multiplications


def multiply(context: Any, builder: Any, signature: Any, operands: tuple) -> Any:
    """Write the product of two matrices, or of one and a vector, to a third array."""
    arrays = [arrayobj.make_array(of)(context, builder, one) for of, one in zip(signature.args, operands)]
    lower = matrices if signature.args[2].ndim == 2 else with_vector
    lower(context, builder, signature.args, arrays)
    return context.get_dummy_value()


def matrices(context: Any, builder: Any, of: tuple, arrays: list) -> None:
    """A matrix of one row or column is a vector to BLAS."""
    (rows, inner), right, shape = (cgutils.unpack_tuple(builder, one.shape) for one in arrays)
    columns = right[1]
    agree(context, builder, [(right[0], inner), *zip(shape, (rows, columns))])
    a, b, out = zip(of, ((rows, inner), right, shape), (one.data for one in arrays))
    work = builder.mul(builder.mul(rows, inner), columns)
    with threads_for(builder, work), unless_empty(builder, work, arrays[2]):
        is_row, is_column = (builder.icmp_signed("==", size, ONE) for size in (rows, columns))
        with builder.if_else(is_column) as (one_column, more):
            with one_column:
                linalg.call_xxgemv(context, builder, of[0].layout == of[2].layout, *a, b[2], out[2])
            with more, builder.if_else(is_row) as (one_row, both):
                with one_row:
                    linalg.call_xxgemv(context, builder, of[1].layout != of[2].layout, *b, a[2], out[2])
                with both:
                    linalg.call_xxgemm(context, builder, *a, *b, *out)


def with_vector(context: Any, builder: Any, of: tuple, arrays: list) -> None:
    """A small matrix and a vector are multiplied here."""
    place = 0 if of[0].ndim == 2 else 1
    kind, matrix, vector, out = of[place], arrays[place], arrays[1 - place], arrays[2]
    shape = cgutils.unpack_tuple(builder, matrix.shape)
    (rows,), (columns,) = (cgutils.unpack_tuple(builder, one.shape) for one in (out, vector))
    agree(context, builder, zip(shape, (rows, columns) if place == 0 else (columns, rows)))
    by_rows = (kind.layout == "C") == (place == 0)
    data = matrix.data, vector.data, out.data

    def in_blas() -> None:
        elements = builder.mul(rows, columns)
        waiting = threads_for(builder, builder.mul(elements, ir.IntType(64)(WAITS)))
        with waiting, unless_empty(builder, elements, out):
            linalg.call_xxgemv(context, builder, by_rows, kind, shape, *data)

    if kind.dtype not in matrix_vector.KINDS:
        return in_blas()
    suits = matrix_vector.suits(builder, kind.dtype, by_rows, rows, columns)
    with builder.if_else(suits) as (here, there):
        with here:
            matrix_vector.multiply(context, builder, kind.dtype, by_rows, *data, rows, columns)
        with there:
            in_blas()


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
