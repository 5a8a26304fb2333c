"""sin, cos, tan, atan, atan2.

x = k pi + r, by products that are rounded once with pi to 160 bits, so that even r near 0 has all its digits.
Beyond FAR the C library is called, which has pi to a thousand bits.
Coefficients: tests/backends/numba/fits.py.
"""

import math

import numba

from .bits import bits, fma, number, polynomial, rare, select

njit = numba.njit(error_model="numpy", cache=True, forceinline=True)

ROUND = 6755399441055744.0
PI, PI_2, PI_3 = 3.141592653589793, 1.2246467991473532e-16, -2.9947698097183397e-33
HALF_PI, HALF_PI_2 = 1.5707963267948966, 6.123233995736766e-17
FAR = 1e13
far_sin, far_cos, far_tan = rare("sin", FAR), rare("cos", FAR), rare("tan", FAR)

SIN = (
    2.729859310147684e-15,
    -7.643841865853093e-13,
    1.605897324929603e-10,
    -2.5052107553693198e-08,
    2.7557319218661113e-06,
    -0.00019841269841253096,
    0.008333333333333312,
    -0.16666666666666666,
)
TAN = (
    8.522839549794808e-06,
    -1.847950489096145e-05,
    3.682034308875753e-05,
    -1.1344869597443087e-05,
    5.5823306278008466e-05,
    8.987051776064762e-05,
    0.00024126545595361983,
    0.0005895662392801854,
    0.0014559042981775359,
    0.0035921208049690275,
    0.008863236016252708,
    0.021869488516520486,
    0.053968253968667945,
    0.1333333333333299,
    0.3333333333333333,
)
ATAN = (
    0.016258132064979208,
    -0.034545610104858494,
    0.045506220391755364,
    -0.052302411507894,
    0.05878900032342983,
    -0.06666422364033206,
    0.07692296234491514,
    -0.09090908748635232,
    0.1111111110505757,
    -0.14285714285658824,
    0.199999999999998,
    -0.3333333333333333,
)


@njit
def reduced(x, k, scale):
    """x - k pi scale, for a power of two, as a sum of two."""
    k *= scale
    r = fma(k, -PI, x)
    product = k * PI_2
    high = r - product
    back = high - r
    low = (r - (high - back)) - (product + back) - fma(k, PI_2, -product)
    return high, fma(k, -PI_3, low)


@njit
def sine(r, rest, t):
    """sin(r + rest), its sign turned if the whole number in t is odd."""
    z = r * r
    # What z was rounded by counts at half of pi: the derivative there is -0.14 r.
    rest = fma(fma(r, r, -z), -0.14 * r, rest * fma(z, -0.5, 1.0))
    value = r + fma(z * r, polynomial(z, SIN), rest)
    return number(bits(value) ^ (bits(t) << 63))


@njit
def sin(x):
    t = fma(x, 0.3183098861837907, ROUND)
    high, low = reduced(x, t - ROUND, 1.0)
    value = select(abs(x) < 1e-8, x, sine(high, low, t))
    far = far_sin(x)
    return select(abs(x) > FAR, far, value)


@njit
def cos(x):
    # A whole number and a half of pi are taken away: cos(x) is -sin or sin of the rest.
    t = fma(abs(x), 0.3183098861837907, 0.5) + ROUND
    k = 2.0 * (t - ROUND) - 1.0
    high, low = reduced(abs(x), k, 0.5)
    value = sine(high, low, t)
    far = far_cos(x)
    return select(abs(x) > FAR, far, value)


@njit
def tan(x):
    t = fma(x, 0.6366197723675814, ROUND)
    high, low = reduced(x, t - ROUND, 0.5)
    z = high * high
    cube = z * high * polynomial(z, TAN)
    slope = high + cube
    value = high + (cube + low * fma(slope, slope, 1.0))
    value = select(bits(t) & 1, -1.0 / value, value)
    value = select(abs(x) < 1e-8, x, value)
    far = far_tan(x)
    return select(abs(x) > FAR, far, value)


@njit
def angle(y, x):
    """atan(y / x) for y and x that are not negative and not far out."""
    steep, flat = y > 2.414213562373095 * x, y < 0.41421356237309503 * x
    less, more = y - x, y + x
    up = select(steep, -x, select(flat, y, less))
    down = select(steep, y, select(flat, x, more))
    # What the difference and the sum were rounded by.
    large, little = select(y > x, (y, x), (x, y))
    up_rest = select(steep | flat, 0.0, select(y > x, large - little, little - large) - less)
    down_rest = select(steep | flat, 0.0, (large - more) + little)
    base = select(steep, HALF_PI, select(flat, 0.0, 0.5 * HALF_PI))
    base_rest = select(steep, HALF_PI_2, select(flat, 0.0, 0.5 * HALF_PI_2))
    inverse = 1.0 / down
    u = up * inverse
    u_rest = (fma(-u, down, up) - u * down_rest + up_rest) * inverse
    z = u * u
    rest = fma(z * u, polynomial(z, ATAN), u_rest + base_rest)
    total = base + u
    return total, (base - total) + u + rest


@njit
def atan(x):
    c = abs(x)
    high, low = angle(select(c > 1e300, 1e300, c), 1.0)
    value = number(bits(high + low) | (bits(x) & -9223372036854775808))
    return select((c < 1e-8) | (x != x), x, value)


@njit
def atan2(y, x):
    b, a = abs(y), abs(x)
    most = select(b > a, b, a)
    endless = most == math.inf
    b = select(endless, select(b == math.inf, 1.0, 0.0), b)
    a = select(endless, select(a == math.inf, 1.0, 0.0), select(most == 0.0, 1.0, a))
    scale = select(most > 1e300, 8.881784197001252e-16, select(most < 1e-270, 1.2676506002282294e30, 1.0))
    high, low = angle(b * scale, a * scale)
    value = high + low
    turned = PI - high
    turned += ((PI - turned) - high) + (PI_2 - low)
    value = select(bits(x) < 0, turned, value)
    value = number(bits(value) | (bits(y) & -9223372036854775808))
    return select((x != x) | (y != y), x + y, value)
