"""Discrete Fourier transforms along one axis, counted from 0, of that axis's own length.

`irfft` takes the length of its result, and half of it and one more numbers. The many-argument functions
of numpy.fft pad or crop first (compositions/fourier.py).
"""
from __future__ import annotations

import numpy as np

from ..build import Builder
from ..core import ArrayType, Dimension, Operand, type_of
from ..registry import PRIMITIVES, primitive
from .probing import result_dtype


def fft_type(builder: Builder, x: Operand, *, axis: int, norm: str | None = None) -> ArrayType:
    return ArrayType(result_dtype(np.fft.fft, x, location=builder.location), type_of(x).shape)


def half_size(builder: Builder, size: Dimension) -> Dimension:
    """How many numbers describe the transform of `size` real numbers."""
    if isinstance(size, int):
        return size // 2 + 1
    made = builder.definitions.get(size)
    if made is not None and made.primitive.name == "multiply" and made.operands[0] == 2:
        half = made.operands[1]
    else:
        half = builder.emit(PRIMITIVES["floor_divide"], size, 2)
    return builder.dimension_add(half, 1)


def rfft_type(builder: Builder, x: Operand, *, axis: int, norm: str | None = None) -> ArrayType:
    of = type_of(x)
    shape = (*of.shape[:axis], half_size(builder, of.shape[axis]), *of.shape[axis + 1:])
    return ArrayType(result_dtype(np.fft.rfft, x, location=builder.location), shape)


def irfft_type(builder: Builder, x: Operand, n: Operand, *, axis: int, norm: str | None = None) -> ArrayType:
    of = type_of(x)
    message = "irfft: the axis does not have n // 2 + 1 elements"
    builder.require_same(of.shape[axis], half_size(builder, n), message)
    shape = (*of.shape[:axis], n, *of.shape[axis + 1:])
    return ArrayType(result_dtype(half_transform, x, location=builder.location), shape)


def half_transform(x: np.ndarray) -> np.ndarray:
    return np.fft.irfft(x, 1)


fft = primitive("fft", lambda x, axis, norm=None: np.fft.fft(x, axis=axis, norm=norm), fft_type,
                printed="np.fft.fft")
ifft = primitive("ifft", lambda x, axis, norm=None: np.fft.ifft(x, axis=axis, norm=norm), fft_type,
                 printed="np.fft.ifft")
rfft = primitive("rfft", lambda x, axis, norm=None: np.fft.rfft(x, axis=axis, norm=norm), rfft_type,
                 printed="np.fft.rfft")
irfft = primitive("irfft", lambda x, n, axis, norm=None: np.fft.irfft(x, n, axis=axis, norm=norm), irfft_type,
                  printed="np.fft.irfft")
