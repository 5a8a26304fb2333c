"""Random integers, truth values, choices and orders."""

from __future__ import annotations

import math

import numpy as np

from .arguments import axis_index, product, shape_tuple
from .random_bits import bits, split
from .random_floats import common_shape, float_dtype, floating, gumbel, uniform


def randint(key, shape, minval, maxval, dtype):
    """Integers in [minval, maxval), made of twice as many bits as they have, so that hardly any is
    favoured.
    """
    dtype = np.dtype(dtype)
    if dtype.kind not in "iu":
        raise TypeError(f"randint makes integers, not {dtype}")
    shape = common_shape(shape, minval, maxval)
    working = np.dtype(np.int32) if dtype.itemsize < 4 else dtype
    limits = np.iinfo(dtype)
    low, high = np.atleast_1d(integer(minval)), np.atleast_1d(integer(maxval))
    if working != dtype:
        low = np.clip(low.astype(working), int(limits.min), int(limits.max))
        high = np.clip(high.astype(working), int(limits.min), int(limits.max) + 1)
    sample = offsets(key, shape if len(shape) > 0 else (1,), low, high, working)
    if working != dtype:
        sample = sample.astype(dtype)
    return sample if len(shape) > 0 else sample[0]


def integer(bound):
    """A bound, as an array of integers."""
    bound = np.asarray(bound)
    return bound if bound.dtype.kind in "iu" else bound.astype(np.int64)


def offsets(key, shape, low, high, dtype):
    """Integers in [low, high), of 32 or 64 bits; `high` may be one more than the largest."""
    beyond = above(high, dtype)
    low, high = clipped(low, dtype), clipped(high, dtype)
    unsigned = np.dtype(f"uint{8 * dtype.itemsize}")
    keys = split(key, 2)
    first, second = bits(keys[0], shape, unsigned), bits(keys[1], shape, unsigned)
    # Differences and sums may leave the signed integers; those of unsigned ones wrap around.
    lowest = low.astype(unsigned)
    span = np.where(high <= low, 1, high.astype(unsigned) - lowest).astype(unsigned)
    # A span of all values wraps around to 0, and then nothing is cut off.
    span = np.where(beyond & (high > low), span + 1, span)
    half = np.full(1, 2 ** (4 * dtype.itemsize), unsigned)
    factor = rest(half, span)
    factor = rest(factor * factor, span)
    return (lowest + rest(rest(first, span) * factor + rest(second, span), span)).astype(dtype)


def above(bound, dtype):
    """Where a bound is larger than the largest integer of the dtype."""
    largest = int(np.iinfo(dtype).max)
    return bound > largest if np.iinfo(bound.dtype).max > largest else np.zeros(bound.shape, bool)


def clipped(bound, dtype):
    """A bound in the dtype, the nearest there is."""
    of, to = np.iinfo(bound.dtype), np.iinfo(dtype)
    return np.clip(bound, max(int(of.min), int(to.min)), min(int(of.max), int(to.max))).astype(dtype)


def rest(x, span):
    """x modulo span, where 0 stands for 2 to the number of bits."""
    return np.where(span == 0, x, x % np.where(span == 0, 1, span))


def bernoulli(key, p, shape):
    """True with probability p."""
    shape = common_shape(shape, p)
    dtype = np.result_type(p) if np.result_type(p).kind == "f" else np.dtype(float)
    return uniform(key, shape, dtype, 0.0, 1.0) < p


def rademacher(key, shape, dtype):
    """1 or -1, with equal probability."""
    sign = 2 * bernoulli(key, 0.5, shape_tuple(shape)).astype(np.int8) - 1
    return sign.astype(np.dtype(dtype))


def categorical(key, logits, axis, shape, replace):
    """Numbers of categories, drawn with probabilities proportional to exp(logits)."""
    logits = np.asarray(logits)
    logits = logits if logits.dtype.kind == "f" else logits.astype(np.float64)
    axis = axis_index(axis, logits.ndim)
    batch = logits.shape[:axis] + logits.shape[axis + 1 :]
    shape = batch if shape is None else shape_tuple(shape)
    extra = shape[: len(shape) - len(batch)]
    if replace:
        noise = gumbel(key, extra + logits.shape, logits.dtype)
        return np.argmax(noise + logits, axis=len(extra) + axis)
    count = product(extra)
    if count > logits.shape[axis]:
        raise ValueError("more categories are to be drawn without replacement than there are")
    order = np.argsort(-(gumbel(key, logits.shape, logits.dtype) + logits), axis=axis)
    return np.moveaxis(order, axis, 0)[:count].reshape(shape)


def rounds(size):
    """How often an order is to be shuffled, so that equal 32-bit sort keys do no harm."""
    return math.ceil(3 * math.log(max(1, size)) / math.log(2**32 - 1))


def shuffled(key, x, axis):
    """An array in a random order along an axis, each line in another: sorted by random words."""
    for _ in tuple(range(rounds(product(x.shape)))):
        keys = split(key, 2)
        key = keys[0]
        order = np.argsort(bits(keys[1], x.shape, np.uint32), axis=axis, kind="stable")
        x = np.take_along_axis(x, order, axis) if x.ndim > 1 else x[order]
    return x


def permutation(key, x, axis, independent):
    """An array, or the integers below a number, in random order."""
    if np.ndim(x) == 0:
        return shuffled(key, np.arange(x), 0)
    x = np.asarray(x)
    axis = axis_index(axis, x.ndim)
    if independent or x.ndim == 1:
        return shuffled(key, x, axis)
    return np.take(x, shuffled(key, np.arange(x.shape[axis]), 0), axis)


def choice(key, a, shape, replace, p, axis):
    """Elements along an axis of an array, or integers below a number."""
    shape = shape_tuple(shape)
    count = product(shape)
    numbers = np.ndim(a) == 0
    size = a if numbers else np.shape(a)[axis]
    if not replace and count > size:
        raise ValueError("more elements are to be chosen without replacement than there are")
    if p is not None:
        place = weighted(key, np.asarray(p), count, replace)
    elif replace:
        place = randint(key, (count,), 0, size, np.dtype(np.int64))
    else:
        place = permutation(key, size, 0, False)[:count]
    if numbers:
        return place.reshape(shape) if len(shape) > 0 else place[0]
    a = np.asarray(a)
    axis = axis_index(axis, a.ndim)
    chosen = np.take(a, place, axis)
    full = a.shape[:axis] + shape + a.shape[axis + 1 :]
    return chosen.reshape(full) if len(full) > 0 else chosen[0]


def weighted(key, p, count, replace):
    """Places chosen with given probabilities: by the distribution function, or the largest of log p +
    noise.
    """
    p = floating(p, float_dtype(p.dtype if p.dtype.kind == "f" else float))
    if replace:
        total = np.cumsum(p)
        u = total[-1] * (1 - uniform(key, (count,), p.dtype, 0.0, 1.0))
        return np.searchsorted(total, u)
    return np.argsort(-gumbel(key, p.shape, p.dtype) - np.log(p), kind="stable")[:count]
