"""exp, exp2, expm1 and what they make: sinh, cosh, tanh, expit.

x = n log 2 + r with |r| at most half of log 2; exp(r) is a polynomial, 2^n are the bits of an exponent, put
in by two factors, so that subnormal results are rounded once. Coefficients: tests/backends/numba/fits.py.
"""

import numba

from .bits import bits, fma, number, polynomial, select

njit = numba.njit(error_model="numpy", cache=True, forceinline=True)

# Added and taken away, it rounds a double to a whole number, which then stands in its lowest bits.
ROUND = 6755399441055744.0
LOG2E = 1.4426950408889634
LN2 = 0.6931471805599453
LN2_REST = 2.3190468138462996e-17

EXP = (
    2.510011450183502e-08,
    2.76202077153964e-07,
    2.755726914015312e-06,
    2.4801521044968156e-05,
    0.00019841269862488236,
    0.00138888889173754,
    0.008333333333330235,
    0.0416666666666238,
    0.16666666666666669,
    0.5000000000000001,
)
EXPM1 = (
    2.0914452143800407e-09,
    2.5105317920913388e-08,
    2.7557274300922e-07,
    2.755725515750405e-06,
    2.4801587324906427e-05,
    0.0001984126987501215,
    0.0013888888888884002,
    0.00833333333332608,
    0.04166666666666667,
    0.1666666666666667,
    0.5,
)
EXP2 = (
    2.573036148940851e-11,
    4.455861223587906e-10,
    7.0548966668192324e-09,
    1.0178056843575595e-07,
    1.3215486810108023e-06,
    1.5252733842032518e-05,
    0.0001540353039336941,
    0.0013333558146406098,
    0.00961812910762848,
    0.055504108664821625,
    0.24022650695910072,
    0.6931471805599453,
)
SINH = (
    7.746178593018827e-13,
    1.6057679623801638e-10,
    2.5052117695907823e-08,
    2.7557319191381816e-06,
    0.00019841269841324198,
    0.008333333333333299,
    0.16666666666666666,
)


@njit
def whole(t):
    """The whole number that ROUND + n holds."""
    return (bits(t) << 32) >> 32


@njit
def power_of_two(n):
    return number((n + 1023) << 52)


@njit
def exp_scaled(x, shift):
    """exp(x) times a power of two."""
    x = select(x > 720.0, 720.0, select(x < -760.0, -760.0, x))
    t = fma(x, LOG2E, ROUND)
    k = t - ROUND
    r = fma(k, -LN2, x)
    r = fma(k, -LN2_REST, r)
    p = fma(r * r, polynomial(r, EXP), r) + 1.0
    n = whole(t) + shift
    half = n >> 1
    return p * power_of_two(half) * power_of_two(n - half)


@njit
def exp(x):
    return exp_scaled(x, 0)


@njit
def exp2(x):
    x = select(x > 1100.0, 1100.0, select(x < -1100.0, -1100.0, x))
    return exp2_sum(x, 0.0)


@njit
def exp2_sum(x, rest):
    """2 to the power of a number and a much smaller one."""
    t = x + ROUND
    r = (x - (t - ROUND)) + rest
    n = whole(t)
    half = n >> 1
    p = fma(r, polynomial(r, EXP2), 1.0)
    return p * power_of_two(half) * power_of_two(n - half)


@njit
def expm1_parts(x):
    """expm1(r), what it was rounded by, and 2^n, for x of at most 709."""
    t = fma(x, LOG2E, ROUND)
    k = t - ROUND
    high = fma(k, -LN2, x)
    low = k * LN2_REST
    r = high - low
    rest = (high - r) - low
    q = fma(r * r, polynomial(r, EXPM1), rest)
    p = r + q
    return p, (r - p) + q, whole(t)


@njit
def expm1(x):
    c = select(x > 710.0, 710.0, select(x < -100.0, -100.0, x))
    p, rest, n = expm1_parts(c)
    # At half its size, so that 2^n does not overflow before the result.
    scale = power_of_two(n - 1)
    value = 2.0 * (fma(scale, p, scale - 0.5) + scale * rest)
    return select(abs(x) < 1e-17, x, value)


@njit
def tanh(x):
    c = abs(x)
    c = select(c > 22.0, 22.0, c)
    p, rest, n = expm1_parts(2.0 * c)
    scale = power_of_two(n)
    up = fma(scale, p, scale - 1.0)
    up_rest = fma(scale, p, (scale - 1.0) - up) + scale * rest
    down = up + 2.0
    down_rest = select(up > 2.0, 2.0 - (down - up), up - (down - 2.0)) + up_rest
    inverse = 1.0 / down
    q = up * inverse
    # What the division left over.
    q = fma(fma(-q, down, up) + (up_rest - q * down_rest), inverse, q)
    q = number(bits(q) ^ (bits(x) & -9223372036854775808))
    return select((abs(x) < 1e-9) | (x != x), x, q)


@njit
def sinh(x):
    c = abs(x)
    z = c * c
    small = fma(z * c, polynomial(z, SINH), c)
    h = exp_scaled(c, -1)
    value = select(c < 1.0, small, h - 0.25 / h)
    return number(bits(value) ^ (bits(x) & -9223372036854775808))


@njit
def cosh(x):
    h = exp_scaled(abs(x), -1)
    return h + 0.25 / h


@njit
def expit(x):
    e = exp_scaled(-abs(x), 0)
    down = 1.0 + e
    down_rest = (1.0 - down) + e
    up = select(x < 0.0, e, 1.0)
    q = up / down
    # What the division left over; one over down is 1 - q or q.
    left = fma(-q, down, up) - q * down_rest
    return fma(left, select(x < 0.0, 1.0 - q, q), q)
