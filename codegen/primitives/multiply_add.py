"""The fused multiply-add: x * y + z, rounded once.

NumPy has none. The function stands in printed programs as it is here; a compiler has the instruction.

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
    """x * y + z with one rounding, below 1e300; in single precision, with two, of which the first is to double.

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


def single_or_double(types):
    """The dtype of the operands together."""
    dtype = common_dtype(types)
    if dtype not in (np.float32, np.float64):
        raise TypeError
    return dtype


def type_rule(builder, *operands):
    return result_type(builder, "multiply_add", single_or_double, operands, False)


multiply_add = primitive(
    "multiply_add", fused_multiply_add, type_rule, printed="fused_multiply_add", elementwise=True
)
