"""The compositions for the math module, as plain Python, against the math module."""

import math

import numpy as np
import pytest

from chainrule.codegen.compositions import mathematics
from chainrule.codegen.registry import FUNCTIONS

VALUES = (-2.5, -1.0, -0.3, 0.0, 0.4, 1.0, 1.7, 3, -3, math.inf, math.nan)
# Not restricted at infinity here, where math raises.
FINITE_ONLY = {"sin", "cos", "tan", "floor", "ceil", "trunc"}
NAMES = """exp expm1 exp2 cbrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sqrt log log2 log10
log1p degrees radians isnan isinf isfinite fabs floor ceil trunc modf erf erfc gamma lgamma"""
ONE = [name for name in NAMES.split() if hasattr(math, name)]
TWO = ["atan2", "copysign", "pow", "fmod", "hypot", "log", "isclose"]


def agree(name, *arguments):
    function = getattr(math, name)
    try:
        expected = function(*arguments)
    except (ValueError, ZeroDivisionError):
        with pytest.raises((ValueError, ZeroDivisionError)), np.errstate(all="ignore"):
            FUNCTIONS[function](*arguments)
        return
    with np.errstate(all="ignore"):
        given = FUNCTIONS[function](*arguments)
    assert type(given) is type(expected), (arguments, given)
    assert np.allclose(given, expected, rtol=1e-13, atol=0, equal_nan=True), (arguments, given, expected)


@pytest.mark.parametrize("name", ONE)
def test_one_argument(name):
    for x in VALUES:
        if not (name in FINITE_ONLY and not math.isfinite(x)) and not (name == "gamma" and x == -3):
            agree(name, x)


@pytest.mark.parametrize("name", TWO)
def test_two_arguments(name):
    for x in VALUES:
        for y in VALUES:
            # Python's own 0.0 ** -inf is an error, unlike math.pow's
            if not (name == "pow" and x == 0 and y == -math.inf):
                agree(name, x, y)


def test_sequences_and_integers():
    agree("dist", (1.0, 2.0, 3.0), (0.5, -1.0, 2.0))
    agree("dist", (1.0,), (0.5, -1.0))
    agree("prod", (2, 3.5))
    agree("gcd", 12, 18)
    agree("lcm", 4, 6)
    agree("hypot", 1.0, 2.0, 3.0)
    agree("hypot")


def test_sign_of_complex_numbers():
    z = np.array([3 + 4j, 0, -2])
    np.testing.assert_allclose(mathematics.sign(z), np.sign(z))
    np.testing.assert_array_equal(mathematics.sign(z.real), np.sign(z.real))
