"""Loops, branches and writes in place, forward and reverse, first and second order."""
import numpy as np
import pytest

import chainrule as cr
from tests.autodiff.differences import check

R = np.random.default_rng(3)
V, M = R.standard_normal(5), R.standard_normal((4, 4))


def power_chain(x, n):
    y = x
    for i in range(n):
        y = np.sin(y) * x
    return y


def read_around(x, n):
    y = x * x
    for i in range(n):
        y = y * np.cos(x) + y * y * i
    return y * x


def overwritten(x, n):
    y, z = x * 2.0, x * 3.0
    for i in range(n):
        z = x * x * i
        y = y * z
        z = np.exp(-x)
    return y + z


def swapped(x, n):
    a, b = x, x * x
    for i in range(n):
        a, b = b, a * b
    return a - 2 * b


def nested(x, n):
    total = 0.0
    for i in range(n):
        y = x
        for j in range(i, n + 1):
            y = y * np.sin(x + j) + i
        total = total + y * y
    return total


def nested_square(x, n):
    total = x
    for i in range(n):
        y = total
        for j in range(n):
            y = np.tanh(y * x) + 0.1 * j
        total = total * y
    return total


def backwards(x, n):
    y = x
    for i in range(n - 1, -1, -1):
        y = y * np.cos(x * i) + np.exp(-y)
    return y


def strided(x, n):
    y = x
    for i in range(1, 2 * n + 1, 3):
        y = y * np.cos(x * i) + np.exp(-y)
    for i in range(2 * n, -1, -2):
        y = np.sin(y) + x * i
    return y


def branch_in_loop(x, n):
    y = x
    for i in range(n):
        if y > 0.5:
            z = np.sin(y) * x
            y = z * z - y
        else:
            y = y + np.exp(x) * 0.3
    return y * y


def two_whiles(x, n):
    y, k = x, 0
    while k < n:
        z = x
        while z < 2.0:
            z = z * 1.5 + 0.1 * y
        y = y * np.cos(z)
        k = k + 1
    return y


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("program", [power_chain, read_around, overwritten, swapped, nested, nested_square,
                                     backwards, strided, branch_in_loop, two_whiles])
def test_scalar_loop(program, n):
    check(program, 0.7, n)


def test_power_of_a_loop_at_third_order():
    check(power_chain, 0.7, 3, order=3)


def while_until_small(x):
    y = x
    while abs(y) > 0.1:
        y = 0.5 * y * np.cos(y)
    return y * x


def newton(a):
    x = a
    while True:
        following = 0.5 * (x + a / x)
        if abs(following - x) < 1e-12:
            break
        x = following
    return x


def branch(x):
    if x > 0.3:
        y = x * x
        z = np.exp(y) * y
    else:
        z = x
    return z * x


def branch_constant(x):
    if x > 10:
        y = x
    else:
        y = 2.0
    return y * x


@pytest.mark.parametrize("program", [while_until_small, newton, branch, branch_constant])
@pytest.mark.parametrize("x", [0.2, 3.0])
def test_scalar_control(program, x):
    check(program, x)


def recurrence(w, x):
    h = np.zeros((x.shape[0] + 1, x.shape[1]))
    for t in range(x.shape[0]):
        h[t + 1] = np.tanh(w @ h[t] + x[t])
    return h[1:]


def gauss_seidel(a):
    a = a.copy()
    for t in range(2):
        for i in range(1, 3):
            for j in range(1, 3):
                a[i, j] = (a[i - 1, j] + a[i, j - 1] + a[i, j] * a[i, j] + a[i + 1, j] * a[i, j + 1]) / 5.0
    return a


def cholesky(m):
    n = m.shape[0]
    c = np.zeros((n, n))
    for j in range(n):
        c[j, j] = np.sqrt(m[j, j] - c[j, :j] @ c[j, :j])
        for i in range(j + 1, n):
            c[i, j] = (m[i, j] - c[i, :j] @ c[j, :j]) / c[j, j]
    return c


def lu(m):
    m = m.copy()
    for k in range(m.shape[0]):
        m[k + 1:, k] /= m[k, k]
        m[k + 1:, k + 1:] -= np.outer(m[k + 1:, k], m[k, k + 1:])
    return np.sum(np.log(np.abs(np.diag(m))))


