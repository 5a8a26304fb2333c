"""The elementary functions against mpmath, over every size of argument; special values against NumPy."""

import numba
import numpy as np
import pytest
from scipy import special

import chainrule as cr
from chainrule.backends.numba import elementary
from chainrule.backends.numba.elementary_errors import EXACT, NUMPY, error, looped, worst

DOUBLE, SINGLE = np.float64, np.float32
EDGES = [0.0, 1.0, np.inf, 0.5, 2.0, 3.0, 1e22, 1e13, 1.0000001e13, np.pi / 2, 745.2, 709.8, 710.5, 103.9]
PAIRED = [0.0, 0.5, 1.0, 2.0, 3.0, 1e10, np.inf]


def edges(dtype):
    limits = np.finfo(dtype)
    ends = [limits.smallest_subnormal, limits.tiny, limits.max]
    sizes = np.array([*EDGES, *ends]).astype(dtype)
    return np.concatenate([sizes, -sizes, np.array([np.nan], dtype)])


def numpy_function(name):
    return getattr(np, NUMPY.get(name, name), None) or getattr(special, name)


def same(found, wanted):
    """Equal to two units, infinities and signs of zero as well."""
    with np.errstate(all="ignore"):
        close = abs(found.astype(float) - wanted) <= 2 * abs(np.spacing(wanted.astype(found.dtype)))
    equal = (found == wanted) & (np.signbit(found) == np.signbit(wanted))
    return equal | (np.isnan(found) & np.isnan(wanted)) | (close & np.isfinite(wanted) & (wanted != 0))


@pytest.mark.parametrize("dtype", [DOUBLE, SINGLE])
@pytest.mark.parametrize("name", EXACT)
def test_function(name, dtype):
    found, where = worst(name, dtype, 700)
    assert found <= 2, where
    run, x = looped(name, dtype), edges(dtype)
    arguments = (x,)
    if name in ("pow", "atan2"):
        y = np.array([*PAIRED, *(-value for value in PAIRED), np.nan]).astype(dtype)
        arguments = tuple(np.ravel(grid) for grid in np.meshgrid(np.concatenate([x, y]), y))
    with np.errstate(all="ignore"):
        wanted = numpy_function(name)(*(argument.astype(float) for argument in arguments)).astype(dtype)
    found = run(*arguments)
    bad = ~same(found, wanted)
    for k in np.flatnonzero(bad):
        # SciPy's expit underflows early.
        at = [argument[k] for argument in arguments]
        bad[k] = not (np.isfinite(at).all() and np.isfinite(found[k]) and error(name, found[k], *at) <= 2)
    assert not bad.any(), list(zip(*(a[bad] for a in arguments), found[bad], wanted[bad]))[:5]


def test_lanes_that_need_the_library_beside_lanes_that_do_not():
    """Every place in a vector, and the rest of the loop."""
    x = np.linspace(-9.0, 9.0, 67)
    for name in ("sin", "cos", "tan"):
        run, function = looped(name, DOUBLE), numpy_function(name)
        for k in range(67):
            far = x.copy()
            far[k] = 1e200
            np.testing.assert_allclose(run(far), function(far), rtol=1e-15, atol=1e-16)


def test_a_loop_becomes_vectors():
    function = elementary.sin

    @numba.njit(error_model="numpy")
    def run(x, out):
        for i in range(x.shape[0]):
            out[i] = function(x[i])

    run(np.ones(8), np.ones(8))
    assert "x double> @llvm.fma" in run.inspect_llvm(run.signatures[0])


def printed(function, *arguments):
    return cr.source(function, stage="numba")(*arguments)


def test_only_values_that_do_not_wait_are_vectorised():
    def both(x):
        s = 0.5
        for i in range(x.shape[0]):
            s = np.sin(s) + np.tanh(x[i])
        return s * np.cos(s)

    text = printed(both, np.ones(5))
    assert "elementary.tanh(" in text
    assert "np.sin(s)" in text
    assert "np.cos(s)" in text


def test_a_loop_that_reads_what_it_has_just_written_calls_the_faster_logarithm():
    def decayed(x, back):
        for i in range(1, x.shape[0] - 1):
            x[i] = np.log(2 + x[i - back]) + x[i]
        return x

    x = np.linspace(0, 1, 5)
    assert "np.log(" in printed(lambda x: decayed(x, 1), x)
    assert "elementary.log(" in printed(lambda x: decayed(x, -1), x)
    np.testing.assert_allclose(cr.jit(lambda x: decayed(x.copy(), 1))(x), decayed(x.copy(), 1), rtol=1e-15)


def test_sums_of_arrays_are_added_in_any_order_and_those_of_users_are_not():
    def own(x):
        s = 0.0
        for i in range(x.shape[0]):
            s = s + x[i]
        return s

    x = np.arange(1.0, 1003.0)
    assert "elementary.plus(" in printed(lambda x: np.sum(np.log(x)), x)
    assert "elementary.plus(" not in printed(own, x)
    for dtype in (DOUBLE, SINGLE):
        found = cr.jit(lambda x: np.sum(np.log(x)))(x.astype(dtype))
        assert found.dtype == dtype
        np.testing.assert_allclose(found, np.log(x).sum(), rtol=10 * np.finfo(dtype).eps)
    assert np.isnan(cr.jit(lambda x: np.sum(np.log(x)))(np.array([1.0, np.nan, 2.0])))


def test_largest_and_smallest_are_found_in_any_order():
    def own(x):
        largest = x[0]
        for i in range(x.shape[0]):
            largest = np.maximum(largest, x[i])
        return largest

    x = np.random.default_rng(4).standard_normal(1003)
    assert "elementary.larger(" in printed(np.max, x) and "elementary.smaller(" in printed(np.min, x)
    assert "elementary.larger(" not in printed(own, x)
    for dtype in (DOUBLE, SINGLE):
        y = x.astype(dtype)
        for place, value in ((0, np.inf), (1002, -np.inf), (500, np.nan)):
            for function in (np.max, np.min):
                np.testing.assert_array_equal(cr.jit(function)(y), function(y))
            y[place] = value
        assert np.isnan(cr.jit(np.max)(y)) and np.isnan(cr.jit(np.min)(y))


@pytest.mark.parametrize("dtype", [DOUBLE, SINGLE])
def test_logaddexp(dtype):
    special_values = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-30, 700.0, -700.0]
    values = np.concatenate([special_values, 30 * np.random.default_rng(6).standard_normal(40)]).astype(dtype)
    x, y = (part.ravel() for part in np.meshgrid(values, values))
    with np.errstate(invalid="ignore"):
        found, expected = cr.jit(np.logaddexp)(x, y), np.logaddexp(x.astype(DOUBLE), y.astype(DOUBLE))
    assert found.dtype == dtype and "elementary.logaddexp" in printed(np.logaddexp, x, y)
    np.testing.assert_allclose(found, expected, rtol=8 * np.finfo(dtype).eps, atol=4 * np.finfo(dtype).eps)
