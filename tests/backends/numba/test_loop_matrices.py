"""Matrices that loops multiply by: wherever they lie in memory, and only if they stay as they are."""

import numpy as np
import pytest

import chainrule as cr


def states(w, h, n):
    for _ in range(n):
        h = np.tanh(w @ h) + h @ w.T
    return h


def placed(matrix, offset):
    room = np.empty(matrix.nbytes + 128, np.uint8)
    start = (-room.ctypes.data) % 64 + offset
    made = room[start : start + matrix.nbytes].view(matrix.dtype).reshape(matrix.shape)
    made[:] = matrix
    return made


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_wherever_they_lie(dtype):
    w, h = (np.random.default_rng(0).normal(size=shape).astype(dtype) for shape in ((6, 6), 6))
    compiled, wanted = cr.jit(states), states(w, h, 3)
    wide = np.zeros((6, 12), dtype)
    wide[:, ::2] = w
    for matrix in (
        placed(w, 0),
        placed(w, 16),
        np.asfortranarray(w),
        w.T.copy().T,
        wide[:, ::2],
        w[::-1][::-1],
    ):
        np.testing.assert_allclose(
            compiled(matrix, h, 3), wanted, rtol=2e-6 if dtype is np.float32 else 1e-13
        )
    assert "support.aligned(w)" in cr.source(compiled, stage="numba")(w, h, 3)


def test_one_that_the_loop_changes():
    def changed(w, h, n):
        for k in range(n):
            w[k, 0] += h[k]
            h = w @ h
        return h

    w, h = np.random.default_rng(1).normal(size=(4, 4)), np.arange(4.0)
    own, others = placed(w, 16), w.copy()
    compiled = cr.jit(changed)
    np.testing.assert_allclose(compiled(own, h, 3), changed(others, h, 3), rtol=1e-13)
    np.testing.assert_allclose(own, others, rtol=1e-13)
    assert "aligned" not in cr.source(compiled, stage="numba")(w, h, 3)
