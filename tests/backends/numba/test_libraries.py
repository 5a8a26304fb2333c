"""Code that several compiled functions have in common, some of them compiled by Numba alone."""

import numba
import numpy as np

import chainrule as cr
from chainrule.backends.numba import support


def solutions(a, b, v):
    return np.linalg.solve(a, b), np.linalg.solve(a, v)


def test_numba_alone_finds_functions_as_it_calls_them():
    rng = np.random.default_rng(0)
    a, b, v = np.eye(3) * 2 + 0.1 * rng.normal(size=(3, 3)), rng.normal(size=(3, 3)), np.ones(3)
    for found, wanted in zip(cr.jit(solutions)(a, b, v), solutions(a, b, v), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    alone = numba.njit(lambda a, b: support.small_solve(a, b))
    found, whether = alone(a, b)
    assert whether
    np.testing.assert_allclose(found, np.linalg.solve(a, b), rtol=1e-12)


def test_helpers_serve_several_functions():
    a = np.eye(3) + 0.25
    for sign in (1, -1):
        compiled = cr.jit(lambda a, sign=sign: np.linalg.det(a) + sign * np.linalg.inv(a)[0, 0])
        wanted = np.linalg.det(a) + sign * np.linalg.inv(a)[0, 0]
        np.testing.assert_allclose(compiled(a), wanted, rtol=1e-12)
