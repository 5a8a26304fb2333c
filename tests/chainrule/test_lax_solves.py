"""custom_root and custom_linear_solve: implicit derivatives against closed forms and differences."""

import numpy as np
import pytest

import chainrule as cr
from chainrule import lax
from chainrule.codegen.errors import NotDifferentiableError, ShapeMismatchError, TypeMismatchError
from tests.chainrule.lax_checks import check_batched, check_values, same

R = np.random.default_rng(0)
A = R.standard_normal((3, 3)) + 4 * np.eye(3)
B = R.standard_normal(3)


def bisect(f, guess):
    low, high = 0.0, guess + 20.0
    for _ in range(80):
        middle = 0.5 * (low + high)
        if f(middle) > 0:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)


def square_root(a):
    return lax.custom_root(lambda x: x * x - a, 1.0, bisect, lambda g, y: y / g(1.0))


def newton(f, guess):
    x = guess
    for _ in range(30):
        x = x - np.linalg.solve(cr.jacfwd(f)(x), f(x))
    return x


def dense(g, y):
    return np.linalg.solve(cr.jacfwd(g)(y), y)


def balance(a, b):
    """The x with a @ x + 0.1 * x ** 3 = b."""
    return lax.custom_root(lambda x: a @ x + 0.1 * x**3 - b, np.zeros(3), newton, dense)


def found_by_loops(a, b):
    x = np.zeros(3)
    for _ in range(30):
        x = x - np.linalg.solve(a + np.diag(0.3 * x**2), a @ x + 0.1 * x**3 - b)
    return x


def test_root_of_a_number():
    check_values(square_root, lambda a: np.float64(np.sqrt(a)) + 0.0, np.float64(2.0))
    check_batched(square_root, np.float64(2.0))
    for a in (0.5, 2.0, 9.0):
        for run in (lambda f: f, cr.jit):
            same(run(cr.grad(square_root))(a), 0.5 * a**-0.5, dtypes=False)
            push = run(lambda a: cr.jvp(square_root, (a,), (1.0,))[1])
            same(push(a), 0.5 * a**-0.5, dtypes=False)
            same(run(cr.grad(cr.grad(square_root)))(a), -0.25 * a**-1.5, dtypes=False)
            same(run(cr.hessian(square_root))(a), -0.25 * a**-1.5, dtypes=False)
        same(cr.grad(cr.grad(cr.grad(square_root)))(a), 0.375 * a**-2.5, dtypes=False)
    batch = np.array([0.5, 2.0, 9.0])
    same(cr.jit(cr.vmap(cr.grad(square_root)))(batch), 0.5 * batch**-0.5)
    same(cr.jit(cr.grad(lambda a: np.sum(cr.vmap(square_root)(a))))(batch), 0.5 * batch**-0.5)


def test_the_solver_is_not_differentiated():
    text = cr.source(cr.grad(square_root))(2.0)
    loops = [line for line in text.splitlines() if line.strip().startswith(("for ", "while "))]
    assert len(loops) == 1 and "tape" not in text


def test_root_of_a_vector():
    check_values(balance, found_by_loops, A, B)
    check_batched(balance, A, B)
    x = balance(A, B)
    slope = np.linalg.inv(A + np.diag(0.3 * x**2))
    same(cr.jacrev(balance, 1)(A, B), slope)
    same(cr.jit(cr.jacfwd(balance, 1))(A, B), slope)
    same(cr.jacrev(balance)(A, B), -np.einsum("ij,k->ijk", slope, x))
    cr.check_grads(balance, (A, B), order=2)
    loss = lambda a, b: np.sum(balance(a, b) ** 2)
    batch = np.stack([A, A + 0.1]), np.stack([B, 2 * B])
    rows = [cr.grad(loss, (0, 1))(a, b) for a, b in zip(*batch)]
    same(cr.jit(cr.vmap(cr.grad(loss, (0, 1))))(*batch), tuple(map(np.stack, zip(*rows))))


