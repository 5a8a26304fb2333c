import numpy as np
import pytest

from chainrule.codegen.registry import FUNCTIONS
from tests.codegen.compositions.comparing import agree, rows

la = np.linalg
rng = np.random.default_rng(0)
a = rng.normal(size=(3, 3)) + 3 * np.eye(3)
z = a + 1j * rng.normal(size=(3, 3))
batch = rng.normal(size=(2, 3, 3)) + 3 * np.eye(3)
tall, wide = rng.normal(size=(4, 2)), rng.normal(size=(2, 4))
v = rng.normal(size=3)
f = a.astype(np.float32)
i = np.array([[4, 1, 0], [1, 5, 2], [0, 2, 6]])
deep = rng.normal(size=(2, 3, 4))
SQUARES = [a, z, batch, f, i, [[2.0, 1], [1, 3]], tall, v]
ORDERS = [None, 1, -1, 2, -2, np.inf, -np.inf, "fro", "nuc", 0, 3, 0.5, "f", "bad"]
gram = a @ a.T

CASES = rows(
    *[(g, s) for g in (la.inv, la.det, la.slogdet, la.cond, la.matrix_rank, la.svdvals) for s in SQUARES[:6]],
    *[(g, s) for g in (la.inv, la.det, la.slogdet) for s in (tall, v)],
    *[(la.cond, a, p) for p in (1, -1, 2, -2, np.inf, "fro")],
    (la.matrix_rank, np.ones((3, 3))), (la.matrix_rank, v), (la.matrix_rank, i, {"hermitian": True}),
    (la.matrix_rank, a, 1.0),
    (la.matrix_rank, a, {"rtol": 0.9}),
    (la.solve, a, v), (la.solve, batch, a), (la.solve, f, [1, 2, 3]), (la.solve, batch, v),
    (la.solve, a, v[:2]),
    (la.cholesky, gram), (la.cholesky, i), (la.cholesky, z @ z.conj().T),
    (la.cholesky, gram, {"upper": True}),
    (la.cholesky, z @ z.conj().T, {"upper": True}),
    *[(la.qr, s, *mode) for s in (a, tall, wide, batch, z, f, i) for mode in ((), ("r",))],
    *[(la.svd, s, k) for s in (a, tall, wide, batch, z, f, i)
      for k in ({}, {"full_matrices": False}, {"compute_uv": False})],
    *[(g, s, *u) for g in (la.eigh, la.eigvalsh) for s in (a, batch, z, f, i)
      for u in ((), ("U",), ("l",), ("x",))],
    *[(la.pinv, s) for s in (a, tall, wide, batch, z, f, i, np.ones((3, 2)))], (la.pinv, tall, 0.5),
    (la.pinv, tall, {"rtol": 0.5}),
    (la.pinv, gram, {"hermitian": True}),
    *[(la.matrix_power, s, n) for s in (a, batch, i, f) for n in (0, 1, 2, 3, 5, 8, -1, -2)],
    (la.matrix_power, tall, 2),
    (la.multi_dot, [wide, tall]), (la.multi_dot, [tall, wide, tall]), (la.multi_dot, [v, a, a, v]),
    (la.multi_dot, [a, v]), (la.multi_dot, [a]),
    *[(la.norm, s, o) for s in (v, a, z[0], z, f, i, deep, np.zeros(3), np.zeros((2, 2))) for o in ORDERS],
    *[(la.norm, deep, o, ax, k) for o in ORDERS for ax in (0, -1, (0, 2), (2, 0), (1, 1))
      for k in (False, True)],
    (la.norm, 3.0), (la.norm, deep), (la.norm, a, {"keepdims": True}), (la.norm, a, None, (0, 1, 2)),
    (la.norm, a, None, 3),
    (la.vector_norm, a), (la.vector_norm, a, {"ord": 1, "axis": 0}),
    (la.vector_norm, a, {"keepdims": True}), (la.matrix_norm, deep),
    (la.matrix_norm, deep, {"ord": 2, "keepdims": True}),
    (la.trace, deep), (la.diagonal, deep), (la.matmul, a, a), (la.tensordot, a, a, {"axes": 1}),
    (la.vecdot, a, a), (la.outer, v, v),
    (la.cross, v, v[::-1]), (la.matrix_transpose, deep),
)


@pytest.mark.parametrize("function, args, kwargs", CASES)
def test_agrees_with_numpy(function, args, kwargs):
    agree(function, args, kwargs)


def test_results_have_names():
    assert FUNCTIONS[la.eigh](gram).eigenvalues.shape == (3,)
    assert FUNCTIONS[la.svd](gram).S.shape == (3,)
    assert FUNCTIONS[la.slogdet](gram).sign == 1
    assert FUNCTIONS[la.qr](gram).Q.shape == (3, 3)
