"""log, log2, log1p, and pow.

x = m 2^k with m from sqrt(1/2) to sqrt(2); with f = m - 1 and s = f / (2 + f), log(m) is
log(1 + s) - log(1 - s), an odd series in s. Coefficients: tests/backends/numba/fits.py.
"""

import math

import numba

from .bits import bits, floor, fma, number, polynomial, select
from .exponential import exp, exp2_sum

njit = numba.njit(error_model="numpy", cache=True, forceinline=True)

ROUND = 6755399441055744.0
LN2 = 0.6931471805599453
LN2_REST = 2.3190468138462996e-17
LOG2E = 1.4426950408889634
LOG2E_REST = 2.0355273740931033e-17
TWO_THIRDS_REST = 3.700743415417188e-17
TWO_THIRDS = 0.6666666666666666
SQRT_HALF = 0x3FE6A09E667F3BCD
FRACTION = 0xFFFFFFFFFFFFF

LOG = (
    0.1462395660821188,
    0.1533111258796017,
    0.1818290749767122,
    0.22222210881932927,
    0.28571428627528794,
    0.3999999999989607,
    0.666666666666667,
)
LOG_TAIL = (
    0.10769647487380807,
    0.10455528040257733,
    0.11766848885567724,
    0.13333295705394957,
    0.15384615771752186,
    0.18181818179584094,
    0.22222222222228674,
    0.28571428571428564,
    0.4,
)


@njit
def split(x):
    """A positive number's m - 1 and k; k is a double."""
    tiny = x < 2.2250738585072014e-308
    n = bits(select(tiny, x * 18014398509481984.0, x)) - SQRT_HALF
    k = n >> 52
    m = number((n & FRACTION) + SQRT_HALF)
    # A whole number becomes a double by its bits: few processors convert vectors of them.
    whole = number(k + 0x4338000000000000) - ROUND
    return m - 1.0, select(tiny, whole - 54.0, whole)


@njit
def series(f):
    """Half of f^2, and what log(1 + f) has beyond f minus that."""
    s = f / (2.0 + f)
    half = 0.5 * f * f
    z = s * s
    return half, s * fma(z, polynomial(z, LOG), half)


@njit
def edges(x, value):
    """What a logarithm gives at 0, infinity, below 0 and for NaN."""
    value = select(x == 0.0, -math.inf, value)
    value = select(x == math.inf, x, value)
    return select(x >= 0.0, value, math.nan)


@njit
def log(x):
    f, k = split(x)
    half, rest = series(f)
    value = fma(k, LN2, f - (half - fma(k, LN2_REST, rest)))
    return edges(x, value)


@njit
def log2(x):
    f, k = split(x)
    half, rest = series(f)
    high = f - half
    low = (f - high) - half - fma(0.5 * f, f, -half) + rest
    product = high * LOG2E
    low = fma(high, LOG2E, -product) + fma(low, LOG2E, high * LOG2E_REST)
    total = k + product
    low += (k - total) + product
    return edges(x, total + low)


@njit
def log1p(x):
    u = 1.0 + x
    n = bits(u) - SQRT_HALF
    k = n >> 52
    # Four times 2^-k, which is a normal number for the largest x too.
    scale = number((1025 - k) << 52)
    f = fma(0.25 * x, scale, 0.25 * scale - 1.0)
    whole = number(k + 0x4338000000000000) - ROUND
    half, rest = series(f)
    value = fma(whole, LN2, f - (half - fma(whole, LN2_REST, rest)))
    return select(abs(x) < 1e-17, x, edges(u, value))


@njit
def logaddexp(x, y):
    """log(exp(x) + exp(y))."""
    value = select(x > y, x, y) + log1p(exp(-abs(x - y)))
    return select(x == y, x + LN2, value)


@njit
def log1p_twice(f):
    """log(1 + f) of a number's m - 1 as a sum of two, to 2^-65."""
    down = 2.0 + f
    down_rest = f - (down - 2.0)
    inverse = 1.0 / down
    s = f * inverse
    s_rest = (fma(-s, down, f) - s * down_rest) * inverse
    z = s * s
    z_rest = fma(s, s, -z) + 2.0 * s * s_rest
    w = s * z
    w_rest = fma(s, z, -w) + s * z_rest + s_rest * z
    t = w * TWO_THIRDS
    t_rest = fma(w, TWO_THIRDS, -t) + fma(w, TWO_THIRDS_REST, w_rest * TWO_THIRDS)
    high = 2.0 * s + t
    low = (2.0 * s - high) + t + (2.0 * s_rest + (t_rest + w * z * polynomial(z, LOG_TAIL)))
    return high, low


@njit
def log2_twice(x):
    """log2 of a positive number as a sum of two, to 2^-65."""
    f, k = split(x)
    high, low = log1p_twice(f)
    product = high * LOG2E
    low = fma(high, LOG2E, -product) + fma(high, LOG2E_REST, low * LOG2E)
    total = k + product
    return total, (k - total) + product + low


@njit
def pow(x, y):
    c = abs(x)
    high, low = log2_twice(c)
    high = select(c == 0.0, -math.inf, select(not c < math.inf, c, high))
    product = y * high
    rest = fma(y, high, -product) + y * low
    far = abs(product) > 1100.0
    rest = select(far, 0.0, rest)
    product = select(product > 1100.0, 1100.0, select(product < -1100.0, -1100.0, product))
    value = exp2_sum(product, rest)
    whole = floor(y) == y
    odd = whole & (floor(0.5 * y) != 0.5 * y)
    value = select((x > -math.inf) & (x < 0.0) & (not whole), math.nan, value)
    value = select(odd & (bits(x) < 0), -value, value)
    return select((y == 0.0) | (x == 1.0) | ((x == -1.0) & (abs(y) == math.inf)), 1.0, value)
