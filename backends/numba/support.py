"""Functions that generated Numba code calls, in NumPy, math and Numba only: this file can stand beside it."""

import math

import numba
import numpy as np

njit = numba.njit(error_model="numpy", cache=True)


@njit
def slice_start(size, start, step):
    """Where a slice of an axis begins, if it holds anything; a missing start is given as the end it means."""
    if start < 0:
        start += size
    if step > 0:
        return min(max(start, 0), size)
    return min(max(start, -1), size - 1)


@njit
def slice_size(size, start, stop, step):
    """The number of elements in a slice of an axis."""
    low, high = (0, size) if step > 0 else (-1, size - 1)
    start = min(max(start + size if start < 0 else start, low), high)
    stop = min(max(stop + size if stop < 0 else stop, low), high)
    if step > 0:
        return max((stop - start + step - 1) // step, 0)
    return max((start - stop - step - 1) // -step, 0)


@njit
def aligned(matrix):
    """A matrix with its rows in order; of a small one no vector of elements lies across cache lines."""
    rows = np.ascontiguousarray(matrix)
    if rows.size > 65536 or rows.ctypes.data % 64 == 0:
        return rows
    made = np.empty(rows.shape, rows.dtype)
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            made[i, j] = rows[i, j]
    return made


@njit
def longer(array):
    """An array twice as long that begins with the elements of this one."""
    made = np.empty(2 * array.shape[0], array.dtype)
    for i in range(array.shape[0]):
        made[i] = array[i]
    return made


@njit
def all_inside(indices, size):
    """Whether all indices, counted from either end, are inside an axis."""
    for index in indices.flat:  # noqa: SIM110
        if not -size <= index < size:
            return False
    return True


@njit
def first_outside(indices, size):
    """The first index that, counted from either end, is outside an axis; 0 if none is."""
    for index in indices.flat:
        if not -size <= index < size:
            return index
    return 0


@njit
def integer_power(base, exponent):
    """A power of integers, by squaring."""
    if exponent < 0:
        raise ValueError("Integers to negative integer powers are not allowed.")
    result = 1
    while exponent > 0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


@njit
def heaviside(x, at_zero):
    if x != x:
        return x
    return 0.0 if x < 0 else (1.0 if x > 0 else at_zero)


@njit
def erf(x):
    return math.erf(x)


@njit
def erfc(x):
    return math.erfc(x)


@njit
def gammaln(x):
    if x == -math.inf:
        return x
    if x <= 0 and x == math.floor(x):
        return math.inf
    return math.lgamma(x)


@njit
def gamma_quantile(a, y):
    return y


@njit
def expit(x):
    if x >= 0:
        return 1 / (1 + math.exp(-x))
    e = math.exp(x)
    return e / (1 + e)


@njit
def logit(x):
    if 0.3 <= x <= 0.65:
        s = 2 * (x - 0.5)
        return math.log1p(s) - math.log1p(-s)
    return np.log(x) - np.log1p(-x)


@njit
def log_expit(x):
    if x < 0:
        return x - math.log1p(math.exp(x))
    return -math.log1p(math.exp(-x))


@njit
def xlogy(x, y):
    return 0.0 if x == 0 and y == y else x * np.log(y)


@njit
def xlog1py(x, y):
    return 0.0 if x == 0 and y == y else x * np.log1p(y)


@njit
def entr(x):
    if x != x:
        return x
    return -x * math.log(x) if x > 0 else (0.0 if x == 0 else -math.inf)


@njit
def rel_entr(x, y):
    if x != x or y != y:
        return math.nan
    if x > 0 and y > 0:
        ratio = x / y
        if 0.5 < ratio < 2:
            return x * math.log1p((x - y) / y)
        if 2.2250738585072014e-308 < ratio < math.inf:
            return x * math.log(ratio)
        return x * (math.log(x) - math.log(y))
    return 0.0 if x == 0 and y >= 0 else math.inf


@njit
def kl_div(x, y):
    if x != x or y != y:
        return math.nan
    if x > 0 and y > 0:
        return x * math.log(x / y) - x + y
    return y if x == 0 and y >= 0 else math.inf


@njit
def ndtr(x):
    z = x * 0.7071067811865476
    if abs(z) < 1:
        return 0.5 + 0.5 * math.erf(z)
    tail = 0.5 * math.erfc(abs(z))
    return 1 - tail if z > 0 else tail


@njit
def digamma(x):
    """The logarithmic derivative of gamma: recurrence up to 10, then its asymptotic series."""
    if x == 0:
        return math.copysign(math.inf, -x)
    if x == -math.inf or (x < 0 and x == math.floor(x)):
        return math.nan
    result = 0.0
    if x < 0:
        fraction = x - np.rint(x)
        if abs(fraction) != 0.5:
            result = -math.pi / math.tan(math.pi * fraction)
        x = 1 - x
    if abs(x - 1.4616321449683622) < 0.25:
        return result + digamma_at_root(x)
    while x < 10:
        result -= 1 / x
        x += 1
    square = 1 / (x * x)
    series = (
        (
            (
                ((8.33333333333333333e-2 * square - 2.10927960927960928e-2) * square + 7.57575757575757576e-3)
                * square
                - 4.16666666666666667e-3
            )
            * square
            + 3.96825396825396825e-3
        )
        * square
        - 8.33333333333333333e-3
    ) * square + 8.33333333333333333e-2
    return result + math.log(x) - 0.5 / x - square * series


@njit
def digamma_at_root(x):
    """Near its root digamma is the sum of (x - root) / ((root + k) (x + k)): nothing cancels."""
    root, rest = 1.4616321449683622, 9.549995429965697e-17
    difference = (x - root) - rest
    total, terms = 0.0, 20
    for k in range(terms):
        total += 1 / ((root + k) * (x + k))
    a, b = root + terms, x + terms
    # The rest of the sum, by the asymptotic series of digamma at both ends.
    ratio = math.log1p(difference / a) / difference if difference != 0 else 1 / a
    tail = ratio + 0.5 / (a * b) + (a + b) / (12 * a * a * b * b)
    tail -= (a + b) * (a * a + b * b) / (120 * a**4 * b**4)
    tail += (a + b) * (a**4 + a * a * b * b + b**4) / (252 * a**6 * b**6)
    return difference * (total + tail)


@njit
def searchsorted(a, v, right):
    """The place of one value in a sorted array; nan is after all numbers."""
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        x = a[middle]
        before = (x < v or v != v) if not right else not (v < x or (x != x and v == v))
        if not right and x != x:
            before = False
        if before:
            low = middle + 1
        else:
            high = middle
    return low


# Inlined always, so that a block is worked out once for all of its words.
inlined = numba.njit(error_model="numpy", cache=True, forceinline=True)


@inlined
def mixed(x0, x1, distance):
    x0 = np.uint32(x0 + x1)
    return x0, np.uint32((np.uint32(x1 << np.uint32(distance)) | (x1 >> np.uint32(32 - distance))) ^ x0)


@inlined
def threefry2x32(key0, key1, x0, x1):
    """Threefry-2x32 in 20 rounds (J. Salmon and others, SC 2011)."""
    key2 = np.uint32(key0 ^ key1 ^ np.uint32(0x1BD11BDA))
    x0, x1 = np.uint32(x0 + key0), np.uint32(x1 + key1)
    x0, x1 = mixed(x0, x1, 13)
    x0, x1 = mixed(x0, x1, 15)
    x0, x1 = mixed(x0, x1, 26)
    x0, x1 = mixed(x0, x1, 6)
    x0, x1 = np.uint32(x0 + key1), np.uint32(np.uint32(x1 + key2) + np.uint32(1))
    x0, x1 = mixed(x0, x1, 17)
    x0, x1 = mixed(x0, x1, 29)
    x0, x1 = mixed(x0, x1, 16)
    x0, x1 = mixed(x0, x1, 24)
    x0, x1 = np.uint32(x0 + key2), np.uint32(np.uint32(x1 + key0) + np.uint32(2))
    x0, x1 = mixed(x0, x1, 13)
    x0, x1 = mixed(x0, x1, 15)
    x0, x1 = mixed(x0, x1, 26)
    x0, x1 = mixed(x0, x1, 6)
    x0, x1 = np.uint32(x0 + key0), np.uint32(np.uint32(x1 + key1) + np.uint32(3))
    x0, x1 = mixed(x0, x1, 17)
    x0, x1 = mixed(x0, x1, 29)
    x0, x1 = mixed(x0, x1, 16)
    x0, x1 = mixed(x0, x1, 24)
    x0, x1 = np.uint32(x0 + key1), np.uint32(np.uint32(x1 + key2) + np.uint32(4))
    x0, x1 = mixed(x0, x1, 13)
    x0, x1 = mixed(x0, x1, 15)
    x0, x1 = mixed(x0, x1, 26)
    x0, x1 = mixed(x0, x1, 6)
    x0, x1 = np.uint32(x0 + key2), np.uint32(np.uint32(x1 + key0) + np.uint32(5))
    return x0, x1


@inlined
def philox4x32(key0, key1, x0, x1, x2, x3):
    """Philox-4x32 in 10 rounds (J. Salmon and others, SC 2011)."""
    for _ in range(10):
        first, second = np.uint64(x0) * np.uint64(0xD2511F53), np.uint64(x2) * np.uint64(0xCD9E8D57)
        x0, x1 = np.uint32(np.uint32(second >> np.uint64(32)) ^ x1 ^ key0), np.uint32(second)
        x2, x3 = np.uint32(np.uint32(first >> np.uint64(32)) ^ x3 ^ key1), np.uint32(first)
        key0, key1 = np.uint32(key0 + np.uint32(0x9E3779B9)), np.uint32(key1 + np.uint32(0xBB67AE85))
    return x0, x1, x2, x3


@inlined
def threefry_word0(key0, key1, x0, x1):
    return threefry2x32(key0, key1, x0, x1)[0]


@inlined
def threefry_word1(key0, key1, x0, x1):
    return threefry2x32(key0, key1, x0, x1)[1]


@inlined
def philox_word0(key0, key1, x0, x1, x2, x3):
    return philox4x32(key0, key1, x0, x1, x2, x3)[0]


@inlined
def philox_word1(key0, key1, x0, x1, x2, x3):
    return philox4x32(key0, key1, x0, x1, x2, x3)[1]


@inlined
def philox_word2(key0, key1, x0, x1, x2, x3):
    return philox4x32(key0, key1, x0, x1, x2, x3)[2]


@inlined
def philox_word3(key0, key1, x0, x1, x2, x3):
    return philox4x32(key0, key1, x0, x1, x2, x3)[3]


@njit
def factors(a):
    """Both triangular factors of a matrix with its rows in some order, the order, and the determinant.

    Last the smallest pivot over the largest: 0 where one is 0 or not finite.
    """
    n = a.shape[0]
    lu, order, det, least, most = a.copy(), np.arange(n), a.dtype.type(1), np.inf, 0.0
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(lu[i, k]) > abs(lu[best, k]):
                best = i
        if best != k:
            det = -det
            order[k], order[best] = order[best], order[k]
            for j in range(n):
                lu[k, j], lu[best, j] = lu[best, j], lu[k, j]
        pivot = abs(lu[k, k])
        if not 0.0 < pivot < np.inf:
            return lu, order, det, 0.0
        det *= lu[k, k]
        least, most = min(least, pivot), max(most, pivot)
        for i in range(k + 1, n):
            lu[i, k] /= lu[k, k]
            for j in range(k + 1, n):
                lu[i, j] -= lu[i, k] * lu[k, j]
    return lu, order, det, least / most if n else 1.0


@njit
def solved(lu, order, b):
    """The solution for each column of a right side."""
    n, m = b.shape
    x = np.empty((n, m), lu.dtype)
    for i in range(n):
        for j in range(m):
            x[i, j] = b[order[i], j]
        for k in range(i):
            for j in range(m):
                x[i, j] -= lu[i, k] * x[k, j]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            for j in range(m):
                x[i, j] -= lu[i, k] * x[k, j]
        for j in range(m):
            x[i, j] /= lu[i, i]
    return x


@njit
def small_solve(a, b):
    """The solution of a small system, and whether it has one."""
    lu, order, _, condition = factors(a)
    return solved(lu, order, b), condition > 0.0


@njit
def small_inv(a):
    """The inverse of a small matrix, and whether it has one."""
    lu, order, _, condition = factors(a)
    return solved(lu, order, np.eye(a.shape[0], dtype=lu.dtype)), condition > 0.0


@njit
def small_det(a):
    """The determinant of a small matrix, and whether it could be computed."""
    _, _, det, condition = factors(a)
    return det, condition > 0.0


@njit
def small_cofactor(a):
    """The derivative of a small determinant, and whether the matrix is far enough from a singular one."""
    if a.shape[0] == 2:
        return np.array([[a[1, 1], -a[1, 0]], [-a[0, 1], a[0, 0]]]), True
    lu, order, det, condition = factors(a)
    result = det * solved(lu, order, np.eye(a.shape[0], dtype=lu.dtype)).T.copy()
    return result, condition > 1e-3
