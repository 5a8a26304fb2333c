"""Sums of products over named axes; `subscripts` always says its result: "ij,jk->ik", no ellipsis."""
from __future__ import annotations

import numpy as np

from ..build import Builder
from ..core import ArrayType, Dimension, Operand, type_of
from ..errors import ShapeMismatchError
from ..registry import primitive


def sum_of_products(*operands, subscripts: str):
    """np.einsum, through BLAS where three or more operands make the order of the products matter."""
    return np.einsum(subscripts, *operands, optimize=len(operands) > 2)


def einsum_type(builder: Builder, *operands: Operand, subscripts: str) -> ArrayType:
    inputs, output = subscripts.split("->")
    sizes: dict[str, Dimension] = {}
    for letters, operand in zip(inputs.split(","), operands, strict=True):
        shape = type_of(operand).shape
        if len(letters) != len(shape):
            raise ShapeMismatchError(f"einstein sum subscripts string {letters!r} does not fit an operand of "
                                     f"{len(shape)} dimensions", location=builder.location)
        for place, letter in enumerate(letters):
            message = f"dimensions in an operand for collapsing index {letter!r} don't match"
            builder.require_same(shape[letters.index(letter)], shape[place], message, False)
        for letter, size in zip(letters, map(builder.representative, shape)):
            known = sizes.get(letter, 1)
            if isinstance(known, int) and known == 1:
                sizes[letter] = size
            elif not (isinstance(size, int) and size == 1):
                builder.require_same(known, size, f"einsum: operands differ in the size of axis {letter!r}")
    dtype = np.result_type(*(type_of(operand).dtype for operand in operands))
    return ArrayType(dtype, tuple(sizes[letter] for letter in output))


einsum = primitive("einsum", sum_of_products, einsum_type, printed="np.einsum")
