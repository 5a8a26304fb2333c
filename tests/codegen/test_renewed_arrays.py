"""Arrays that a loop carries and makes anew, and products for one turn: no memory is taken in the loop."""

import numpy as np
import pytest

import chainrule as cr


def loop_text(function, *arguments):
    """The lines of compiled text inside of loops."""
    lines = cr.source(cr.jit(function), stage="numba")(*arguments).splitlines()
    return "\n".join(line for line in lines if line.startswith("        ") and "raise" not in line)


def recurrent(a, b, x):
    h = np.zeros(b.shape)
    for k in range(x.shape[0]):
        h = np.tanh(a @ h + x[k] + b)
    return h


def until(a, b, x):
    h = np.ones(b.shape)
    while np.sum(h * h) > 0.01:
        h = 0.5 * np.cos(b) * np.mean(h)
    return h


def gated(a, b, x):
    """Elements of the old state are read where those of the new one are written."""
    h = np.zeros(b.shape)
    for k in range(x.shape[0]):
        gate = 1 / (1 + np.exp(-(a @ h + x[k] + b)))
        h = (1 - gate) * h + gate * np.tanh(x[k] * h + b)
    return h


def mirrored(a, b, x):
    """They are read elsewhere."""
    h = np.cos(b)
    for k in range(x.shape[0]):
        h = np.sin(h + h[::-1]) * b
    return h


def scaled(a, b, x):
    """A row of them is read for every element."""
    h = np.outer(b, b)
    for k in range(x.shape[0]):
        h = h / np.sqrt(1 + np.sum(h * h, axis=1, keepdims=True))
    return h


def powers(a, h, x):
    """Where an array is a product of itself, it needs another to be written to."""
    for k in range(x.shape[0]):
        h = a @ h
    return h


def two_back(a, h, x):
    """What is carried on as it is cannot be written over."""
    before = x[0]
    for k in range(1, x.shape[0]):
        h, before = np.sin(a @ h + before), h
    return h + before


def read_again(a, h, x):
    total = 0.0
    for k in range(x.shape[0]):
        new = np.cos(a @ h)
        total += np.sum(new[::-1] * h)
        h = new
    return total


RNG = np.random.default_rng(0)
ARGUMENTS = RNG.standard_normal((5, 5)) / 3, RNG.standard_normal(5), RNG.standard_normal((4, 5))


@pytest.mark.parametrize(
    "function", [recurrent, until, gated, mirrored, scaled, powers, two_back, read_again]
)
@pytest.mark.parametrize("turns", [1, 4])
def test_values(function, turns):
    a, h, x = ARGUMENTS
    arguments = a, h.copy(), x[:turns]
    np.testing.assert_allclose(cr.jit(function)(*arguments), function(*arguments), rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(arguments[1], h)


@pytest.mark.parametrize("function", [recurrent, until, gated])
def test_no_array_is_made_in_a_turn(function):
    assert "np.empty" not in loop_text(function, *ARGUMENTS)
    assert "h, out=product)" in loop_text(recurrent, *ARGUMENTS)


def test_gradient():
    loss = lambda *arguments: np.sum(recurrent(*arguments) ** 2)
    gradient = cr.grad(loss, argnums=(0, 1, 2))
    assert "np.empty" not in loop_text(gradient, *ARGUMENTS)
    for one, other in zip(cr.jit(gradient)(*ARGUMENTS), gradient(*ARGUMENTS)):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-13)
