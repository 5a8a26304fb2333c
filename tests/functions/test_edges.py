"""Where formulas break down: zeros, repeated values, infinities, nothing at all; against closed forms."""
import numpy as np
import pytest
from scipy import special

import chainrule as cr

nothing = np.zeros(0)
inf = np.inf


def total(function):
    return lambda x: np.sum(function(x))


@pytest.mark.parametrize("x, expected", [
    ([2.0, 3.0, 4.0], [12.0, 8.0, 6.0]),
    ([0.0, 3.0, 4.0], [12.0, 0.0, 0.0]),
    ([0.0, 3.0, 0.0], [0.0, 0.0, 0.0]),
])
def test_prod_with_zeros(x, expected):
    assert cr.grad(lambda x: np.prod(x))(np.array(x)).tolist() == expected


def test_second_derivative_of_prod_with_zeros():
    """d2 (x y z) / dx dy = z."""
    x = np.array([0.0, 3.0, 0.0])
    expected = [[0, 0, 3], [0, 0, 0], [3, 0, 0]]
    np.testing.assert_array_equal(cr.hessian(lambda x: np.prod(x))(x), expected)
    np.testing.assert_array_equal(cr.jacrev(cr.grad(lambda x: np.prod(x)))(x), expected)


def test_cumprod_with_zeros():
    """The derivative of x0, x0 x1, x0 x1 x2 by each."""
    x = np.array([2.0, 0.0, 5.0])
    expected = [[1, 0, 0], [0, 2, 0], [0, 10, 0]]
    np.testing.assert_array_equal(cr.jacrev(lambda x: np.cumprod(x))(x), expected)
    np.testing.assert_array_equal(cr.jacfwd(lambda x: np.cumprod(x))(x), expected)


def test_second_derivative_of_cumprod_with_zeros():
    x = np.array([2.0, 0.0, 5.0])
    expected = [[0, 5 + 1, 0], [5 + 1, 0, 2], [0, 2, 0]]  # of x0 + x0 x1 + x0 x1 x2
    np.testing.assert_array_equal(cr.hessian(lambda x: np.sum(np.cumprod(x)))(x), expected)


@pytest.mark.parametrize("x", [np.ones((3, 3)), np.zeros((3, 3)), np.diag([1.0, 2.0, 0.0]),
                               np.diag([1.0, 0.0, 0.0]),
                               np.arange(9.0).reshape(3, 3)])
def test_det_of_a_singular_matrix(x):
    """The gradient is the matrix of cofactors."""
    minors = [[np.linalg.det(np.delete(np.delete(x, i, 0), j,
                                       1)) * (-1) ** (i + j) for j in range(3)] for i in range(3)]
    np.testing.assert_allclose(cr.grad(lambda x: np.linalg.det(x))(x), minors, atol=1e-12)


def test_second_derivative_of_det_of_a_singular_matrix():
    """d2 det / dx00 dx11 = x22, in three dimensions."""
    hessian = cr.hessian(lambda x: np.linalg.det(x))(np.diag([0.0, 0.0, 7.0]))
    assert np.isclose(hessian[0, 0, 1, 1], 7) and np.isclose(hessian[0, 1, 1, 0], -7)
    assert np.isfinite(hessian).all()


def test_eigenvalues_that_are_equal():
    """Sums of functions of eigenvalues are smooth: tr f(A), with the derivative f'(A)."""
    a = np.diag([2.0, 2.0, 5.0])
    by_values = lambda a: np.sum(np.linalg.eigh((a + a.T) / 2)[0] ** 3)
    np.testing.assert_allclose(cr.grad(by_values)(a), 3 * a @ a, atol=1e-12)
    alone = lambda a: np.sum(np.linalg.eigvalsh((a + a.T) / 2) ** 3)
    np.testing.assert_allclose(cr.grad(alone)(a), 3 * a @ a, atol=1e-12)


def test_rebuilding_from_equal_eigenvalues():
    def rebuilt(a):
        values, vectors = np.linalg.eigh((a + a.T) / 2)
        return (vectors * values) @ vectors.T

    a, weights = np.diag([2.0, 2.0, 5.0]), np.arange(9.0).reshape(3, 3)
    gradient = cr.grad(lambda a: np.sum(rebuilt(a) * weights))(a)
    assert np.isfinite(gradient).all()
    assert np.isclose(gradient[0, 2], (weights[0, 2] + weights[2, 0]) / 2)


def test_singular_values_that_are_equal():
    """The nuclear norm of an orthogonal matrix q has the gradient q; the sum of squares, 2 a."""
    q = np.array([[0.0, -1.0], [1.0, 0.0]])
    np.testing.assert_allclose(cr.grad(lambda a: np.sum(np.linalg.svd(a, compute_uv=False)))(q), q,
                               atol=1e-12)
    np.testing.assert_allclose(cr.grad(lambda a: np.sum(np.linalg.svd(a)[1] ** 2))(q), 2 * q, atol=1e-12)


