"""A function of the user's for each row of an array along an axis.

>>> apply_along_axis(np.cumsum, 0, np.ones((3, 2))).tolist()
[[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
"""

from __future__ import annotations

import numpy as np

from ..registry import composition
from .arguments import axis_index, product
from .known import known_equal


@composition(np.apply_along_axis)
def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """np.apply_along_axis."""
    arr = np.asarray(arr)
    axis = axis_index(axis, arr.ndim)
    moved = np.moveaxis(arr, axis, -1)
    others = moved.shape[:-1]
    if any(known_equal(size, 0) for size in others):
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    rows = np.reshape(moved, (product(others), moved.shape[-1]))
    made = np.array([func1d(row, *args, **kwargs) for row in rows])
    made = np.reshape(made, others + made.shape[1:])
    for k in range(made.ndim - len(others)):
        made = np.moveaxis(made, len(others) + k, axis + k)
    return made
