"""Sorting, and what sorting finds."""
from __future__ import annotations

import numpy as np

from ..primitives import sorting
from ..registry import composition
from .arguments import axis_index


def sorted_axis(a, axis):
    """The array and the axis to sort along; None means the flattened array."""
    a = np.asarray(a)
    if axis is None:
        return np.ravel(a), 0
    return a, axis_index(axis, a.ndim)


@composition(np.sort)
def sort(a, axis=-1, kind=None, *, stable=None):
    """np.sort."""
    a, axis = sorted_axis(a, axis)
    return sorting.sort(a, axis=axis)


@composition(np.argsort, method="argsort")
def argsort(a, axis=-1, kind=None, *, stable=None):
    """np.argsort."""
    a, axis = sorted_axis(a, axis)
    if stable or kind in ("stable", "mergesort"):
        return sorting.argsort(a, axis=axis, kind="stable")
    return sorting.argsort(a, axis=axis)


@composition(np.partition)
def partition(a, kth, axis=-1, kind="introselect"):
    """np.partition: a sorted array is partitioned everywhere."""
    a, axis = sorted_axis(a, axis)
    check_places(kth, a.shape[axis])
    return sorting.sort(a, axis=axis)


@composition(np.argpartition, method="argpartition")
def argpartition(a, kth, axis=-1, kind="introselect"):
    """np.argpartition."""
    a, axis = sorted_axis(a, axis)
    check_places(kth, a.shape[axis])
    return sorting.argsort(a, axis=axis)


def check_places(kth, size):
    """Refuse places outside the axis."""
    for place in kth if isinstance(kth, (tuple, list)) else (kth,):
        if place < -size or place >= size:
            raise ValueError(f"kth(={place}) out of bounds ({size})")


@composition(np.lexsort)
def lexsort(keys, axis=-1):
    """np.lexsort: the last key counts most."""
    first = np.asarray(keys[0])
    axis = axis_index(axis, first.ndim)
    order = sorting.argsort(first, axis=axis, kind="stable")
    for place in range(1, len(keys)):
        key = np.take_along_axis(np.asarray(keys[place]), order, axis)
        order = np.take_along_axis(order, sorting.argsort(key, axis=axis, kind="stable"), axis)
    return order


@composition(np.unique)
def unique(ar, return_index=False, return_inverse=False, return_counts=False, *, equal_nan=True, sorted=True):
    """np.unique, of the flattened array."""
    a = np.asarray(ar)
    flat = np.ravel(a)
    total = flat.shape[0]
    if return_index or return_inverse:
        order = sorting.argsort(flat, axis=0, kind="stable")
        ordered = flat[order]
    else:
        ordered = sorting.sort(flat, axis=0)
    new = ordered[1:] != ordered[:-1]
    if equal_nan and a.dtype.kind in "fc":
        new = new & ~(np.isnan(ordered[1:]) & np.isnan(ordered[:-1]))
    new = np.concatenate((np.ones(np.minimum(total, 1), bool), new))
    firsts = np.nonzero(new)[0]
    results = [ordered[firsts]]
    if return_index:
        results.append(order[firsts])
    if return_inverse:
        inverse = np.zeros(total, np.intp)
        inverse[order] = np.cumsum(new) - 1
        results.append(inverse.reshape(a.shape))
    if return_counts:
        results.append(np.diff(np.concatenate((firsts, np.asarray([total])))))
    return results[0] if len(results) == 1 else tuple(results)


@composition(np.isin)
def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    """np.isin."""
    element, tests = np.asarray(element), np.ravel(test_elements)
    found = np.any(element[..., None] == tests, axis=-1)
    return ~found if invert else found
