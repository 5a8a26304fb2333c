"""What is checked of every row: its value against NumPy, its derivatives against differences."""
from __future__ import annotations

import collections
import warnings

import numpy as np

import chainrule as cr
from chainrule.runtime.pullbacks import Plain

STEP = 1e-5


def leaves(result):
    """The arrays and numbers of a result, in order."""
    if isinstance(result, (tuple, list)):
        return [leaf for item in result for leaf in leaves(item)]
    return [result]


def outcome(function, arguments):
    """What a call gives, or the exception that it raises."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*arguments)
        except (ValueError, TypeError, IndexError, ArithmeticError, NotImplementedError) as error:
            return error


def same_error(actual, expected):
    """NumPy's own error classes may come as the Python class that they derive from."""
    kind = type(expected)
    kinds = (kind, *(base for base in kind.__mro__[1:] if base.__module__ == "builtins" and base is not object
                     and base not in (Exception, BaseException)))
    assert isinstance(actual, kinds), f"NumPy raises {expected!r}, and this gives {actual!r}"


def same_value(actual, expected, tolerance):
    """Structure, shape, dtype and values."""
    assert len(leaves(actual)) == len(leaves(expected))
    for one, other in zip(leaves(actual), leaves(expected)):
        one, other = np.asarray(one), np.asarray(other)
        assert one.shape == other.shape
        assert one.dtype == other.dtype, (one.dtype, other.dtype)
        if other.dtype.kind in "fc":
            near = tolerance * np.finfo(other.dtype).eps
            np.testing.assert_allclose(one, other, rtol=near, atol=near)
        else:
            np.testing.assert_array_equal(one, other)


def check_value(function, arguments, tolerance):
    """The function through chainrule is the function: the same value or error, no argument touched."""
    expected = outcome(function, arguments)
    copies = [np.array(a) for a in arguments]
    actual = outcome(Plain(function), arguments)
    for argument, copy in zip(arguments, copies):
        np.testing.assert_array_equal(argument, copy)
    if isinstance(expected, Exception):
        return same_error(actual, expected)
    if isinstance(actual, Exception):
        raise actual
    return same_value(actual, expected, tolerance)


Chosen = collections.namedtuple("Chosen", "function given")


def chosen(row, arguments):
    """The row's function of the operands that it is differentiated by."""
    positions = row.positions
    if positions == tuple(range(len(arguments))):
        return Chosen(row.function, list(arguments))
    function, rest = row.function, list(arguments)

    def of_chosen(*given):
        full = list(rest)
        for position, one in zip(positions, given):
            full[position] = one
        return function(*full)

    return Chosen(of_chosen, [arguments[k] for k in positions])


def like(rng, value):
    """A random array of the shape and dtype of another."""
    shape, dtype = np.shape(value), np.asarray(value).dtype
    drawn = rng.normal(size=shape)
    if dtype.kind == "c":
        drawn = drawn + 1j * rng.normal(size=shape)
    return np.asarray(drawn).astype(dtype)[()]


def inexact(result):
    return [np.asarray(leaf) for leaf in leaves(result) if np.asarray(leaf).dtype.kind in "fc"]


def cotangent_of(rng, result):
    """A random cotangent, of the result's structure; an integer has the cotangent 0."""
    if isinstance(result, (tuple, list)):
        parts = [cotangent_of(rng, item) for item in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return like(rng, result) if np.asarray(result).dtype.kind in "fc" else np.zeros(np.shape(result))[()]


def along(function, arguments, direction, step=STEP):
    """The derivative of the inexact results along a direction, by central differences of fourth order."""
    def moved(times):
        return inexact(function(*(a + times * step * d for a, d in zip(arguments, direction))))

    return [(8 * (p - m) - (pp - mm)) / (12 * step)
            for p, m, pp, mm in zip(moved(1), moved(-1), moved(2), moved(-2), strict=True)]


def pairing(cotangents, tangents):
    """The real pairing under which reverse mode is the transpose of forward mode (no conjugation)."""
    return sum(np.sum(np.asarray(c) * np.asarray(t)).real for c, t in zip(cotangents, tangents, strict=True))


def close(actual, expected, tolerance, what):
    for one, other in zip(actual, expected, strict=True):
        one, other = np.asarray(one), np.asarray(other)
        assert one.shape == other.shape, what
        finite = np.isfinite(other)  # a mean of nothing has no derivative
        one, other = one[finite], other[finite]
        scale = 1 + np.max(np.abs(other), initial=0)
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * scale, err_msg=what)


def check_first(function, arguments, rng, tolerance=1e-7):
    """Reverse and forward against differences, and against each other."""
    value, pull = cr.vjp(function, *arguments)
    direction = [like(rng, a) for a in arguments]
    cotangent = cotangent_of(rng, value)
    bars = pull(cotangent)
    for bar, argument in zip(bars, arguments, strict=True):
        assert np.shape(bar) == np.shape(argument)
        assert np.asarray(bar).dtype == np.asarray(argument).dtype
    of_inexact = [c for c, leaf in zip(leaves(cotangent),
                                       leaves(value)) if np.asarray(leaf).dtype.kind in "fc"]
    tangents = cr.jvp(function, tuple(arguments), tuple(direction))[1]
    tangents = [t for t, leaf in zip(leaves(tangents), leaves(value)) if np.asarray(leaf).dtype.kind in "fc"]
    expected = along(function, arguments, direction)
    close(tangents, expected, tolerance, "forward against differences")
    close([pairing(bars, direction)], [pairing(of_inexact, expected)], tolerance,
          "reverse against differences")
    if all(np.isfinite(t).all() for t in expected):
        close([pairing(bars, direction)], [pairing(of_inexact, tangents)], 1e-10, "reverse against forward")


def check_second(function, arguments, rng, tolerance=1e-6):
    """The derivative of the gradient, in both modes, against differences of the gradient."""
    cotangent = cotangent_of(rng, function(*arguments))

    def gradient(*given):
        return cr.vjp(function, *given)[1](cotangent)

    check_first(gradient, arguments, rng, tolerance)
