"""Products of matrices and vectors in compiled code, and the threads that BLAS has for them."""

import numpy as np
import pytest

import chainrule as cr
from chainrule.backends.numba import blas_threads, cores

SIZES = [1, 2, 7, 8, 9, 16, 31, 32, 33, 100]
PRODUCTS = [lambda a, x: a @ x, lambda a, x: x @ a.T, lambda a, x: a.T[::-1].T @ x]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_matrix_and_vector(dtype):
    """Every size of what is left over from vectors, for a matrix by rows and one by columns."""
    rng = np.random.default_rng(0)
    compiled = [cr.jit(product) for product in PRODUCTS]
    for n in SIZES:
        for m in SIZES:
            a, x = rng.standard_normal((n, m)).astype(dtype), rng.standard_normal(m).astype(dtype)
            for matrix in (a, np.asfortranarray(a)):
                for product, function in zip(PRODUCTS, compiled):
                    expected = product(a.astype(float), x.astype(float))
                    given = function(matrix, x)
                    assert given.dtype == dtype and given.shape == expected.shape
                    np.testing.assert_allclose(given, expected, rtol=0, atol=20 * m * np.finfo(dtype).eps)


def test_what_is_infinite_stays_in_its_row():
    a = np.ones((20, 21))
    a[3, 2], a[4, 20], a[5, 0] = np.inf, np.inf, np.nan
    np.testing.assert_array_equal(cr.jit(lambda a, x: a @ x)(a, np.ones(21)), a @ np.ones(21))
    np.testing.assert_array_equal(cr.jit(lambda a, x: x @ a)(a, np.ones(20)), np.ones(20) @ a)


def threads():
    blas_threads.make_ready()
    if not blas_threads.STATE.get:
        pytest.skip("SciPy is linked with another BLAS")
    return blas_threads.STATE.get()


def test_threads_are_given_back():
    before = threads()
    a = np.random.default_rng(1).standard_normal((150, 150))
    np.testing.assert_allclose(cr.jit(lambda a: a @ a)(a), a @ a, rtol=1e-10, atol=1e-10)
    assert blas_threads.STATE.get() == before
    with blas_threads.one_thread(), blas_threads.one_thread():
        assert blas_threads.STATE.get() == 1
        np.testing.assert_allclose(cr.jit(lambda a: a @ a)(a), a @ a, rtol=1e-10, atol=1e-10)
        assert blas_threads.STATE.get() == 1
    assert blas_threads.STATE.get() == before


def test_turns_that_cores_share_have_one_thread_each(monkeypatch):
    before, seen = threads(), []
    monkeypatch.setattr(cores, "WORTH_SHARING", -1.0)
    with cr.config(cores=2):
        for _ in range(2):
            cores.share(lambda start, stop: seen.append((stop - start, blas_threads.STATE.get())), 0, 4)
    assert sum(count for count, _ in seen) == 8 and blas_threads.STATE.get() == before
    assert {number for _, number in seen[1:4]} == {1}
