"""Complex numbers, with JAX's convention.

Forward mode is the differential. Reverse mode is its transpose under the pairing Re(sum(a * b)), without
conjugation: the gradient of a real L is dL/dx - i dL/dy, and a holomorphic f pulls a cotangent back as
c * f'(z).
"""
import numpy as np
import pytest

import chainrule as cr

z = 1 + 2j
HOLOMORPHIC = [
    (lambda z: z ** 3, lambda z: 3 * z ** 2),
    (lambda z: np.exp(z), np.exp),
    (lambda z: np.sin(z), np.cos),
    (lambda z: np.log(z), lambda z: 1 / z),
    (lambda z: 1 / z, lambda z: -1 / z ** 2),
    (lambda z: np.sqrt(z), lambda z: 0.5 / np.sqrt(z)),
    (lambda z: np.tanh(z), lambda z: 1 - np.tanh(z) ** 2),
    (lambda z: z * (2 - 1j), lambda z: 2 - 1j),
]


@pytest.mark.parametrize("function, derivative", HOLOMORPHIC)
def test_holomorphic(function, derivative):
    direction = 0.3 - 0.7j
    np.testing.assert_allclose(cr.jvp(function, (z,), (direction,))[1], derivative(z) * direction)
    np.testing.assert_allclose(cr.vjp(function, z)[1](direction)[0], derivative(z) * direction)


@pytest.mark.parametrize("function, by_real, by_imaginary", [
    (lambda z: np.abs(z) ** 2, 2.0, 4.0), (lambda z: np.real(z), 1, 0), (lambda z: np.imag(z), 0, 1),
    (lambda z: z.real * z.imag, 2.0, 1.0), (lambda z: np.abs(z), 1 / 5 ** 0.5, 2 / 5 ** 0.5),
    (lambda z: np.angle(z), -2 / 5, 1 / 5), (lambda z: np.real(z * np.conj(z)), 2.0, 4.0),
    (lambda z: np.real(np.exp(z)), np.e * np.cos(2), -np.e * np.sin(2)),
])
def test_real_functions_of_a_complex_number(function, by_real, by_imaginary):
    np.testing.assert_allclose(cr.grad(function)(z), by_real - 1j * by_imaginary)
    np.testing.assert_allclose(cr.jvp(function, (z,), (1 + 0j,))[1], by_real)
    np.testing.assert_allclose(cr.jvp(function, (z,), (1j,))[1], by_imaginary)


def test_an_array():
    x = np.array([1 + 2j, 3 - 1j])
    np.testing.assert_allclose(cr.grad(lambda x: np.sum(np.abs(x) ** 2))(x), 2 * np.conj(x))


def test_a_real_number_through_complex_ones():
    """The cotangent of a real number is real: d |exp(i x) + 1|^2 / dx = -2 sin x."""
    gradient = cr.grad(lambda x: np.abs(np.exp(1j * x) + 1) ** 2)(0.4)
    assert isinstance(gradient, float)
    np.testing.assert_allclose(gradient, -2 * np.sin(0.4))


def test_conjugate():
    assert cr.vjp(lambda z: np.conj(z), z)[1](1j)[0] == -1j
    assert cr.jvp(lambda z: np.conj(z), (z,), (1j,))[1] == -1j


def test_a_complex_result_has_no_gradient():
    from chainrule.codegen.errors import NotDifferentiableError

    with pytest.raises(NotDifferentiableError):
        cr.grad(lambda z: z * z)(z)


def test_a_fourier_transform():
    """By Parseval, the power spectrum sums to n times the sum of squares."""
    x = np.arange(5.0)
    np.testing.assert_allclose(cr.grad(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2))(x), 10 * x)
