"""The functions in single precision, under C's names.

The common ones have single arithmetic of their own, twice as many lanes to a vector; the others are
computed in double precision and rounded. Coefficients: tests/backends/numba/fits.py.
"""

import math

import numba
import numpy as np

from . import error, exponential, logarithm, trigonometric
from .bits import bits, fma, number32, polynomial, select

njit = numba.njit(error_model="numpy", cache=True, forceinline=True)

ROUND = np.float32(12582912.0)
LN2, LN2_REST = np.float32(0.6931472), np.float32(-1.9046542e-09)
LOG2E = np.float32(1.442695)
ONE, TWO, HALF, QUARTER = np.float32(1), np.float32(2), np.float32(0.5), np.float32(0.25)
ZERO, INFINITY, NAN = np.float32(0), np.float32(math.inf), np.float32(math.nan)
SQRT_HALF = np.int32(0x3F3504F3)
FRACTION = np.int32(0x7FFFFF)
SIGN = np.int32(-0x80000000)
BIAS, WIDTH, HIGH, I1 = np.int32(127), np.int32(23), np.int32(16), np.int32(1)
TINY, FAR_UP, K_TINY = np.float32(2.0**-126), np.float32(2.0**25), np.float32(25)
HIGHEST, LOWEST = np.float32(90), np.float32(-106)
HIGHEST2, LOWEST2 = np.float32(130), np.float32(-152)
TANH_END, TANH_SMALL = np.float32(10), np.float32(1e-5)

EXPF = (
    0.0013926081986344106,
    0.008363235748312487,
    0.041666555748046376,
    0.1666657664888341,
    0.49999999998438555,
)
EXP2F = (
    1.5297975438118847e-05,
    0.00015461689043546036,
    0.0013333500460142352,
    0.009618056066423922,
    0.055504108852266795,
    0.2402265092516364,
    0.6931471805598307,
)
LOGF = (
    0.06973070409187893,
    -0.11481477241123107,
    0.11685719639080604,
    -0.12425486560687575,
    0.14249009322251377,
    -0.1666780857632927,
    0.2000071719561872,
    -0.24999996911607764,
    0.3333333117430083,
)


@njit
def whole(t):
    return (bits(t) << HIGH) >> HIGH


@njit
def power_of_two(n):
    return number32((n + BIAS) << WIDTH)


@njit
def expf(x):
    x = select(x > HIGHEST, HIGHEST, select(x < LOWEST, LOWEST, x))
    t = fma(x, LOG2E, ROUND)
    k = t - ROUND
    r = fma(k, -LN2_REST, fma(k, -LN2, x))
    p = fma(r * r, polynomial(r, EXPF), r) + ONE
    n = whole(t)
    half = n >> I1
    return p * power_of_two(half) * power_of_two(n - half)


@njit
def exp2f(x):
    x = select(x > HIGHEST2, HIGHEST2, select(x < LOWEST2, LOWEST2, x))
    t = x + ROUND
    r = x - (t - ROUND)
    n = whole(t)
    half = n >> I1
    return fma(r, polynomial(r, EXP2F), ONE) * power_of_two(half) * power_of_two(n - half)


@njit
def tanhf(x):
    c = abs(x)
    c = TWO * select(c > TANH_END, TANH_END, c)
    t = fma(c, LOG2E, ROUND)
    k = t - ROUND
    high = fma(k, -LN2, c)
    low = k * LN2_REST
    r = high - low
    q = fma(r * r, polynomial(r, EXPF), (high - r) - low)
    p = r + q
    scale = power_of_two(whole(t))
    up = fma(scale, p, scale - ONE)
    up_rest = fma(scale, p, (scale - ONE) - up) + scale * ((r - p) + q)
    down = up + TWO
    down_rest = select(up > TWO, TWO - (down - up), up - (down - TWO)) + up_rest
    inverse = ONE / down
    q = up * inverse
    q = fma(fma(-q, down, up) + (up_rest - q * down_rest), inverse, q)
    q = number32(bits(q) ^ (bits(x) & SIGN))
    return select((abs(x) < TANH_SMALL) | (x != x), x, q)


@njit
def expitf(x):
    e = expf(-abs(x))
    down = ONE + e
    down_rest = (ONE - down) + e
    up = select(x < ZERO, e, ONE)
    q = up / down
    left = fma(-q, down, up) - q * down_rest
    return fma(left, select(x < ZERO, ONE - q, q), q)


@njit
def logf(x):
    tiny = x < TINY
    n = bits(select(tiny, x * FAR_UP, x)) - SQRT_HALF
    whole = np.float32(n >> WIDTH)
    k = select(tiny, whole - K_TINY, whole)
    f = number32((n & FRACTION) + SQRT_HALF) - ONE
    half = HALF * f * f
    value = fma(k, LN2, f - (half - fma(f * f * f, polynomial(f, LOGF), k * LN2_REST)))
    value = select(x == ZERO, -INFINITY, value)
    value = select(x == INFINITY, x, value)
    return select(x >= ZERO, value, NAN)


@njit
def expm1f(x):
    return np.float32(exponential.expm1(np.float64(x)))


@njit
def sinhf(x):
    return np.float32(exponential.sinh(np.float64(x)))


@njit
def coshf(x):
    return np.float32(exponential.cosh(np.float64(x)))


@njit
def log2f(x):
    return np.float32(logarithm.log2(np.float64(x)))


@njit
def log1pf(x):
    return np.float32(logarithm.log1p(np.float64(x)))


@njit
def logaddexpf(x, y):
    return np.float32(logarithm.logaddexp(np.float64(x), np.float64(y)))


@njit
def sinf(x):
    return np.float32(trigonometric.sin(np.float64(x)))


@njit
def cosf(x):
    return np.float32(trigonometric.cos(np.float64(x)))


@njit
def tanf(x):
    return np.float32(trigonometric.tan(np.float64(x)))


@njit
def atanf(x):
    return np.float32(trigonometric.atan(np.float64(x)))


@njit
def erff(x):
    return np.float32(error.erf(np.float64(x)))


@njit
def powf(x, y):
    return np.float32(logarithm.pow(np.float64(x), np.float64(y)))


@njit
def atan2f(y, x):
    return np.float32(trigonometric.atan2(np.float64(y), np.float64(x)))
