"""Random counts: Poisson and binomial, by rejection (W. Hörmann, 1993)."""

from __future__ import annotations

import numpy as np

from ..late import special
from .random_bits import fold_in, split
from .random_floats import common_shape, positive_unit, uniform

DOUBLE = np.dtype(np.float64)
# From this mean on, numbers are taken from a transformed distribution instead of being counted out.
FEW = 10


def poisson(key, lam, shape, dtype):
    """Poisson counts."""
    dtype = np.dtype(dtype)
    shape = common_shape(shape, lam)
    lam = np.broadcast_to(np.atleast_1d(lam).astype(DOUBLE), shape if len(shape) > 0 else (1,))
    keys = split(key, 2)
    many = lam >= FEW
    counted = counted_poisson(keys[0], np.where(many, 0, lam))
    taken = transformed_poisson(keys[1], np.where(many, lam, FEW), many)
    sample = np.where(many, taken, counted).astype(dtype)
    return sample if len(shape) > 0 else sample[0]


def counted_poisson(key, lam):
    """How many waiting times of a Poisson process of rate `lam` end within 1."""
    left, counts = lam, np.zeros(lam.shape)
    pending = lam > 0
    step = 0
    while np.any(pending):
        left = left + np.log(positive_unit(fold_in(key, step), lam.shape, DOUBLE))
        pending = pending & (left > 0)
        counts = counts + pending
        step += 1
    return counts


def transformed_poisson(key, lam, wanted):
    """Counts of a large mean: Hörmann's PTRS."""
    b = 0.931 + 2.53 * np.sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    peak = 0.9277 - 3.6224 / (b - 2)
    counts, pending = np.zeros(lam.shape), wanted & np.isfinite(lam)
    step = 0
    while np.any(pending):
        keys = split(fold_in(key, step), 2)
        u = uniform(keys[0], lam.shape, DOUBLE, 0.0, 1.0) - 0.5
        v = positive_unit(keys[1], lam.shape, DOUBLE)
        distance = 0.5 - np.abs(u)
        outside = distance <= 0
        near = np.where(outside, 0.5, distance)
        k = np.floor((2 * a / near + b) * u + lam + 0.43)
        safe = np.maximum(k, 0)
        left = np.log(v * inverse_alpha / (a / (near * near) + b))
        right = safe * np.log(lam) - lam - special.gammaln(safe + 1)
        quick = (distance >= 0.07) & (v <= peak)
        slow = (k >= 0) & ~((distance < 0.013) & (v > distance)) & (left <= right)
        good = pending & ~outside & (quick | slow)
        counts = np.where(good, k, counts)
        pending = pending & ~good
        step += 1
    return counts


def binomial(key, n, p, shape, dtype):
    """Binomial counts."""
    dtype = np.dtype(dtype)
    shape = common_shape(shape, n, p)
    full = shape if len(shape) > 0 else (1,)
    n = np.broadcast_to(np.atleast_1d(n).astype(DOUBLE), full)
    p = np.broadcast_to(np.atleast_1d(p).astype(DOUBLE), full)
    keys = split(key, 2)
    valid = (n >= 0) & (p >= 0) & (p <= 1) & np.isfinite(n)
    turned = p > 0.5
    rare = np.where(valid, np.where(turned, 1 - p, p), 0)
    n = np.where(valid, np.floor(n), 0)
    many = n * rare >= FEW
    counted = counted_binomial(keys[0], np.where(many, 0, n), rare)
    taken = transformed_binomial(keys[1], np.where(many, n, 4 * FEW), np.where(many, rare, 0.5), many)
    successes = np.where(many, taken, counted)
    sample = np.where(valid, np.where(turned, n - successes, successes), np.nan).astype(dtype)
    return sample if len(shape) > 0 else sample[0]


def counted_binomial(key, n, p):
    """Successes counted out by the geometric distances between them."""
    trials, counts = np.zeros(n.shape), np.zeros(n.shape)
    pending = (n > 0) & (p > 0)
    scale = np.log1p(-np.where(pending, p, 0.5))
    step = 0
    while np.any(pending):
        distance = np.ceil(np.log(positive_unit(fold_in(key, step), n.shape, DOUBLE)) / scale)
        trials = trials + np.maximum(distance, 1)
        pending = pending & (trials <= n)
        counts = counts + pending
        step += 1
    return counts


def transformed_binomial(key, n, p, wanted):
    """Counts of a large mean: Hörmann's BTRS."""
    deviation = np.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = n * p + 0.5
    peak = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * deviation
    mode = np.floor((n + 1) * p)
    at_mode = special.gammaln(mode + 1) + special.gammaln(n - mode + 1)
    counts, pending = np.zeros(n.shape), wanted
    step = 0
    while np.any(pending):
        keys = split(fold_in(key, step), 2)
        u = uniform(keys[0], n.shape, DOUBLE, 0.0, 1.0) - 0.5
        v = positive_unit(keys[1], n.shape, DOUBLE)
        distance = 0.5 - np.abs(u)
        near = np.where(distance <= 0, 0.5, distance)
        k = np.floor((2 * a / near + b) * u + c)
        inside = (k >= 0) & (k <= n) & (distance > 0)
        safe = np.clip(k, 0, n)
        left = np.log(v * alpha / (a / (near * near) + b))
        right = at_mode - special.gammaln(safe + 1) - special.gammaln(n - safe + 1)
        right = right + (safe - mode) * np.log(p / (1 - p))
        quick = (distance >= 0.07) & (v <= peak)
        good = pending & inside & (quick | (left <= right))
        counts = np.where(good, k, counts)
        pending = pending & ~good
        step += 1
    return counts
