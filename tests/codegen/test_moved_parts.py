"""Parts added to zeros along rows: gathered, whatever the sizes, where no part can be empty."""

import numpy as np
import pytest

import chainrule as cr
from chainrule.codegen.elements import placed

R = np.random.default_rng(8)


def roughness(x):
    return np.sum((x[1:] - x[:-1]) ** 4)


def limited(x, y):
    """A flux between rows and one between columns of cells, where `y` has a cell less on each side."""
    laplacian = 4 * x[1:-1, 1:-1] - (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2])
    flux = laplacian[1:] - laplacian[:-1]
    flux = np.where(flux * (x[2:-1, 1:-1] - x[1:-2, 1:-1]) > 0, 0, flux)
    return np.sum(y * (flux[1:] - flux[:-1]) ** 2)


def text(function, *arguments):
    return cr.source(cr.grad(function), stage="loops")(*arguments)


def test_a_part_is_zero_where_it_does_not_reach():
    made = placed(np.ones((2, 3)), (4, 3), (1, 0), (True, False))
    np.testing.assert_array_equal(made, [[0] * 3, [1] * 3, [1] * 3, [0] * 3])


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (7, 5), (4, 2, 3)])
def test_the_gradient_is_one_nest(shape):
    x = R.standard_normal(shape)
    assert "zeros" not in text(roughness, x)
    d = 4 * np.diff(x, axis=0) ** 3
    expected = np.concatenate([-d[:1], d[:-1] - d[1:], d[-1:]])
    np.testing.assert_allclose(cr.jit(cr.grad(roughness))(x), expected, rtol=1e-12)


@pytest.mark.parametrize("rows, columns", [(6, 4), (9, 5), (6, 11)])
def test_parts_of_which_a_check_says_that_they_have_elements(rows, columns):
    x, y = R.standard_normal((rows, columns, 5)), R.standard_normal((rows - 4, columns - 2, 5))
    assert "zeros" not in text(limited, x, y)
    cr.check_grads(lambda x: limited(x, y), (x,), order=1, modes=("rev",))
    np.testing.assert_allclose(cr.jit(cr.grad(limited))(x, y), cr.grad(limited)(x, y), rtol=1e-10, atol=1e-10)


def test_parts_that_may_be_empty_are_added():
    def f(x):
        return np.sum((x[2:] - x[:-2]) ** 2)

    assert "zeros" in text(f, R.standard_normal((4, 3)))
    for rows in (2, 3, 5):
        x = R.standard_normal((rows, 3))
        np.testing.assert_allclose(cr.jit(cr.grad(f))(x), cr.grad(f)(x), rtol=1e-12)


def test_parts_along_the_last_axis_are_added():
    x = R.standard_normal((4, 3))
    assert "zeros" in text(lambda x: np.sum((x[:, 1:] - x[:, :-1]) ** 2), x)
