"""custom_jvp and custom_vjp: the rule is the derivative, in every transformation and any nesting of them.

The rules give a multiple of the true derivative, so that it shows which one was used.
"""

import functools

import numpy as np
import pytest

import chainrule as cr

X = np.array([0.3, 0.5, -0.2])
Y = np.array([1.5, -0.7, 2.0])


@cr.custom_jvp
def wave(x, y):
    return np.sin(x) * y


@wave.defjvp
def wave_jvp(primals, tangents):
    x, y = primals
    x_dot, y_dot = tangents
    return wave(x, y), 3 * np.cos(x) * y * x_dot + 5 * np.sin(x) * y_dot


@cr.custom_vjp
def tide(x, y):
    return np.sin(x) * y


def tide_forward(x, y):
    return np.sin(x) * y, (x, {"y": y, "factor": 3}, "label")


def tide_backward(residuals, cotangent):
    x, more, label = residuals
    assert label == "label"
    return more["factor"] * cotangent * np.cos(x) * more["y"], 5 * cotangent * np.sin(x)


tide.defvjp(tide_forward, tide_backward)

BY_X, BY_Y = 3 * np.cos(X) * Y, 5 * np.sin(X)
RULED = pytest.mark.parametrize("f", [wave, tide], ids=["jvp", "vjp"])


def total(f):
    return lambda x, y: np.sum(f(x, y))


@RULED
def test_called_plainly(f):
    np.testing.assert_array_equal(f(X, Y), np.sin(X) * Y)
    np.testing.assert_array_equal(f(X, y=Y), np.sin(X) * Y)
    np.testing.assert_allclose(cr.jit(f)(X, Y), np.sin(X) * Y, rtol=1e-15)
    np.testing.assert_allclose(cr.vmap(f)(X, Y), np.sin(X) * Y, rtol=1e-15)
    assert f.__name__ in ("wave", "tide")


@RULED
@pytest.mark.parametrize("compiled", [False, True])
def test_reverse(f, compiled):
    outer = cr.jit if compiled else lambda g: g
    by_x, by_y = outer(cr.grad(total(f), (0, 1)))(X, Y)
    np.testing.assert_allclose(by_x, BY_X)
    np.testing.assert_allclose(by_y, BY_Y)
    value, gradient = outer(cr.value_and_grad(total(f)))(X, Y)
    np.testing.assert_allclose(value, np.sum(np.sin(X) * Y))
    np.testing.assert_allclose(gradient, BY_X)
    np.testing.assert_allclose(outer(cr.jacrev(f))(X, Y), np.diag(BY_X))


@RULED
def test_pullback(f):
    value, pullback = cr.vjp(f, X, Y)
    np.testing.assert_allclose(value, np.sin(X) * Y)
    np.testing.assert_allclose(pullback(Y)[0], BY_X * Y)
    np.testing.assert_allclose(pullback(np.ones(3))[1], BY_Y)


@pytest.mark.parametrize("compiled", [False, True])
def test_forward(compiled):
    outer = cr.jit if compiled else lambda g: g
    value, dot = outer(lambda x, y: cr.jvp(wave, (x, y), (y, x)))(X, Y)
    np.testing.assert_allclose(value, np.sin(X) * Y)
    np.testing.assert_allclose(dot, BY_X * Y + BY_Y * X)
    np.testing.assert_allclose(outer(cr.jacfwd(wave, 1))(X, Y), np.diag(BY_Y))
    np.testing.assert_allclose(cr.linearize(wave, X, Y)[1](Y, X), BY_X * Y + BY_Y * X)


SECOND = {
    "hessian": lambda f: np.diag(cr.hessian(total(f))(X, Y)),
    "hvp": lambda f: cr.hvp(lambda x: total(f)(x, Y), (X,), (np.ones(3),)),
    "reverse over reverse": lambda f: cr.grad(lambda x: np.sum(cr.grad(total(f))(x, Y)))(X),
    "forward over reverse": lambda f: cr.jvp(lambda x: cr.grad(total(f))(x, Y), (X,), (np.ones(3),))[1],
    "compiled": lambda f: cr.jit(cr.grad(lambda x: np.sum(cr.grad(total(f))(x, Y))))(X),
    "batched": lambda f: cr.vmap(lambda x, y: cr.grad(cr.grad(f))(x, y))(X, Y),
    "pullback of a pullback": lambda f: cr.vjp(lambda x: cr.vjp(lambda z: f(z, Y), x)[1](np.ones(3))[0], X)[
        1
    ](np.ones(3))[0],
}


