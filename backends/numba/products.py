"""Lowering a product into an array: by loops of our own or BLAS, and with how many of its threads."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.np import arrayobj, linalg

from . import matrix_vector
from .blas_calls import threads_for

WAITS = 4  # the elements of a matrix times a vector come from memory: each takes so many multiplications


def multiply(context: Any, builder: Any, signature: Any, operands: tuple, out: Any) -> Any:
    """Write the product of two matrices, or of one and a vector, to an array."""
    full = signature.return_type(*signature.args, signature.return_type)
    arrays = [arrayobj.make_array(of)(context, builder, one) for of, one in zip(full.args, (*operands, out))]
    if full.return_type.ndim == 2:
        return matrices(context, builder, full, (*operands, out), arrays)
    return with_vector(context, builder, full, (*operands, out), arrays)


def matrices(context: Any, builder: Any, signature: Any, operands: tuple, arrays: list) -> Any:
    rows, inner = cgutils.unpack_tuple(builder, arrays[0].shape)
    columns = cgutils.unpack_tuple(builder, arrays[1].shape)[1]
    with threads_for(builder, builder.mul(builder.mul(rows, inner), columns)):
        return linalg.dot_3_mm(context, builder, signature, operands)


def with_vector(context: Any, builder: Any, signature: Any, operands: tuple, arrays: list) -> Any:
    """A small matrix and a vector whose sizes agree are multiplied here."""
    place = 0 if signature.args[0].ndim == 2 else 1
    matrix, vector, out = arrays[place], arrays[1 - place], arrays[2]
    (rows,), (columns,) = (cgutils.unpack_tuple(builder, of.shape) for of in (out, vector))
    by_rows = (signature.args[place].layout == "C") == (place == 0)
    dtype = signature.return_type.dtype
    if dtype not in matrix_vector.KINDS:
        return in_blas(context, builder, signature, operands, builder.mul(rows, columns))
    suits = matrix_vector.suits(builder, dtype, by_rows, rows, columns)
    shape = cgutils.unpack_tuple(builder, matrix.shape)
    for size, other in zip(shape, (rows, columns) if place == 0 else (columns, rows)):
        suits = builder.and_(suits, builder.icmp_signed("==", size, other))
    with builder.if_else(suits) as (here, there):
        with here:
            data = matrix.data, vector.data, out.data
            matrix_vector.multiply(builder, dtype, by_rows, *data, rows, columns)
            impl_ret_borrowed(context, builder, signature.return_type, operands[2])
        with there:
            in_blas(context, builder, signature, operands, builder.mul(rows, columns))
    return operands[2]


def in_blas(context: Any, builder: Any, signature: Any, operands: tuple, elements: Any) -> Any:
    with threads_for(builder, builder.mul(elements, ir.IntType(64)(WAITS))):
        return linalg.dot_3_vm(context, builder, signature, operands)