def test_root_of_a_tree():
    def function(a):
        f = lambda z: {"x": z["x"] ** 2 + z["y"] - a, "y": z["y"] - 2.0 * a * z["x"]}

        def solve(f, guess):
            z = guess
            for _ in range(40):
                off = f(z)
                slope = 2 * z["x"] + 2 * a
                z = {"x": z["x"] - (off["x"] - off["y"]) / slope, "y": 2.0 * a * z["x"]}
            return z, {"steps": 40}

        def tangent_solve(g, z):
            basis = [g({"x": 1.0, "y": 0.0}), g({"x": 0.0, "y": 1.0})]
            determinant = basis[0]["x"] * basis[1]["y"] - basis[1]["x"] * basis[0]["y"]
            return {
                "x": (z["x"] * basis[1]["y"] - z["y"] * basis[1]["x"]) / determinant,
                "y": (z["y"] * basis[0]["x"] - z["x"] * basis[0]["y"]) / determinant,
            }

        z, aux = lax.custom_root(f, {"x": 1.0, "y": 1.0}, solve, tangent_solve, has_aux=True)
        return z["x"], aux["steps"]

    want = lambda a: -a + np.sqrt(a * a + a)
    slope = lambda a: -1 + (2 * a + 1) / (2 * np.sqrt(a * a + a))
    for a in (0.5, 2.0):
        same(function(a)[0], want(a), dtypes=False, tolerance=1e-7)
        got, steps = cr.jit(cr.grad(function, has_aux=True))(a)
        same(got, slope(a), dtypes=False, tolerance=1e-6)
        assert steps == 40
        same(cr.jvp(lambda a: function(a)[0], (a,), (1.0,))[1], slope(a), dtypes=False, tolerance=1e-6)


@pytest.mark.parametrize(
    "f, solve, tangent_solve, options, kind, text",
    [
        (
            lambda x: (x, x),
            lambda f, x: x,
            lambda g, y: y,
            {},
            TypeMismatchError,
            "custom_root needs an f whose value is like x: *, and it is (*, *)",
        ),
        (
            lambda x: x,
            lambda f, x: [x],
            lambda g, y: y,
            {},
            TypeMismatchError,
            "custom_root needs a root like initial_guess: *, and it is [*]",
        ),
        (
            lambda x: x,
            lambda f, x: x,
            lambda g, y: y * np.ones(3),
            {},
            ShapeMismatchError,
            "custom_root needs a tangent_solve whose value is like x: it is float64 of shape (3,)",
        ),
        (
            lambda x: x,
            lambda f, x: x,
            lambda g, y: y,
            {"has_aux": True},
            TypeMismatchError,
            "custom_root with has_aux=True needs a solver that returns (solution, aux)",
        ),
    ],
)
def test_refused_roots(f, solve, tangent_solve, options, kind, text):
    function = lambda a: lax.custom_root(
        lambda x: cr.tree.map(lambda y: y - a, f(x)), 1.0, solve, tangent_solve, **options
    )
    for run in (cr.grad(function), lambda a: cr.jvp(function, (a,), (a,))):
        with pytest.raises(kind) as caught:
            run(1.0)
        assert text in str(caught.value)
        assert "test_lax_solves.py" in str(caught.value) and "Instead: " in str(caught.value)


def test_what_solvers_read_may_be_active():
    """A solver that cheats gets the derivative of the equation all the same."""
    function = lambda a: lax.custom_root(lambda x: a * x - 1, 1.0, lambda f, x: 1 / a, lambda g, y: y / a)
    for run in (lambda f: f, cr.jit):
        same(run(cr.grad(function))(2.0), -0.25, dtypes=False)
        same(run(cr.hessian(function))(2.0), 0.25, dtypes=False)
        same(run(cr.grad(cr.grad(cr.grad(function))))(2.0), -6 / 16, dtypes=False)


def test_a_root_inside_loops():
    def total(a):
        return lax.scan(lambda c, x: (c + square_root(a * x), None), 0.0, np.array([1.0, 2.0, 3.0]))[0]

    want = 0.5 * 2.0**-0.5 * (1 + np.sqrt(2) + np.sqrt(3))
    for run in (lambda f: f, cr.jit):
        same(run(cr.grad(total))(2.0), want, dtypes=False)
    same(cr.jvp(total, (2.0,), (1.0,))[1], want, dtypes=False)
    same(cr.hessian(total)(2.0), -0.5 * want / 2.0, dtypes=False)


