"""Jacobians and Hessians made at once for all unit vectors, and those made in a loop."""

import re

import numpy as np
import pytest

import chainrule as cr

RNG = np.random.default_rng(3)
X, Y = RNG.standard_normal(4), RNG.standard_normal(5)
A, B = RNG.standard_normal((5, 4)), RNG.standard_normal((3, 5))
S = RNG.standard_normal((4, 4)) + 4 * np.eye(4)
SIGNS = np.array([1.0, -1.0, 1.0, 1.0, -1.0])


def layer(x):
    return np.tanh(A @ x)


def network(x):
    return B @ layer(x)


def with_branch(x):
    y = A @ x
    if SIGNS[1] > 0:
        y = y * y
    return np.sin(y)


def with_data_branch(x):
    return A @ x if x[0] > 0 else 2 * (A @ x)


def steps(x):
    for _ in range(3):
        x = np.tanh(S @ x)
    return x


def until(x):
    y = x
    while np.sum(y * y) > 0.01:
        y = 0.5 * np.sin(y) + 0.01 * (S @ y)
    return y


def written(x):
    y = np.zeros(6)
    y[1:] = A @ x
    y[0] = y[1] * y[2]
    return y


def by_rows(x):
    y = np.zeros(5)
    for i in range(5):
        y[i] = A[i] @ x * x[0]
    return y


def squares(x):
    return np.sum((A @ x) ** 2)


FUNCTIONS = {
    "layer": layer,
    "network": network,
    "clipped": lambda x: np.where(A @ x > 0, A @ x, 0.1 * (A @ x)),
    "softmax": lambda x: np.exp(A @ x) / np.sum(np.exp(A @ x)),
    "solve": lambda x: np.linalg.solve(S, np.sin(x)) * x,
    "einsum": lambda x: np.einsum("ij,j->i", A, np.exp(x)),
    "tensordot": lambda x: np.tensordot(A, x * x, 1),
    "convolve": lambda x: np.convolve(x, Y) * np.sum(A @ x),
    "vector first": lambda x: np.cos(x @ A.T),
    "branch": with_branch,
    "branch on data": with_data_branch,
    "steps": steps,
    "until": until,
    "written": written,
    "by rows": by_rows,
    "elementwise": lambda x: np.sin(x) * x[::-1],
    "outer": lambda x: np.outer(A @ x, x),
    "a number": lambda x: np.sum(layer(x) ** 3),
    "a matrix of it": lambda x: B @ (A * x),
    "independent": lambda x: (A @ np.ones(4)) * 1.0,
    "one row": lambda x: A[:1] @ x,
    "no rows": lambda x: A[:0] @ x,
}


