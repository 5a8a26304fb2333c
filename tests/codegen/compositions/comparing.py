"""Comparing a composition, run as plain Python, with the NumPy function it stands for."""
import warnings

import numpy as np

import chainrule.codegen.compositions  # noqa: F401
from chainrule.codegen.registry import FUNCTIONS


def rows(*cases):
    """Each case is a function, then its arguments; a dict that comes last holds keywords."""
    split = lambda case: (case[:-1], case[-1]) if isinstance(case[-1], dict) else (case, {})
    return [(positional[0], positional[1:], keywords) for positional, keywords in map(split, cases)]


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
        # An error class of NumPy's own may be raised as the Python class it derives from.
        kind = type(expected)
        assert isinstance(actual, kind if kind.__module__ == "builtins" else kind.__mro__[1]), actual
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
