"""numpy.linalg.

What reads one triangle of a matrix is given a symmetric matrix by the row's function: differences see both.
"""
import numpy as np

from tests.functions.table import complexes, matrix, real, row


def symmetric(x):
    return x + np.swapaxes(x, -1, -2)


def definite(x):
    return x @ np.swapaxes(x, -1, -2) + 2 * np.eye(x.shape[-1])


def of_vectors(x):
    """A function of eigenvectors that does not depend on their signs."""
    values, vectors = np.linalg.eigh(symmetric(x))
    return values, (vectors * np.sin(values)[..., None, :]) @ np.swapaxes(vectors, -1, -2)


def of_complex_vectors(x):
    values, vectors = np.linalg.eigh(x + np.conj(x.T))
    return values, (vectors * np.sin(values)) @ np.conj(vectors.T)


def of_singular_vectors(x):
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    return s, (u * np.sin(s)[..., None, :]) @ vh


def of_all_singular_vectors(x):
    u, s, vh = np.linalg.svd(x)
    return s, (u * np.sin(s)) @ vh


def triangle_without_signs(x):
    q, r = np.linalg.qr(x)
    return q @ np.sin(r), np.abs(r)


NORMS = (None, 1, 2, 3, 0.5, np.inf, -np.inf)
MATRIX_NORMS = (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)

ROWS = [
    row("solve", lambda a, b: np.linalg.solve(a, b), matrix(3, 3), real(3)),
    row("solve of columns", lambda a, b: np.linalg.solve(a, b), matrix(3, 3), real(3, 2)),
    row("solve of many", lambda a, b: np.linalg.solve(a, b), matrix(2, 3, 3), real(2, 3, 2)),
    row("solve of complex", lambda a, b: np.linalg.solve(a + np.eye(3) * 3, b), complexes(3, 3), complexes(3),
        any_dtype=False),
    row("inv", lambda x: np.linalg.inv(x), matrix(3, 3)),
    row("inv of many", lambda x: np.linalg.inv(x), matrix(2, 2, 2)),
    row("det", lambda x: np.linalg.det(x), matrix(3, 3)),
    row("det of many", lambda x: np.linalg.det(x), matrix(2, 3, 3)),
    row("det of complex", lambda x: np.linalg.det(x), complexes(3, 3), any_dtype=False),
    row("slogdet", lambda x: np.linalg.slogdet(x), matrix(3, 3)),
    row("slogdet of many", lambda x: np.linalg.slogdet(x)[1], matrix(2, 3, 3)),
    row("cholesky", lambda x: np.linalg.cholesky(definite(x)), matrix(3, 3)),
    row("cholesky of many", lambda x: np.linalg.cholesky(definite(x)), matrix(2, 3, 3)),
    row("qr", triangle_without_signs, matrix(4, 3)),
    row("qr of a square", triangle_without_signs, matrix(3, 3)),
    row("qr of a wide matrix", triangle_without_signs, matrix(2, 4)),
    row("svd", of_singular_vectors, matrix(4, 3), tolerance=1000),
    row("svd of a wide matrix", of_singular_vectors, matrix(2, 4), tolerance=1000),
    row("svd of many", of_singular_vectors, matrix(2, 3, 2), tolerance=1000),
    row("svd with full matrices", of_all_singular_vectors, matrix(3, 3), tolerance=1000),
    row("singular values", lambda x: np.linalg.svd(x, compute_uv=False), matrix(4, 3)),
    row("svdvals", lambda x: np.linalg.svdvals(x), matrix(3, 4)),
    row("eigh", of_vectors, matrix(3, 3), tolerance=1000),
    row("eigh of many", of_vectors, matrix(2, 3, 3), tolerance=1000),
    row("eigh of complex", of_complex_vectors, complexes(3, 3), any_dtype=False, tolerance=1000),
    row("eigvalsh", lambda x: np.linalg.eigvalsh(symmetric(x)), matrix(3, 3)),
    row("pinv", lambda x: np.linalg.pinv(x), matrix(4, 3)),
    row("pinv of a wide matrix", lambda x: np.linalg.pinv(x), matrix(2, 3)),
    *[row(f"matrix_power {n}", lambda x, n=n: np.linalg.matrix_power(x, n), matrix(3, 3), tolerance=1000)
      for n in (0, 1, 2, 3, 5, -1, -2)],
    row("multi_dot", lambda x, y: np.linalg.multi_dot([x, y, x.T]), matrix(3, 3), real(3, 3)),
    row("matrix_rank", lambda x: np.linalg.matrix_rank(x), matrix(3, 3), order=0),
    row("cond", lambda x: np.linalg.cond(x), matrix(3, 3)),
    *[row(f"norm {ord} of a vector", lambda x, ord=ord: np.linalg.norm(x, ord), real(5)) for ord in NORMS],
    *[row(f"norm {ord} of a matrix", lambda x, ord=ord: np.linalg.norm(x, ord),
          matrix(3, 4)) for ord in MATRIX_NORMS],
    row("norm of an axis", lambda x: np.linalg.norm(x, axis=1, keepdims=True), real(3, 4)),
    row("norm of two axes", lambda x: np.linalg.norm(x, "fro", axis=(0, 2)), real(2, 3, 4)),
    row("norm of complex", lambda z: np.linalg.norm(z), complexes(4), any_dtype=False),
    row("vector_norm", lambda x: np.linalg.vector_norm(x, axis=0), real(3, 4)),
    row("matrix_norm", lambda x: np.linalg.matrix_norm(x), real(2, 3, 4)),
]
