"""Lanes that are done several at a time give what each gives alone, whatever their trip counts."""

import math
import traceback

import numpy as np
import pytest

import chainrule as cr
from chainrule.codegen.lane_slots import BLOCKS, MOST, SLOTS


def text_of(function, *arguments):
    return cr.source(function, stage="numba")(*arguments)


def check(function, *columns, tolerance=1e-13):
    """A function over columns against the same in Python, one example at a time."""
    batched = cr.vmap(function)
    assert "running" in text_of(batched, *columns)
    found = cr.tree.leaves(cr.jit(batched)(*columns))
    expected = [cr.tree.leaves(function(*one)) for one in zip(*columns, strict=True)]
    for number, values in enumerate(found):
        np.testing.assert_allclose(values, [one[number] for one in expected], rtol=tolerance)


def newton(a):
    x = a
    while abs(x * x - a) > 1e-13 * a:
        x = 0.5 * (x + a / x)
    return x


@pytest.mark.parametrize("count", [64, BLOCKS * MOST, BLOCKS * MOST + SLOTS + 3])
def test_numbers_of_lanes(count):
    check(newton, np.exp(np.linspace(-20, 20, count)))


def countdown(n, scale):
    """Trip counts are n, so none at all too; integers, truths and branches are kept from turn to turn."""
    total, turned, odd = 0.0, 0, False
    while n > 0:
        if odd:
            total += scale * n
        else:
            total -= math.sin(scale) / n
            turned += 2
        odd = not odd
        n -= 1
    return total, turned, odd, n


def test_trip_counts():
    n = np.array([0, 1, 2, 3] * 40 + [0] * 20 + [1] * 20 + [700] + [0] * 9)
    check(countdown, n, np.linspace(0.1, 4.0, len(n)), tolerance=1e-11)


def test_no_turn_at_all():
    check(countdown, np.zeros(100, int), np.ones(100))


def stopped(x, most):
    """Both `break` and `continue`, and a number from before the loop that is read after it."""
    start = np.sqrt(x)
    total = 0.0
    for k in range(most):
        x = x * 0.75
        if k % 2 == 0 and x < 0.1:
            break
        if x > 2.0:
            continue
        total += np.exp(-x) * k
    return total / start + x


def test_break_and_continue():
    most = np.arange(150) % 41
    check(stopped, np.linspace(0.05, 9.0, 150), most)


def single(x):
    y = x
    while y > np.float32(0.5):
        y = y * np.float32(0.5) + np.float32(0.1) * x / (x + y)
    return y


def test_single_precision():
    x = np.linspace(0.1, 20, 200).astype(np.float32)
    check(single, x, tolerance=1e-5)
    assert cr.jit(cr.vmap(single))(x).dtype == np.float32


def test_loop_of_the_user():
    def roots(a):
        out = np.zeros(len(a))
        for i in range(len(a)):
            x, steps = a[i], 0
            while abs(x * x - a[i]) > 1e-12 * a[i]:
                x = 0.5 * (x + a[i] / x)
                steps += 1
            out[i] = x + steps * 0.0
        return out

    a = np.linspace(0.3, 90, 333)
    assert "running" in text_of(roots, a)
    np.testing.assert_allclose(cr.jit(roots)(a), np.sqrt(a), rtol=1e-11)


def refusing(x, limit):
    """Python's own numbers: divisions and powers are refused as in Python."""
    y = float(x)
    while y < limit:
        y = y + 1.0 / (limit - y - 3.0) ** 2 + (y + 8.0) ** 0.5 / (limit - y)
    return y


# What Python says of a fractional power of -1 and of 1 / 0 ** 2.
COMPLEX, ZERO = (ValueError, "is complex"), (ZeroDivisionError, "division by zero")


@pytest.mark.parametrize(
    "wrong, expected",
    [({70: -9.0}, COMPLEX), ({250: 7.0, 70: -9.0}, COMPLEX), ({250: -9.0, 249: 7.0}, ZERO)],
)
def test_the_first_lane_that_fails(wrong, expected):
    x = np.linspace(0.0, 3.0, 300)
    batched = cr.vmap(lambda x: refusing(x, 10.0))
    assert "failed" in text_of(batched, x)
    jitted = cr.jit(batched)
    np.testing.assert_allclose(jitted(x), [refusing(one, 10.0) for one in x], rtol=1e-9)
    for place, value in wrong.items():
        x[place] = value
    kind, words = expected
    with pytest.raises(kind, match=words) as caught:
        jitted(x)
    assert "y = y + 1.0 / (limit" in "".join(traceback.format_exception_only(caught.value))


def test_checks_before_and_after_the_loop():
    def guarded(x, y):
        if x < 0.0:
            raise ValueError("x is negative")
        total = x
        while total < 10.0:
            total = total + 1.5
        if total > y:
            raise ValueError("too large")
        return total

    x, y = np.linspace(0, 9, 100), np.full(100, 20.0)
    check(guarded, x, y)
    jitted = cr.jit(cr.vmap(guarded))
    for place, ends, text in [(50, 5.0, "too large"), (20, 5.0, "x is negative")]:
        y[50] = 5.0
        x[place] = -1.0 if text == "x is negative" else x[place]
        with pytest.raises(ValueError, match=text):
            jitted(x, y)


def changed(x):
    """Writes the rows that it reads; a lane that fails is done again from what it had."""
    for i in range(len(x)):
        a = float(x[i])
        while a < 10.0:
            a = a + 1.0 / (a - 3.0) ** 2
        x[i] = a + 100.0
    return x


def written_first(x):
    for i in range(len(x)):
        a = float(x[i])
        while a < 10.0:
            a = a * 1.5 + 1.0
        x[i] = a
        x[i] += 1.0 / (a - 12.0)
    return x


def converted(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        a, k = float(x[i]), int(x[i])
        while a < 10.0:
            a = a * 1.5 + 1.0 / (a - 3.0)
        out[i] = a + k
    return out


@pytest.mark.parametrize(
    "function, in_step, wrong",
    [
        (changed, True, {70: 3.0}),
        (written_first, False, {70: 12.0}),
        (converted, False, {5: 3.0, 7: np.nan}),
    ],
)
def test_what_is_raised_is_what_a_loop_raises(function, in_step, wrong):
    """Lanes that cannot be done again, or raise what is not checked before, are not done in step."""
    x = np.linspace(4.0, 9.0, 100)
    assert ("running" in text_of(function, x)) == in_step
    x[list(wrong)] = list(wrong.values())
    with pytest.raises((ValueError, ZeroDivisionError)) as expected:
        function(x.copy())
    with pytest.raises(expected.type, match=str(expected.value)):
        cr.jit(function)(x.copy())


def test_loops_that_stay_alone():
    """A library function, an array in the loop or a second loop: one lane after the other."""

    def with_library(x):
        while x > 1.0:
            x = x / 2.0 + 0.01 * math.lgamma(x)
        return x

    def with_array(x, table):
        k = 0
        while x > 1.0:
            x = x / (2.0 + table[k % 4])
            k += 1
        return x

    x, table = np.linspace(0.1, 50, 100), np.arange(4.0)
    assert "running" not in text_of(cr.vmap(with_library), x)
    found = cr.jit(cr.vmap(with_library))(x)
    np.testing.assert_allclose(found, [with_library(one) for one in x], rtol=1e-12)
    batched = cr.vmap(with_array, (0, None))
    assert "running" not in text_of(batched, x, table)
    np.testing.assert_allclose(cr.jit(batched)(x, table), [with_array(one, table) for one in x], rtol=1e-12)
