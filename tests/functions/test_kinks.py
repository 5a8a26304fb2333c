"""The table of conventions at kinks, row by row, in both modes."""
import math
import warnings

import numpy as np
import pytest

import chainrule as cr


def both_modes(function, x):
    """The gradient by reverse mode, which is the one by forward mode."""
    with np.errstate(all="ignore"):
        reverse = np.asarray(cr.grad(lambda x: np.sum(function(x)))(x))
        directions = np.eye(np.size(x)).reshape((np.size(x), *np.shape(x)))
        forward = [np.sum(cr.jvp(function, (x,), (d[()],))[1]) for d in directions]
    np.testing.assert_allclose(reverse, np.reshape(forward, np.shape(x)), rtol=1e-14)
    return reverse.tolist()


@pytest.mark.parametrize("function", [np.abs, np.absolute, np.fabs, np.sign, np.floor, np.ceil, np.trunc,
                                      np.rint, np.round])
def test_absolute_value_at_zero_and_steps(function):
    assert both_modes(lambda x: function(x), np.array([0.0, -0.0])) == [0, 0]
    assert both_modes(lambda x: function(x), 0.0) == 0


@pytest.mark.parametrize("function", [np.sign, np.floor, np.ceil, np.trunc, np.rint, np.round])
def test_steps_elsewhere(function):
    assert both_modes(lambda x: function(x), np.array([-1.5, 0.3, 1.0])) == [0, 0, 0]


def test_comparisons():
    assert both_modes(lambda x: (x > 0) * 1.0, np.array([-1.0, 0.0, 1.0])) == [0, 0, 0]


@pytest.mark.parametrize("function", [np.maximum, np.minimum, np.fmax, np.fmin])
def test_a_tie_is_halved(function):
    pair = cr.grad(lambda x, y: function(x, y), argnums=(0, 1))(1.5, 1.5)
    assert pair == (0.5, 0.5)
    assert both_modes(lambda x: function(x, 0.0), np.zeros(2)) == [0.5, 0.5]


def test_clip_at_its_bounds():
    """clip is a maximum and a minimum: a tie with a bound is halved."""
    assert both_modes(lambda x: np.clip(x, -1.0, 1.0), np.array([-1.0, 0.0, 1.0, 2.0])) == [0.5, 1, 0.5, 0]


@pytest.mark.parametrize("function", [np.max, np.min, np.amax, np.nanmax])
def test_ties_share_evenly(function):
    x = np.array([2.0, 2.0, 2.0, 2.0])
    assert both_modes(lambda x: function(x), x) == [0.25] * 4
    table = np.array([[1.0, 1.0], [0.0, 5.0]])
    by_rows = [[0.5, 0.5], [0, 1]] if function is not np.min else [[0.5, 0.5], [1, 0]]
    assert both_modes(lambda x: function(x, axis=1), table) == by_rows


def test_sort_goes_by_position():
    weights = np.array([1.0, 2.0, 4.0])
    assert both_modes(lambda x: np.sort(x) * weights, np.array([3.0, 3.0, 1.0])) == [2, 4, 1]


def test_median_of_equal_elements_goes_by_position():
    assert both_modes(lambda x: np.median(x), np.array([1.0, 1.0, 1.0])) == [0, 1, 0]


@pytest.mark.parametrize("function, at, expected", [
    (np.sqrt, 0.0, np.inf), (np.log, 0.0, np.inf), (np.log2, 0.0, np.inf), (np.log10, 0.0, np.inf),
    (np.log1p, -1.0, np.inf),
    (lambda x: x ** 0.5, 0.0, np.inf), (np.cbrt, 0.0, np.inf), (np.arcsin, 1.0, np.inf),
    (np.arccos, -1.0, -np.inf),
    (np.arccosh, 1.0, np.inf), (np.arctanh, 1.0, np.inf), (lambda x: x ** 1.5, 0.0, 0.0),
    (lambda x: x ** -1, 0.0, -np.inf),
])
def test_the_edge_of_a_domain(function, at, expected):
    assert both_modes(lambda x: function(x), np.float64(at)) == expected
    assert both_modes(lambda x: function(x), np.array([at])) == [expected]


