"""Stacks of arrays that loops fill whose turns can be counted: parts of one array."""

import numpy as np
import pytest

import chainrule as cr


def gradient(f, x, *others):
    """The compiled gradient in the first argument, and its text."""
    compiled = cr.jit(cr.grad(f))
    return compiled(x, *others), cr.source(compiled, stage="numba")(x, *others)


def slopes(f, x, *others, step=1e-6):
    """The gradient by central differences."""
    found = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        ends = [x.copy(), x.copy()]
        ends[0][at] -= step
        ends[1][at] += step
        found[at] = (f(ends[1], *others) - f(ends[0], *others)) / (2 * step)
    return found


X = np.array([0.3, 0.8, 0.5, 0.9])


def triangle(x, n):
    y = x
    for i in range(n):
        for _ in range(i):
            y = np.sin(y) * y
    return np.sum(y)


def test_as_many_arrays_as_the_loops_have_turns():
    compiled = cr.jit(cr.grad(triangle))
    assert ".append(" not in cr.source(compiled, stage="numba")(X, 3)
    for trips in (0, 1, 2, 3, 6):
        np.testing.assert_allclose(compiled(X, trips), slopes(triangle, X, trips), rtol=1e-7)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_arrays_of_every_dtype(dtype):
    x = X.astype(dtype) * (1 + 0.1j if dtype.startswith("c") else 1)

    def f(x, n):
        return np.real(triangle(x, n))

    found, text = gradient(f, x, 3)
    d, y = np.ones_like(x, dtype="complex128"), x.astype("complex128")
    for _ in range(3):
        y, d = np.sin(y) * y, (np.cos(y) * y + np.sin(y)) * d
    np.testing.assert_allclose(found, d if dtype.startswith("c") else d.real, rtol=1e-5)
    assert found.dtype == dtype and f"np.empty(room, dtype=np.{dtype})" in text


def test_arrays_that_grow_by_turn():
    def f(x):
        y = x.copy()
        for k in range(len(x)):
            y[:k] += y[k] * np.sin(y[:k])
        return np.sum(y)

    found, text = gradient(f, X)
    assert ".append(" not in text and "room = room + k" in text
    np.testing.assert_allclose(found, slopes(f, X), rtol=1e-7)


def test_matrices_that_get_smaller_down_to_nothing():
    def f(x, n):
        y = x.copy()
        for i in range(1, n):
            y[i:, i:] = y[i:, i:] * np.sin(y[i:, i:]) + y[0, 0]
        return np.sum(y)

    x = np.outer(X, X[:3])
    for n in (1, 3, 6):
        found, text = gradient(f, x, n)
        assert ".append(" not in text and text.count(".reshape((") == 4
        np.testing.assert_allclose(found, slopes(f, x, n), rtol=1e-7)


def test_arrays_pushed_together_have_one_count():
    def f(x, w, n):
        y = x
        for i in range(n):
            for _ in range(i):
                a = np.tanh(w @ y)
                y = y + a * np.exp(-a * a)
        return np.sum(y)

    w = np.outer(X, X)
    found, text = gradient(f, X, w, 4)
    assert ".append(" not in text and text.count("= np.empty(room)") == 2
    assert text.count("room = 0") == 1 and text.count("count = 0") == 1
    np.testing.assert_allclose(found, slopes(f, X, w, 4), rtol=1e-7)


def test_a_stack_made_anew_in_each_turn():
    def f(x, n):
        total = 0.0
        for k in range(n):
            total += cr.checkpoint(lambda x, k=k: triangle((k + 1) * x, k + 1))(x)
        return total

    found, text = gradient(f, X, 3)
    assert ".append(" not in text
    np.testing.assert_allclose(found, slopes(f, X, 3), rtol=1e-6)


def test_an_array_written_after_it_was_kept():
    def f(x):
        y = np.zeros_like(x)
        for i in range(len(x)):
            for _ in range(i):
                z = np.sin(x) * (y + 1)
                s = np.sum(np.sin(z))
                z[i] = z[0] * s
                y = y + z
        return np.sum(y)

    found, _ = gradient(f, X)
    np.testing.assert_allclose(found, slopes(f, X), rtol=1e-6)


def early(x, n):
    """A loop that may end early, and the slope of its sum: each element goes its own way."""
    y, d = x, np.ones_like(x)
    for _ in range(n):
        y, d = np.sin(y) + 0.1 * y, (np.cos(y) + 0.1) * d
        if np.sum(y) > 1e6:
            break
    return np.sum(y), d


@pytest.mark.parametrize("size", [0, 3, 600])
def test_a_loop_that_may_end_early(size):
    def f(x, n):
        return early(x, n)[0]

    x, compiled = np.linspace(0.2, 0.9, size), cr.jit(cr.grad(f))
    text = cr.source(compiled, stage="numba")(x, 3)
    assert "_tape.append(rows)" in text and "= rows.shape[0]" in text
    for trips in (0, 1, 2, 3, 16, 17, 33):
        np.testing.assert_allclose(compiled(x, trips), early(x, trips)[1], rtol=1e-12)


def test_arrays_that_differ_in_size_in_a_loop_that_may_end_early():
    def f(x, n):
        y, k = x.copy(), 1
        while k < n and y[0] < 1e6:
            y[:k] += y[k] * np.sin(y[:k])
            k += 1
        return np.sum(y)

    for trips in (1, 2, 4):
        found, _ = gradient(f, X, trips)
        np.testing.assert_allclose(found, slopes(f, X, trips), rtol=1e-7)


def test_an_array_that_is_a_result_is_not_part_of_another():
    def f(x, n):
        y = x
        while n > 0:
            y = np.sin(y) * y
            n -= 1
        return np.sum(y), y

    compiled = cr.jit(cr.value_and_grad(f, has_aux=True))
    assert "y_tape.append(np.ascontiguousarray(y))" in cr.source(compiled, stage="numba")(X, 3)
    (_, value), bar = compiled(X, 3)
    y, d = X, 1.0
    for _ in range(3):
        y, d = np.sin(y) * y, (np.cos(y) * y + np.sin(y)) * d
    np.testing.assert_allclose(value, y, rtol=1e-13)
    np.testing.assert_allclose(bar, d, rtol=1e-12)


def test_second_derivatives():
    def product(x, v, n):
        return np.sum(cr.grad(triangle)(x, n) * v)

    v, step = np.array([1.0, -2.0, 0.5, 3.0]), 1e-6
    found, _ = gradient(product, X, v, 3)
    ends = [cr.grad(triangle)(X + side * step * v, 3) for side in (1, -1)]
    np.testing.assert_allclose(found, (ends[0] - ends[1]) / (2 * step), rtol=1e-6)
