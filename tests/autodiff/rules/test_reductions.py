"""Derivatives of reductions, scans and sorting."""

import numpy as np
import pytest

from chainrule.autodiff import rules  # noqa: F401
from chainrule.codegen.primitives import reductions, scans, sorting
from tests.autodiff.rules.checks import check_rule

RNG = np.random.default_rng(0)
ARRAYS = [
    np.array(1.5), RNG.standard_normal(4), RNG.standard_normal((3, 4)), RNG.standard_normal((2, 3, 4)),
    RNG.standard_normal((3, 1)), RNG.standard_normal((6, 8))[::2, ::-2],
    RNG.standard_normal((3, 4)).astype("f"),
    np.zeros((3, 0)), RNG.standard_normal((3, 2)) + 1j * RNG.standard_normal((3, 2)), np.zeros(3),
    np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 5.0]]), np.array([2.0, 0.0, 3.0, 0.0]),
]


def axes(rank):
    return [(), *((i,) for i in range(rank)), *([tuple(range(rank))] if rank > 1 else []),
            *([(0, 2)] if rank > 2 else [])]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("x", ARRAYS)
@pytest.mark.parametrize("primitive", [reductions.sum, reductions.prod])
def test_sum_and_prod(primitive, x, keepdims):
    for axis in axes(x.ndim):
        check_rule(primitive, x, axis=axis, keepdims=keepdims)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("x", [x for x in ARRAYS[:7]])
@pytest.mark.parametrize("primitive", [reductions.max, reductions.min])
def test_extremes(primitive, x, keepdims):
    for axis in axes(x.ndim):
        check_rule(primitive, x, axis=axis, keepdims=keepdims)


def test_extremes_share_among_ties():
    x = np.array([[1.0, 3, 3], [2, 2, 2]])
    out = reductions.max(x, axis=(1,))
    share = reductions.max.vjp[0](np.array([6.0, 6]), out, x, axis=(1,))
    np.testing.assert_array_equal(share, [[0, 3, 3], [2, 2, 2]])
    assert reductions.max.jvp[0](np.ones((2, 3)), out, x, axis=(1,)).tolist() == [1, 1]
    assert reductions.min.vjp[0](1.0, 1.0, x, axis=(0, 1)).tolist() == [[1, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("x", [x for x in ARRAYS if x.ndim])
@pytest.mark.parametrize("primitive", [scans.cumsum, scans.cumprod])
def test_scans(primitive, x):
    for axis in range(x.ndim):
        check_rule(primitive, x, axis=axis)


@pytest.mark.parametrize("x", [x for x in ARRAYS[:7] if x.ndim])
def test_sort(x):
    for axis in range(x.ndim):
        check_rule(sorting.sort, x, axis=axis)


def test_sort_of_equal_elements_keeps_their_order():
    x = np.array([2.0, 1.0, 2.0])
    assert sorting.sort.jvp[0](np.array([1.0, 2, 3]), None, x, axis=0).tolist() == [2, 1, 3]
    assert sorting.sort.vjp[0](np.array([1.0, 2, 3]), None, x, axis=0).tolist() == [2, 1, 3]
