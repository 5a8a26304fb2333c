"""Sums of products in tiles: the same values whatever is left of rows and columns."""

import numpy as np
import pytest

import chainrule as cr

R = np.random.default_rng(6)


def contracted(a, b):
    return np.sum(a[:, :, np.newaxis] * b, axis=1)


@pytest.mark.parametrize("rows, columns", [(8, 16), (19, 41), (8, 15), (7, 32), (24, 17)])
def test_whole_tiles_and_what_is_left(rows, columns):
    a, b = R.standard_normal((rows, 5)), R.standard_normal((5, columns))
    assert "sums[r, c] += a[row + r, j] * part" in cr.source(contracted, stage="loops")(a, b)
    for dtype, precision in ((np.float64, 1e-12), (np.float32, 1e-4)):
        x, y = a.astype(dtype), b.astype(dtype)
        np.testing.assert_allclose(cr.jit(contracted)(x, y), x @ y, rtol=precision, atol=precision)


def windows(x, w):
    out = np.empty((x.shape[0], x.shape[1], x.shape[2] - 4, w.shape[1]))
    for j in range(x.shape[2] - 4):
        out[:, :, j, :] = np.sum(x[:, :, j : j + 5, np.newaxis] * w, axis=2)
    return out


def test_sums_of_every_turn_and_in_every_matrix_of_a_batch():
    x, w = R.standard_normal((3, 9, 7)), R.standard_normal((5, 18))
    lines = cr.source(windows, stage="loops")(x, w).splitlines()
    (made,) = (k for k, line in enumerate(lines) if "sums = np.empty" in line)
    (loop,) = (k for k, line in enumerate(lines) if line.startswith("    for "))
    assert made < loop
    np.testing.assert_allclose(cr.jit(windows)(x, w), windows(x, w), rtol=1e-12)


def test_sums_that_do_not_begin_with_zeros_are_not_in_tiles():
    def f(y, a, b):
        y += np.sum(a[:, :, np.newaxis] * b, axis=1)
        return y

    y, a, b = R.standard_normal((9, 18)), R.standard_normal((9, 5)), R.standard_normal((5, 18))
    np.testing.assert_allclose(cr.jit(f)(y.copy(), a, b), y + a @ b, rtol=1e-12)
    gradient = cr.grad(lambda b: np.sum(f(y.copy(), a, b) * y))
    np.testing.assert_allclose(cr.jit(gradient)(b), a.T @ y, rtol=1e-12)


def test_nothing_is_added_that_is_not_there():
    a, b = np.ones((9, 5)), np.ones((5, 18))
    b[:, 17] = np.inf
    b[2, 3] = np.nan
    np.testing.assert_array_equal(cr.jit(contracted)(a, b), contracted(a, b))


def test_few_products_stay_as_they_are():
    a, b = R.standard_normal((9, 3)), R.standard_normal((3, 18))
    text = cr.source(lambda a, b: contracted(a.reshape(-1, 3), b.reshape(3, -1)), stage="loops")(a, b)
    assert "for first in range(0" in text and "tiles" not in text
