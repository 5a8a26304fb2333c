"""Checks that cannot fail are gone; all others still raise."""

import math

import numpy as np
import pytest

import chainrule as cr


def text(function, *arguments):
    return cr.source(function, stage="numba")(*arguments)


def distance(x, y):
    return math.sqrt(x * x + y**2) + math.log(1.0 + math.exp(x)) + 1.0 / (abs(y) + 0.5)


def lowered(x):
    r = math.sqrt(x**2 + 1.0)
    return r**-0.5 + r**1.5


@pytest.mark.parametrize("function, arguments", [(distance, (0.3, -0.7)), (lowered, (0.4,))])
def test_nothing_to_check(function, arguments):
    assert "raise" not in text(function, *arguments)
    assert "raise" not in text(cr.grad(lowered), 0.4)
    assert cr.jit(function)(*arguments) == pytest.approx(function(*arguments), rel=1e-14)
    nan = (math.nan, *arguments[1:])
    assert math.isnan(cr.jit(function)(*nan))


def test_once_is_enough():
    def twice(x, y):
        return x / y + (x + 1.0) / y + y**-0.5 + y**-1.5

    assert text(twice, 1.0, 2.0).count(" raise ") == 3  # of x / y one, of y**-0.5 two
    assert cr.jit(twice)(3.0, 4.0) == twice(3.0, 4.0)
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        cr.jit(twice)(1.0, 0.0)
    with pytest.raises(ValueError, match="fractional power is complex"):
        cr.jit(twice)(1.0, -1.0)


def test_a_check_in_a_branch_says_nothing_of_what_follows():
    def branching(x, y):
        z = x / y if x > 0 else x
        while z < 1.0:
            z = z + 1.0 / y
        return z / y

    jitted = cr.jit(branching)
    assert jitted(3.0, 2.0) == branching(3.0, 2.0)
    for x in (3.0, -3.0, 0.0):
        with pytest.raises(ZeroDivisionError):
            jitted(x, 0.0)


@pytest.mark.parametrize(
    "function, wrong",
    [
        (lambda x: math.sqrt(x * abs(x)), -1.0),  # a product of which one factor may be negative
        (lambda x: math.log(x * x), 0.0),  # never negative, but zero
        (lambda x: math.log(math.exp(x)), -1000.0),  # a power that is zero once rounded
        (lambda x: 1.0 / (x * x), 1e-200),  # a product that is zero once rounded
        (lambda x: math.sqrt(x**3), -1.0),
        (lambda x: math.sqrt(max(x, -1.0)), -2.0),
        (lambda x: 1.0 / (x * x - 1.0), 1.0),
        (lambda x: math.sqrt(1.0 / np.sqrt(x)), np.float64(-0.0)),  # the root of -0.0 is -0.0
    ],
)
def test_checks_that_can_fail(function, wrong):
    assert "raise" in text(function, 2.0)
    assert cr.jit(function)(2.0) == pytest.approx(function(2.0), rel=1e-14)
    with pytest.raises((ValueError, ZeroDivisionError)) as plain:
        function(wrong)
    with pytest.raises(plain.type):
        cr.jit(function)(wrong)


def test_numbers_of_numpy_are_checked_as_little_as_before():
    assert "raise" not in text(lambda x: np.sqrt(x) / x, np.float64(1.0))


def test_what_a_backward_sweep_has_kept():
    """The root that a turn keeps is no more negative when it is taken back."""

    def steps(x):
        h = 0.0
        while h < 3.0:
            h = h + (math.sqrt(x * x + h * h) + 0.1) ** -0.5
        return h

    assert "raise" not in text(cr.grad(steps), 0.7)
    found = cr.jit(cr.grad(steps))(0.7)
    assert found == pytest.approx((steps(0.7 + 1e-6) - steps(0.7 - 1e-6)) / 2e-6, rel=1e-7)
