"""The pullback of vjp and the linear function of linearize, transformed themselves."""

import numpy as np
import pytest

import chainrule as cr
from chainrule import lax

R = np.random.default_rng(0)
W, X = R.standard_normal((3, 4)), R.standard_normal(4)
HIDDEN = np.tanh(W @ X)
JACOBIAN = (1 - HIDDEN**2)[:, None] * W * X[0] + np.outer(HIDDEN, np.eye(4)[0])


def f(x):
    return np.tanh(W @ x) * x[0]


def inside(transform):
    """What `transform` makes of the pullback, where vjp is called within a program."""
    return lambda x, seeds: transform(cr.vjp(f, x)[1])(seeds)[0]


@pytest.mark.parametrize("outer", [lambda f: f, cr.jit])
def test_a_jacobian_by_vmap(outer):
    pull, push = cr.vjp(f, X)[1], cr.linearize(f, X)[1]
    np.testing.assert_allclose(outer(cr.vmap(pull))(np.eye(3))[0], JACOBIAN)
    np.testing.assert_allclose(outer(cr.vmap(push, out_axes=1))(np.eye(4)), JACOBIAN)
    np.testing.assert_allclose(outer(lambda seeds: lax.map(pull, seeds))(np.eye(3))[0], JACOBIAN)
    np.testing.assert_allclose(outer(inside(cr.vmap))(X, np.eye(3)), JACOBIAN)
    linear = lambda x, seeds: cr.vmap(cr.linearize(f, x)[1], out_axes=1)(seeds)
    np.testing.assert_allclose(outer(linear)(X, np.eye(4)), JACOBIAN)


@pytest.mark.parametrize("outer", [lambda f: f, cr.jit])
def test_derivatives_by_the_seeds(outer):
    pull, push = cr.vjp(f, X)[1], cr.linearize(f, X)[1]
    np.testing.assert_allclose(outer(cr.jacfwd(pull))(np.ones(3))[0], JACOBIAN.T)
    slope = outer(cr.grad(lambda seed: np.sum(push(seed) ** 2)))(X)
    np.testing.assert_allclose(slope, 2 * JACOBIAN.T @ JACOBIAN @ X)


@pytest.mark.parametrize("outer", [lambda f: f, cr.jit])
def test_structures_and_python_floats(outer):
    loss = lambda p, x: ({"o": p["w"] @ x * p["b"], "s": p["b"] ** 2, "k": np.argmax(x)},)
    p = {"w": W, "b": 0.5}
    pull, push = cr.vjp(loss, p, X)[1], cr.linearize(loss, p, X)[1]
    found = outer(lambda o, s: pull(({"o": o, "s": s, "k": 0},)))(np.ones(3), 2.0)
    np.testing.assert_allclose(found[0]["w"], np.outer(np.ones(3), X) * 0.5)
    np.testing.assert_allclose(found[0]["b"], np.sum(W @ X) + 2.0)
    np.testing.assert_allclose(found[1], np.sum(W, axis=0) * 0.5)
    (moved,) = outer(lambda w, b, x: push({"w": w, "b": b}, x))(np.zeros((3, 4)), 1.0, X)
    np.testing.assert_allclose(moved["o"], 1.5 * (W @ X))
    np.testing.assert_allclose(moved["s"], 1.0)


def test_a_loop_that_was_kept():
    def scaled(x):
        total = 0.0
        while total < 3:
            total = total * 1.1 + np.sum(x * x)
        return total * x

    def jacobian(x):
        total, slope = 0.0, np.zeros(4)
        while total < 3:
            total, slope = total * 1.1 + np.sum(x * x), slope * 1.1 + 2 * x
        return total * np.eye(4) + np.outer(x, slope)

    pull = cr.vjp(scaled, X)[1]
    for outer in (lambda f: f, cr.jit):
        np.testing.assert_allclose(outer(cr.vmap(pull))(np.eye(4))[0], jacobian(X))


def test_the_run_is_that_of_the_call_to_vjp():
    x, calls = X.copy(), []

    def square(x):
        cr.debug.callback(lambda _: calls.append(1), x)
        return x * x

    pull = cr.jit(cr.vjp(square, x)[1])
    x[:] = 0.0
    for _ in range(2):
        np.testing.assert_allclose(pull(np.ones(4))[0], 2 * X)
    assert calls == [1]


def test_each_run_has_its_own_sizes():
    for size in (1, 2, 3):
        pull = cr.jit(cr.vjp(np.square, np.full(size, 3.0))[1])
        np.testing.assert_array_equal(pull(np.ones(size))[0], np.full(size, 6.0))


@pytest.mark.parametrize("outer", [cr.jit, lambda f: cr.vmap(f, in_axes=None, axis_size=2)])
def test_seeds_that_do_not_fit(outer):
    pull, push = cr.vjp(f, X)[1], cr.linearize(f, X)[1]
    for wrong in (np.ones(5), np.ones((3, 3))):
        with pytest.raises(ValueError, match="cotangent of|broadcast together"):
            outer(pull)(wrong)
    with pytest.raises(TypeError, match="vjp of f needs a cotangent of dtype float64"):
        outer(pull)(np.ones(3, int))
    with pytest.raises(TypeError, match="2 tangents for 1 primals"):
        outer(lambda x: push(x, x))(X)
