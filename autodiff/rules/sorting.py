"""Derivatives of sorting: of equal elements, each keeps its own place."""
from __future__ import annotations

import numpy as np

from ...codegen.primitives import sorting
from ...codegen.registry import derivative, zero_derivative

zero_derivative(sorting.argsort, sorting.searchsorted)


def sort_jvp(t, out, x, axis):
    return np.take_along_axis(t, np.argsort(x, axis=axis, kind="stable"), axis=axis)


def sort_vjp(ct, out, x, axis):
    ranks = np.argsort(np.argsort(x, axis=axis, kind="stable"), axis=axis)
    return np.take_along_axis(ct, ranks, axis=axis)


derivative(sorting.sort, jvp=sort_jvp, vjp=sort_vjp)
