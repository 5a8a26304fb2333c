"""Programs made at random give at every stage what plain NumPy gives, and differences give as gradients."""

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import chainrule as cr
from chainrule.codegen.parse import parse_text
from tests.programs.writer import programs

X, Y = np.array([0.3, -0.8, 1.1, 0.6]), 0.9
SLOW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def made(text):
    return parse_text(text, {"np": np})


def differences(f, step=1e-6):
    """Central differences of f, or None at a place where it jumps."""
    found = []
    for k in range(5):
        ends = []
        for sign in (step, -step, 2 * step, -2 * step):
            x, y = X.copy(), Y
            if k < 4:
                x[k] += sign
            else:
                y += sign
            ends.append(f(x, y))
        near, far = (ends[0] - ends[1]) / (2 * step), (ends[2] - ends[3]) / (4 * step)
        if abs(near - far) > 1e-5 * max(1, abs(near)):
            return None
        found.append(near)
    return np.array(found)


@SLOW
@given(programs())
def test_the_gradient_is_what_differences_say(text):
    f = made(text)
    want = differences(f)
    assume(want is not None and np.abs(want).max() < 1e3)
    x_bar, y_bar = cr.grad(f, argnums=(0, 1))(X, Y)
    np.testing.assert_allclose(np.append(x_bar, y_bar), want, rtol=1e-5, atol=1e-6, err_msg=text)


@SLOW
@given(programs(), st.integers(0, 99))
def test_forward_agrees_with_reverse(text, seed):
    f, rng = made(text), np.random.default_rng(seed)
    v, w = rng.standard_normal(4), float(rng.standard_normal())
    out, dot = cr.jvp(f, (X, Y), (v, w))
    value, (x_bar, y_bar) = cr.value_and_grad(f, argnums=(0, 1))(X, Y)
    np.testing.assert_allclose([out, value], [f(X.copy(), Y)] * 2, rtol=1e-12, err_msg=text)
    np.testing.assert_allclose(dot, x_bar @ v + y_bar * w, rtol=1e-8, atol=1e-10, err_msg=text)


@settings(SLOW, max_examples=12)
@given(programs(depth=1))
def test_compiled_is_what_eager_is(text):
    f = made(text)
    eager = cr.value_and_grad(f, argnums=(0, 1))
    (value, bars), (compiled_value, compiled_bars) = eager(X, Y), cr.jit(eager)(X, Y)
    np.testing.assert_allclose(compiled_value, value, rtol=1e-12, err_msg=text)
    for one, other in zip(bars, compiled_bars, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-10, atol=1e-12, err_msg=text)


@settings(SLOW, max_examples=20)
@given(programs(depth=1), st.integers(0, 99))
def test_second_derivatives_agree(text, seed):
    f, v = made(text), np.random.default_rng(seed).standard_normal(4)
    slope = lambda x: cr.grad(f)(x, Y) @ v
    near = [slope(X + sign * 1e-6 * v) for sign in (1, -1, 2, -2)]
    want, far = (near[0] - near[1]) / 2e-6, (near[2] - near[3]) / 4e-6
    assume(abs(want) < 1e3 and abs(want - far) < 1e-4 * max(1, abs(want)))
    forward_over_reverse = cr.jvp(lambda x: cr.grad(f)(x, Y), (X,), (v,))[1] @ v
    reverse_over_reverse = cr.grad(slope)(X) @ v
    reverse_over_forward = cr.grad(lambda x: cr.jvp(lambda z: f(z, Y), (x,), (v,))[1])(X) @ v
    np.testing.assert_allclose(
        [forward_over_reverse, reverse_over_reverse, reverse_over_forward],
        [want] * 3,
        rtol=1e-4,
        atol=1e-5,
        err_msg=text,
    )
