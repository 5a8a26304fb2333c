"""Stacks of numbers as arrays: they grow, are made anew in each turn, and share a count where they can."""

import numpy as np
import pytest

import chainrule as cr


def text(function, *arguments):
    return cr.source(cr.jit(function), stage="numba")(*arguments)


def compounded(x, n):
    """x sin(x sin(... x)), of a while loop with two values a step that its derivative needs."""
    y, k = x, 0
    while k < n:
        y = x * np.sin(y)
        k += 1
    return y


def slope_of_compounded(x, n):
    y, dy = x, 1.0
    for _ in range(n):
        y, dy = x * np.sin(y), np.sin(y) + x * np.cos(y) * dy
    return dy


@pytest.mark.parametrize("trips", [0, 1, 2, 3, 15, 16, 17, 33, 300])
def test_as_many_elements_as_there_are_trips(trips):
    f = cr.jit(cr.grad(compounded))
    assert "longer(" in cr.source(f, stage="numba")(0.9, trips) and ".append(" not in text(f, 0.9, trips)
    np.testing.assert_allclose(f(0.9, trips), slope_of_compounded(0.9, trips), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_elements_of_every_dtype(dtype):
    def f(x, n):
        y = x
        while n > 0:
            y = y * y * x
            n -= 1
        return np.real(y) + np.imag(y)

    x = np.dtype(dtype).type(0.9 + (0.1j if dtype.startswith("c") else 0))
    found = cr.jit(cr.grad(f))(x, 3)
    slope = 15 * np.complex128(x) ** 14  # of x**15
    expected = slope.real + slope.imag, slope.real - slope.imag
    np.testing.assert_allclose(found.real, expected[0], rtol=1e-5)
    if dtype.startswith("c"):
        np.testing.assert_allclose(abs(found.imag), abs(expected[1]), rtol=1e-5)
    assert found.dtype == dtype


def test_branches_keep_which_side_was_taken():
    def f(x, n):
        k = 0
        while k < n:
            x = x * 1.1 if x < 2 else np.sqrt(x) - 0.3
            k += 1
        return x

    def slope(x, n):
        d = 1.0
        for _ in range(n):
            x, d = (x * 1.1, d * 1.1) if x < 2 else (np.sqrt(x) - 0.3, d / (2 * np.sqrt(x)))
        return d

    g = cr.jit(cr.grad(f))
    for n in (0, 1, 5, 40):
        np.testing.assert_allclose(g(1.2, n), slope(1.2, n), rtol=1e-12)


def test_only_one_side_keeps_anything():
    def f(x, n):
        k = 0
        while k < n:
            if k % 3 == 1:
                x = np.sin(x) * x
            k += 1
        return x

    def slope(x, n):
        d = 1.0
        for k in range(n):
            if k % 3 == 1:
                x, d = np.sin(x) * x, (np.cos(x) * x + np.sin(x)) * d
        return d

    g = cr.jit(cr.grad(f))
    for n in (0, 1, 2, 7, 60):
        np.testing.assert_allclose(g(1.2, n), slope(1.2, n), rtol=1e-12)


def test_loops_in_loops():
    def f(x, n):
        i = 0
        while i < n:
            j = 0
            while j < i:
                x = np.sin(x) + 0.1 * x
                j += 1
            x = x * np.cos(x)
            i += 1
        return x

    def slope(x, n):
        d = 1.0
        for i in range(n):
            for _ in range(i):
                x, d = np.sin(x) + 0.1 * x, (np.cos(x) + 0.1) * d
            x, d = x * np.cos(x), (np.cos(x) - x * np.sin(x)) * d
        return d

    g = cr.jit(cr.grad(f))
    for n in (0, 1, 2, 3, 12):
        np.testing.assert_allclose(g(0.8, n), slope(0.8, n), rtol=1e-11)


def test_room_for_as_many_as_can_be_counted():
    def f(x, n):
        y = 0.5 * x
        for i in range(n):
            for _ in range(i, -1, -2):
                x, y = np.sin(y) + 0.1 * x, x * np.cos(y)
        return x + y

    g = cr.jit(cr.grad(f))
    shown = cr.source(g, stage="numba")(0.8, 3)
    assert "longer(" not in shown and shown.count("room = 0") == 1 and shown.count("np.empty(room)") > 1
    for n in (0, 1, 2, 3, 12):
        differences = (f(0.8 + 1e-6, n) - f(0.8 - 1e-6, n)) / 2e-6
        np.testing.assert_allclose(g(0.8, n), differences, rtol=1e-7, atol=1e-9)


def test_a_stack_made_anew_in_each_turn_keeps_its_array():
    def f(xs, n):
        total = 0.0
        for x in xs:
            total += compounded(x, n) ** 2
        return total

    xs = np.array([0.3, 0.7, 1.1])
    g = cr.jit(cr.grad(f))
    np.testing.assert_allclose(
        g(xs, 20), [2 * compounded(x, 20) * slope_of_compounded(x, 20) for x in xs], rtol=1e-12
    )


def test_lanes_keep_their_array():
    def root(a):
        x = a
        while abs(x * x - a) > 1e-12 * a:
            x = 0.5 * (x + a / x)
        return x

    lanes, a = cr.jit(cr.vmap(cr.grad(root))), np.linspace(0.1, 1e9, 40)
    np.testing.assert_allclose(lanes(a), 0.5 / np.sqrt(a), rtol=1e-9)
    lines = cr.source(lanes, stage="numba")(a).splitlines()
    made = next(k for k, line in enumerate(lines) if "= np.empty(16)" in line)
    assert made < next(k for k, line in enumerate(lines) if "for lane in" in line)


def test_tapes_that_grow_together_have_one_count():
    def f(x, y, n):
        while n > 0:
            x, y = x * np.sin(y), y * np.cos(x)
            n -= 1
        return x + y

    g = cr.grad(f, argnums=(0, 1))
    shown = text(g, 0.7, 0.4, 5)
    assert shown.count("_tape = np.empty(16)") >= 2 and shown.count("count + 1") == 1
    step = 1e-6
    differences = (
        (f(0.7 + step, 0.4, 5) - f(0.7 - step, 0.4, 5)) / (2 * step),
        (f(0.7, 0.4 + step, 5) - f(0.7, 0.4 - step, 5)) / (2 * step),
    )
    np.testing.assert_allclose(cr.jit(g)(0.7, 0.4, 5), differences, rtol=1e-8)


def test_a_stack_that_goes_from_one_function_to_another_stays_a_list():
    value, pullback = cr.vjp(cr.jit(lambda x: compounded(x, 20)), 0.9)
    np.testing.assert_allclose(value, compounded(0.9, 20), rtol=1e-13)
    np.testing.assert_allclose(pullback(1.0)[0], slope_of_compounded(0.9, 20), rtol=1e-12)


def test_arrays_are_kept_in_lists():
    def f(x, n):
        while n > 0:
            x = np.sin(x) * x
            n -= 1
        return np.sum(x)

    assert ".append(" in text(cr.grad(f), np.ones(3), 4)
    x, d = np.array([0.3, 0.9]), np.ones(2)
    expected = cr.jit(cr.grad(f))(x, 4)
    for _ in range(4):
        x, d = np.sin(x) * x, (np.cos(x) * x + np.sin(x)) * d
    np.testing.assert_allclose(expected, d, rtol=1e-12)