@RULED
@pytest.mark.parametrize("how", SECOND)
def test_second_derivatives_are_those_of_the_rule(f, how):
    np.testing.assert_allclose(SECOND[how](f), -3 * np.sin(X) * Y)


def test_reverse_over_forward():
    got = cr.grad(lambda x: np.sum(cr.jvp(lambda z: wave(z, Y), (x,), (np.ones(3),))[1]))(X)
    np.testing.assert_allclose(got, -3 * np.sin(X) * Y)
    got = cr.jacfwd(cr.jacfwd(lambda x: np.sum(wave(x, Y))))(X)
    np.testing.assert_allclose(np.diag(got), -3 * np.sin(X) * Y)


@cr.custom_jvp
def exponential(x):
    return np.exp(x)


exponential.defjvps(lambda tangent, value, x: 2 * tangent * value)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("mode", [cr.grad, cr.jacfwd])
def test_a_rule_that_uses_the_function_itself(order, mode):
    derivative = exponential
    for _ in range(order):
        derivative = mode(derivative)
    np.testing.assert_allclose(derivative(0.5), 2**order * np.exp(0.5))


BATCHED = {
    "both": ((0, 0), lambda x, y: (x, y)),
    "first": ((0, None), lambda x, y: (x, y[0])),
    "second": ((None, 0), lambda x, y: (x[0], y)),
}


@RULED
@pytest.mark.parametrize("which", BATCHED)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_batches(f, which, size):
    """The gradient of the sum over a batch, and the batch of gradients."""
    axes, pick = BATCHED[which]
    x, y = pick(X[:size], Y[:size])
    by_x, by_y = 3 * np.cos(x) * y, 5 * np.sin(x) * np.ones_like(y)
    got = cr.vmap(cr.grad(f, (0, 1)), axes)(x, y)
    np.testing.assert_allclose(got[0], by_x)
    np.testing.assert_allclose(got[1], by_y)
    got = cr.grad(lambda x, y: np.sum(cr.vmap(f, axes)(x, y)), (0, 1))(x, y)
    np.testing.assert_allclose(got[0], by_x if np.ndim(x) else np.sum(by_x))
    np.testing.assert_allclose(got[1], by_y if np.ndim(y) else np.sum(by_y))
    got = cr.jit(cr.vmap(cr.grad(cr.grad(f)), axes))(x, y)
    np.testing.assert_allclose(got, -3 * np.sin(x) * y)


def test_batched_forward_mode():
    got = cr.jvp(lambda x: cr.vmap(wave, (0, None))(x, 2.0), (X,), (Y,))[1]
    np.testing.assert_allclose(got, 6 * np.cos(X) * Y)
    got = cr.vmap(lambda x, y: cr.jvp(wave, (x, y), (1.0, 0.0))[1])(X, Y)
    np.testing.assert_allclose(got, BY_X)


@RULED
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("wrapped", [lambda f: f, cr.checkpoint])
def test_in_a_loop(f, compiled, wrapped):
    """x_(k+1) = f(x_k, y), whose derivative is the product of those of the steps."""
    f = wrapped(f)

    def run(x, y, n):
        for _ in range(n):
            x = f(x, y)
        return x

    outer = cr.jit if compiled else lambda g: g
    x, slope = 0.4, 1.0
    for _ in range(4):
        x, slope = np.sin(x) * 1.2, slope * 3 * np.cos(x) * 1.2
    np.testing.assert_allclose(outer(cr.grad(run))(0.4, 1.2, 4), slope)
    np.testing.assert_allclose(
        outer(cr.vmap(cr.grad(run), (0, None, None)))(np.array([0.4]), 1.2, 4), [slope]
    )


@RULED
def test_in_a_while_loop_and_branches(f):
    def run(x, y):
        while x < 2:
            x = x + f(x, y) if x < 1 else 1.5 * x
        return x

    x, slope = 0.4, 1.0
    while x < 2:
        x, slope = (x + np.sin(x), slope * (1 + 3 * np.cos(x))) if x < 1 else (1.5 * x, 1.5 * slope)
    np.testing.assert_allclose(cr.grad(run)(0.4, 1.0), slope)
    np.testing.assert_allclose(cr.jit(cr.grad(run))(0.4, 1.0), slope)
    np.testing.assert_allclose(cr.vmap(cr.grad(run))(np.array([0.4, 3.0]), np.ones(2)), [slope, 1.0])


