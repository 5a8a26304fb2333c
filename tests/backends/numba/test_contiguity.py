"""Products read arrays where they are: what is contiguous is not copied, nor what is transposed."""

import numpy as np
import pytest

import chainrule as cr

R = np.random.default_rng(9)


def layers(x, w):
    hidden = np.tanh(x @ w)
    return hidden.T @ hidden, hidden @ w.T, x.T @ hidden


def test_only_arguments_are_made_contiguous():
    x, w = R.standard_normal((5, 4)), R.standard_normal((4, 3))
    text = cr.source(layers, stage="numba")(x, w)
    assert "np.dot(hidden.T, hidden)" in text
    assert "np.dot(hidden, np.ascontiguousarray(w).T)" in text
    assert "ascontiguousarray(hidden" not in text


def rows(x, w):
    out = np.zeros((x.shape[0], w.shape[1]), x.dtype)
    for i in range(x.shape[0]):
        out[i] = x[i] @ w
        out[i] = out[i] @ w.T[:, : w.shape[0]] @ w
    return out, np.transpose(out, (0, 1)) @ w.T


@pytest.mark.parametrize("function", [layers, rows])
@pytest.mark.parametrize("order, dtype", [("C", "f8"), ("F", "f4"), ("strided", "f8"), ("F", "c16")])
def test_every_layout(function, order, dtype):
    def arranged(x):
        x = x.astype(dtype)
        return x.repeat(2, axis=1)[:, ::2] if order == "strided" else np.array(x, order=order)

    x, w = arranged(R.standard_normal((6, 3))), arranged(R.standard_normal((3, 3)))
    for found, expected in zip(cr.jit(function)(x, w), function(x, w)):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-4 if dtype == "f4" else 1e-12, atol=1e-6)


@pytest.mark.parametrize("n, k, m", [(0, 3, 2), (3, 0, 2), (1, 1, 1)])
def test_empty_and_single(n, k, m):
    x, w = R.standard_normal((n, k)), R.standard_normal((k, m))
    for found, expected in zip(cr.jit(layers)(x, w), layers(x, w)):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
