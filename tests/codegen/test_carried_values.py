"""What one turn of a loop computes and the next computes again is carried, and nothing else is."""

import math

import numpy as np
import pytest

import chainrule as cr


def lambert(c, limit):
    x, turns = 1.0, 0
    error = x * math.exp(x) - c
    while abs(error) > 1e-12 * c and turns < limit:
        x -= error / ((1.0 + x) * math.exp(x))
        error = x * math.exp(x) - c
        turns += 1
    return x


def powers(x, n):
    """The exponent is another in the next turn."""
    for i in range(n):
        y = x**i + 0.5
        x = 0.5 * y ** (1.0 / (i + 1.0)) + 0.1 * x**i
    return x


def of_the_index(x, n):
    for i in range(n):
        x = 0.3 * np.power(x, i) + np.power(0.5 * x, i)
    return x


def swapped(x, n):
    y = 2.0 * x
    for _ in range(n):
        a = np.sin(x) + np.cos(y)
        x, y = y, 0.5 * a
        a = np.sin(x) + np.cos(y)
    return x + y + (a if n else 0.0)


def kept_if(x, n):
    """On one side only the sine is computed at the end."""
    k = 0
    while k < n:
        x = np.sin(x) + 0.5
        if k % 2:
            x = x + np.sin(x)
        k += 1
    return x


@pytest.mark.parametrize("trips", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("function", [lambert, powers, of_the_index, swapped, kept_if])
def test_values_and_slopes(function, trips):
    x, step = 1.3, 1e-6
    np.testing.assert_allclose(cr.jit(function)(x, trips), function(x, trips), rtol=1e-13)
    slope = (function(x + step, trips) - function(x - step, trips)) / (2 * step)
    np.testing.assert_allclose(cr.jit(cr.grad(function))(x, trips), slope, rtol=1e-6, atol=1e-9)


def test_one_exponential_in_each_turn():
    text = cr.source(cr.jit(lambert), stage="numba")(3.0, 50)
    loop = text[text.index("while ") :]
    assert loop.count("np.exp(") == 1


def test_lanes():
    c = np.linspace(0.5, 50.0, 9)
    found = cr.jit(cr.vmap(lambert, in_axes=(0, None)))(c, 100)
    np.testing.assert_allclose(found * np.exp(found), c, rtol=1e-11)