def test_a_rule_with_a_loop_is_transposed():
    @cr.custom_jvp
    def power(x, n):
        return x**n

    @power.defjvp
    def power_jvp(primals, tangents):
        (x, n), (x_dot, _) = primals, tangents
        value, dot = 1.0, 0.0
        for _ in range(n):
            dot = dot * x + value * x_dot
            value = value * x
        return value, dot

    for mode in (cr.grad, cr.jacfwd):
        np.testing.assert_allclose(mode(lambda x, n: power(x, n))(1.5, 4), 4 * 1.5**3)
        np.testing.assert_allclose(mode(mode(lambda x, n: power(x, n)))(1.5, 4), 12 * 1.5**2)
    np.testing.assert_allclose(cr.jit(cr.grad(lambda x, n: power(x, n)))(1.5, 4), 4 * 1.5**3)


@RULED
@pytest.mark.parametrize("steps", [None, 3, "binomial"])
def test_in_checkpointed_segments(f, steps):
    def run(x):
        for _ in range(7):
            x = 0.5 * f(x, 1.0)
        return np.sum(x)

    x, slope = X, np.ones(3)
    for _ in range(7):
        x, slope = 0.5 * np.sin(x), slope * 1.5 * np.cos(x)
    for outer in (lambda g: g, cr.jit):
        np.testing.assert_allclose(outer(cr.grad(cr.checkpoint(run, steps=steps)))(X), slope)


FLOW = {
    "scan": lambda f, x: cr.lax.scan(lambda c, a: (f(c, a), c), x, np.full(3, 1.2))[0],
    "while_loop": lambda f, x: cr.lax.while_loop(
        lambda c: c[1] < 3, lambda c: (f(c[0], 1.2), c[1] + 1), (x, 0)
    )[0],
    "fori_loop": lambda f, x: cr.lax.fori_loop(0, 3, lambda i, c: f(c, 1.2), x),
    "cond": lambda f, x: cr.lax.cond(x > 0, lambda z: f(f(f(z, 1.2), 1.2), 1.2), lambda z: z, x),
    "map": lambda f, x: cr.lax.map(lambda z: f(f(f(z, 1.2), 1.2), 1.2), np.stack([x]))[0],
}


@RULED
@pytest.mark.parametrize("flow", FLOW)
def test_in_functional_control_flow(f, flow):
    x, slope = 0.4, 1.0
    for _ in range(3):
        x, slope = np.sin(x) * 1.2, slope * 3 * np.cos(x) * 1.2
    for outer in (lambda g: g, cr.jit):
        np.testing.assert_allclose(outer(cr.grad(lambda x: FLOW[flow](f, x)))(0.4), slope)


def test_collectives_in_rules():
    """x / sum(x), over the examples of a batch."""

    @cr.custom_vjp
    def share(x):
        return x / cr.lax.psum(x, "i")

    def forward(x):
        whole = cr.lax.psum(x, "i")
        return x / whole, (x, whole)

    def backward(residuals, cotangent):
        x, whole = residuals
        return (cotangent / whole - cr.lax.psum(cotangent * x, "i") / whole**2,)

    share.defvjp(forward, backward)
    x = np.array([1.0, 2.0, 5.0])
    got = cr.grad(lambda x: np.sum(cr.vmap(share, axis_name="i")(x) ** 3))(x)
    np.testing.assert_allclose(got, 3 * x**2 / 8**3 - 3 * np.sum(x**3) / 8**4)


def test_collectives_of_what_is_the_same_for_all():
    total = cr.custom_vjp(lambda w: cr.lax.psum(w, "i"))
    total.defvjp(lambda w: (cr.lax.psum(w, "i"), None), lambda _, ct: (cr.lax.psum(ct, "i"),))
    ranked = cr.custom_jvp(lambda w: w * cr.lax.axis_index("i"))
    ranked.defjvp(lambda primals, tangents: (ranked(primals[0]), 10 * tangents[0] * cr.lax.axis_index("i")))
    x = np.array([1.0, 2.0, 5.0])
    for f, value, slope in ((total, 3 * 8.0, 3 * 8.0), (ranked, 2.0 + 10.0, 10 * 12.0)):
        loss = lambda w, f=f: np.sum(cr.vmap(lambda x: f(w) * x, axis_name="i")(x))
        for outer in (lambda g: g, cr.jit):
            np.testing.assert_allclose(outer(loss)(2.0), 2 * value)
            np.testing.assert_allclose(outer(cr.grad(loss))(2.0), slope)


