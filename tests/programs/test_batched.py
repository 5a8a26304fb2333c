"""vmap of a random program is the program done for one example after the other, and so its derivatives."""

import numpy as np
from hypothesis import HealthCheck, assume, given, settings

import chainrule as cr
from chainrule.codegen.parse import parse_text
from tests.programs.writer import programs

R = np.random.default_rng(4)
X = np.array([[0.3, -0.8, 1.1, 0.6], [-0.4, 0.9, 0.2, -1.3], [1.4, 0.7, -0.5, 0.1]])
Y = np.array([0.9, -0.6, 0.35])
SLOW = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def made(text):
    return parse_text(text, {"np": np})


def one_by_one(f):
    return [f(x.copy(), y) for x, y in zip(X, Y)]


def fair(values):
    assume(all(np.isfinite(v).all() and np.abs(v).max() < 1e6 for v in values))


@SLOW
@given(programs())
def test_values_and_gradients(text):
    f = made(text)
    want = one_by_one(f)
    bars = one_by_one(cr.grad(f, argnums=(0, 1)))
    fair([*want, *(bar for pair in bars for bar in pair)])
    np.testing.assert_allclose(cr.vmap(f)(X, Y), np.stack(want), rtol=1e-10, atol=1e-12, err_msg=text)
    x_bar, y_bar = cr.vmap(cr.grad(f, argnums=(0, 1)))(X, Y)
    outside = cr.grad(lambda x, y: np.sum(cr.vmap(f)(x, y)), argnums=(0, 1))(X, Y)
    for k, got in enumerate(zip((x_bar, y_bar), outside)):
        for one in got:
            np.testing.assert_allclose(
                one, np.stack([pair[k] for pair in bars]), rtol=1e-8, atol=1e-10, err_msg=text
            )


@SLOW
@given(programs())
def test_some_arguments_alone(text):
    f = made(text)
    want = [f(X[0].copy(), y) for y in Y]
    fair(want)
    got = cr.vmap(f, in_axes=(None, 0))(X[0], Y)
    np.testing.assert_allclose(got, np.stack(want), rtol=1e-10, atol=1e-12, err_msg=text)
    want = [f(x.copy(), Y[0]) for x in X]
    fair(want)
    got = cr.vmap(f, in_axes=(1, None))(X.T, Y[0])
    np.testing.assert_allclose(got, np.stack(want), rtol=1e-10, atol=1e-12, err_msg=text)


@settings(SLOW, max_examples=10)
@given(programs(depth=1))
def test_compiled(text):
    f = cr.vmap(cr.grad(made(text)))
    want = f(X, Y)
    fair([want])
    np.testing.assert_allclose(cr.jit(f)(X, Y), want, rtol=1e-9, atol=1e-11, err_msg=text)


@settings(SLOW, max_examples=20)
@given(programs(depth=1))
def test_batches_of_batches(text):
    f = made(text)
    want = np.array([[f(x.copy(), y) for y in Y] for x in X])
    fair([want])
    got = cr.vmap(cr.vmap(f, in_axes=(None, 0)), in_axes=(0, None))(X, Y)
    np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12, err_msg=text)
