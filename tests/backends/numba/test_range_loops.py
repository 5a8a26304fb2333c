"""Loops over ranges, and arrays that change their names in them, in compiled code."""

import numba
import numpy as np
import pytest

from chainrule.backends.numba import pipeline

compiled = numba.njit(error_model="numpy", pipeline_class=pipeline.Compiler)
BOUNDS = [(0, 0), (0, 3), (3, 0), (-2, 2), (2, -2), (2**63 - 3, 2**63 - 1), (-(2**63) + 2, -(2**63))]


@compiled
def turns(start, stop, step):
    up, down, by, last, inner = 0, 0, 0, 7, 0
    for i in range(start, stop):
        up += 1
        last = i
        for j in range(3, 0, -1):
            if j == 1:
                break
            inner += j
    for i in range(start, stop, -1):
        if i == start - 2:
            continue
        down += 1
        last = i
    for i in range(start, stop, step):
        by += 1
        last = i
    return up, down, by, last, inner


@pytest.mark.parametrize("step", [1, -1, 2, -3])
@pytest.mark.parametrize("bounds", BOUNDS)
def test_every_turn_is_done_once(bounds, step):
    assert turns(*bounds, step) == turns.py_func(*bounds, step)


@compiled
def of_other_kinds(n, small):
    total = 0
    for i in range(n):
        for j in range(small):
            total += i * j
    turns = range(2, n)
    for i in turns:
        total += i
    for _ in range(2):
        for i in range(n, 0, -1):
            total += i
    return total, len(turns)


def test_ranges_of_other_integers_and_in_variables():
    assert of_other_kinds(5, np.int32(4)) == of_other_kinds.py_func(5, np.int32(4))


@compiled
def renamed(x, n):
    a, b, kept = x, np.zeros(3), x.copy()
    for i in range(n):
        a, b = b, a + b
        if i % 2:
            kept = a
        elif i > 4:
            kept = b * 2
    c = a if n > 2 else np.ones(3)
    return a, b, c, kept


@pytest.mark.parametrize("n", [0, 1, 2, 3, 8])
def test_arrays_that_change_names(n):
    x = np.arange(3.0)
    for got, wanted in zip(renamed(x, n), renamed.py_func(x, n), strict=True):
        np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(x, np.arange(3.0))