def by_differences(f, x, step=1e-6):
    """Central differences, one column for each element of a vector."""
    columns = [(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(len(x))]
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("compiled", [False, True])
def test_jacobians(name, compiled):
    f, run = FUNCTIONS[name], cr.jit if compiled else lambda g: g
    wanted = by_differences(f, X)
    for jacobian in (cr.jacfwd, cr.jacrev):
        got = run(jacobian(f))(X)
        assert got.shape == wanted.shape
        assert got.dtype == np.float64
        np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_hessians(name):
    f = FUNCTIONS[name]
    loss = lambda x: np.sum(f(x) ** 2)
    wanted = by_differences(cr.grad(loss), X)
    np.testing.assert_allclose(cr.hessian(loss)(X), wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(cr.jit(cr.jacrev(cr.jacfwd(loss)))(X), wanted, rtol=1e-5, atol=1e-6)


def test_batches_of_hessians_and_derivatives_of_them():
    points = np.stack([X, 0.5 * X, -X])
    wanted = np.stack([by_differences(cr.grad(squares_of_layer), x) for x in points])
    np.testing.assert_allclose(cr.vmap(cr.hessian(squares_of_layer))(points), wanted, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(
        cr.jit(cr.vmap(cr.hessian(squares_of_layer)))(points), wanted, rtol=1e-6, atol=1e-7
    )
    curvature = lambda x: np.sum(cr.hessian(squares_of_layer)(x) ** 2)
    for gradient in (cr.grad(curvature), cr.jit(cr.grad(curvature))):
        np.testing.assert_allclose(gradient(X), by_differences(curvature, X), rtol=1e-5, atol=1e-6)
    third = cr.jacfwd(cr.hessian(squares_of_layer))
    np.testing.assert_allclose(
        third(X), by_differences(cr.hessian(squares_of_layer), X), rtol=1e-5, atol=1e-6
    )


def squares_of_layer(x):
    return np.sum(layer(x) ** 2)


def test_hessian_of_hessian():
    fourth = cr.hessian(lambda x: np.sum(cr.hessian(squares_of_layer)(x)))
    gradient = cr.grad(lambda x: np.sum(cr.hessian(squares_of_layer)(x)))
    np.testing.assert_allclose(fourth(X), by_differences(gradient, X), rtol=1e-5, atol=1e-5)


def test_trees_several_arguments_and_aux():
    def f(p, y):
        first = A @ p["x"] + p["shift"]
        return {"sum": first * y, "number": np.sum(first)}, first

    for jacobian in (cr.jacfwd, cr.jacrev):
        table, first = jacobian(f, argnums=(0, 1), has_aux=True)({"x": X, "shift": 2.0}, Y)
        np.testing.assert_allclose(first, A @ X + 2.0)
        by_p, by_y = table["sum"]
        np.testing.assert_allclose(by_p["x"], A * Y[:, None])
        np.testing.assert_allclose(by_p["shift"], Y)
        np.testing.assert_allclose(by_y, np.diag(first))
        by_p, by_y = table["number"]
        np.testing.assert_allclose(by_p["x"], np.sum(A, axis=0))
        np.testing.assert_allclose(by_p["shift"], 5.0)
        np.testing.assert_allclose(by_y, np.zeros(5))


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_dtypes(dtype):
    matrix, x = A.astype(dtype) * dtype(2.0), X.astype(dtype)
    for jacobian in (cr.jacfwd, cr.jacrev):
        got = jacobian(lambda x: matrix @ (x * x))(x)
        assert got.dtype == dtype
        np.testing.assert_allclose(got, matrix * (2 * x), rtol=1e-5)


def test_a_gradient_stopped_inside_stays_stopped():
    held = lambda x: A @ (cr.lax.stop_gradient(x) * x)
    for jacobian in (cr.jacfwd, cr.jacrev):
        np.testing.assert_allclose(jacobian(held)(X), A * X)
        total = lambda x: np.sum(jacobian(held)(x))
        np.testing.assert_allclose(cr.grad(total)(X), np.zeros(4))


def test_results_are_new_arrays():
    for jacobian in (cr.jacfwd, cr.jacrev):
        got = jacobian(lambda x, a: a @ x)(X, A)
        assert not np.shares_memory(got, A)
        np.testing.assert_array_equal(got, A)

        def doubled(x, a):
            table = jacobian(lambda x: a @ x)(x)
            table[0] *= 2
            return table, a

        table, same = cr.jit(doubled)(X, A)
        np.testing.assert_array_equal(table[0], 2 * A[0])
        np.testing.assert_array_equal(same, A)


def written_out(function, *arguments):
    """What the program returns, and the statements before it that are not of sizes and checks."""
    text = cr.source(function, stage="simplified")(*arguments)
    lines = [line.strip() for line in text.partition("):\n")[2].splitlines() if line.startswith("    ")]
    kept = [line for line in lines if line and not line.startswith(("#", "if ", "raise", 'f"', ")"))]
    return [line for line in kept if ".shape[" not in line]


SOURCES = {
    "linear, forward": (cr.jacfwd(lambda x, a: a @ x), (X, A), ["return a"]),
    "linear, reverse": (cr.jacrev(lambda x, a: a @ x), (X, A), ["return a"]),
    "quadratic": (cr.hessian(lambda x, s: x @ s @ x), (X, S), ["return s.T + s"]),
    "least squares": (
        cr.hessian(lambda x, a: np.sum((a @ x) ** 2)), (X, A), ["return a.T @ (a * 2)"],
    ),
    "two layers": (
        cr.jacfwd(lambda x, a, b: b @ np.tanh(a @ x)), (X, A, B),
        ["tanh = np.tanh(a @ x)", "return b @ (a * (1 - tanh * tanh)[:, None])"],
    ),
    "solution": (
        cr.jacrev(lambda x, s: np.linalg.solve(s, x)), (X, S),
        ["x_bar = np.linalg.inv(s)", "return x_bar"],
    ),
    "rectifier": (
        cr.jacfwd(lambda x, a: np.where(a @ x > 0, a @ x, 0)), (X, A),
        ["return np.where((a @ x > 0)[:, None], a, 0)"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_sources(name):
    function, arguments, lines = SOURCES[name]
    assert written_out(function, *arguments) == lines


def test_what_is_done_in_a_loop():
    for f, x in ((np.sin, X), (lambda m: A @ m, RNG.standard_normal((4, 2)))):
        assert "for k in range" in cr.source(cr.jacfwd(lambda x, f=f: f(x)))(x)
    assert "for k in range" not in cr.source(cr.jacfwd(layer))(X)


def test_all_rows_share_one_forward_sweep():
    def folded(x):
        for _ in range(3):
            x = np.sin(x) * x[::-1]
        return x

    x = RNG.standard_normal(7)
    text = cr.source(cr.jacrev(folded), stage="simplified")(x)
    before, _, after = re.sub("#.*", "", text).partition("for k in")
    assert before.count("np.sin(") == 1
    assert after and "np.sin(" not in after
    wanted = [(folded(x + step) - folded(x - step)) / 2e-6 for step in 1e-6 * np.eye(7)]
    np.testing.assert_allclose(cr.jacrev(folded)(x), np.stack(wanted, axis=1), rtol=1e-6, atol=1e-8)


def test_few_rows_are_written_out():
    def pair(x):
        return np.array([x[0] * np.exp(x[1]), np.sum(x)])

    x = np.array([0.5, -0.3, 2.0])
    text = cr.source(cr.jacrev(pair), stage="simplified")(x)
    assert "for" not in text
    assert re.sub("#.*", "", text).count("np.exp(") == 1
    wanted = [[np.exp(-0.3), 0.5 * np.exp(-0.3), 0.0], [1.0, 1.0, 1.0]]
    np.testing.assert_allclose(cr.jacrev(pair)(x), wanted, rtol=1e-15)
