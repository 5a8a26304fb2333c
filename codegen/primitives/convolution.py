"""Convolution of two vectors: `mode` is "full", or "valid" where the first is not the shorter."""
from __future__ import annotations

import numpy as np

from ..build import Builder
from ..core import ArrayType, Operand, type_of
from ..errors import ShapeMismatchError
from ..registry import primitive


def convolve_type(builder: Builder, a: Operand, v: Operand, *, mode: str = "full") -> ArrayType:
    left, right = type_of(a), type_of(v)
    for name, of in (("a", left), ("v", right)):
        if of.ndim != 1:
            raise ShapeMismatchError("object too deep for desired array", location=builder.location)
        if of.shape == (0,):
            raise ShapeMismatchError(f"{name} cannot be empty", location=builder.location)
    size, width = left.shape[0], right.shape[0]
    if mode == "full":
        total = builder.dimension_add(builder.dimension_add(size, width), -1)
    else:
        total = builder.dimension_add(builder.dimension_subtract(size, width), 1)
    return ArrayType(np.result_type(left.dtype, right.dtype), (total,))


convolve = primitive("convolve", lambda a, v, mode="full": np.convolve(a, v, mode), convolve_type,
                     printed="np.convolve")
