"""Gradients of lanes that are done several at a time, against differences and against one lane alone."""

import math

import numpy as np
import pytest

import chainrule as cr
from tests.codegen.test_lanes_in_step import newton, refusing, single, stopped


def sums(function, weights):
    return lambda *columns: np.sum(cr.vmap(function)(*columns) * weights)


def check(function, *columns, argnums=0, tolerance=1e-11):
    """Gradients of a weighted sum over all lanes, against each lane's own in NumPy."""
    weights = np.cos(np.arange(len(columns[0]))).astype(columns[0].dtype)
    gradient = cr.grad(sums(function, weights), argnums)
    assert "event_turns" in cr.source(gradient, stage="numba")(*columns)
    found = cr.tree.leaves(cr.jit(gradient)(*columns))
    alone = cr.grad(function, argnums)
    expected = [cr.tree.leaves(alone(*one)) for one in zip(*columns, strict=True)]
    for number, values in enumerate(found):
        own = weights * [one[number] for one in expected]
        np.testing.assert_allclose(values, own, rtol=tolerance, atol=tolerance)


def differences(function, *columns, width=1e-6):
    """The derivative of each lane by its first argument."""
    first, *others = columns
    ahead, behind = (
        np.array([function(*one) for one in zip(first + step, *others)]) for step in (width, -width)
    )
    return (ahead - behind) / (2 * width)


@pytest.mark.parametrize("count", [64, 513])
def test_numbers_of_lanes(count):
    a = np.exp(np.linspace(-20, 19, count))
    weights = np.sin(np.arange(count))
    found = cr.jit(cr.grad(sums(newton, weights)))(a)
    np.testing.assert_allclose(found, weights * 0.5 / np.sqrt(a), rtol=1e-10)


def squared(x, n):
    """Trip counts are n; the loop's last value and the first are read after it."""
    y, odd = x, False
    while n > 0:
        if odd:
            y = np.sin(y) * x + y
        else:
            y = y * y / (1.0 + x * x)
        odd = not odd
        n -= 1
    return y * y + x


def test_trip_counts():
    n = np.array([0, 1, 2, 3] * 40 + [0] * 20 + [1] * 20 + [11] + [0] * 9)
    x = np.linspace(0.1, 1.2, len(n))
    check(squared, x, n)
    found = cr.jit(cr.grad(sums(squared, np.ones(len(n)))))(x, n)
    np.testing.assert_allclose(found, differences(squared, x, n), rtol=1e-6, atol=1e-7)
    check(squared, x[:100], np.zeros(100, int))


def powers(x, count):
    total = 0.0
    for k in range(count):
        if total > 3.0:
            break
        total = total * 0.5 + math.exp(-x * k) * k
    return total * x


def test_loops_over_a_range():
    count = np.arange(100) % 7
    x = np.linspace(0.2, 2.0, 100)
    check(powers, x, count)
    found = cr.jit(cr.grad(sums(powers, np.ones(100))))(x, count)
    np.testing.assert_allclose(found, differences(powers, x, count), rtol=1e-6, atol=1e-8)


def spiral(x, y):
    while x * x + y * y < 30.0:
        if x > y:
            x, y = x + 0.3 * y, y * 1.01
        else:
            x, y = x * 1.1, y + np.sin(x)
    return x * y


def test_two_arguments_and_single_precision():
    check(spiral, np.linspace(0.1, 4.0, 90), np.linspace(0.9, 0.2, 90), argnums=(0, 1))
    check(single, np.linspace(0.1, 20, 200).astype(np.float32), tolerance=1e-4)


def test_break_and_continue():
    most = np.arange(150) % 41
    x = np.linspace(0.05, 9.0, 150)
    found = cr.jit(cr.grad(sums(stopped, np.ones(150))))(x, most)
    np.testing.assert_allclose(found, differences(stopped, x, most), rtol=1e-5, atol=1e-6)


def test_value_and_gradient():
    a = np.linspace(0.5, 90, 200)
    weights = np.sin(np.arange(200))
    value, gradient = cr.jit(cr.value_and_grad(sums(newton, weights)))(a)
    np.testing.assert_allclose(value, np.sum(np.sqrt(a) * weights), rtol=1e-12)
    np.testing.assert_allclose(gradient, weights * 0.5 / np.sqrt(a), rtol=1e-10)
    values, gradients = cr.jit(cr.vmap(cr.value_and_grad(newton)))(a)
    np.testing.assert_allclose(values, np.sqrt(a), rtol=1e-12)
    np.testing.assert_allclose(gradients, 0.5 / np.sqrt(a), rtol=1e-10)


def test_many_turns():
    """Tapes grow."""

    def decayed(x):
        y = 1.0
        while y > 1e-3:
            y = y * x
        return y

    x = 1.0 - np.logspace(-1, -3, 70)
    trips = np.ceil(np.log(1e-3) / np.log(x))
    found = cr.jit(cr.grad(sums(decayed, np.ones(70))))(x)
    np.testing.assert_allclose(found, trips * x ** (trips - 1), rtol=1e-9)


def test_the_first_lane_that_fails():
    x = np.linspace(0.0, 3.0, 300)
    gradient = cr.jit(cr.grad(sums(lambda x: refusing(x, 10.0), np.ones(300))))
    assert np.all(np.isfinite(gradient(x)))
    x[250], x[70] = 7.0, -9.0
    with pytest.raises(ValueError, match="is complex"):
        gradient(x)
    x[70] = 1.0
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        gradient(x)
