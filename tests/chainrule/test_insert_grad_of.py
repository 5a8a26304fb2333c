"""Statements of the user's in the backward sweep."""

import sys

import numpy as np
import pytest

import chainrule as cr

X = np.array([1.0, 2.0, 3.0])
W = np.array([0.1, 10.0, 100.0])


def clipped(x, limit=1.0):
    y = x * x
    with cr.insert_grad_of(y) as g:
        cr.debug.print("{} at {}", g, y[1])
        if g[2] > limit:
            g = np.clip(g, -limit, limit)
    return np.sum(y * W)


WANTED = 2 * X * np.clip(W, -1, 1)


@pytest.mark.parametrize("make", [cr.grad, lambda f: cr.jit(cr.grad(f))], ids=["grad", "jit"])
def test_the_gradient_is_changed_and_shown(make, capsys):
    assert np.allclose(make(clipped)(X), WANTED)
    assert capsys.readouterr().out == f"{W} at 4.0\n"


def test_for_each_example():
    assert np.allclose(cr.jit(cr.vmap(cr.grad(clipped)))(np.stack([X, -X])), [WANTED, -WANTED])


def test_the_second_derivative_is_that_of_the_changed_gradient():
    assert np.allclose(cr.hessian(clipped)(X), np.diag(2 * np.clip(W, -1, 1)))


def test_forward_mode_and_the_value_go_without(capsys):
    value, tangent = cr.jvp(clipped, (X,), (X,))
    assert np.allclose([value, tangent], [np.sum(X * X * W), 2 * np.sum(X * X * W)])
    assert np.isclose(cr.jit(clipped)(X), value)
    assert capsys.readouterr().out == ""


def test_python_itself_runs_the_body_with_zeros(capsys):
    assert np.isclose(clipped(X), np.sum(X * X * W))
    assert capsys.readouterr().out == "[0. 0. 0.] at 4.0\n"


def test_in_a_loop_each_turn_passes_it():
    def f(x):
        for _ in range(3):
            x = x * 2
            with cr.insert_grad_of(x) as g:
                g = g * 0.5
        return x.sum()

    assert np.allclose(cr.jit(cr.grad(f))(X), np.ones(3))


def test_structures_and_writes_in_place():
    def f(p):
        with cr.insert_grad_of(p) as g:
            g["a"] = g["a"] * 0
            g["b"][0] = 7.0
        return np.sum(p["a"] * p["b"])

    got = cr.grad(f)({"a": X, "b": X})
    assert got["a"].tolist() == [0.0, 0.0, 0.0] and got["b"].tolist() == [7.0, 2.0, 3.0]


def test_a_breakpoint_in_it(monkeypatch):
    stops = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: stops.append(dict(sys._getframe(1).f_locals)))

    def f(x):
        y = 3 * x
        with cr.insert_grad_of(y) as g:
            breakpoint()
        return np.sum(y * y)

    assert np.allclose(cr.grad(f)(X), 18 * X)
    assert np.allclose(stops[0]["g"], 6 * X)


def test_what_is_refused():
    def no_name(p):
        with cr.insert_grad_of(p["a"]) as g:
            g = 2 * g
        return p["a"].sum()

    def left(x):
        for k in range(2):
            with cr.insert_grad_of(x) as g:
                if k:
                    break
                g = 2 * g
        return x.sum()

    def unnamed(x):
        with cr.insert_grad_of(x):
            pass
        return x.sum()

    cases = [
        (no_name, {"a": X}, "insert_grad_of something that is not a variable", "w = params['w']"),
        (left, X, "return, break or continue inside insert_grad_of", "set the gradient"),
        (unnamed, X, "insert_grad_of without a name for the gradient", "with insert_grad_of(x) as g"),
    ]
    for function, argument, what, remedy in cases:
        with pytest.raises(cr.ChainruleError) as caught:
            cr.grad(function)(argument)
        assert what in str(caught.value) and remedy in str(caught.value)


def test_a_gradient_of_another_shape_is_refused():
    def f(x):
        with cr.insert_grad_of(x) as g:
            g = g.sum()
        return x.sum()

    with pytest.raises(cr.ChainruleError, match="insert_grad_of"):
        cr.grad(f)(X)
