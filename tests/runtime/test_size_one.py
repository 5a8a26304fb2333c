"""One program for batches of every size: when there is one, and when a size of 1 has a program of its own."""

import numpy as np
import pytest

import chainrule as cr

R = np.random.default_rng(0)
SIZES = [1, 2, 3, 17, 1000]


def logistic_loss(w, b, x, y):
    p = 1 / (1 + np.exp(-(x @ w + b)))
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def network_loss(params, x, y):
    (w, b), (v, c) = params
    return np.mean((np.tanh(x @ w + b) @ v + c - y) ** 2)


def parameters(outputs):
    shapes = [(4, 8), (8,), (8, outputs), (outputs,)]
    w, b, v, c = (R.standard_normal(shape) for shape in shapes)
    return [(w, b), (v, c)]


def logistic_arguments(n):
    return np.linspace(-1, 1, 4), 0.5, R.standard_normal((n, 4)), (R.random(n) > 0.5).astype(float)


def network_arguments(outputs):
    params = parameters(outputs)
    return lambda n: (params, R.standard_normal((n, 4)), R.standard_normal((n, outputs)))


def lane(x):
    while x > 1:
        x = x / 2
    return x


CASES = {
    "logistic regression": (cr.grad(lambda *a: logistic_loss(*a), argnums=(0, 1)), logistic_arguments),
    "network": (cr.grad(lambda *a: network_loss(*a)), network_arguments(3)),
    "network of one output": (cr.grad(lambda *a: network_loss(*a)), network_arguments(1)),
    "gradient of each example": (
        cr.vmap(cr.grad(lambda *a: network_loss(*a)), in_axes=(None, 0, 0)),
        network_arguments(3),
    ),
    "lanes": (cr.vmap(lambda x: lane(x)), lambda n: (10 * R.random(n),)),
    "gradient of lanes": (cr.vmap(cr.grad(lambda x: lane(x))), lambda n: (10 * R.random(n),)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("sizes", [SIZES, SIZES[::-1]], ids=["rising", "falling"])
def test_one_compilation_for_every_batch_size(name, sizes):
    function, arguments_of = CASES[name]
    compiled = cr.jit(lambda *arguments: function(*arguments))
    for n in sizes:
        arguments = arguments_of(n)
        got, want = compiled(*arguments), function(*arguments)
        for one, other in zip(cr.tree.leaves(got), cr.tree.leaves(want), strict=True):
            assert np.shape(one) == np.shape(other) and type(one) is type(other)
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    assert "was compiled once" in cr.explain_recompiles(compiled)


def test_a_size_of_1_that_broadcasts_is_known():
    scaled = cr.jit(lambda x, w: x * w)
    for n, m in [(1, 3), (3, 1), (1, 1), (3, 3), (1, 3)]:
        x, w = R.standard_normal((n, 2)), R.standard_normal((m, 2))
        np.testing.assert_array_equal(scaled(x, w), x * w)
    with pytest.raises(ValueError, match=r"\(2,2\) \(3,2\)"):
        scaled(np.ones((2, 2)), np.ones((3, 2)))


def test_a_gradient_sums_over_what_broadcasts():
    loss = cr.jit(cr.grad(lambda w, x: np.sum((x * w) ** 2)))
    for n, m in [(1, 1), (4, 4), (1, 4), (1, 1)]:
        w, x = R.standard_normal((n, 2)), R.standard_normal((m, 2))
        want = 2 * x**2 * w if n == m else np.sum(2 * x**2 * w, axis=0, keepdims=True)
        np.testing.assert_allclose(loss(w, x), want)


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.squeeze(x) * 2,
        lambda x: x[1:] if x.shape[0] > 1 else x,
        lambda x: float(x[0, 0]) if len(x) == 1 else np.sum(x),
        lambda x: np.sum(x[-1] - x[0]) + x.shape[0],
        lambda x: np.concatenate([x, x[:1]]),
        lambda x: np.diff(x, axis=0),
        lambda x: (x - np.mean(x, axis=0)) / (np.std(x, axis=0) + 1),
        lambda x: x + np.arange(3.0)[:, None],
        lambda x: np.einsum("ij,kj->ik", x, np.ones((3, 2))),
        lambda x: np.einsum("ij,ij->ij", x, np.ones((3, 2))),
        lambda x: np.squeeze(x[:, :1], axis=1),
        lambda x: np.cov(x),
        lambda x: np.linalg.solve(x @ x.T + np.eye(len(x)), x),
        lambda x: x[:, None] - x[None, :],
        lambda x: np.where(x > 0, x, np.zeros((1, 2))),
        lambda x: np.broadcast_to(x, (3, 2)),
        lambda x: 1.0 if len(x) == 1 and x[:, 0] > -9 else 2.0,
        lambda x: x[:, 0].item() if len(x) == 1 else 0.0,
        lambda x: x * 2 if x.shape[0] == 1 else x * 3,
    ],
)
def test_what_depends_on_the_size(function, n):
    x = R.standard_normal((n, 2))
    compiled = cr.jit(function)
    try:
        want = function(x)
    except ValueError:
        with pytest.raises(ValueError):
            compiled(x)
        return
    got = compiled(x)
    assert np.shape(got) == np.shape(want)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def test_sizes_of_columns_are_known():
    column = cr.jit(lambda x: x * 2)
    column(np.ones((3, 1)))
    assert "x: float64[n, 1]" in cr.explain_recompiles(column)


def test_an_error_is_told_in_the_sizes_of_the_call():
    with pytest.raises(ValueError, match=r"\(1,2\) \(3,\)"):
        cr.jit(lambda x: x + np.ones(3))(np.ones((1, 2)))
