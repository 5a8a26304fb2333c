"""Derivatives of discrete Fourier transforms, with JAX's convention: a plain transpose, no conjugate."""
from __future__ import annotations

import numpy as np

from ...codegen.primitives import fft
from ...codegen.registry import derivative

# A transform's matrix is symmetric, so it is its own transpose.
derivative(
    fft.fft,
    jvp=lambda t, out, x, axis, norm=None: np.fft.fft(t, axis=axis, norm=norm),
    vjp=lambda ct, out, x, axis, norm=None: np.fft.fft(ct, axis=axis, norm=norm),
)
derivative(
    fft.ifft,
    jvp=lambda t, out, x, axis, norm=None: np.fft.ifft(t, axis=axis, norm=norm),
    vjp=lambda ct, out, x, axis, norm=None: np.fft.ifft(ct, axis=axis, norm=norm),
)


def opposite(norm):
    """The norm with which the inverse transform has the factor that the forward one has with `norm`."""
    return {"forward": "backward", "ortho": "ortho"}.get(norm, "forward")


def multiplicity(x, n, axis):
    """How often the whole spectrum of n real numbers has each number of its half: 2, but 1 at its ends."""
    k = np.arange(n // 2 + 1)
    times = np.where((k == 0) | (2 * k == n), 1, 2).astype(x.real.dtype)
    return times[(slice(None),) + (None,) * (x.ndim - axis - 1)]


def rfft_vjp(ct, out, x, axis, norm=None):
    n = x.shape[axis]
    halved = np.conj(ct) / multiplicity(ct, n, axis)
    return np.fft.irfft(halved, n, axis=axis, norm=opposite(norm))


def irfft_vjp(ct, out, x, n, axis, norm=None):
    whole = np.conj(np.fft.rfft(ct, axis=axis, norm=opposite(norm)))
    return whole * multiplicity(ct, n, axis)


derivative(
    fft.rfft,
    jvp=lambda t, out, x, axis, norm=None: np.fft.rfft(t, axis=axis, norm=norm),
    vjp=rfft_vjp,
)
derivative(
    fft.irfft,
    jvp=lambda t, out, x, n, axis, norm=None: np.fft.irfft(t, n, axis=axis, norm=norm),
    vjp=irfft_vjp,
)
