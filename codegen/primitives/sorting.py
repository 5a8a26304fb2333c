"""Sorting along one axis, counted from 0, and searching in what is sorted."""
from __future__ import annotations

import numpy as np

from ..build import Builder
from ..core import ArrayType, Operand, type_of
from ..errors import ShapeMismatchError
from ..registry import primitive


def sort_type(builder: Builder, x: Operand, *, axis: int) -> ArrayType:
    return type_of(x)


def argsort_type(builder: Builder, x: Operand, *, axis: int, kind: str | None = None) -> ArrayType:
    return type_of(x).with_dtype(np.intp)


def searchsorted_type(builder: Builder, a: Operand, v: Operand, *, side: str = "left") -> ArrayType:
    if type_of(a).ndim != 1:
        raise ShapeMismatchError("object too deep for desired array" if type_of(a).ndim else
                                 "object of too small depth for desired array", location=builder.location)
    return ArrayType(np.dtype(np.intp), type_of(v).shape)


sort = primitive("sort", np.sort, sort_type, printed="np.sort")
argsort = primitive("argsort", np.argsort, argsort_type, printed="np.argsort")
searchsorted = primitive("searchsorted", np.searchsorted, searchsorted_type, printed="np.searchsorted")
