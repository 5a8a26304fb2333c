"""Copies of arrays in compiled code, of every layout."""

import numpy as np
import pytest

import chainrule as cr

ARRAYS = {
    "rows": np.arange(12.0).reshape(3, 4),
    "columns": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "strided": np.arange(48.0).reshape(6, 8)[::2, ::-2],
    "one row of many": np.arange(12.0).reshape(3, 4)[1:2],
    "one column of many": np.arange(12.0).reshape(3, 4)[:, 1:2],
    "repeated": np.broadcast_to(np.arange(4.0), (3, 4)),
    "empty": np.zeros((3, 0)),
}


def changed(x):
    y = x.copy()
    y[..., :1] = 7.0
    return y


def multiplied(x):
    return x.T[::-1] @ x


@pytest.mark.parametrize("array", ARRAYS.values(), ids=list(ARRAYS))
@pytest.mark.parametrize("function", [changed, multiplied])
def test_every_layout(function, array):
    before = array.copy()
    result = cr.jit(function)(array)
    np.testing.assert_array_equal(result, function(array))
    assert result.flags.c_contiguous
    np.testing.assert_array_equal(array, before)
