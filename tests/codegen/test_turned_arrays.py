"""Matrices that are gone through by columns are turned in memory, and come back as they were."""

import numpy as np
import pytest

import chainrule as cr

R = np.random.default_rng(11)
A = R.standard_normal((7, 5))


def text(function, *arguments):
    return cr.source(cr.jit(function), stage="loops")(*arguments)


def orthogonal(a):
    """Gram and Schmidt's: all loops go down columns."""
    n, m = a.shape
    for k in range(m):
        a[:, k] /= np.sqrt(np.dot(a[:, k], a[:, k]))
        for j in range(k + 1, m):
            a[:, j] -= a[:, k] * np.dot(a[:, k], a[:, j])
    return a


def new_array(a):
    n, m = a.shape
    y = np.zeros((n + 1, m))
    for k in range(m):
        for j in range(k + 1):
            for i in range(n):
                y[i + 1, k] += a[i, j] * np.sin(y[i, j])
        y[0, k] = k
    return y


def across(a):
    """The same array is gone through along rows as often."""
    n, m = a.shape
    y = np.ones((m, m))
    for k in range(m):
        for j in range(m):
            for i in range(m):
                y[i, k] += y[k, i] * a[i, j]
    return y


def read_whole(a):
    """What is read as a whole stays as it is."""
    n, m = a.shape
    y = np.ones((m, m))
    for k in range(m):
        for j in range(m):
            for i in range(m):
                y[i, k] += a[i, j] * 0.5
        y = y @ y * 0.01
    return y


def last_rows(a):
    n, m = a.shape
    y = np.zeros((n, m), a.dtype)
    for t in range(3):
        for k in range(-1, m - 1):
            for i in range(1, n):
                y[-i, k] = y[-i, k - 1] * 0.5 + a[i, k]
    return y


def twice(a):
    y = orthogonal(a)
    return y, y


def in_turns(a):
    """A matrix of each turn."""
    n, m = a.shape
    total = np.zeros((n, m))
    for t in range(3):
        y = np.zeros((n, m))
        for k in range(1, m):
            for j in range(k):
                for i in range(n):
                    y[i, k] += y[i, j] * t + a[i, j]
        total = total + y
    return total


@pytest.mark.parametrize("function", [orthogonal, new_array, across, read_whole, last_rows, twice, in_turns])
@pytest.mark.parametrize("order", ["C", "F"])
def test_values(function, order):
    a = np.array(A, order=order)
    found, expected = cr.jit(function)(a.copy(order)), function(a.copy(order))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("function", [orthogonal, new_array, across, read_whole, last_rows, in_turns])
def test_gradients(function):
    weights = R.standard_normal(function(A.copy()).shape)
    loss = lambda a: np.sum(function(a) * weights)
    direction = R.standard_normal(A.shape)
    expected = (loss(A + 1e-6 * direction) - loss(A - 1e-6 * direction)) / 2e-6
    for gradient in (cr.grad(loss), cr.jit(cr.grad(loss))):
        np.testing.assert_allclose(np.sum(gradient(A.copy()) * direction), expected, rtol=1e-6)


def test_an_argument_that_is_written_is_written():
    a, b = A.copy(), A.copy()
    cr.jit(orthogonal)(a)
    np.testing.assert_allclose(a, orthogonal(b), rtol=1e-12, atol=1e-14)


def test_results_lie_in_rows():
    for result in (cr.jit(new_array)(A), cr.jit(cr.grad(lambda a: np.sum(orthogonal(a) ** 3)))(A.copy())):
        assert result.flags.c_contiguous


def test_only_columns_are_turned():
    assert "y[k, i + 1]" in text(new_array, A) or "y[k, total]" in text(new_array, A)
    assert ".T" in text(new_array, A) and ".T" not in text(across, A)
    assert ".T" not in text(read_whole, A)


def test_each_element_once_is_not_worth_it():
    def down(a):
        y = np.zeros(a.shape)
        for k in range(a.shape[1]):
            for i in range(1, a.shape[0]):
                y[i, k] = y[i - 1, k] + a[i, k]
        return y

    assert ".T" not in text(down, A)
    np.testing.assert_allclose(cr.jit(down)(A), down(A), rtol=1e-13)
