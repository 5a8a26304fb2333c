"""checkpoint: the same numbers, with less kept."""

import tracemalloc

import numpy as np
import pytest

import chainrule as cr


def step(x, w):
    return np.tanh(np.sin(np.exp(-x * w)) * np.cos(x))


def run(x, w, n, one_step):
    for _ in range(n):
        x = one_step(x, w)
    return np.sum(x)


def straight(x, w, one_step):
    x = one_step(x, w)
    x = one_step(x, w)
    x = one_step(x, w)
    return np.sum(x)


def peak(function, *arguments):
    function(*arguments)
    tracemalloc.start()
    try:
        function(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_loop_keeps_one_array_a_step():
    x = np.linspace(0.1, 1.0, 20_000)
    steps, gradients, peaks = 20, [], []
    for one_step in (step, cr.checkpoint(step)):
        gradient = cr.grad(lambda x, w: run(x, w, steps, one_step), 1)
        gradients.append(gradient(x, x))
        peaks.append(peak(gradient, x, x) / x.nbytes)
    np.testing.assert_allclose(*gradients, rtol=1e-12)
    assert peaks[1] < steps + 12, peaks
    assert peaks[1] < 0.5 * peaks[0], peaks


@pytest.mark.parametrize("transform", [lambda f: f, cr.jit])
def test_without_a_loop(transform):
    x = np.linspace(0.1, 1.0, 7)
    plain = cr.grad(lambda x, w: straight(x, w, step), (0, 1))(x, 2 * x)
    again = transform(cr.grad(lambda x, w: straight(x, w, cr.checkpoint(step)), (0, 1)))(x, 2 * x)
    for one, other in zip(plain, again):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_values_are_computed_again():
    x = np.linspace(0.1, 1.0, 7)
    text = cr.source(cr.grad(lambda x, w: straight(x, w, cr.checkpoint(step))))(x, x)
    text = "\n".join(line for line in text.splitlines() if "#" not in line)
    # two steps run twice, and the last once: its value is not wanted
    assert text.count("np.exp(") == 5
    assert "tape" not in text
    assert "if True" not in text


def test_through_control_flow_and_structures():
    @cr.checkpoint
    def body(p):
        y = p["a"].copy()
        y[0] = p["b"]
        total = 0.0
        for k in range(len(y)):
            if y[k] > 0:
                total = total + np.sin(y[k]) * p["b"]
        return {"y": y * p["b"], "total": total, "n": 3}

    def loss(p):
        out = body(p)
        return np.sum(out["y"] ** 2) + out["total"] * out["n"]

    p = {"a": np.array([0.5, -1.0, 2.0, 0.3]), "b": 0.7}
    cr.check_grads(loss, (p,), order=2)
    np.testing.assert_allclose(cr.jit(loss)(p), loss(p))


def test_refusals():
    def leaky(x):
        x[0] = 1.0
        return np.sum(x)

    with pytest.raises(NotImplementedError, match="checkpoint of leaky, which changes something outside"):
        cr.grad(lambda x: cr.checkpoint(leaky)(x * 2))(np.ones(3))