@pytest.mark.parametrize("norm", [lambda x: np.linalg.norm(x), lambda x: np.linalg.norm(x, 2),
                                  lambda x: np.linalg.norm(x, 3),
                                  lambda x: np.linalg.norm(x, 1), lambda x: np.linalg.vector_norm(x)])
def test_norm_at_zero(norm):
    assert both_modes(norm, np.zeros(3)) == [0, 0, 0]


def test_norm_of_rows_of_zeros():
    x = np.array([[0.0, 0.0], [3.0, 4.0]])
    np.testing.assert_allclose(both_modes(lambda x: np.linalg.norm(x, axis=1), x), [[0, 0], [0.6, 0.8]])
    np.testing.assert_allclose(both_modes(lambda x: np.linalg.norm(x), np.zeros((2, 2))), np.zeros((2, 2)))


@pytest.mark.parametrize(
    "function, x, slope",
    [
        (lambda x: math.sqrt(x), 0.0, np.inf),
        (lambda x: x**0.5, 0.0, np.inf),
        (lambda x: x**1.5, 0.0, 0.0),
        (lambda x: x ** (x + 0.5), 0.0, np.inf),
        (lambda x: pow(x, 0.25), 0.0, np.inf),
        (lambda x: math.cbrt(x), 0.0, np.inf),
        (lambda x: np.log(x), 0.0, np.inf),
        (lambda x: np.log1p(x), -1.0, np.inf),
        (lambda x: math.asin(x), 1.0, np.inf),
        (lambda x: math.acos(x), 1.0, -np.inf),
        (lambda x: math.acosh(x), 1.0, np.inf),
        (lambda x: np.arctanh(x), 1.0, np.inf),
        (lambda x: np.reciprocal(x), 0.0, -np.inf),
        (lambda x: 1.0 - math.sqrt(1.0 - x), 1.0, np.inf),
    ],
)
def test_a_python_float_at_the_edge_of_a_domain(function, x, slope):
    assert both_modes(function, x) == slope
    with np.errstate(all="ignore"):
        assert cr.jit(cr.grad(function))(x) == slope


@pytest.mark.parametrize("function", [lambda x: 1 / x, lambda x: x**-1.0, lambda x: math.log(x)])
def test_what_python_refuses_has_no_derivative(function):
    """The derivative is asked for where the function itself raises."""
    with pytest.raises((ZeroDivisionError, ValueError)) as said:
        function(0.0)
    for transform in (cr.grad, cr.value_and_grad, lambda f: cr.jit(cr.value_and_grad(f))):
        with pytest.raises(said.type):
            transform(function)(0.0)


def test_hypot_and_absolute_at_zero():
    assert cr.grad(lambda x, y: np.hypot(x, y), argnums=(0, 1))(0.0, 0.0) == (0, 0)
    assert cr.grad(lambda z: np.abs(z))(0j) == 0


def test_where_takes_one_side_at_its_own_kink():
    assert both_modes(lambda x: np.where(x >= 0, 3 * x, 5 * x), np.zeros(1)) == [3]


@pytest.mark.parametrize("x", [2, True, np.arange(3), np.array([True, False])])
def test_integers_have_no_gradient(x):
    with pytest.raises(cr_error()) as refused:
        cr.grad(lambda x: np.sum(x * 2.0))(x)
    assert "float" in str(refused.value)


def cr_error():
    from chainrule.codegen.errors import NotDifferentiableError
    return NotDifferentiableError


def test_results_that_are_integers_have_zero_tangents():
    value, tangent = cr.jvp(lambda x: (np.argmax(x), x * 2), (np.array([1.0, 3.0]),), (np.ones(2),))
    assert value[0] == 1 and tangent[0] == 0 and tangent[1].tolist() == [2, 2]


def test_no_warnings_from_the_chosen_side():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cr.grad(lambda x: np.linalg.norm(x))(np.zeros(2)).tolist() == [0, 0]
