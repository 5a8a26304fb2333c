"""Sums over rows, a few rows at a time: the same values, whether or not the last block is full."""

import numpy as np
import pytest

import chainrule as cr

R = np.random.default_rng(5)


def contracted(a, b):
    return np.sum(a[:, :, np.newaxis] * b, axis=1)


def windows(x, w):
    out = np.empty((x.shape[0], x.shape[1] - 1, w.shape[1]))
    for j in range(x.shape[1] - 1):
        out[:, j, :] = np.sum(x[:, j : j + 2, np.newaxis] * w, axis=1)
    return out


@pytest.mark.parametrize("rows", [2, 8, 19])
def test_blocks_of_rows(rows):
    a, b = R.integers(0, 9, (rows, 3)), R.integers(0, 9, (3, 4))
    text = cr.source(contracted, stage="loops")(a, b)
    assert "for first in range(0, n, 8):" in text
    np.testing.assert_array_equal(cr.jit(contracted)(a, b), a @ b)


def test_the_sums_of_every_turn_are_in_one_array():
    x, w = R.standard_normal((9, 4)), R.standard_normal((2, 3))
    lines = cr.source(windows, stage="loops")(x, w).splitlines()
    made = [k for k, line in enumerate(lines) if "= np.empty(" in line and "#" not in line]
    (loop,) = (k for k, line in enumerate(lines) if line.startswith("    for "))
    assert len(made) == 2 and max(made) < loop
    expected = np.stack([x[:, j : j + 2] @ w for j in range(3)], axis=1)
    np.testing.assert_allclose(cr.jit(windows)(x, w), expected, rtol=1e-12)


def test_rows_that_are_all_that_is_read_stay_as_they_are():
    x = R.standard_normal((9, 3, 4))
    text = cr.source(lambda x: np.sum(x * 2.0, axis=1), stage="loops")(x)
    assert "range(0, n, 8)" not in text


def test_arrays_that_outlive_a_turn_are_made_in_it():
    def f(x):
        rows = []
        for i in range(x.shape[0]):
            row = np.zeros(x.shape[1])
            for j in range(1, x.shape[1]):
                row[j] = row[j - 1] + x[i, j]
            rows.append(row)
        return rows[0], rows[-1]

    x = R.standard_normal((4, 5))
    expected = np.cumsum(x * (np.arange(5) > 0), axis=1)
    for one, other in zip(cr.jit(f)(x), (expected[0], expected[-1])):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_arrays_of_a_loop_without_a_turn():
    def f(x, n):
        total = 0.0
        for i in range(n - 5):
            y = np.zeros(n - 5)
            y[i] = x[i]
            total += np.sum(y * y)
        return total

    assert cr.jit(f)(np.arange(3.0), 3) == 0.0
    assert cr.jit(f)(np.arange(3.0), 7) == 1.0
