import copy

import numpy as np
import pytest

from chainrule.codegen.registry import FUNCTIONS, METHODS
from tests.codegen.compositions.comparing import agree, outcome, rows, same

x = np.random.default_rng(0).normal(size=(3, 4))
v = np.array([3.0, 1.0, 2.0, 1.0])
n = np.array([2, 0, 1, 1])

CASES = rows(
    (np.take, v, 2), (np.take, x, [0, 5, -1]), (np.take, x, [[0, 1], [2, 0]], 1), (np.take, x, 1, 0),
    (np.take, v, 9), (np.take, v, [1, 9], {"mode": "wrap"}),
    (np.take, v, [-1, 9], {"mode": "clip"}), (np.take, x, [], 0), (np.take, x, 0, 2),
    (np.take, v, np.array([0.5])), (np.take, v, [True, False]),
    (np.take_along_axis, x, np.argsort(x, 1), 1), (np.take_along_axis, x, np.argsort(x, 0), 0),
    (np.take_along_axis, x, n, None),
    (np.take_along_axis, x, np.array([[0, 1, 2, 0]]), 0), (np.take_along_axis, x, n, 0),
    (np.take_along_axis, x, x, 0), (np.take_along_axis, x, n[None], -2),
    (np.choose, n, [v, v * 2, 7]), (np.choose, n, [v, v]), (np.choose, n, x),
    (np.choose, n, [v, v], {"mode": "wrap"}), (np.choose, n, [v, v], {"mode": "clip"}),
    (np.choose, 1, [1, 2.5]), (np.choose, [[0], [1]], [v, n]), (np.choose, n * 0, [v]),
    (np.choose, [[1], [0]], x), (np.choose, [0.5], [1]),
    (np.compress, [1, 0, 1], x, 0), (np.compress, [True, False], x), (np.compress, [[1]], x),
    (np.compress, [0, 0, 0, 1], x, 1),
    (np.extract, x > 0, x), (np.extract, [1, 0, 1, 0], v), (np.nonzero, x > 0), (np.nonzero, 3),
    (np.flatnonzero, x > 0), (np.argwhere, x > 0),
    (np.argwhere, 3), (np.argwhere, 0), (np.argwhere, n),
    (np.searchsorted, [1, 2, 3], [0, 2, 5]), (np.searchsorted, [1, 2, 3], 2, "right"),
    (np.searchsorted, v, 1.5, {"sorter": np.argsort(v)}),
    (np.searchsorted, [1, 2], 1, "middle"), (np.searchsorted, x, 1),
    (np.searchsorted, np.float32([1, 2]), x), (np.searchsorted, [1, 2], 1.5),
    (np.searchsorted, [], [1.0]),
    (np.digitize, x, [-1, 0, 1]), (np.digitize, x, [1, 0, -1]), (np.digitize, [1, 2], [1, 2], True),
    (np.digitize, [1, 2], [2, 1], True),
    (np.digitize, 1, [0, 2, 1]), (np.digitize, [0.5], []), (np.digitize, 1.0, [0.0]),
    (np.sort, x), (np.sort, x, 0), (np.sort, x, None), (np.sort, x, 2), (np.sort, [3, 1, 2]),
    (np.sort, x, {"kind": "stable"}),
    (np.sort, 3), (np.argsort, x, 0), (np.argsort, v, {"kind": "stable"}),
    (np.argsort, v, {"stable": True}), (np.argsort, x, None),
    (np.lexsort, (n, v)), (np.lexsort, [[1, 2, 1, 2], v]), (np.lexsort, x), (np.lexsort, (x, x[::-1]), 0),
    (np.unique, v), (np.unique, n, True), (np.unique, n, True, True, True),
    (np.unique, [np.nan, 1, np.nan]), (np.unique, []), (np.unique, x > 0),
    (np.unique, [np.nan, 1, np.nan], {"equal_nan": False}),
    (np.unique, [[2, 1], [1, 2]], {"return_inverse": True}), (np.unique, 5, False, True, True),
    (np.unique, [], True, True, True), (np.isin, n, [0, 2]), (np.isin, x, x[0], {"invert": True}),
    (np.isin, 2, n),
    (np.partition, x, 9), (np.partition, v, [0, 7]),
)


