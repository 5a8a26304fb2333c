"""Random numbers of the gamma distribution, and of those made of it: beta, Dirichlet, Student's t."""

from __future__ import annotations

import numpy as np

from ..late import special
from ..primitives.elementwise import stop_gradient
from ..primitives.special import gamma_quantile
from .arguments import shape_tuple
from .random_bits import fold_in, split
from .random_floats import common_shape, float_dtype, floating, normal, positive_unit

# From here on the quantiles are those of a cubed normal number (E. Wilson and M. Hilferty, 1931).
LARGE = 1e6


def log_gamma(key, a, shape, dtype):
    """Logarithms of gamma variables, which for small `a` are far below the smallest float.
    Differentiable by `a`.
    """
    dtype = float_dtype(dtype)
    shape = common_shape(shape, a)
    a = np.broadcast_to(np.atleast_1d(floating(a, dtype)).astype(dtype), shape if len(shape) > 0 else (1,))
    sample = gamma_quantile(a, accepted(key, stop_gradient(a)))
    return sample if len(shape) > 0 else sample[0]


def accepted(key, a):
    """Logarithms of gamma variables, by rejection (G. Marsaglia and W. Tsang, 2000)."""
    keys = split(key, 2)
    valid = (a > 0) & np.isfinite(a)
    improper = np.where(a == 0, -np.inf, np.nan).astype(a.dtype)
    a = np.where(valid, a, 1)
    small = a < 1
    d = np.where(small, a + 1, a) - 1 / 3
    c = 1 / np.sqrt(9 * d)
    log_v = np.zeros(a.shape, a.dtype)
    pending = valid
    count = 0
    while np.any(pending):
        proposal = split(fold_in(keys[0], count), 2)
        x = normal(proposal[0], a.shape, a.dtype)
        u = positive_unit(proposal[1], a.shape, a.dtype)
        root = 1 + c * x
        v = np.where(root > 0, root, 1) ** 3
        good = pending & (root > 0) & (np.log(u) < 0.5 * x * x + d - d * v + d * np.log(v))
        log_v = np.where(good, np.log(v), log_v)
        pending = pending & ~good
        count += 1
    boost = np.where(small, np.log(positive_unit(keys[1], a.shape, a.dtype)) / a, 0)
    return np.where(valid, np.log(d) + log_v + boost, improper)


def gamma_quantile_slope(a, y):
    """The derivative of y, the logarithm of a quantile of the gamma distribution, by `a`: -(dP/da) / (dP/dy).

    P(a, z) = z**a exp(-z) / gamma(a + 1) S, S = sum z**n / ((a + 1) ... (a + n)), and
    1 - P(a, z) = z**a exp(-z) / gamma(a) F, F a continued fraction (DLMF 8.7.1 and 8.9.2); each is
    differentiated term by term.
    """
    dtype = y.dtype
    a, y = np.atleast_1d(a).astype(np.float64), np.atleast_1d(y).astype(np.float64)
    z, large = np.exp(y), a > LARGE
    tail = z > a + 1
    total, slope = lower_series(np.where(large, 1, a), np.where(tail | large, 1, z))
    lower = -(total * (y - special.digamma(a + 1)) + slope) / a
    total, slope = upper_fraction(
        np.where(large, 1, a), np.where(tail & ~large, z, np.where(large, 3, a + 2))
    )
    upper = total * (y - special.digamma(a)) + slope
    found = np.where(large, cubed_normal(a, y), np.where(tail, upper, lower))
    return found.astype(dtype)


def cubed_normal(a, y):
    """The slope where z is nearly a (1 - 1 / (9 a) + x / (3 sqrt(a)))**3 for a normal number x."""
    root = np.exp((y - np.log(a)) / 3)
    x = (root - 1 + 1 / (9 * a)) * 3 * np.sqrt(a)
    return 1 / a + 3 * (1 / (9 * a * a) - x / (6 * a * np.sqrt(a))) / root


def lower_series(a, z):
    """S and its derivative by `a`."""
    term, term_slope = np.ones(a.shape), np.zeros(a.shape)
    total, slope = np.ones(a.shape), np.zeros(a.shape)
    n = 0.0
    while np.any(term > 1e-18 * total) and n < 20000:
        n += 1
        ratio = z / (a + n)
        term_slope = (term_slope - term / (a + n)) * ratio
        term = term * ratio
        total = total + term
        slope = slope + term_slope
    return total, slope


def upper_fraction(a, z):
    """F and its derivative by `a` (W. Lentz's method, Applied Optics, 1976)."""
    b = z + 1 - a
    c, c_slope = np.full(a.shape, 1e300), np.zeros(a.shape)
    d = 1 / b
    d_slope = d * d
    total, slope = d, d_slope
    change, step = np.full(a.shape, 2.0), np.ones(a.shape)
    i = 0.0
    # The fraction of an integer `a` is finite; that of its slope isn't.
    while np.any((np.abs(change - 1) > 1e-15) | (np.abs(step) > 1e-15 * np.abs(slope))) and i < 20000:
        i += 1
        numerator = i * (a - i)
        b = b + 2
        c_slope = i / c - numerator * c_slope / c / c - 1
        c = b + numerator / c
        denominator_slope = i * d + numerator * d_slope - 1
        d = 1 / (numerator * d + b)
        d_slope = -d * d * denominator_slope
        change = c * d
        step = slope * (change - 1) + total * (c_slope * d + c * d_slope)
        slope = slope + step
        total = total * change
    return total, slope


def gamma(key, a, shape, dtype):
    """Gamma variables of scale 1."""
    return np.exp(log_gamma(key, a, shape, dtype))


def beta(key, a, b, shape, dtype):
    """Beta variables: the share of one gamma variable in the sum of two."""
    shape = common_shape(shape, a, b)
    keys = split(key, 2)
    return special.expit(log_gamma(keys[0], a, shape, dtype) - log_gamma(keys[1], b, shape, dtype))


def dirichlet(key, alpha, shape, dtype):
    """Dirichlet vectors: the shares of gamma variables in their sum."""
    if np.ndim(alpha) == 0:
        raise ValueError("dirichlet takes a vector alpha")
    batch = np.shape(alpha)[:-1] if shape is None else shape_tuple(shape)
    return special.softmax(log_gamma(key, alpha, batch + np.shape(alpha)[-1:], dtype), axis=-1)


def t(key, df, shape, dtype):
    """Student's t: a normal variable over the root of a gamma variable of mean 1."""
    dtype = float_dtype(dtype)
    shape = common_shape(shape if shape != () or np.ndim(df) == 0 else None, df)
    keys = split(key, 2)
    half = floating(df, dtype) / 2
    logarithm = log_gamma(keys[1], half, shape, dtype)
    return normal(keys[0], shape, dtype) * np.exp((np.log(half) - logarithm) / 2)
