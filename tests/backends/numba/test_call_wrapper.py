"""How Python calls compiled functions: every kind of argument, and what is raised."""

import gc
import sys

import numba
import numpy as np
import pytest

from chainrule.backends.numba import pipeline

compiled = numba.njit(error_model="numpy", pipeline_class=pipeline.Compiler)


@compiled
def mixed(count, factor, flag, number, x, y):
    if count < 0:
        raise ValueError("the count is negative")
    if not flag:
        return None
    return count, factor * 2, number + 1j, x, y.sum(), x.shape


ARRAYS = [
    np.arange(6.0).reshape(2, 3),
    np.asfortranarray(np.ones((2, 3))),
    np.arange(24.0).reshape(4, 6)[::2, ::-2],
]


@pytest.mark.parametrize("x", ARRAYS)
def test_every_kind_of_argument(x):
    y = np.array([True, False, True])
    given = 3, np.float32(0.5), True, 2 - 1j, x, y
    count, factor, number, same, total, shape = mixed(*given)
    assert (count, factor, number, total, shape) == (3, 1.0, 2, 2, (2, 3))
    assert np.shares_memory(same, x) and same.strides == x.strides
    assert mixed(3, np.float32(0.5), False, 2 - 1j, x, y) is None


def test_arguments_are_let_go_of():
    x, y = np.ones((2, 3)), np.ones(3, dtype=bool)
    given = 1, np.float32(1), True, 1j, x, y
    mixed(*given)
    before = sys.getrefcount(x), sys.getrefcount(y)
    for _ in range(20):
        mixed(*given)
        with pytest.raises(ValueError, match="the count is negative"):
            mixed(-1, *given[1:])
    gc.collect()
    assert (sys.getrefcount(x), sys.getrefcount(y)) == before


def test_other_objects_are_refused():
    x, y = np.ones((2, 3)), np.ones(3, dtype=bool)
    mixed(1, np.float32(1), True, 1j, x, y)
    entry = next(iter(mixed.overloads.values())).entry_point
    before = sys.getrefcount(x)
    for wrong in [
        (1, np.float32(1), True, 1j, x, "text"),
        (1, np.float32(1), True, 1j, x, np.ones(3)),
        ("text", np.float32(1), True, 1j, x, y),
    ]:
        with pytest.raises((TypeError, ValueError)):
            entry(*wrong)
    with pytest.raises(TypeError):
        entry(1)
    del wrong
    assert sys.getrefcount(x) == before
