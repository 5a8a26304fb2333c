"""What is known of indices: writes that go, checks before loops, elements held in numbers."""

import re

import numpy as np
import pytest

import chainrule as cr

RNG = np.random.default_rng(11)


def lu(a):
    a = a.copy()
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return a


def cholesky(a):
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = np.sqrt(a[i, i])
    return a


def substituted(a):
    x = a[:, 0].copy()
    for i in range(len(x)):
        for j in range(i):
            x[i] -= a[i, j] * x[j]
        x[i] /= a[i, i]
    return x


def swept_up(a):
    y = a[0] * 1.0
    for i in range(len(y) - 2, -1, -1):
        y[i] = np.sin(y[i]) * y[i + 1]
    return y


def overwritten_and_read(a):
    y = a[0] * 1.0
    for i in range(1, len(y)):
        y[i] = y[i] * y[i - 1]
        y[i - 1] = 0.5 * y[i]
    return y


def added_at_one_place(a):
    y = a[0] * 1.0
    for i in range(len(y)):
        y[0] += y[i] * a[i, 0]
    return y


def moved_in_some_turns(a):
    y = a[0] * 1.0
    for i in range(len(y)):
        if a[i, 0] > 0:
            y[i] = y[i] ** 2
            y[0] += y[i]
    return y


def at_places(a):
    y = a[0] * 1.0
    places = np.arange(len(y))[::-1] // 2
    for i in range(len(y)):
        y[places[i]] *= a[i, i]
    return y


FUNCTIONS = [
    lu, cholesky, substituted, swept_up, overwritten_and_read, added_at_one_place, moved_in_some_turns,
    at_places,
]  # fmt: skip


def matrix(n):
    x = RNG.standard_normal((n, n))
    return x @ x.T + n * np.eye(n)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradients(function, n):
    a = matrix(n)
    weights = RNG.standard_normal(np.shape(function(a)))

    def total(a):
        return np.sum(function(a) * weights)

    direction, step = RNG.standard_normal(a.shape), 1e-6
    slope = (total(a + step * direction) - total(a - step * direction)) / (2 * step)
    gradient = cr.grad(total)
    np.testing.assert_allclose(np.sum(gradient(a) * direction), slope, rtol=1e-6, atol=1e-7)
    if n in (1, 3):
        np.testing.assert_allclose(cr.jit(gradient)(a), gradient(a), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(cr.jit(function)(a), function(a), rtol=1e-12)


@pytest.mark.parametrize("function", [lu, cholesky])
def test_factorisations_keep_nothing(function):
    """Their sweeps read finished elements only, and clear none."""
    text = cr.source(cr.grad(lambda a: np.sum(function(a))))(matrix(4))
    assert "tape" not in text and "= 0.0" not in text


def test_what_is_read_again_is_put_back():
    assert "tape" in cr.source(cr.grad(lambda a: np.sum(overwritten_and_read(a))))(matrix(4))


def triangle(a):
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(i):
            total += a[i, j] * a[j, i]
    return total


def shifted(a, k):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i, i + k]
    return total


def downward(a):
    total = 0.0
    for i in range(a.shape[0] + 1, 1, -2):
        total += a[i, 0]
    return total


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 3), (3, 2), (1, 1), (2, 1), (0, 3)])
@pytest.mark.parametrize("function", [triangle, lambda a: shifted(a, 1), lambda a: shifted(a, -2), downward])
def test_checks_before_loops_find_what_numpy_finds(function, shape):
    a = RNG.standard_normal(shape)
    compiled = cr.jit(function)
    try:
        wanted = function(a)
    except IndexError as error:
        with pytest.raises(IndexError, match=re.escape(str(error))):
            compiled(a)
    else:
        np.testing.assert_allclose(compiled(a), wanted)


def test_checks_stay_behind_what_is_printed(capfd):
    def shown(a):
        total = 0.0
        for i in range(3):
            print(i)
            total += a[i]
        return total

    with pytest.raises(IndexError, match="index 2 is out of bounds for axis 0 with size 2"):
        cr.jit(shown)(np.ones(2))
    assert capfd.readouterr().out.split() == ["0", "1", "2"]
