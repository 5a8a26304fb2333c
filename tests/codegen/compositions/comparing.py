"""Comparing a composition, run as plain Python, with the NumPy function it stands for."""
import warnings

import numpy as np

import chainrule.codegen.compositions  # noqa: F401
from chainrule.codegen.registry import FUNCTIONS


def rows(*cases):
    """Each case is a function, then its arguments; a dict that comes last holds keywords."""
    return [(case[0], case[1:-1], case[-1]) if isinstance(case[-1], dict) else (case[0], case[1:], {}) for case in cases]


def outcome(function, args, kwargs):
    """The result, or the exception."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*args, **kwargs)
        except (ValueError, TypeError, IndexError, ZeroDivisionError) as error:
            return error


def agree(function, args, kwargs):
    """Assert that the composition gives NumPy's result: structure, shape, dtype, values, kind of error."""
    expected = outcome(function, args, kwargs)
    actual = outcome(FUNCTIONS[function], args, kwargs)
    if isinstance(expected, Exception):
        assert isinstance(actual, type(expected).__mro__[1] if type(expected).__module__ != "builtins" else type(expected)), actual
        return
    if isinstance(actual, Exception):
        raise actual
    same(actual, expected)


def same(actual, expected):
    if isinstance(expected, (tuple, list)):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected):
            same(one, other)
        return
    if isinstance(expected, (bool, np.dtype)) or expected is None:
        assert actual == expected and type(actual) is type(expected)
        return
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    if expected.dtype.kind in "fc":
        tolerance = 20 * np.finfo(expected.dtype).eps
        np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(actual, expected)
