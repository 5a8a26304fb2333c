"""numpy.fft: transforms of any length and of several axes, from transforms along one axis."""
from __future__ import annotations

import numpy as np

from ..primitives import fft as transforms
from ..registry import composition
from .arguments import along, axis_index
from .known import known_equal


def fitted(a, n, axis):
    """The array with zeros added to, or elements cut from, the end of one axis, to make its size n."""
    size = a.shape[axis]
    if n is None or known_equal(n, size):
        return a
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    kept = along(axis, slice(None, min(n, size)))
    result = np.zeros(a.shape[:axis] + (n,) + a.shape[axis + 1:], a.dtype)
    result[kept] = a[kept]
    return result


@composition(np.fft.fft)
def fft(a, n=None, axis=-1, norm=None):
    """np.fft.fft."""
    a = np.asarray(a)
    axis = axis_index(axis, a.ndim)
    return transforms.fft(fitted(a, n, axis), axis=axis, norm=norm)


@composition(np.fft.ifft)
def ifft(a, n=None, axis=-1, norm=None):
    """np.fft.ifft."""
    a = np.asarray(a)
    axis = axis_index(axis, a.ndim)
    return transforms.ifft(fitted(a, n, axis), axis=axis, norm=norm)


@composition(np.fft.rfft)
def rfft(a, n=None, axis=-1, norm=None):
    """np.fft.rfft."""
    a = np.asarray(a)
    axis = axis_index(axis, a.ndim)
    return transforms.rfft(fitted(a, n, axis), axis=axis, norm=norm)


@composition(np.fft.irfft)
def irfft(a, n=None, axis=-1, norm=None):
    """np.fft.irfft."""
    a = np.asarray(a)
    axis = axis_index(axis, a.ndim)
    if n is None:
        return transforms.irfft(a, 2 * (a.shape[axis] - 1), axis=axis, norm=norm)
    return transforms.irfft(fitted(a, n // 2 + 1, axis), n, axis=axis, norm=norm)


def opposite(norm):
    """The norm that gives an inverse transform the factor of the forward one."""
    return {"forward": "backward", "ortho": "ortho"}.get(norm, "forward")


@composition(np.fft.hfft)
def hfft(a, n=None, axis=-1, norm=None):
    """np.fft.hfft."""
    return irfft(np.conj(a), n, axis, opposite(norm))


@composition(np.fft.ihfft)
def ihfft(a, n=None, axis=-1, norm=None):
    """np.fft.ihfft."""
    return np.conj(rfft(a, n, axis, opposite(norm)))


def sizes_and_axes(a, s, axes):
    """The sizes (None: as it is) and the axes of a transform of several axes."""
    if axes is None:
        axes = tuple(range(a.ndim)) if s is None else tuple(range(-len(s), 0))
    if s is None:
        s = (None,) * len(axes)
    if len(s) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    return [a.shape[axis] if size == -1 else size for size, axis in zip(s, axes)], list(axes)


def each_axis(transform, a, sizes, axes, norm):
    """A transform along one axis after another, the last first, as NumPy goes."""
    for size, axis in zip(sizes[::-1], axes[::-1]):
        a = transform(a, size, axis, norm)
    return a


@composition(np.fft.fftn)
def fftn(a, s=None, axes=None, norm=None):
    """np.fft.fftn."""
    a = np.asarray(a)
    sizes, axes = sizes_and_axes(a, s, axes)
    return each_axis(fft, a, sizes, axes, norm)


@composition(np.fft.ifftn)
def ifftn(a, s=None, axes=None, norm=None):
    """np.fft.ifftn."""
    a = np.asarray(a)
    sizes, axes = sizes_and_axes(a, s, axes)
    return each_axis(ifft, a, sizes, axes, norm)


@composition(np.fft.rfftn)
def rfftn(a, s=None, axes=None, norm=None):
    """np.fft.rfftn."""
    a = np.asarray(a)
    sizes, axes = sizes_and_axes(a, s, axes)
    return each_axis(fft, rfft(a, sizes[-1], axes[-1], norm), sizes[:-1], axes[:-1], norm)


@composition(np.fft.irfftn)
def irfftn(a, s=None, axes=None, norm=None):
    """np.fft.irfftn."""
    a = np.asarray(a)
    sizes, axes = sizes_and_axes(a, s, axes)
    for size, axis in zip(sizes[:-1], axes[:-1]):
        a = ifft(a, size, axis, norm)
    return irfft(a, sizes[-1], axes[-1], norm)


@composition(np.fft.fft2)
def fft2(a, s=None, axes=(-2, -1), norm=None):
    """np.fft.fft2."""
    return fftn(a, s, axes, norm)


@composition(np.fft.ifft2)
def ifft2(a, s=None, axes=(-2, -1), norm=None):
    """np.fft.ifft2."""
    return ifftn(a, s, axes, norm)


@composition(np.fft.rfft2)
def rfft2(a, s=None, axes=(-2, -1), norm=None):
    """np.fft.rfft2."""
    return rfftn(a, s, axes, norm)


@composition(np.fft.irfft2)
def irfft2(a, s=None, axes=(-2, -1), norm=None):
    """np.fft.irfft2."""
    return irfftn(a, s, axes, norm)


def shift_axes(x, axes):
    """The axes to be shifted."""
    if axes is None:
        return tuple(range(x.ndim))
    return tuple(axes) if isinstance(axes, (tuple, list)) else (axes,)


@composition(np.fft.fftshift)
def fftshift(x, axes=None):
    """np.fft.fftshift."""
    x = np.asarray(x)
    for axis in shift_axes(x, axes):
        x = np.roll(x, x.shape[axis] // 2, axis)
    return x


@composition(np.fft.ifftshift)
def ifftshift(x, axes=None):
    """np.fft.ifftshift."""
    x = np.asarray(x)
    for axis in shift_axes(x, axes):
        x = np.roll(x, -(x.shape[axis] // 2), axis)
    return x


@composition(np.fft.fftfreq)
def fftfreq(n, d=1.0):
    """np.fft.fftfreq."""
    half = (n - 1) // 2 + 1
    return np.concatenate((np.arange(0, half), np.arange(-(n // 2), 0))) * (1.0 / (n * d))


@composition(np.fft.rfftfreq)
def rfftfreq(n, d=1.0):
    """np.fft.rfftfreq."""
    return np.arange(0, n // 2 + 1) * (1.0 / (n * d))