def tridiagonal(d):
    n = d.shape[0]
    c, x = np.zeros(n), d.copy()
    c[0] = 0.4
    for i in range(1, n):
        m = 2.0 - 0.5 * c[i - 1]
        c[i] = 0.8 / m
        x[i] = (x[i] - 0.5 * x[i - 1] * x[i - 1]) / m
    for i in range(n - 2, -1, -1):
        x[i] -= c[i] * x[i + 1]
    return x


def last_wins(x):
    for i in range(x.shape[0]):
        r = x[i] * x[0]
    return r


def shrinking(x):
    v = x * x
    for i in range(3):
        v = np.sin(v[1:]) * v[:-1]
    return v


def masked(m):
    m = m.copy()
    m[m > 0.5] *= 3.0
    m[[0, 3]] = m[[3, 0]]
    return m @ m


def duplicates(x):
    z = x * 2.0
    z[[0, 0, 1]] = x[1:4] * x[1:4]
    return z * z


def added_at(x):
    z = x * 2.0
    np.add.at(z, [0, 0, 1], x[1:4] * x[1:4])
    return z * z


def conditional_write(x):
    y = x.copy()
    for i in range(x.shape[0]):
        if y[i] > 0:
            y[i] = y[i] * x[0]
    return y


def collatz_rows(x):
    y = x.copy()
    for i in range(y.shape[0]):
        while abs(y[i]) > 0.3:
            y[i] = y[i] * np.sin(y[i]) * 0.9
    return y * x


def dependent_rows(x):
    y = x.copy()
    t = 0.0
    for i in range(1, x.shape[0]):
        z = y[:i] * x[i]
        y[i] = np.sum(z * z)
        t = t + y[i - 1] * y[i]
    return t


@pytest.mark.parametrize("program, x", [
    (gauss_seidel, M), (cholesky, M @ M.T + 4 * np.eye(4)), (lu, M @ M.T + 4 * np.eye(4)), (tridiagonal, V),
    (last_wins, V), (shrinking, V), (masked, M), (duplicates, V), (added_at, V), (conditional_write, V),
    (collatz_rows, V), (dependent_rows, V),
], ids=lambda p: getattr(p, "__name__", ""))
def test_array_program(program, x):
    check(program, x)


def test_recurrence():
    check(recurrence, R.standard_normal((3, 3)) * 0.4, R.standard_normal((4, 3)))


def grown_by_broadcast(x, n):
    s = np.zeros(1)
    for k in range(n):
        s = s * 0.5 + x * (k + 1)
    return np.sum(s ** 2)


def grown_in_two_turns(x, n):
    y = x[:1]
    for _ in range(n):
        x, y = x + y, x
    return np.sum(x * y)


def grown_from_a_number(x, n):
    s = 1.0
    for _ in range(n):
        s = np.sin(s * x)
    return np.sum(s)


def of_another_rank_each_turn(x, n):
    y = x
    for _ in range(n):
        y = y[None] * x if np.ndim(y) < 3 else np.sum(y, axis=0)
    return np.sum(y ** 2)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("program", [grown_by_broadcast, grown_in_two_turns, grown_from_a_number,
                                     of_another_rank_each_turn])
def test_types_that_the_first_turns_settle(program, n):
    x = np.array([0.5, -1.0, 1.5])
    check(lambda x: program(x, n), x)
    np.testing.assert_allclose(cr.jit(program, static_argnums=1)(x, n), program(x, n))


def test_a_loop_is_left_after_the_first_turns():
    assert cr.source(grown_by_broadcast)(np.ones(3), 100).count("\n") < 20


WEIGHTS = np.array([0.3, -0.2, 0.5, 0.1])


def test_sizes_that_become_known_after_a_loop():
    def rotated(m):
        m = m + m.T
        for _ in range(12):
            for p in range(len(m) - 1):
                for q in range(p + 1, len(m)):
                    c = np.sqrt(m[q, q] ** 2 + 1) / 2
                    s = c * c / 2
                    left, right = m[:, p].copy(), m[:, q].copy()
                    m[:, p] = c * left - s * right
                    m[:, q] = s * left + c * right
        return np.sum(np.sort(m) * WEIGHTS)

    x, v = M[:, :4] / 9, R.standard_normal((4, 4))
    along = (rotated(x + 1e-6 * v) - rotated(x - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(np.sum(cr.jit(cr.grad(rotated))(x) * v), along, rtol=1e-5)
