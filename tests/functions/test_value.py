"""Values: shape, dtype and numbers are NumPy's, and so is the error."""
import numpy as np
import pytest

from tests.functions.checks import check_value
from tests.functions.every_row import REPEATED, ROWS, parameters
from tests.functions.table import variants


def every_other(x):
    """The same values, seven bytes or one element apart in every axis."""
    room = np.zeros(tuple(2 * size for size in x.shape), x.dtype)
    view = room[(slice(None, None, 2),) * x.ndim]
    view[...] = x
    return view


def backwards(x):
    """The same values with negative strides."""
    turned = (slice(None, None, -1),) * x.ndim
    return x[turned].copy()[turned]


LAYOUTS = {"as made": lambda x: x, "every other": every_other, "backwards": backwards,
           "columns first": np.asfortranarray}


def test_no_name_is_used_twice():
    assert not REPEATED


@pytest.mark.parametrize("row", **parameters(ROWS))
def test_value(row):
    arguments = row.arguments()
    for layout in LAYOUTS.values():
        given = [layout(a) if isinstance(a, np.ndarray) else a for a in arguments]
        check_value(row.function, given, row.tolerance)


@pytest.mark.parametrize("row", **parameters(ROWS, lambda row: row.any_dtype))
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_dtypes(row, dtype):
    arguments = [a.astype(dtype) if a.dtype.kind == "f" else a for a in row.arguments()]
    check_value(row.function, arguments, 10 * row.tolerance)


@pytest.mark.parametrize("row", **parameters(ROWS, variants))
def test_shapes(row):
    for variant in variants(row):
        check_value(variant.function, variant.arguments(), variant.tolerance)
