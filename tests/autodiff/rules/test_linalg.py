"""Derivatives of linear algebra."""

import numpy as np
import pytest

from chainrule.autodiff import rules  # noqa: F401
from chainrule.codegen.primitives import linalg as la
from tests.autodiff.rules.checks import check_rule

RNG = np.random.default_rng(0)


def real(*shape, dtype=float):
    return RNG.standard_normal(shape).astype(dtype)


def cplx(*shape):
    return real(*shape) + 1j * real(*shape)


def positive(*shape, make=real):
    a = make(*shape)
    return a @ np.swapaxes(a.conj(), -1, -2) + shape[-1] * np.eye(shape[-1])


def hermitian(*shape, make=real):
    a = make(*shape)
    return a + np.swapaxes(a.conj(), -1, -2)


MATMUL = [((3,), (3,)), ((3,), (3, 2)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((3,), (5, 3, 2)),
          ((5, 2, 3), (3,)),
          ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((5, 2, 3), (5, 3, 4)), ((1, 2, 3), (5, 3, 4)),
          ((6, 1, 2, 3), (5, 3, 4)), ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((1, 1), (1, 1))]


@pytest.mark.parametrize("make", [real, cplx])
@pytest.mark.parametrize("operand", [0, 1])
@pytest.mark.parametrize("a, b", MATMUL)
def test_matmul(a, b, operand, make):
    check_rule(la.matmul, make(*a), make(*b), operand=operand)


@pytest.mark.parametrize("make", [real, cplx])
@pytest.mark.parametrize("operand", [0, 1])
@pytest.mark.parametrize("a, b",
                         [((3, 3), (3,)), ((3, 3), (3, 2)), ((2, 3, 3), (3,)), ((2, 3, 3), (3, 2)),
                          ((3, 3), (2, 3, 2)), ((4, 1, 3, 3), (2, 3, 2)), ((1, 1), (1,)), ((0, 0), (0, 2))])
def test_solve(a, b, operand, make):
    check_rule(la.solve, make(*a), make(*b), operand=operand)


@pytest.mark.parametrize("make", [real, cplx])
@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3), (1, 1), (0, 0)])
@pytest.mark.parametrize("primitive", [la.inv, la.det, la.slogdet, la.cofactor])
def test_square(primitive, shape, make):
    check_rule(primitive, make(*shape))


@pytest.mark.parametrize("primitive", [la.inv, la.det, la.slogdet])
def test_single_and_strided(primitive):
    check_rule(primitive, real(3, 3, dtype="f") + 3 * np.eye(3, dtype="f"))
    check_rule(primitive, real(6, 6)[::2, ::-2])


@pytest.mark.parametrize("a",
                         [np.zeros((1, 1)), np.zeros((2, 2)), np.zeros((3, 3)), np.eye(3),
                          np.diag([1.0, 1, 0]), np.diag([1.0, 0, 0, 0]), np.arange(9.0).reshape(3, 3),
                          np.ones((4, 4))])
def test_det_of_singular_and_repeated(a):
    b, c, d = real(3, *a.shape)
    check_rule(la.det, a)
    check_rule(la.cofactor, a)
    check_rule(la.cofactor_along, a, b, tolerance=1e-5)
    check_rule(la.cofactor_along, a, b, operand=1)
    check_rule(la.cofactor_along, a, b, c, operand=1, tolerance=1e-5)
    np.testing.assert_allclose(la.cofactor_along(a, b, c), la.cofactor_along(a, c, b), atol=1e-10)


@pytest.mark.parametrize("make", [real, cplx])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2)])
def test_pinv(shape, make):
    check_rule(la.pinv, make(*shape), 1e-15)


def test_pinv_of_deficient_rank_along_its_rank():
    a = np.outer([1.0, 2, 3], [1.0, -1])
    t = np.outer([1.0, 0, 0], [1.0, -1])
    change = la.pinv.jvp[0](t, la.pinv(a, 1e-15), a, 1e-15)
    h = 1e-6
    expected = (la.pinv(a + h * t, 1e-10) - la.pinv(a - h * t, 1e-10)) / (2 * h)
    np.testing.assert_allclose(change, expected, atol=1e-8)
