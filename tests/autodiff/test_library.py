"""First and second derivatives, by the passes, of products, linear algebra, transforms and reductions."""
import numpy as np
import pytest
from scipy import special

from tests.autodiff.differences import check

rng = np.random.default_rng(0)
a, v, m, n, t = (rng.normal(size=shape) for shape in ((3, 3), 3, (2, 3), (3, 4), (2, 3, 4)))
gram = a @ a.T + 3 * np.eye(3)
tall, wide = rng.normal(size=(4, 2)), rng.normal(size=(2, 4))
ones = np.ones


def product(x, y):
    return x @ y


def solved(x, y):
    return np.linalg.solve(x, y)


def spectral(x):
    values, vectors = np.linalg.eigh(x + x.T)
    return values, (vectors * np.sin(values)) @ vectors.T


def singular(x):
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    return (u * np.sin(s)) @ vh


def singular_full(x):
    u, s, vh = np.linalg.svd(x)
    return (u * np.sin(s)) @ vh


def sized(x):
    return np.linalg.norm(x), np.linalg.norm(x, np.inf), np.linalg.norm(x, 3, axis=0)


def powered(x):
    return np.abs(np.fft.fft(x)) ** 2


CASES = [
    *[(product, x, y) for x, y in ((m, n), (m, v), (v, v), (v, n), (t, n.T.copy()))],
    (product, rng.normal(size=(1, 2, 3)), rng.normal(size=(5, 3, 2))),
    (solved, gram, v), (solved, gram, n),
    (lambda x: np.linalg.inv(x), gram),
    *[(lambda x: np.linalg.det(x), x) for x in (a, np.eye(3), ones((3, 3)), np.zeros((2, 2)))],
    (lambda x: np.linalg.slogdet(x)[1], gram),
    (lambda x: np.linalg.cholesky(x + x.T), gram),
    (spectral, a), (lambda x: np.linalg.eigvalsh(x), a + a.T),
    (singular, tall), (singular, wide), (singular_full, a), (lambda x: np.linalg.svd(x, compute_uv=False), a),
    (lambda x: np.linalg.qr(x), tall), (lambda x: np.linalg.qr(x), wide),
    (lambda x: np.linalg.pinv(x), tall), (lambda x: np.linalg.matrix_power(x, 3), a), (sized, a),
    (lambda x, y: np.linalg.multi_dot([x, y, x.T]), gram, a),
    (lambda x, y: np.einsum("ij,jk->ik", x, y), m, n), (lambda x: np.einsum("ii->i", x), a),
    (lambda x, y: np.einsum("...i,i", x, y), n.T.copy(), v), (lambda x: np.einsum("ij->i", x), a),
    (lambda x, y: np.einsum("ij,ij->i", x, y), n, ones((3, 1))),
    (lambda x, y: np.einsum("i,i->i", x[1:], y[1:]), v, v),
    (lambda x, y: np.tensordot(x, y, 1), m, n), (lambda x, y: np.kron(x, y), m, v),
    (lambda x, y: np.cross(x, y), v, a[0]), (lambda x: np.trace(x), a), (lambda x, y: np.outer(x, y), m, v),
    (lambda x, y: np.inner(x, y), a, m), (lambda x, y: np.vdot(x, y), v, v),
    (lambda x, y: np.dot(x, y), t, n.T.copy()), (lambda x, y: np.vecdot(x, y), a, v),
    (lambda x, y: np.convolve(x, y), v, n[0]), (lambda x, y: np.convolve(x, y, "same"), v, n[0]),
    (lambda x, y: np.convolve(x, y, "valid"), n[0], v), (lambda x, y: np.correlate(x, y, "same"), n[0], v),
    (powered, v), (lambda x: np.abs(np.fft.rfft(x, axis=0)) ** 2, n),
    (lambda x: np.fft.irfft(np.fft.rfft(x) ** 2, 3), v), (lambda x: np.abs(np.fft.rfft(x, 8)) ** 2, v),
    (lambda x: np.fft.irfft(np.fft.rfft(x) ** 2), n[0]),
    (lambda x: np.real(np.fft.ifft2(np.fft.fft2(x) ** 2)), n),
    (lambda x: np.fft.fftshift(x) * np.fft.fftfreq(3), v),
    (lambda x: np.prod(x, axis=(0, 1)), m), (lambda x: np.prod(x), np.array([0.0, 2, 0, 3])),
    (lambda x: np.prod(x, axis=1), np.array([[0.0, 2, 3], [1, 0, 0]])),
    (lambda x: np.cumprod(x), np.array([1.0, 0, 2, 0, 3])), (lambda x: np.cumprod(x, axis=1), n),
    (lambda x: np.cumsum(x * x), v), (lambda x: np.max(x * x, axis=0), n), (lambda x: np.min(x * x), n),
    (lambda x: np.sort(x * x, axis=0), n),
    (lambda x: special.logsumexp(x), v), (lambda x: special.logsumexp(x, axis=0, keepdims=True), n),
    (lambda x: special.logsumexp(x, b=np.array([1.0, 2, 3])), v), (lambda x: special.softmax(x, axis=1), n),
    (lambda x: special.log_softmax(x), v), (lambda x: special.erf(x), v), (lambda x: special.expit(x), v),
    (lambda x: special.gammaln(x * x + 1), v), (lambda x: special.xlogy(x * x, x * x + 1), v),
    (lambda x: special.i1(x), v), (lambda x: special.erfinv(x / 4), v),
    (lambda x: special.polygamma(1, x * x + 1), v),
]


@pytest.mark.parametrize("function, arguments", [(function, arguments) for function, *arguments in CASES])
def test_derivatives(function, arguments):
    check(function, *arguments, tolerance=1e-4)


@pytest.mark.parametrize("ord", [2, "nuc"])
def test_norms_of_singular_values(ord):
    check(lambda x: np.linalg.norm(x, ord), a, tolerance=1e-4)