@pytest.mark.parametrize("function, args, kwargs", CASES)
def test_indexing(function, args, kwargs):
    agree(function, args, kwargs)


def test_partition_puts_the_kth_in_place():
    assert FUNCTIONS[np.partition](v, 2)[2] == np.sort(v)[2]
    assert v[FUNCTIONS[np.argpartition](v, 2)[2]] == np.sort(v)[2]


WRITES = rows(
    (np.add.at, v, n, 1.5), (np.add.at, v, [0, 0, 1], [1, 2, 3]), (np.add.at, x, (n[:3], n[1:]), 1),
    (np.add.at, x, 1, v), (np.add.at, x, x > 0, 2),
    (np.add.at, x, (..., n), 1), (np.add.at, x, (slice(None), [0, 0]), np.ones((3, 2))),
    (np.add.at, v, 9, 1),
    (np.subtract.at, v, n, 1.5), (np.multiply.at, v, n, 2.0), (np.multiply.at, x, (n[:3], n[1:]), v[:3]),
    (np.divide.at, v, [1, 1], 2),
    (np.maximum.at, v, n, [9, 8, 7, 10]), (np.minimum.at, v, n, [0, -1, 7, -2]),
    (np.copyto, x, v), (np.copyto, x, 0), (np.copyto, x, 1.5, {"where": x > 0}), (np.copyto, n, v),
    (np.copyto, x, n),
    (np.fill_diagonal, x, 5), (np.fill_diagonal, x.T, [1, 2]),
    (np.fill_diagonal, np.zeros((3, 3, 3)), 1), (np.fill_diagonal, v, 1),
    (np.fill_diagonal, np.zeros((2, 3, 2)), 1), (np.put_along_axis, x, n[None], 9.0, 0),
    (np.put_along_axis, x, n, [1, 2, 3, 4], None),
    (np.put, v, [0, -1], [7, 8]), (np.put, x, [0, 5, 11], [7, 8]), (np.put, v, [9], 1),
    (np.put, v, [9, 0], 1, "wrap"), (np.put, v, [9], 1, "clip"),
    (np.place, x, x > 0, [1, 2, 3]), (np.place, v, [1, 0, 1, 0], 7), (np.putmask, x, x > 0, x * 2),
    (np.putmask, v, v > 1, [7, 8, 9]),
)


@pytest.mark.parametrize("function, args, kwargs", WRITES)
def test_writing(function, args, kwargs):
    expected, actual = copy.deepcopy(args), copy.deepcopy(args)
    failure = outcome(function, expected, kwargs)
    mine = outcome(FUNCTIONS[function], actual, kwargs)
    if isinstance(failure, Exception):
        assert isinstance(mine, (ValueError, TypeError, IndexError)), mine
        return
    assert mine is None, mine
    same(actual[0], expected[0])


def test_a_write_that_drops_fractions_is_refused():
    for function in (np.add.at, np.subtract.at, np.multiply.at):
        with pytest.raises(TypeError):
            FUNCTIONS[function](n.copy(), [0, 0], 1.5)


def test_writing_methods():
    a = v.copy()
    METHODS["sort"](a)
    assert a.tolist() == [1, 1, 2, 3]
    METHODS["fill"](a, 2)
    assert a.tolist() == [2, 2, 2, 2]
    METHODS["put"](a, [0], 5)
    assert a.tolist() == [5, 2, 2, 2]


def test_nan_to_num_in_place():
    a = np.array([np.nan, 1.0])
    assert FUNCTIONS[np.nan_to_num](a, copy=False) is a
    assert a.tolist() == [0, 1]


def test_bound_methods_are_found():
    assert FUNCTIONS[np.add.at] is not FUNCTIONS[np.subtract.at]
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(FUNCTIONS[np.add.reduce](x), np.add.reduce(x))