def test_batches_of_batches():
    table = np.outer(X, Y)
    nested = lambda x, y: np.sum(cr.vmap(cr.vmap(wave, (0, None)), (None, 0))(x, y))
    np.testing.assert_allclose(cr.grad(nested)(X, Y), 3 * np.cos(X) * np.sum(Y))
    np.testing.assert_allclose(cr.grad(nested, 1)(X, Y), 5 * np.sum(np.sin(X)) * np.ones(3))
    got = cr.vmap(cr.grad(lambda row: np.sum(cr.vmap(tide, (0, None))(row, 2.0))))(table)
    np.testing.assert_allclose(got, 6 * np.cos(table))


def test_nondiff_argnums():
    @functools.partial(cr.custom_jvp, nondiff_argnums=(0,))
    def scaled(f, x, scale=2.0):
        return scale * f(x)

    @scaled.defjvp
    def scaled_jvp(f, primals, tangents):
        (x, scale), (x_dot, scale_dot) = primals, tangents
        return scaled(f, x, scale), 7 * scale * x_dot + scale_dot * f(x)

    assert cr.grad(lambda x: scaled(np.sin, x))(1.0) == 14.0
    assert cr.grad(lambda x: scaled(np.sin, scale=3.0, x=x))(1.0) == 21.0
    np.testing.assert_allclose(cr.grad(lambda s: scaled(np.sin, 1.0, s))(2.0), np.sin(1.0))

    @functools.partial(cr.custom_vjp, nondiff_argnames=("n", "doubled"))
    def power(x, n, doubled):
        return 2 * x**n if doubled else x**n

    def backward(n, doubled, x, cotangent):
        return (cotangent * n * x ** (n - 1) * (200 if doubled else 100),)

    power.defvjp(lambda x, n, doubled: (power(x, n, doubled), x), backward)
    assert cr.grad(lambda x: power(x, 3, True))(2.0) == 2400.0
    assert cr.grad(lambda x: power(x, doubled=False, n=3))(2.0) == 1200.0


def test_trees():
    """Arguments, results and cotangents in structures; None for a zero cotangent of any part."""

    @cr.custom_vjp
    def model(params, x):
        return {"out": params["w"] * x, "norm": (np.sum(params["w"]), params["b"])}

    def backward(residuals, cotangent):
        w, x = residuals
        assert set(cotangent) == {"out", "norm"}
        return {"w": 10 * cotangent["out"] * x + cotangent["norm"][0], "b": None}, None

    model.defvjp(lambda params, x: (model(params, x), (params["w"], x)), backward)

    def loss(params, x):
        result = model(params, x)
        return np.sum(result["out"]) + 2 * result["norm"][0] + result["norm"][1]

    by_params, by_x = cr.grad(loss, (0, 1))({"w": X, "b": 1.0}, Y)
    np.testing.assert_allclose(by_params["w"], 10 * Y + 2)
    assert by_params["b"] == 0.0
    np.testing.assert_array_equal(by_x, np.zeros(3))


class Spring:
    def __init__(self, stiffness):
        self.stiffness = stiffness

    @cr.custom_jvp
    def force(self, x):
        return -self.stiffness * x

    @force.defjvp
    def force_jvp(primals, tangents):  # noqa: N805
        (self, x), (_, x_dot) = primals, tangents
        return self.force(x), -10 * self.stiffness * x_dot

    @functools.partial(cr.custom_vjp, nondiff_argnums=(0,))
    def energy(self, x):
        return 0.5 * self.stiffness * np.sum(x**2)

    def energy_forward(self, x):
        return self.energy(x), x

    def energy_backward(self, x, cotangent):
        return (100 * cotangent * self.stiffness * x,)

    energy.defvjp(energy_forward, energy_backward)


def test_methods():
    spring = Spring(3.0)
    assert spring.force(2.0) == -6.0
    assert cr.grad(spring.force)(2.0) == -30.0
    np.testing.assert_allclose(cr.grad(spring.energy)(X), 300 * X)
    gradient = cr.jit(cr.grad(lambda x: spring.energy(x)))
    np.testing.assert_allclose(gradient(X), 300 * X)
    spring.stiffness = 1.0
    np.testing.assert_allclose(gradient(X), 100 * X)


def test_made_inside_a_function():
    def loss(x):
        @cr.custom_jvp
        def inner(z):
            return np.sin(z)

        @inner.defjvp
        def inner_jvp(primals, tangents):
            return np.sin(primals[0]), 5 * tangents[0]

        @cr.custom_vjp
        def other(z):
            return z * z

        other.defvjp(lambda z: (other(z), lambda u: u * z), lambda pull, cotangent: (7 * pull(cotangent),))
        return inner(x) + other(x)

    np.testing.assert_allclose(cr.grad(loss)(2.0), 5 + 14)
    np.testing.assert_allclose(cr.jit(cr.grad(loss))(2.0), 5 + 14)


