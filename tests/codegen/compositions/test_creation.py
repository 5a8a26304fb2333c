import numpy as np
import pytest

from tests.codegen.compositions.comparing import agree, rows

x = np.linspace(-1, 2, 12).reshape(3, 4).astype(np.float32)
v = np.array([1.5, -2.0, 3.0])

CASES = rows(
    (np.array, 2), (np.array, 2.5), (np.array, [1, 2.0, True]), (np.array, [[1, 2], [3, 4]], np.float32),
    (np.array, [np.float32(1), 2]), (np.array, [v, v * 2]), (np.array, [[v, v], [v, v]]), (np.array, []),
    (np.array, [[1, 2], [3]]), (np.array, x, "f8"), (np.array, v, {"ndmin": 3}), (np.array, range(4)),
    (np.array, [v, [1, 2, 3]]), (np.array, [1 + 2j, 3]), (np.array, ((1, 2), [3, 4])),
    (np.asarray, x), (np.asarray, 3), (np.asarray, 3, "f4"), (np.asarray, np.float32(3)),
    (np.asarray, True),
    (np.ascontiguousarray, x), (np.asarray_chkfinite, x), (np.asarray_chkfinite, [np.nan]), (np.copy, x),
    (np.astype, x, int), (np.astype, x, "f4"),
    (np.zeros, 3), (np.zeros, (2, 3), int), (np.zeros, ()), (np.zeros, [2, 0], "c8"), (np.ones, (2,), bool),
    (np.ones, 3), (np.zeros, np.int64(3)),
    (np.full, (2, 3), 7), (np.full, 3, 2.5, "f4"), (np.full, (2, 3), v), (np.full, (2,), np.float32(3)),
    (np.zeros_like, x), (np.zeros_like, [1, 2]), (np.ones_like, x, int), (np.full_like, x, 7),
    (np.full_like, [1, 2], 7.5), (np.zeros_like, x, {"shape": (2,)}), (np.ones_like, 3.0),
    (np.arange, 5), (np.arange, 1, 5), (np.arange, 5, 1, -2), (np.arange, 0, 1, 0.1), (np.arange, 3.0),
    (np.arange, 0, 3, {"dtype": "f4"}), (np.arange, np.float32(3)), (np.arange, np.int32(3)),
    (np.arange, 0),
    (np.arange, 1, 2.05, 0.5), (np.arange, 3, 1),
    (np.linspace, 0, 1), (np.linspace, 0, 1, 5, False), (np.linspace, 2, 3, 1), (np.linspace, 2, 3, 0),
    (np.linspace, v, 2 * v, 4), (np.linspace, v, 2, 4, {"axis": -1}),
    (np.linspace, 0, 9, 4, {"dtype": int}),
    (np.linspace, 0, 1, 5, {"retstep": True}), (np.linspace, 0, 1j, 3),
    (np.linspace, np.float32(0), np.float32(1), 3),
    (np.linspace, 0, 1, 1, {"endpoint": False, "retstep": True}), (np.linspace, -5, 5, 4, {"dtype": int}),
    (np.logspace, 0, 3, 4), (np.logspace, 0, 3, 4, False, 2.0), (np.logspace, v, 3, 4),
    (np.logspace, 0, 3, 4, {"dtype": int}),
    (np.geomspace, 1, 1000, 4), (np.geomspace, -1, -1000, 4), (np.geomspace, 1, 0, 4),
    (np.geomspace, 1, 256, 9, False),
    (np.geomspace, np.abs(v), 9.0, 3), (np.geomspace, 1, 8, 4, {"dtype": int}),
    (np.eye, 3), (np.eye, 2, 3, 1), (np.eye, 3, {"k": -1, "dtype": int}), (np.identity, 3),
    (np.identity, 2, "f4"),
    (np.eye, 2, {"dtype": bool}), (np.tri, 3), (np.tri, 3, 4, 1), (np.tri, 3, 2, -1, int), (np.tril, x),
    (np.triu, x, 1),
    (np.tril, np.ones((2, 3, 3)), -1), (np.triu, v), (np.tril, np.ones((2, 2), bool)),
    (np.triu, np.arange(4).reshape(2, 2)),
    (np.diag, v), (np.diag, v, 1), (np.diag, v, -2), (np.diag, x), (np.diag, x, 1), (np.diag, x, -1),
    (np.diag, 3),
    (np.diag, [1, 2]), (np.diagflat, [[1, 2], [3, 4]]), (np.diagflat, v, 1), (np.diag, x, 9),
    (np.vander, v), (np.vander, [1, 2, 3], 2), (np.vander, v, 4, True), (np.vander, np.float32([1, 2])),
    (np.vander, x),
    (np.indices, (2, 3)), (np.indices, (2, 3), float), (np.indices, (2, 3), {"sparse": True}),
    (np.indices, ()),
    (np.fromfunction, lambda i, j: i - j, (2, 3)),
    (np.fromfunction, lambda i, j: i == j, (3, 3), {"dtype": int}),
    (np.meshgrid, v, [1, 2]), (np.meshgrid, v, [1, 2], {"indexing": "ij"}),
    (np.meshgrid, v, [1, 2], {"sparse": True}),
    (np.meshgrid, v, [1, 2], v, [0]), (np.meshgrid, v), (np.meshgrid, v, v, {"indexing": "no"}),
    (np.meshgrid, 1, v, {"copy": False}),
    (np.tril_indices, 3), (np.tril_indices, 3, -1, 4), (np.triu_indices, 3, 1),
    (np.triu_indices_from, x, 1),
    (np.tril_indices_from, x), (np.diag_indices, 3), (np.diag_indices, 2, 3),
    (np.diag_indices_from, np.eye(3)),
    (np.ix_, [0, 2], [1, 3]), (np.ix_, [True, False, True], [1]), (np.ix_, [[1]], [2]),
    (np.unstack, x, {"axis": 1}),
)


@pytest.mark.parametrize("function, args, kwargs", CASES)
def test_creation(function, args, kwargs):
    agree(function, args, kwargs)
