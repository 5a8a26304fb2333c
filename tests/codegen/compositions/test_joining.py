import numpy as np
import pytest

from tests.codegen.compositions.comparing import agree, rows

x = np.arange(12.0).reshape(3, 4)
t = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
v = np.array([3, 1, 2, 7])

CASES = rows(
    (np.concatenate, (x, x)), (np.concatenate, [x, x], 1), (np.concatenate, (x, v[None]), -2),
    (np.concatenate, (x, v), None),
    (np.concatenate, (x, v)), (np.concatenate, (x, x), 2), (np.concatenate, (1, 2)),
    (np.concatenate, ()), (np.concatenate, t),
    (np.concatenate, t, 1), (np.concatenate, t, -1), (np.concatenate, (v, [1.5])),
    (np.concatenate, (v,), {"dtype": "f4"}),
    (np.concatenate, ([1], [2]), {"dtype": float}),
    (np.stack, (v, v)), (np.stack, [v, v], 1), (np.stack, [x, x], -1), (np.stack, (1.0, 2)),
    (np.stack, t), (np.stack, t, 1),
    (np.stack, [v, x]), (np.stack, []), (np.stack, [v, v], 2), (np.stack, [v, v], {"dtype": float}),
    (np.vstack, (v, x)), (np.vstack, t), (np.vstack, (1, 2)), (np.hstack, (v, v)), (np.hstack, (x, x)),
    (np.hstack, (1, v)),
    (np.hstack, t), (np.dstack, (v, v)), (np.dstack, (x, x)), (np.column_stack, (v, v)),
    (np.column_stack, (x.T, v)),
    (np.column_stack, (1, 2)), (np.row_stack, (v, v)) if hasattr(np, "row_stack") else (np.vstack, (v, v)),
    (np.block, [[np.eye(2), np.zeros((2, 1))], [np.ones((1, 2)), 5]]), (np.block, [v, 3]), (np.block, 3),
    (np.block, [[v], [v]]),
    (np.block, [[1, 2], 3]), (np.block, [[]]), (np.block, [t, t]),
    (np.array_split, v, 3), (np.array_split, v, 5), (np.array_split, x, 3, 1),
    (np.array_split, v, [1, 3]), (np.array_split, v, 0),
    (np.split, v, 2), (np.split, v, 3), (np.split, x, 2, 1), (np.split, v, [1, 3]),
    (np.split, x, [1], -1), (np.split, v, [2, 9]),
    (np.split, v, (1, -1)), (np.hsplit, x, 2), (np.hsplit, v, 2), (np.hsplit, 3, 1), (np.vsplit, x, 3),
    (np.vsplit, v, 2),
    (np.dsplit, t, 2), (np.dsplit, x, 2), (np.append, v, [1, 2]), (np.append, x, x, 0), (np.append, x, 1),
    (np.append, x, v, 0), (np.delete, v, 1), (np.delete, v, -1), (np.delete, v, 4),
    (np.delete, v, [0, 2]), (np.delete, x, 1, 1),
    (np.delete, x, slice(0, 2), 0), (np.delete, v, []), (np.delete, x, 3), (np.delete, v, [0, -1]),
    (np.delete, v, np.array([True, False, False, True])),
    (np.insert, v, 1, 9), (np.insert, v, -1, 9), (np.insert, v, 4, 9), (np.insert, v, 5, 9),
    (np.insert, x, 1, 9, 1),
    (np.insert, x, 1, [1, 2, 3], 1), (np.insert, x, 0, v, 0), (np.insert, x, 1, x[:2], 0),
    (np.insert, v, [0, 2, 2], [7, 8, 9]),
    (np.insert, v, [1, 3], 5), (np.insert, x, [0, 3], 1.5, 1), (np.insert, v, 1, [5, 6]),
    (np.insert, v, 0, 2.7),
    (np.insert, v, slice(0, 2), 5), (np.insert, x, [1], [[1], [2], [3]], 1),
)


@pytest.mark.parametrize("function, args, kwargs", CASES)
def test_joining(function, args, kwargs):
    agree(function, args, kwargs)