def test_rebuilding_from_equal_singular_values():
    def rebuilt(a):
        u, s, vh = np.linalg.svd(a)
        return (u * s) @ vh

    gradient = cr.grad(lambda a: np.sum(rebuilt(a)))(np.eye(3) * 2)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("squared", [lambda x: np.linalg.norm(x) ** 2, lambda x: np.sum(x ** 2),
                                     lambda x: x @ x,
                                     lambda x: np.linalg.norm(x, 2) ** 2])
def test_norm_squared_at_zero(squared):
    zero = np.zeros(3)
    assert cr.grad(squared)(zero).tolist() == [0, 0, 0]


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("at", [0.0, np.zeros(2)])
def test_powers_at_zero(n, at):
    first = cr.grad(total(lambda x: x ** n))
    second = cr.grad(total(lambda x: first(x)))
    assert np.all(np.asarray(first(at)) == (1.0 if n == 1 else 0.0))
    assert np.all(np.asarray(second(at)) == (2.0 if n == 2 else 0.0))


@pytest.mark.parametrize("n", [0.0, 1.0, 2.0, 3.0])
def test_powers_at_zero_with_an_array_of_exponents(n):
    gradient = cr.grad(lambda x, n: np.sum(x ** n))(np.zeros(2), np.full(2, n))
    assert gradient.tolist() == [1.0 if n == 1 else 0.0] * 2


def test_integer_powers_of_an_array_of_integers():
    x, n = np.array([0.0, 0.0, 0.0, 2.0]), np.array([0, 1, 2, 3])
    assert cr.grad(lambda x: np.sum(x ** n))(x).tolist() == [0, 1, 0, 12]


def test_powers_by_their_exponent():
    """x ** y at x = 0: 0 for y > 0; and log(x) x ** y elsewhere, for a negative base nothing real."""
    assert cr.grad(lambda x, y: x ** y, argnums=1)(0.0, 2.0) == 0
    assert cr.grad(lambda x, y: x ** y, argnums=0)(-2.0, 3.0) == 12
    assert np.isclose(cr.grad(lambda x, y: x ** y, argnums=1)(2.0, 3.0), 8 * np.log(2))


def test_sinc_at_zero():
    """sinc x = 1 - (pi x)^2 / 6 + (pi x)^4 / 120 - ..."""
    first = cr.grad(lambda x: np.sinc(x))
    second = cr.grad(first)
    assert first(0.0) == 0
    np.testing.assert_allclose(second(0.0), -np.pi ** 2 / 3, rtol=1e-12)
    np.testing.assert_allclose(cr.grad(cr.grad(second))(0.0), np.pi ** 4 / 5, rtol=1e-10)
    near = 1e-4
    np.testing.assert_allclose(first(near), -np.pi ** 2 * near / 3, rtol=1e-6)


@pytest.mark.parametrize("spread", [np.var, np.std])
@pytest.mark.parametrize("x", [np.full(4, 3.0), np.zeros(3), np.array([2.0])])
def test_spread_of_a_constant(spread, x):
    assert not np.any(cr.grad(lambda x: spread(x))(x))


def test_spread_of_constant_rows():
    x = np.array([[1.0, 1.0], [1.0, 3.0]])
    gradient = cr.grad(lambda x: np.sum(np.std(x, axis=1)))(x)
    np.testing.assert_allclose(gradient, [[0, 0], [-0.5, 0.5]])


BAD_SIDES = {
    "log": (lambda x: np.where(x > 0, np.log(x), 0.0), lambda x: 1 / x),
    "sqrt": (lambda x: np.where(x > 0, np.sqrt(x), 0), lambda x: 0.5 / np.sqrt(x)),
    "division": (lambda x: np.where(x > 0, 1 / x, 0.0), lambda x: -1 / x ** 2),
    "power": (lambda x: np.where(x > 0, x ** 0.5, 0.0), lambda x: 0.5 / np.sqrt(x)),
    "in a chain": (lambda x: np.where(x > 0, np.sin(3 * np.sqrt(x) + 1), 1.0),
                   lambda x: np.cos(3 * np.sqrt(x) + 1) * 1.5 / np.sqrt(x)),
    "twice": (lambda x: np.where(x > 0, np.sqrt(x) * np.log(x), 0.0),
              lambda x: np.log(x) / 2 / np.sqrt(x) + 1 / np.sqrt(x)),
    "quotient of a bad value": (lambda x: np.where(x > 0, np.log(x) / x, 0.0),
                                lambda x: (1 - np.log(x)) / x ** 2),
    "the other side": (lambda x: np.where(x <= 0, 0.0, np.log(x)), lambda x: 1 / x),
    "nested": (lambda x: np.where(x > 0, np.where(x > 0, np.log(x), np.sqrt(x)), 0.0), lambda x: 1 / x),
}


