"""Which axes a reshape splits, and what is read through one."""

import numpy as np
import pytest

import chainrule as cr
from chainrule.codegen.access import parts_of_axes
from chainrule.codegen.core import INT, Variable

N, M, K = (Variable(name, INT) for name in "nmk")


@pytest.mark.parametrize(
    "before, after, parts",
    [
        ((N, M), (N, M), [[0], [1]]),
        ((N, M), (N, 1, M), [[0], [2]]),
        ((N, 1), (N,), [[0]]),
        ((1, 1), (1,), []),
        ((N, M), (N, K), [[0], [1]]),
        ((N, M), (N, 3, K), [[0], [1, 2]]),
        ((N, M), (3, 1, K, M), [[0, 2], [3]]),
        ((N, M, K), (N, 2, 2, 2, K), [[0], [1, 2, 3], [4]]),
        ((N, N), (N, N, N), [[0], [1, 2]]),
        ((N, M), (M, N), None),
        ((N, M), (K,), None),
        ((1,), (N,), None),
        ((N,), (1,), None),
        ((4, 6), (6, 4), None),
    ],
)
def test_parts_of_axes(before, after, parts):
    assert parts_of_axes(before, after) == parts


def test_a_part_is_split_where_it_is_read():
    def f(x):
        part = x[:, 2:14].reshape(x.shape[0], 3, -1)
        return np.sum(np.exp(part), axis=1)

    x = np.random.default_rng(0).normal(size=(5, 24))
    code = [line for line in cr.source(cr.jit(f), stage="loops")(x).splitlines() if "#" not in line]
    assert not any("reshape(" in line for line in code)
    np.testing.assert_allclose(cr.jit(f)(x), f(x), rtol=1e-14)


def test_what_does_not_fit_is_refused_before():
    f = cr.jit(lambda x, n: np.exp(x[:, 1:].reshape(x.shape[0], n, 4)))
    np.testing.assert_allclose(f(np.ones((3, 9)), 2), np.full((3, 2, 4), np.e))
    with pytest.raises(ValueError, match="cannot reshape array of size"):
        f(np.ones((3, 9)), 3)
