"""Derivatives of discrete Fourier transforms."""

import numpy as np
import pytest

from chainrule.autodiff import rules  # noqa: F401
from chainrule.codegen.primitives import fft
from tests.autodiff.rules.checks import check_rule

RNG = np.random.default_rng(0)
NORMS = [None, "backward", "ortho", "forward"]


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("shape, axis", [((5,), 0), ((4,), 0), ((1,), 0), ((2, 3, 4), 1), ((2, 4), 0)])
def test_fft(shape, axis, norm):
    x = RNG.standard_normal(shape)
    for primitive in (fft.fft, fft.ifft):
        check_rule(primitive, x, axis=axis, norm=norm)
        check_rule(primitive, x + 1j * RNG.standard_normal(shape), axis=axis, norm=norm)
    check_rule(fft.rfft, x, axis=axis, norm=norm)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [1, 2, 5, 6])
@pytest.mark.parametrize("axis", [0, 1])
def test_irfft(n, axis, norm):
    shape = (n // 2 + 1, 3) if axis == 0 else (2, n // 2 + 1)
    x = RNG.standard_normal(shape)
    check_rule(fft.irfft, x + 1j * RNG.standard_normal(shape), n, axis=axis, norm=norm)
    check_rule(fft.irfft, x, n, axis=axis, norm=norm)


def test_single_stays_single():
    x = RNG.standard_normal(6).astype("f")
    assert fft.rfft.vjp[0](fft.rfft(x, axis=0), None, x, axis=0).dtype == np.float32
    y = fft.rfft(x, axis=0)
    assert fft.irfft.vjp[0](x, None, y, 6, axis=0).dtype == np.complex64
