"""checkpoint(steps=...): loops of which the backward sweep keeps the beginnings of segments only."""

import tracemalloc

import numpy as np
import pytest

import chainrule as cr

X = np.linspace(0.1, 2.0, 20)


def ranged(x, n, first=0, step=1):
    for i in range(first, n, step):
        x = np.sin(x) * 1.01 + 0.001 * i
    return np.sum(x * x)


def until(x):
    k = 0
    while k < 40 and np.sum(x * x) > 2.0:
        x = np.sin(x) * 0.99
        k += 1
    return np.sum(x)


def in_place(x, n):
    y = x.copy()
    for i in range(1, n):
        y[i] = np.sin(y[i - 1]) * y[i]
    return np.sum(y)


def differences(f, x, step=1e-6):
    return np.array([(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(len(x))])


@pytest.mark.parametrize("steps", [1, 3, 7, 1000, "binomial"])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 20])
def test_the_gradient_is_what_it_was(steps, n):
    gradient = cr.grad(cr.checkpoint(ranged, steps=steps))
    np.testing.assert_allclose(gradient(X, n), differences(lambda x: ranged(x, n), X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("bounds", [(17, 2, 3), (-1, 9, -1), (5, 5, 2), (3, 7, -2)])
def test_ranges_of_every_kind(bounds):
    gradient = cr.grad(cr.checkpoint(ranged, steps=4))
    np.testing.assert_allclose(gradient(X, *bounds), differences(lambda x: ranged(x, *bounds), X), rtol=1e-6)


@pytest.mark.parametrize("steps", [1, 7, 100])
def test_while_loops(steps):
    np.testing.assert_allclose(
        cr.grad(cr.checkpoint(until, steps=steps))(X), differences(until, X), rtol=1e-6
    )


@pytest.mark.parametrize("steps", [4, "binomial"])
def test_writes_in_place(steps):
    gradient = cr.grad(cr.checkpoint(in_place, steps=steps))
    np.testing.assert_allclose(
        gradient(X, 20), differences(lambda x: in_place(x, 20), X), rtol=1e-5, atol=1e-9
    )


def test_compiled_and_second_derivatives():
    slope = cr.grad(cr.checkpoint(ranged, steps=3))
    np.testing.assert_allclose(cr.jit(slope)(X, 10), slope(X, 10), rtol=1e-12)
    curve = cr.grad(lambda x: np.sum(slope(x, 10) ** 2))(X)
    np.testing.assert_allclose(curve, differences(lambda x: np.sum(slope(x, 10) ** 2), X), rtol=1e-5)


def test_what_is_kept():
    peaks = []
    for function in (ranged, cr.checkpoint(ranged, steps=30), cr.checkpoint(ranged, steps="binomial")):
        gradient = cr.grad(function)
        gradient(X, 3)
        tracemalloc.start()
        gradient(X, 900)
        peaks.append(tracemalloc.get_traced_memory()[1] / X.nbytes)
        tracemalloc.stop()
    assert peaks[0] > 900 and peaks[1] < 200 and peaks[2] < 150, peaks


def test_what_is_refused():
    with pytest.raises(ValueError, match="steps is a positive int or 'binomial', not 0"):
        cr.checkpoint(ranged, steps=0)
    with pytest.raises(cr.ChainruleError, match=r"Instead: give the number of iterations of a segment"):
        cr.grad(cr.checkpoint(until, steps="binomial"))(X)
