import numpy as np
import pytest

from tests.codegen.compositions.comparing import agree, rows

rng = np.random.default_rng(0)
v, w, m, n, t = (rng.normal(size=shape) for shape in (3, 3, (2, 3), (3, 4), (2, 3, 4)))
s = v.astype(np.float32)
i = np.array([1, 2, 3])
z = v + 1j * w

PAIRS = [(v, w), (m, v), (v, n), (m, n), (2.0, v), (v, 2.0), (2, 3.0), (t, n.T), (s, s), (s, i), (i, i),
         (z, v), (v, z),
         ([1, 2, 3], [4.0, 5, 6]), (t, t[0]), (n[0], t), (v, m), (n, v), (np.ones((0, 3)), v), (2.0, s)]
SUBSCRIPTS = [("ij,jk->ik", m, n), ("ij,jk", m, n), ("ij", m), ("ji", m), ("ij->", m), ("ii", n[:3, :3]),
              ("ii->i", n[:3, :3]),
              ("i,i", v, w), ("i,j", v, w), ("...j,j", t, n[0]), ("...ij,...jk", t, n.T),
              ("ijk,j->...", t, v), ("i...->...", t),
              (" ij , jk -> ik ", m, n), ("ij,ij->i", m, np.ones((2, 1))), ("i,i->i", v, np.ones(1)),
              ("ij,j->i", m, np.ones(4)),
              ("ij,jk,kl->il", m, n, n.T), (",i->i", 2.0, v), ("ij,jk", m), ("i", m), ("ijk", m),
              ("ij->ik", m), ("ij->ii", m),
              ("ij,jk->ik", s[None], n.astype("f")), ("i,i->i", i, i), ("i,i", z, z)]

CASES = rows(
    *[(f, *pair) for f in (np.dot, np.inner, np.outer, np.kron, np.matmul) for pair in PAIRS],
    *[(f, *pair) for f in (np.vdot, np.vecdot)
      for pair in PAIRS if pair[0] is not m and np.shape(pair[0]) == np.shape(pair[1])],
    (np.vecdot, t, t, {"axis": 1}), (np.vecdot, t, n),
    (np.tensordot, m, n, 1), (np.tensordot, t, t), (np.tensordot, v, w, 0),
    (np.tensordot, t, n, ((1, 2), (0, 1))),
    (np.tensordot, t, n, (-1, -1)), (np.tensordot, t, m, ([0, 1], [0, 1])), (np.tensordot, m, m, 1),
    (np.tensordot, m, n, 3),
    *[(np.einsum, *case) for case in SUBSCRIPTS],
    (np.einsum, m, [0, 1], n, [1, 2]), (np.einsum, m, [0, 1], n, [1, 2], [2, 0]),
    (np.einsum, t, [Ellipsis, 0], [Ellipsis]),
    (np.einsum, "ij,jk->ik", m, n, {"optimize": True}),
    (np.kron, m, n), (np.kron, t, v), (np.kron, v, t),
    (np.cross, v, w), (np.cross, n.T, v), (np.cross, n, n[:, ::-1], {"axis": 0}), (np.cross, n, v, 0),
    (np.cross, n[:, :2], w, 0, 0, 0),
    (np.cross, i, i[::-1]), (np.cross, v, n[0]),
    (np.trace, n), (np.trace, n, 1), (np.trace, n, -1), (np.trace, t, 0, 1, 2),
    (np.trace, n.astype("f")), (np.trace, n.astype(int)),
    (np.trace, v), (np.trace, n, {"dtype": np.float32}),
    *[(f, a, b, mode) for f in (np.convolve, np.correlate) for mode in ("full", "same", "valid")
      for a in (v, z, i, rng.normal(size=6), s) for b in (w, w[:1], w[:2], n[0], z, s)],
    (np.convolve, v, []), (np.convolve, [], v), (np.convolve, v, 2.0), (np.convolve, v, m),
    (np.correlate, v, w[:2]),
    (np.convolve, [1, 2], [1, 2, 3]),
)


@pytest.mark.parametrize("function, args, kwargs", CASES)
def test_agrees_with_numpy(function, args, kwargs):
    agree(function, args, kwargs)
