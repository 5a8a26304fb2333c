"""Transformations in transformations, outside and inside functions, against closed forms."""

import numpy as np
import pytest

import chainrule as cr

X = np.array([0.4, -0.8, 1.3])
V = np.array([1.0, 0.5, -2.0])


def f(x):
    return np.sum(np.sin(x) * x)


FIRST = np.cos(X) * X + np.sin(X)
SECOND = 2 * np.cos(X) - X * np.sin(X)
THIRD = -3 * np.sin(X) - X * np.cos(X)

# Each gives f'' times V, by derivatives in derivatives.
SECOND_TIMES_V = {
    "hvp": lambda x: cr.hvp(f, (x,), (V,)),
    "forward over reverse": lambda x: cr.jvp(cr.grad(f), (x,), (V,))[1],
    "reverse over forward": lambda x: cr.grad(lambda z: cr.jvp(f, (z,), (V,))[1])(x),
    "reverse over reverse": lambda x: cr.grad(lambda z: np.sum(cr.grad(f)(z) * V))(x),
    "pullback of a gradient": lambda x: cr.vjp(cr.grad(f), x)[1](V)[0],
    "linear part of a gradient": lambda x: cr.linearize(cr.grad(f), x)[1](V),
    "gradient of a pullback": lambda x: cr.grad(lambda z: np.sum(cr.vjp(f, z)[1](1.0)[0] * V))(x),
    "gradient of a linear part": lambda x: cr.grad(lambda z: cr.linearize(f, z)[1](V))(x),
    "hessian": lambda x: cr.hessian(f)(x) @ V,
    "jacfwd of jacrev": lambda x: cr.jacfwd(cr.jacrev(f))(x) @ V,
    "jacrev of jacfwd": lambda x: cr.jacrev(cr.jacfwd(f))(x) @ V,
    "jit within": lambda x: cr.jvp(cr.grad(cr.jit(f)), (x,), (V,))[1],
    "checkpoint within": lambda x: cr.jvp(cr.grad(cr.checkpoint(f)), (x,), (V,))[1],
    "checkpoint twice": lambda x: cr.grad(lambda z: np.sum(cr.grad(cr.checkpoint(f))(z) * V))(x),
    "jit of grad within": lambda x: cr.grad(lambda z: np.sum(cr.jit(cr.grad(f))(z) * V))(x),
    "value_and_grad": lambda x: cr.jacfwd(lambda z: cr.value_and_grad(f)(z)[1])(x) @ V,
}


@pytest.mark.parametrize("name", SECOND_TIMES_V)
def test_second_derivatives(name):
    np.testing.assert_allclose(SECOND_TIMES_V[name](X), SECOND * V, rtol=1e-12)


@pytest.mark.parametrize("name", SECOND_TIMES_V)
def test_inside_and_once_more(name):
    product = SECOND_TIMES_V[name]
    np.testing.assert_allclose(cr.grad(lambda x: np.sum(product(x)))(X), THIRD * V, rtol=1e-11)


@pytest.mark.parametrize("name", ["hvp", "gradient of a linear part", "jacrev of jacfwd", "checkpoint twice"])
def test_compiled(name):
    np.testing.assert_allclose(cr.jit(SECOND_TIMES_V[name])(X), SECOND * V, rtol=1e-12)


def test_inside_with_structures_and_aux():
    def loss(p, s):
        return np.sum(p["a"] * p["b"]) * s, {"seen": p["a"]}

    def inner(x):
        (value, aux), (by_p, by_s) = cr.value_and_grad(loss, (0, 1), has_aux=True)({"a": x, "b": x * x}, 2.0)
        pulled = cr.vjp(lambda z: {"out": (z * x, z)}, x)[1]({"out": (x, x)})[0]
        jacobian, more = cr.jacrev(lambda z: ((z * z, z), z), has_aux=True)(x)
        return (
            value
            + np.sum(by_p["a"])
            + np.sum(by_p["b"])
            + by_s
            + np.sum(aux["seen"])
            + np.sum(pulled)
            + np.sum(jacobian[0])
            + np.sum(jacobian[1])
            + np.sum(more)
        )

    # value 2 sum x**3; by a: 2 x**2; by b: 2 x; by s: sum x**3; seen: x; pulled: x*x + x; jacobians: 2x, 1; x
    wanted = lambda x: np.sum(2 * x**3 + 2 * x**2 + 2 * x + x**3 + x + x**2 + x + 2 * x + 1 + x)
    slope = lambda x: 9 * x**2 + 4 * x + 2 + 1 + 2 * x + 1 + 2 + 1
    np.testing.assert_allclose(cr.jit(inner)(X), wanted(X))
    np.testing.assert_allclose(cr.grad(inner)(X), slope(X))


def test_decorated_inside():
    def outer(x):
        @cr.checkpoint
        @cr.jit
        def square(y):
            return np.sum(y * y)

        @cr.grad(argnums=1)
        def slope(a, b):
            return square(a * b)

        return np.sum(slope(x, x))

    np.testing.assert_allclose(outer(X), np.sum(2 * X**3))
    np.testing.assert_allclose(cr.grad(outer)(X), 6 * X**2)


def test_stop_gradient():
    np.testing.assert_allclose(cr.grad(lambda x: np.sum(x * cr.stop_gradient(x)))(X), X)
    held = lambda x: np.sum(x * cr.stop_gradient({"a": (x, 3, None, "text")})["a"][0])
    np.testing.assert_allclose(cr.grad(held)(X), X)
    np.testing.assert_allclose(cr.jvp(held, (X,), (V,))[1], X @ V)
    assert cr.stop_gradient(X) is X
    text = cr.source(cr.grad(lambda x: np.sum(x * cr.stop_gradient(np.exp(x)))))(X)
    lines = [line.strip() for line in text.splitlines() if "#" not in line]
    assert lines[-2:] == ["x_bar = np.exp(x)", "return x_bar"]
    np.testing.assert_allclose(cr.jit(cr.grad(held))(X), X)


def test_linearize_runs_the_function_once():
    text = []

    def costly(x):
        return np.sum(np.exp(np.sin(x)) * x)

    value, push = cr.linearize(costly, X)
    program = push.run.compiled.second_program
    from chainrule.codegen.core import walk

    text = [s.primitive.name for s in walk(program.body)]
    assert "exp" not in text, "the linear part computes the function again"
    np.testing.assert_allclose(push(V), (np.exp(np.sin(X)) * (1 + X * np.cos(X))) @ V)


def test_linearize_through_loops():
    def power(x):
        y, n = x, 0
        while n < 3:
            y = y * x
            n += 1
        for k in range(2):
            y = y * x if y > 0 else y
        return y

    value, push = cr.linearize(power, 2.0)
    assert (value, push(1.0), push(-2.0)) == (64.0, 192.0, -384.0)
