"""Functions that make arrays."""
import numpy as np

from tests.functions.table import positive, real, row

ROWS = [
    row("zeros", lambda x: np.zeros(3) + x, real(3)),
    row("zeros of a shape", lambda x: np.zeros((2, 3), dtype=x.dtype) + x, real(3)),
    row("zeros of its shape", lambda x: np.zeros(x.shape) + x, real(3, 4)),
    row("ones", lambda x: np.ones(3) * x, real(3)),
    row("empty", lambda x: emptied(x), real(3)),
    row("full", lambda x: np.full((2, 3), x), real()),
    row("full of a vector", lambda x: np.full((2, 3), x), real(3)),
    row("zeros_like", lambda x: np.zeros_like(x), real(3, 4)),
    row("ones_like", lambda x: np.ones_like(x, dtype=np.float32), real(3, 4), order=0),
    row("empty_like", lambda x: np.empty_like(x).shape[0] * x, real(3, 4)),
    row("full_like", lambda x: np.full_like(x, 2.5), real(3, 4)),
    row("full_like of an operand", lambda x, y: np.full_like(x, y), real(3, 4), real()),
    row("arange", lambda x: np.arange(4) * x, real(4)),
    row("arange with a step", lambda x: np.arange(0.5, 2.5, 0.5) * x, real(4)),
    row("arange of its length", lambda x: np.arange(len(x)) * x, real(4)),
    row("linspace", lambda x: np.linspace(0, 1, 4) * x, real(4)),
    row("linspace between operands", lambda a, b: np.linspace(a, b, 5), real(), real()),
    row("linspace between vectors", lambda a, b: np.linspace(a, b, 5, endpoint=False, axis=-1), real(3),
        real(3)),
    row("linspace and its step", lambda a, b: np.linspace(a, b, 5, retstep=True), real(), real()),
    row("logspace", lambda a, b: np.logspace(a, b, 4), real(), real()),
    row("geomspace", lambda a, b: np.geomspace(a, b, 4), positive(), positive()),
    row("eye", lambda x: np.eye(3, 4, k=1) * x, real(3, 4)),
    row("identity", lambda x: np.identity(3) @ x, real(3)),
    row("tri", lambda x: np.tri(3, 4, -1) * x, real(3, 4)),
    row("tril", lambda x: np.tril(x, 1), real(3, 4)),
    row("triu", lambda x: np.triu(x, -1), real(2, 3, 4)),
    row("diag", lambda x: np.diag(x), real(3)),
    row("diag of a matrix", lambda x: np.diag(x, 1), real(3, 4)),
    row("diagflat", lambda x: np.diagflat(x, -1), real(2, 2)),
    row("vander", lambda x: np.vander(x), real(3)),
    row("vander, increasing", lambda x: np.vander(x, 4, increasing=True), real(3)),
    row("indices", lambda x: np.indices((3, 4))[1] * x, real(3, 4)),
    row("fromfunction", lambda x: np.fromfunction(lambda i, j: i * j + x, (3, 4)), real(3, 4)),
    row("tril_indices", lambda x: x[np.tril_indices(3)], real(3, 3), resized=False),
    row("triu_indices", lambda x: x[np.triu_indices(3, 1)], real(3, 3), resized=False),
    row("tril_indices_from", lambda x: x[np.tril_indices_from(x)], real(3, 3)),
    row("triu_indices_from", lambda x: x[np.triu_indices_from(x)], real(3, 3)),
    row("diag_indices", lambda x: x[np.diag_indices(3)], real(3, 3), resized=False),
    row("diag_indices_from", lambda x: x[np.diag_indices_from(x)], real(3, 3)),
    row("asanyarray", lambda x: np.asanyarray(x) * 2, real(3)),
    row("asarray_chkfinite", lambda x: np.asarray_chkfinite(x) * 2, real(3)),
    row("array with a dtype", lambda x: np.array([1, 2, 3], dtype=float) * x, real(3)),
]


def emptied(x):
    y = np.empty(3)
    y[:] = x * x
    return y
