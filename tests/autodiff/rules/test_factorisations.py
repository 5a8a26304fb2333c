"""Derivatives of the matrix factorisations."""

import numpy as np
import pytest

from chainrule.autodiff import rules  # noqa: F401
from chainrule.codegen.primitives import linalg as la
from tests.autodiff.rules.checks import check_rule

RNG = np.random.default_rng(0)


def real(*shape):
    return RNG.standard_normal(shape)


def single(*shape):
    return RNG.standard_normal(shape).astype("f")


def cplx(*shape):
    return real(*shape) + 1j * real(*shape)


def adjoint(a):
    return np.swapaxes(a.conj(), -1, -2)


MAKES = [real, single, cplx]
SQUARE = [(3, 3), (2, 3, 3), (1, 1), (0, 0)]
RECTANGLES = [(3, 3), (4, 2), (2, 4), (2, 4, 3), (2, 3, 4), (1, 3), (3, 1)]


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("shape", SQUARE)
def test_cholesky(shape, make):
    a = make(*shape)
    check_rule(la.cholesky, a @ adjoint(a) + (shape[-1] * np.eye(shape[-1])).astype(a.dtype))


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("uplo", "LU")
@pytest.mark.parametrize("shape", SQUARE)
def test_eigh(shape, uplo, make):
    a = make(*shape)
    scale = real(*shape[:-1])

    def projections(out):
        values, vectors = out
        return values, (vectors * scale[..., None, :]) @ adjoint(vectors)

    check_rule(la.eigh, a + adjoint(a), UPLO=uplo, invariant=projections)
    check_rule(la.eigvalsh, a + adjoint(a), UPLO=uplo)


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("shape", RECTANGLES)
def test_svd(shape, make):
    a = make(*shape)
    scale = real(*shape[:-2], min(shape[-2:]))

    def projections(out):
        u, s, vh = out
        return (u * scale[..., None, :]) @ adjoint(u), s, (adjoint(vh) * scale[..., None, :]) @ vh,
        u * s[..., None, :] @ vh

    check_rule(la.svd, a, full_matrices=False, invariant=projections)
    check_rule(la.svdvals, a)
    if shape[-2] == shape[-1]:
        check_rule(la.svd, a, full_matrices=True, invariant=projections)


def test_full_svd_of_a_rectangle_is_refused():
    a = real(3, 2)
    out = la.svd(a, full_matrices=True)
    with pytest.raises(NotImplementedError, match="full_matrices=False"):
        la.svd.jvp[0](a, out, a, full_matrices=True)
    with pytest.raises(NotImplementedError, match="full_matrices=False"):
        la.svd.vjp[0](out, out, a, full_matrices=True)


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("shape", RECTANGLES)
def test_qr(shape, make):
    check_rule(la.qr, make(*shape))


@pytest.mark.parametrize("a", [np.eye(3), np.zeros((2, 2)), np.diag([2.0, 2, 1]), np.ones((3, 3))])
def test_repeated_values_stay_finite(a):
    for primitive, static in ((la.eigh, {}), (la.svd, {"full_matrices": False})):
        out = primitive(a, **static)
        t = real(*a.shape)
        assert all(np.all(np.isfinite(part)) for part in primitive.jvp[0](t, out, a))
        assert np.all(np.isfinite(primitive.vjp[0](tuple(map(np.ones_like, out)), out, a)))
    only_values = np.ones(a.shape[0]), np.zeros(a.shape)
    np.testing.assert_allclose(la.eigh.vjp[0](only_values, la.eigh(a), a), np.eye(a.shape[0]), atol=1e-12)
    np.testing.assert_allclose(la.eigvalsh.vjp[0](only_values[0], None, a), np.eye(a.shape[0]), atol=1e-12)
