"""NumPy functions that ask about shapes and dtypes: their results are known, or sizes."""
from __future__ import annotations

from typing import Any

import numpy as np

from .machine import Specialiser
from .operators import as_array
from .values import is_dynamic


def dimensions(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    return s.type(arguments[0]).ndim if s.number(arguments[0]) else np.ndim(known_shape(s, arguments[0]))


def shape(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    value = arguments[0] if s.number(arguments[0]) else as_array(s, arguments[0])
    return s.shape(value)


def known_shape(s: Specialiser, value: Any) -> Any:
    return np.empty((1,) * len(s.shape(as_array(s, value))))


def number_of_elements(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    sizes = shape(s, arguments, keywords, node)
    axis = keywords.get("axis", arguments[1] if len(arguments) > 1 else None)
    return s.builder.product(sizes) if axis is None else sizes[axis]


def sample(s: Specialiser, value: Any) -> Any:
    """A known value that promotes as `value` does."""
    if not s.number(value):
        return value
    of = s.type(value)
    return np.zeros((), of.dtype)[()].item() if of.weak else np.zeros((1,) * of.ndim, of.dtype)


def about_types(function: Any) -> Any:
    """A NumPy function whose result depends only on the dtypes of its arguments."""

    def run(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
        return function(*(sample(s, a) for a in arguments), **keywords)

    return run


def is_scalar(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    (value,) = arguments
    return not s.type(value).shape if is_dynamic(value) else np.isscalar(value)


ABOUT_TYPES = {function: about_types(function) for function in (
    np.result_type, np.iscomplexobj, np.isrealobj, np.can_cast, np.common_type, np.min_scalar_type)}


QUERIES = {
    **ABOUT_TYPES,
    np.ndim: dimensions,
    np.shape: shape,
    np.size: number_of_elements,
    np.isscalar: is_scalar,
}
