"""Products with identity and diagonal matrices, and transposes that move in, by what they become."""

import numpy as np
import pytest

import chainrule as cr

RNG = np.random.default_rng(5)
A, B, C = (RNG.standard_normal(shape) for shape in ((3, 4), (4, 3), (4, 4)))
V, W = RNG.standard_normal(4), RNG.uniform(1, 2, 4)

CASES = {
    "identity on the right": (lambda a: a @ np.eye(4), (A,), "a"),
    "identity on the left": (lambda b: np.eye(4) @ b, (B,), "b"),
    "identity and a vector": (lambda v: v @ np.eye(4) + np.eye(4) @ v, (V,), "2 * v"),
    "scaled identity": (lambda b: (2.5 * np.eye(4)) @ b, (B,), "2.5 * b"),
    "scaled columns": (lambda a, v: a @ (np.eye(4) * v), (A, V), "a * v"),
    "scaled rows": (lambda b, v: (v[:, None] * np.eye(4)) @ b, (B, V), "v[:, None] * b"),
    "a quotient": (lambda a, w: a @ (np.eye(4) / w), (A, W), "a * (1.0 / w)"),
    "a choice": (lambda a, v: a @ np.where(v > 0, np.eye(4), 0), (A, V), "a * np.where(v > 0, 1.0, 0)"),
    "a diagonal of two": (lambda a, v, w: a @ (-(np.eye(4) * v) * w), (A, V, W), "a * -(v * w)"),
    "sum of a diagonal": (lambda v: np.sum(np.eye(4) * v, axis=0), (V,), "v"),
    "sum of an identity": (lambda v: np.sum(np.eye(len(v)), axis=1), (V,), "np.ones(v.shape[0])"),
    "not only a diagonal": (
        lambda a, c: a @ (np.eye(4) + c), (A, C), "a @ (np.eye(4) + c)"
    ),
    "part of a diagonal": (lambda a: a @ np.eye(4, 3), (A,), "a @ np.eye(4, 3)"),
    "off the diagonal": (lambda a: a @ np.eye(4, k=1), (A,), None),
    "another dtype": (lambda a: a.astype(np.float32) @ np.eye(4), (A,), None),
    "integers": (lambda a: (3 * a).astype(int) @ np.eye(4, dtype=int), (A,), "(3 * a).astype(np.int64)"),
    "a solution": (lambda c: np.linalg.solve(c, np.eye(4)), (C,), "np.linalg.inv(c)"),
    "einsum": (lambda a: np.einsum("ij,aj->ai", a, np.eye(4)), (A,), "a.T"),
    "einsum of three": (
        lambda a, v: np.einsum("ij,aj,j->ia", a, np.eye(4), v), (A, V), 'np.einsum("ia,a->ia", a, v)'
    ),
    "transposed sum": (lambda a, b: (a.T + b).T, (A, B), "a + b.T"),
    "transposed beside vectors": (lambda a, v: (a.T * v[:3]).T, (A, V), "a * v[:3][:, None]"),
    "transposed beside columns": (lambda a, v: (a.T * v[:, None]).T, (A, V), "a * v"),
    "transposed product": (lambda a, b: (a.T @ b.T).T, (A, B), "b @ a"),
    "transposed inverse": (lambda c: np.linalg.inv(c.T).T, (C,), "np.linalg.inv(c)"),
    "one transpose is left": (lambda a, b: (a + b.T * b.T).T, (A, B), None),
    "of what two read": (lambda a: ((a.T - a.T * a.T) * np.eye(4, 3)).T, (A,), None),
    "column of a reshape": (lambda v: v.reshape(4, 1)[:, 0], (V,), "v"),
    "broadcast by another": (
        lambda v, w: np.broadcast_to(v[:, None], (4, 4)) * w, (V, W), "v[:, None] * w"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_products_become(name):
    f, arrays, expected = CASES[name]
    wanted = f(*arrays)
    np.testing.assert_allclose(cr.jit(f)(*arrays), wanted, rtol=1e-6, atol=1e-12)
    batched = cr.vmap(f)(*(np.stack([x, 2 * x]) for x in arrays))
    np.testing.assert_allclose(batched[0], wanted, rtol=1e-6, atol=1e-12)
    if expected is not None:
        text = cr.source(cr.jit(f), stage="simplified")(*arrays)
        assert text.partition("return ")[2].strip() == expected