# linear systems


def solution(a, b):
    return lax.custom_linear_solve(
        lambda x: a @ x, b, lambda matvec, b: np.linalg.solve(a, b), lambda vecmat, b: np.linalg.solve(a.T, b)
    )


def jacobi(matvec, b):
    """For matrices close to 4 times the identity."""
    return lax.fori_loop(0, 60, lambda _, x: x + 0.25 * (b - matvec(x)), np.zeros_like(b))


def iterated(a, b):
    return lax.custom_linear_solve(lambda x: a @ x, b, jacobi, jacobi)


def conjugate_gradients(a, b):
    def solve(matvec, b):
        def step(state):
            x, r, p = state
            ap = matvec(p)
            along = r @ r / (p @ ap)
            after = r - along * ap
            return x + along * p, after, after + (after @ after) / (r @ r) * p

        return lax.while_loop(lambda state: state[1] @ state[1] > 1e-26, step, (0 * b, b, b))[0]

    return lax.custom_linear_solve(lambda x: a @ x + a.T @ x, b, solve, symmetric=True)


@pytest.mark.parametrize("function", [solution, iterated])
def test_linear_systems(function):
    near = 4 * np.eye(3) + 0.3 * A
    check_values(function, np.linalg.solve, near, B)
    check_batched(function, near, B)
    inverse, x = np.linalg.inv(near), np.linalg.solve(near, B)
    for run in (lambda f: f, cr.jit):
        same(run(cr.jacrev(function, (0, 1)))(near, B), (-np.einsum("ij,k->ijk", inverse, x), inverse))
        same(run(cr.jacfwd(function, (0, 1)))(near, B), (-np.einsum("ij,k->ijk", inverse, x), inverse))
    cr.check_grads(function, (near, B), order=2)
    for outer in (cr.jacfwd, cr.jacrev):
        for inner in (cr.jacfwd, cr.jacrev):
            got = outer(inner(function))(near, B)
            same(
                got,
                np.einsum("ij,kl,m->ijmkl", inverse, inverse, x).transpose(0, 1, 4, 3, 2) * 0
                + second(inverse, x),
            )


def second(inverse, x):
    """The second derivative of inverse(a) @ b by a."""
    return np.einsum("ij,kl,m->ijklm", inverse, inverse, x) + np.einsum("il,mj,k->ijklm", inverse, inverse, x)


def test_a_symmetric_system():
    positive = A @ A.T
    check_values(conjugate_gradients, lambda a, b: np.linalg.solve(a + a.T, b), positive, B)
    plain = lambda a, b: np.linalg.solve(a + a.T, b)
    for argnum in (0, 1):
        same(
            cr.jit(cr.jacrev(conjugate_gradients, argnum))(positive, B),
            cr.jacrev(plain, argnum)(positive, B),
            tolerance=1e-8,
        )
    loss = lambda a, b: np.sum(conjugate_gradients(a, b) ** 2)
    same(
        cr.hessian(loss, 1)(positive, B),
        cr.hessian(lambda a, b: np.sum(plain(a, b) ** 2), 1)(positive, B),
        tolerance=1e-8,
    )


def test_aux_and_missing_transposes():
    def function(a, b):
        solve = lambda matvec, b: (np.linalg.solve(a, b), 3)
        return lax.custom_linear_solve(lambda x: a @ x, b, solve, has_aux=True)

    x, steps = function(A, B)
    same(x, np.linalg.solve(A, B))
    assert steps == 3
    same(cr.jvp(lambda b: function(A, b)[0], (B,), (B,))[1], x)
    for run in (lambda f: f, cr.jit):
        with pytest.raises(NotDifferentiableError, match="needs transpose_solve in reverse mode"):
            run(cr.jacrev(lambda b: function(A, b)[0]))(B)
