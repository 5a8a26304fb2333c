"""Windows that slide over an array."""

from __future__ import annotations

import numpy as np

from ..registry import composition
from .arguments import along, axis_index, shape_tuple


@composition(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """np.lib.stride_tricks.sliding_window_view, whose result is read only, and may as well be a copy."""
    x, sizes = np.asarray(x), shape_tuple(window_shape)
    if writeable:
        raise NotImplementedError("sliding_window_view with writeable=True: write into the array itself")
    axes = window_axes(axis, sizes, x.ndim)
    for size, place in zip(sizes, axes):
        if size < 0:
            raise ValueError("`window_shape` cannot contain negative values")
        if size > x.shape[place]:
            raise ValueError("window shape cannot be larger than input array shape")
        starts = np.arange(x.shape[place] - size + 1)
        windows = x[along(place, starts[:, np.newaxis] + np.arange(size))]
        x = np.moveaxis(windows, place + 1, -1)
    return x


def window_axes(axis, sizes, ndim):
    """The axis that each size is for."""
    if axis is None:
        if len(sizes) != ndim:
            raise ValueError(
                "Since axis is None, must provide window_shape for all dimensions of `x`; "
                f"got {len(sizes)} window_shape elements and `x.ndim` is {ndim}."
            )
        return tuple(range(ndim))
    axes = tuple([axis_index(one, ndim) for one in shape_tuple(axis)])
    if len(axes) != len(sizes):
        raise ValueError(
            "Must provide matching length window_shape and axis; "
            f"got {len(sizes)} window_shape elements and {len(axes)} axes elements."
        )
    return axes
