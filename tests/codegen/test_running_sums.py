"""Arrays that loops add to are added to in place, with the values that new arrays would have."""

import numpy as np
import pytest

import chainrule as cr

R = np.random.default_rng(2)


def copies(function, *arguments):
    """Arrays made in the loops of a compiled function."""
    lines = cr.source(cr.jit(function), stage="loops")(*arguments).splitlines()
    return [line for line in lines if line.startswith(" " * 8) and ("np.empty" in line or ".copy()" in line)]


def both(x):
    total, other = np.zeros(x.shape[1]), np.ones(x.shape[1])
    for i in range(x.shape[0]):
        total = total + x[i] * 2.0
        other = other - x[i]
        other = x[i] + other
    return total, other


def as_start(x):
    """The array that the sum begins with is the caller's."""
    total = x[0]
    for i in range(1, x.shape[0]):
        total = total + x[i]
    return total, x


def read_too(x):
    total = np.zeros(x.shape[1])
    seen = np.zeros(x.shape)
    for i in range(x.shape[0]):
        seen[i] = total
        total = total + x[i]
    return total, seen


def turned(x):
    total = np.ones((x.shape[1], x.shape[1]))
    for i in range(x.shape[0]):
        total = total + total.T * x[i]
    return total


@pytest.mark.parametrize("function", [both, as_start, read_too, turned])
@pytest.mark.parametrize("shape", [(5, 4), (1, 3), (3, 1), (2, 131)])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_values(function, shape, dtype):
    x = R.standard_normal(shape).astype(dtype)
    kept = x.copy()
    found, expected = cr.jit(function)(x), function(x)
    for one, other in zip(found, expected):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-5 if dtype == "f4" else 1e-13, atol=1e-5)
    np.testing.assert_array_equal(x, kept)


def test_no_array_is_made_in_the_loop():
    assert not copies(both, R.standard_normal((5, 4)))


def test_the_cotangents_of_what_a_loop_reads():
    def steps(w, x):
        hidden = np.zeros(w.shape[0])
        for t in range(x.shape[0]):
            hidden = np.tanh(w @ hidden + x[t])
        return np.sum(hidden * hidden)

    w, x = R.standard_normal((3, 3)), R.standard_normal((6, 3))
    found, expected = (wrap(cr.grad(steps))(w, x) for wrap in (cr.jit, lambda f: f))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    shift = 1e-6 * R.standard_normal((3, 3))
    slope = (steps(w + shift, x) - steps(w - shift, x)) / 2
    np.testing.assert_allclose(np.sum(found * shift), slope, rtol=1e-6)
