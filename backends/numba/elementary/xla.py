"""log to the last bit as XLA has it: the C library's; in single precision S. Moshier's (Cephes, logf)."""

import numba
import numpy as np

from .bits import bits, fma, number32, polynomial, rare, select
from .logarithm import LN2, LN2_REST, edges, log1p_twice, split
from .single import FRACTION, HALF, ONE, WIDTH

njit = numba.njit(error_model="numpy", cache=True, forceinline=True)

# C libraries differ only where a logarithm is so near the middle between two numbers: 0.02 units.
MARGIN = 4.5e-18
library = rare("log", 0.0)

BELOW, HALF_BITS, ROOT = np.int32(126), np.int32(0x3F000000), np.float32(0.70710677)
LN2F, LN2F_REST = np.float32(0.693359375), np.float32(-2.1219444e-4)
FIRST = (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1)
SECOND = (-1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1)
THIRD = (2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)


@njit
def xla_log(x):
    f, k = split(x)
    high, low = log1p_twice(f)
    whole = k * LN2
    total = whole + high
    rest = (whole - total) + high + (fma(k, LN2, -whole) + fma(k, LN2_REST, low))
    margin = MARGIN * abs(total)
    value = total + (rest + margin)
    clear = value == total + (rest - margin)
    return edges(x, select(clear, value, library(select(clear, 0.0, x))))


@njit
def xla_logf(x):
    n = bits(x)
    m, k = number32((n & FRACTION) | HALF_BITS), np.float32((n >> WIDTH) - BELOW)
    small = m < ROOT
    k, f = select(small, k - ONE, k), select(small, m + m, m) - ONE
    square = f * f
    cube = square * f
    value = fma(fma(polynomial(f, FIRST), cube, polynomial(f, SECOND)), cube, polynomial(f, THIRD))
    return (f - HALF * square) + fma(value, cube, k * LN2F_REST) + k * LN2F
