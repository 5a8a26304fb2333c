"""Tables whose rows are done two at a time, the second one element behind."""

import math

import numpy as np
import pytest

import chainrule as cr


def soft_path(x, y, gamma):
    n, m = x.shape[0], y.shape[0]
    table = np.full((n + 1, m + 1), 1e10)
    table[0, 0] = 0.0
    for i in range(n):
        for j in range(m):
            a, b, c = -table[i, j] / gamma, -table[i, j + 1] / gamma, -table[i + 1, j] / gamma
            largest = max(a, b, c)
            total = math.exp(a - largest) + math.exp(b - largest) + math.exp(c - largest)
            table[i + 1, j + 1] = (x[i] - y[j]) ** 2 - gamma * (math.log(total) + largest)
    return table[n, m]


def upwards(t, w):
    """From the last row and column to the first, with a sum for each row, kept beside it."""
    t, sums = t.copy(), np.zeros(t.shape[0])
    for i in range(t.shape[0] - 2, 0, -1):
        total = w[i]
        for j in range(t.shape[1] - 2, -1, -1):
            t[i, j] = np.exp(-t[i, j + 1] * t[i + 1, j]) / (1 + t[i - 1, j] ** 2)
            total += t[i, j] * j
        sums[i] = total
    return t, sums


def far(t):
    """An element needs another above it, three places on."""
    t = t.copy()
    for i in range(1, t.shape[0]):
        for j in range(1, t.shape[1] - 3):
            t[i, j] = np.exp(-t[i, j - 1] - t[i - 1, j + 3])
    return t


def around(t):
    """The first element of a row needs the last of the row above."""
    t = t.copy()
    for i in range(1, t.shape[0]):
        for j in range(t.shape[1]):
            t[i, j] = np.exp(-t[i, j - 1] - t[i - 1, j - 1])
    return t


def shifting(t):
    """A row begins with what the row above has ended with."""
    t, last = t.copy(), np.ones(1)
    for i in range(t.shape[0]):
        t[i, 0] = last[0]
        for j in range(1, t.shape[1]):
            t[i, j] = np.exp(-t[i, j - 1])
        last[0] = t[i, -1]
    return t


def text(function, *arguments):
    return cr.source(cr.jit(function), stage="numba")(*arguments)


def table(n, m):
    return np.random.default_rng(n + 10 * m).uniform(0.1, 1.0, (n, m))


@pytest.mark.parametrize(("n", "m"), [(2, 2), (3, 4), (4, 3), (5, 2), (6, 7)])
def test_paths(n, m):
    x, y = np.sin(np.arange(n) * 1.3), np.cos(np.arange(m) * 0.7)
    assert "for pair in" in text(soft_path, x, y, 0.7)
    np.testing.assert_allclose(cr.jit(soft_path)(x, y, 0.7), soft_path(x, y, 0.7), rtol=1e-12)
    cr.check_grads(cr.jit(soft_path), (x, y, 0.7), order=1)
    gradient = cr.grad(soft_path, argnums=(0, 1))
    for one, other in zip(cr.jit(gradient)(x, y, 0.7), gradient(x, y, 0.7)):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("n", "m"), [(2, 2), (3, 2), (4, 5), (7, 3)])
def test_backwards_with_sums(n, m):
    t, w = table(n, m), np.arange(float(n))
    assert "for pair in" in text(upwards, t, w)
    for one, other in zip(cr.jit(upwards)(t, w), upwards(t, w)):
        np.testing.assert_allclose(one, other, rtol=1e-13)


@pytest.mark.parametrize("function", [far, around, shifting])
def test_rows_that_would_read_too_early(function):
    t = table(5, 6)
    assert "for pair in" not in text(function, t)
    np.testing.assert_allclose(cr.jit(function)(t), function(t), rtol=1e-13)


def test_an_exception_is_the_same():
    def roots(t):
        t = t.copy()
        for i in range(1, t.shape[0]):
            for j in range(1, t.shape[1]):
                t[i, j] = math.sqrt(t[i, j - 1] - t[i - 1, j])
        return t

    t = table(4, 4)
    for function in (roots, cr.jit(roots)):
        with pytest.raises(ValueError, match="math domain error"):
            function(t)
