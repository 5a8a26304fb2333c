"""Reductions over some axes: `axis` is a tuple of axes counted from 0, or one axis for argmax and argmin."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..build import Builder
from ..core import ArrayType, Dimension, Operand, type_of
from ..errors import ShapeMismatchError
from ..registry import PRIMITIVES, primitive
from .probing import result_dtype


def reduced_shape(of: ArrayType, axes: tuple[int, ...], keepdims: bool) -> tuple[Dimension, ...]:
    """The shape that is left when `axes` are reduced."""
    if keepdims:
        return tuple(1 if axis in axes else size for axis, size in enumerate(of.shape))
    return tuple(size for axis, size in enumerate(of.shape) if axis not in axes)


def reduction_type(function: Callable, empty: str | None = None) -> Callable:
    """The type rule of a reduction, which raises the message `empty` where there is nothing to reduce."""

    def rule(builder: Builder, x: Operand, *, axis: int | tuple, keepdims: bool = False) -> ArrayType:
        of = type_of(x)
        axes = axis if isinstance(axis, tuple) else (axis,)
        if empty is not None:
            require_nonempty(builder, of, axes, empty)
        dtype = result_dtype(function, x, location=builder.location, axis=axis)
        return ArrayType(dtype, reduced_shape(of, axes, keepdims))

    return rule


def require_nonempty(builder: Builder, of: ArrayType, axes: tuple[int, ...], message: str) -> None:
    """Check, now or at run time, that no reduced axis has size 0; NumPy lets an empty result pass."""
    kept = [builder.lower_bound(size) for axis, size in enumerate(of.shape) if axis not in axes]
    for axis in axes:
        size = builder.representative(of.shape[axis])
        if None not in kept and 0 not in kept:
            if isinstance(size, int) and size == 0:
                raise ShapeMismatchError(message, location=builder.location)
            if builder.lower_bound(size) in (None, 0):
                filled = builder.emit(PRIMITIVES["greater"], size, 0)
                builder.emit(PRIMITIVES["check"], filled, exception="ValueError", message=message)


NO_IDENTITY = "zero-size array to reduction operation {} which has no identity"
NO_ELEMENT = "attempt to get {} of an empty sequence"

sum = primitive("sum", np.sum, reduction_type(np.sum), printed="np.sum")
prod = primitive("prod", np.prod, reduction_type(np.prod), printed="np.prod")
any = primitive("any", np.any, reduction_type(np.any), printed="np.any")
all = all_ = primitive("all", np.all, reduction_type(np.all), printed="np.all")
max = primitive("max", np.max, reduction_type(np.max, NO_IDENTITY.format("maximum")), printed="np.max")
min = primitive("min", np.min, reduction_type(np.min, NO_IDENTITY.format("minimum")), printed="np.min")
argmax = primitive("argmax", np.argmax, reduction_type(np.argmax, NO_ELEMENT.format("argmax")),
                   printed="np.argmax")
argmin = primitive("argmin", np.argmin, reduction_type(np.argmin, NO_ELEMENT.format("argmin")),
                   printed="np.argmin")
