"""Small matrices are solved, inverted and so on without the library, with its values and its exceptions."""

import numpy as np
import pytest

import chainrule as cr
from chainrule.codegen.primitives.cofactor import cofactor_matrix

R = np.random.default_rng(8)


def everything(a, b, v):
    return (
        np.linalg.solve(a, b),
        np.linalg.solve(a, v),
        np.linalg.solve(a.T, b[::-1]),
        np.linalg.inv(a),
        np.linalg.det(a),
    )


@pytest.mark.parametrize("n", [1, 2, 3, 5, 16, 17])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_sizes(n, dtype):
    a = (R.standard_normal((n, n)) / np.sqrt(n) + np.eye(n)).astype(dtype)
    arguments = a, R.standard_normal((n, 3)).astype(dtype), R.standard_normal(n).astype(dtype)
    for found, expected in zip(cr.jit(everything)(*arguments), everything(*arguments)):
        assert np.shape(found) == np.shape(expected) and found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=2e-3 if dtype == "f4" else 1e-10, atol=1e-4)


def test_rows_change_places():
    a = np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 0.0], [3.0, 0.0, 1.0]])
    for matrix in (a, a[[1, 0, 2]], np.asfortranarray(a)):
        arguments = matrix, R.standard_normal((3, 2)), R.standard_normal(3)
        for found, expected in zip(cr.jit(everything)(*arguments), everything(*arguments)):
            np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("n", [2, 3, 20])
def test_singular_matrices(n):
    a = np.outer(np.arange(1.0, n + 1), np.arange(1.0, n + 1))
    for function in (np.linalg.inv, lambda a: np.linalg.solve(a, a)):
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            cr.jit(function)(np.zeros((n, n)))
    assert cr.jit(np.linalg.det)(np.zeros((n, n))) == 0
    np.testing.assert_allclose(cr.jit(np.linalg.det)(a), 0, atol=1e-6)
    np.testing.assert_allclose(cr.jit(cr.grad(np.linalg.det))(a), cofactor_matrix(a), atol=1e-9)


@pytest.mark.parametrize("special", [np.nan, np.inf])
def test_what_is_not_finite(special):
    a = R.standard_normal((3, 3))
    a[1, 2] = special
    with np.errstate(all="ignore"):
        for function in (np.linalg.inv, np.linalg.det):
            np.testing.assert_array_equal(cr.jit(function)(a), function(a))


def test_close_to_singular():
    """The cofactors keep their digits where the determinant has none."""
    a = R.standard_normal((4, 4))
    a[3] = a[0] + a[1] + 1e-13 * a[2]
    np.testing.assert_allclose(cr.jit(cr.grad(np.linalg.det))(a), cofactor_matrix(a), rtol=1e-9, atol=1e-12)