@pytest.mark.parametrize("name", BAD_SIDES)
def test_where_with_a_bad_other_side(name):
    function, derivative = BAD_SIDES[name]
    x = np.array([-1.0, 0.0, 0.5, 2.0])
    with np.errstate(all="ignore"):
        expected = np.where(x > 0, derivative(x), 0)
        gradient = cr.grad(total(function))(x)
        tangent = cr.jvp(function, (x,), (np.ones(4),))[1]
        pulled = cr.vjp(function, x)[1](np.ones(4))[0]
    np.testing.assert_allclose(gradient, expected)
    np.testing.assert_allclose(tangent, expected)
    np.testing.assert_allclose(pulled, expected)


def test_second_derivative_of_where_with_a_bad_other_side():
    x = np.array([-1.0, 0.0, 0.5])
    first = cr.grad(lambda x: np.sum(np.where(x > 0, np.log(x), 0.0)))
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(cr.grad(lambda x: np.sum(first(x)))(x), [0, 0, -4])
        np.testing.assert_allclose(cr.jvp(first, (x,), (np.ones(3),))[1], [0, 0, -4])


def test_where_with_a_bad_number():
    with np.errstate(all="ignore"):
        assert cr.grad(lambda x: np.where(x > 0, np.sqrt(x), 0.0))(0.0) == 0
        assert cr.grad(lambda x: np.where(x > 0, np.log(x), 0.0))(-1.0) == 0


def test_a_branch_does_not_see_the_other_side():
    f = lambda x: np.sqrt(x) if x > 0 else 2 * x
    assert cr.grad(f)(0.0) == 2 and cr.grad(f)(4.0) == 0.25


def test_logsumexp_of_nothing_but_minus_infinity():
    x = np.array([-inf, -inf])
    value, gradient = cr.value_and_grad(lambda x: special.logsumexp(x))(x)
    assert value == -inf and gradient.tolist() == [0, 0]
    assert cr.grad(lambda x: special.logsumexp(x))(np.array([-inf, 1.0])).tolist() == [0, 1]


def test_softmax_of_large_numbers():
    """softmax(1000, 0) = (1, 0): the diagonal of its Jacobian is 0."""
    np.testing.assert_allclose(cr.jacrev(lambda x: special.softmax(x))(np.array([1000.0, 0.0])),
                               np.zeros((2, 2)))


@pytest.mark.parametrize("function", [lambda x: np.sum(x), lambda x: np.prod(x),
                                      lambda x: np.sum(np.exp(x) * x),
                                      lambda x: np.linalg.norm(x), lambda x: np.sum(np.sort(x)),
                                      lambda x: x @ x,
                                      lambda x: np.sum(np.cumsum(x)),
                                      lambda x: np.sum(np.concatenate([x, x]))])
def test_empty_arrays(function):
    value, gradient = cr.value_and_grad(function)(nothing)
    assert value == function(nothing) and gradient.shape == (0,) and gradient.dtype == float


@pytest.mark.parametrize("one", [np.float64(2.0), np.array(2.0), 2.0])
def test_arrays_without_axes(one):
    gradient = cr.grad(lambda x: np.sum(x ** 3 * np.ones(2)))(one)
    assert np.shape(gradient) == () and gradient == 24


def test_one_axis_of_one_element_broadcast():
    x, y = np.full((1, 3), 2.0), np.full((4, 1), 5.0)
    by_x, by_y = cr.grad(lambda x, y: np.sum(x * y), argnums=(0, 1))(x, y)
    assert by_x.tolist() == [[20.0] * 3] and by_y.tolist() == [[6.0]] * 4


def test_one_program_for_sizes_that_do_and_do_not_broadcast():
    gradient = cr.grad(lambda x, y: np.sum(x * y))
    assert gradient(np.ones(3), np.full(3, 2.0)).tolist() == [2, 2, 2]
    assert gradient(np.ones(1), np.full(3, 2.0)).tolist() == [6]
    assert gradient(np.ones(3), np.full(1, 2.0)).tolist() == [2, 2, 2]
    assert gradient(np.ones(5), np.full(5, 2.0)).tolist() == [2] * 5


def test_indices_that_occur_twice():
    at = np.array([0, 2, 0, 0])
    assert cr.grad(lambda x: np.sum(x[at] * np.array([1.0, 2, 4, 8])))(np.ones(3)).tolist() == [13, 0, 2]
    assert cr.grad(lambda x: np.sum(np.take(x, at)))(np.ones(3)).tolist() == [3, 0, 1]


def test_the_last_write_to_an_index_counts():
    def written(v):
        y = np.zeros(3)
        y[np.array([1, 1])] = v
        return y[1] * 5

    assert cr.grad(written)(np.array([2.0, 3.0])).tolist() == [0, 5]


def test_adding_at_indices_that_occur_twice():
    def added(v):
        y = np.zeros(2)
        np.add.at(y, np.array([1, 1, 0]), v)
        return np.sum(y * y)

    assert cr.grad(added)(np.array([1.0, 2.0, 4.0])).tolist() == [6, 6, 8]