def test_a_pullback_as_residual():
    @cr.custom_vjp
    def f(x):
        return np.sum(np.exp(x))

    f.defvjp(lambda x: cr.vjp(lambda z: np.sum(np.exp(z)), x), lambda pull, ct: (2 * pull(ct)[0],))
    np.testing.assert_allclose(cr.grad(f)(X), 2 * np.exp(X))
    np.testing.assert_allclose(cr.vmap(cr.grad(f))(np.stack([X, Y])), 2 * np.exp([X, Y]))
    np.testing.assert_allclose(np.diag(cr.hessian(f)(X)), 2 * np.exp(X))


def test_a_value_without_derivative_gets_one():
    """The rule counts where the function's own derivative is zero, or is not known."""

    @cr.custom_vjp
    def rounded(x):
        return np.round(x)

    rounded.defvjp(lambda x: (rounded(x), None), lambda _, cotangent: (cotangent,))
    np.testing.assert_array_equal(cr.grad(lambda x: np.sum(rounded(x) * Y))(X), Y)

    @cr.custom_jvp
    def one(x):
        return 1.0

    one.defjvp(lambda primals, tangents: (1.0, 2 * tangents[0]))
    assert cr.grad(one)(3.0) == 2.0
    assert cr.jvp(one, (3.0,), (1.0,)) == (1.0, 2.0)


def test_zero_derivatives():
    @cr.custom_jvp
    def product(x, y):
        return x * y

    product.defjvps(None, lambda tangent, value, x, y: tangent * x)
    assert cr.grad(product, (0, 1))(2.0, 3.0) == (0.0, 2.0)
    product.defjvps(None, None)
    assert cr.grad(product, (0, 1))(2.0, 3.0) == (0.0, 0.0)


scale = 2.0
weights = np.array([1.0, 2.0, 3.0])


def test_rules_see_the_world_as_it_is_at_each_call():
    global scale, weights

    @cr.custom_jvp
    def f(x):
        return x

    f.defjvp(lambda primals, tangents: (primals[0], scale * weights * tangents[0]))
    gradient = cr.grad(lambda x: np.sum(f(x)))
    pulled = lambda: cr.vjp(f, X)[1](np.ones(3))[0]
    np.testing.assert_array_equal(gradient(X), [2.0, 4.0, 6.0])
    np.testing.assert_array_equal(pulled(), [2.0, 4.0, 6.0])
    scale, weights = 5.0, np.ones(3)
    try:
        np.testing.assert_array_equal(gradient(X), [5.0, 5.0, 5.0])
        np.testing.assert_array_equal(pulled(), [5.0, 5.0, 5.0])
        f.defjvp(lambda primals, tangents: (primals[0], 7 * tangents[0]))
        np.testing.assert_array_equal(gradient(X), [7.0, 7.0, 7.0])
        np.testing.assert_array_equal(pulled(), [7.0, 7.0, 7.0])
    finally:
        scale, weights = 2.0, np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_dtypes(dtype):
    @cr.custom_jvp
    def square(z):
        return z**2

    square.defjvp(lambda primals, tangents: (primals[0] ** 2, 6 * primals[0] * tangents[0]))
    z = np.array([1.0, 2.0], dtype)
    (got,) = cr.vjp(square, z)[1](np.ones(2, dtype))
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, 6 * z)


def test_an_effect_in_the_backward_rule(capsys):
    """An identity that shows the cotangent on the way back, in order, from compiled code too."""

    @cr.custom_vjp
    def shown(x):
        return x

    def backward(_, cotangent):
        print("cotangent", cotangent)
        return (cotangent,)

    shown.defvjp(lambda x: (x, None), backward)

    def loss(x, n):
        for _ in range(n):
            x = 2.0 * shown(x)
        return x

    assert loss(1.0, 3) == 8.0
    assert capsys.readouterr().out == ""
    for gradient in (cr.grad(loss), cr.jit(cr.grad(loss))):
        assert gradient(1.0, 3) == 8.0
        assert capsys.readouterr().out.split() == ["cotangent", "2.0", "cotangent", "4.0", "cotangent", "8.0"]


def test_generated_source_has_the_rule():
    text = cr.source(cr.grad(wave))(1.0, 2.0)
    assert "3 * np.cos(x) * y * x_dot + 5 * np.sin(x) * y_dot" in text  # the comment names the rule's line
    assert "custom" not in text
    text = cr.source(wave)(1.0, 2.0)
    assert "return np.sin(x) * y" in text
