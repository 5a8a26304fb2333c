"""Running totals along one axis, counted from 0."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..build import Builder
from ..core import ArrayType, Operand, type_of
from ..registry import primitive
from .probing import result_dtype


def scan_type(function: Callable) -> Callable:
    """The type rule of a scan: its operand's shape, and the dtype that NumPy accumulates in."""

    def rule(builder: Builder, x: Operand, *, axis: int) -> ArrayType:
        return ArrayType(result_dtype(function, x, location=builder.location, axis=axis), type_of(x).shape)

    return rule


cumsum = primitive("cumsum", np.cumsum, scan_type(np.cumsum), printed="np.cumsum")
cumprod = primitive("cumprod", np.cumprod, scan_type(np.cumprod), printed="np.cumprod")
