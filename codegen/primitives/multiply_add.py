"""The fused multiply-add, x * y + z rounded once, and XLA's logarithm, of which it is a part.

NumPy has neither. The functions stand in printed programs as they are here; a compiler has the instruction.

>>> x = np.float64(1 + 2**-30)
>>> x * x - 1 == 2**-29, multiply_add(x, x, -1.0) == 2**-29 + 2**-60
(np.True_, np.True_)
"""

from __future__ import annotations

import numpy as np

from ..registry import primitive
from .elementwise import result_type
from .promotion import common_dtype


def fused_multiply_add(x, y, z):
    """x * y + z with one rounding, below 1e300; in single precision with two, the first of them to double.

    T. Dekker, A floating-point technique for extending the available precision (Numerische Mathematik, 1971);
    D. Knuth, The Art of Computer Programming, volume 2, 4.2.2, for what a sum loses.
    """
    dtype = np.result_type(x, y, z)
    x, y, z = np.asarray(x, dtype), np.asarray(y, dtype), np.asarray(z, dtype)
    if dtype == np.float32:
        return (x.astype(np.float64) * y + z).astype(dtype)
    x_high, y_high = upper_half(x), upper_half(y)
    x_low, y_low = x - x_high, y - y_high
    xy = x * y
    lost = x_low * y_low - (((xy - x_high * y_high) - x_low * y_high) - x_high * y_low)
    total = xy + z
    of_z = total - xy
    return total + ((xy - (total - of_z)) + (z - of_z) + lost)


def upper_half(x):
    """The leading 26 bits of a double."""
    far = x * 134217729.0
    return far - (far - x)


def xla_log(x):
    """The logarithm of a positive number to the last bit as XLA has it: the C library's; in single precision
    S. Moshier's (Cephes, logf).
    """
    import scipy.special

    x = np.asarray(x)
    if x.dtype == np.float64:
        return scipy.special.xlogy(1.0, x)
    m, k = np.frexp(x)
    small = m < 0.70710677
    k, f = (k - small).astype(np.float32), np.where(small, m + m, m) - np.float32(1)
    square = f * f
    cube = square * f
    first = in_single(f, 7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1)
    second = in_single(f, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1)
    third = in_single(f, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)
    value = fused_multiply_add(fused_multiply_add(first, cube, second), cube, third)
    value = fused_multiply_add(value, cube, k * np.float32(-2.1219444e-4))
    return f - np.float32(0.5) * square + value + k * np.float32(0.693359375)


def in_single(x, a, b, c):
    """(a x + b) x + c."""
    return fused_multiply_add(fused_multiply_add(np.float32(a), x, np.float32(b)), x, np.float32(c))


def single_or_double(types):
    """The dtype of the operands together."""
    dtype = common_dtype(types)
    if dtype not in (np.float32, np.float64):
        raise TypeError
    return dtype


def entered(name, function):
    """The primitive that a function here is, of floats in single or double precision."""

    def type_rule(builder, *operands):
        return result_type(builder, name, single_or_double, operands, False)

    return primitive(name, function, type_rule, printed=function.__name__, elementwise=True)


multiply_add = entered("multiply_add", fused_multiply_add)
logarithm = entered("xla_log", xla_log)
