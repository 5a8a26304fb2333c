"""Random bits, and the keys that select their streams.

A block of random words is a function of a key and a counter, so that any number of streams need no state.
A key is an array of shape (2,). Its dtype says which generator it belongs to, so that this is known
wherever the key goes: uint32 for Threefry (the two words of its key), uint64 for Philox (its key, and
the upper half of its counter). Arithmetic is on arrays only: NumPy warns where scalars wrap around.
"""

from __future__ import annotations

import numpy as np

from ..primitives.random_bits import philox, threefry
from .arguments import product, shape_tuple

WORD = 0xFFFFFFFF

# What changes a key so that the keys made from it come from another stream than its numbers (digits of pi).
PHILOX_KEYS = 0x243F6A88


def low_word(x):
    """The lower half of 64-bit words."""
    return (x & WORD).astype(np.uint32)


def high_word(x):
    """The upper half of 64-bit words."""
    return (x >> 32).astype(np.uint32)


def long_word(low, high):
    """The 64-bit words of two halves."""
    return low.astype(np.uint64) | (high.astype(np.uint64) << 32)


def threefry_blocks(key, counters):
    """The two words of each block of a key's stream."""
    return threefry(key[0:1], key[1:2], high_word(counters), low_word(counters))


def philox_blocks(key, counters, for_keys=False):
    """The four words of each block of a key's stream, or of the stream that its keys come from."""
    word, stream = key[0:1], key[1:2]
    key0 = low_word(word) ^ PHILOX_KEYS if for_keys else low_word(word)
    return philox(
        key0, high_word(word), low_word(counters), high_word(counters), low_word(stream), high_word(stream)
    )


def is_philox(key):
    """Which of the two generators a key is of; refuses what isn't a key."""
    if not hasattr(key, "dtype") or key.dtype not in (np.uint32, np.uint64) or key.ndim != 1:
        raise TypeError("a random key is what random.key(seed) gives, or one row of random.split(key, n)")
    return key.dtype == np.uint64


def counters_from(start, count):
    """The counters of so many blocks."""
    return np.arange(start, start + count, dtype=np.uint64)


def make_key(seed, impl):
    """The key of a seed: its 64 bits."""
    if isinstance(seed, (float, complex, np.inexact, np.ndarray)):
        raise TypeError("a seed is one integer")
    seed = int(seed)
    if impl == "threefry2x32":
        return np.array([(seed >> 32) & WORD, seed & WORD], dtype=np.uint32)
    if impl == "philox4x32":
        words = np.array([(seed >> 32) & WORD, seed & WORD], dtype=np.uint64)
        return np.concatenate([(words[0:1] << 32) | words[1:2], np.zeros(1, np.uint64)])
    raise ValueError(f"no generator is called {impl!r}: there are 'threefry2x32' and 'philox4x32'")


def split(key, num):
    """Keys of independent streams: one for each counter below `num`."""
    shape = shape_tuple(num)
    counters = counters_from(0, product(shape))
    if is_philox(key):
        words = philox_blocks(key, counters, True)
        made = np.stack([long_word(words[0], words[1]), long_word(words[2], words[3])], axis=-1)
    else:
        made = np.stack(threefry_blocks(key, counters), axis=-1)
    return made.reshape(shape + (2,))


def fold_in(key, data):
    """The key that `split` gives at place `data`, of which 32 bits count."""
    word = np.array([int(data) & WORD], dtype=np.uint64)
    if is_philox(key):
        words = philox_blocks(key, word, True)
        return np.concatenate([long_word(words[0], words[1]), long_word(words[2], words[3])])
    return np.concatenate(threefry_blocks(key, word))


def key_data(key):
    """The words of 32 bits that keys are made of."""
    if key.dtype == np.uint32:
        return key
    words = np.stack([low_word(key), high_word(key)], axis=-1)
    return words.reshape(key.shape[:-1] + (4,))


BLOCK = 1 << 14


class InBlocks:
    """`function(key, start, count, dtype)` for all of a flat sample, in pieces that stay in the cache.

    While specialising it is called once: what is compiled makes one element after the other anyway.
    """

    def __call__(self, function, key, count, dtype):
        if count <= BLOCK:
            return function(key, 0, count, dtype)
        sample = np.empty(count, dtype)
        for start in range(0, count, BLOCK):
            stop = min(start + BLOCK, count)
            sample[start:stop] = function(key, start, stop - start, dtype)
        return sample

    def __specialise__(self, s, arguments, keywords, node):
        function, key, count, dtype = arguments
        return s.call(function, [key, 0, count, dtype], {}, node)


in_blocks = InBlocks()


def words(key, start, count, width):
    """Random words of 32 or 64 bits: so many of a key's stream, from a place in it."""
    if is_philox(key):
        return philox_words(key, start, count, width)
    first, second = threefry_blocks(key, counters_from(start, count))
    return first ^ second if width == 32 else long_word(second, first)


def philox_words(key, start, count, width):
    """Random words, four of 32 bits or two of 64 from a block."""
    each = 128 // width
    made = philox_blocks(key, counters_from(start // each, (count + each - 1) // each))
    if width == 64:
        made = (long_word(made[0], made[1]), long_word(made[2], made[3]))
    return np.stack(made, axis=-1).reshape(-1)[:count]


def shaped(flat, shape):
    """A flat array in a shape; what has no dimensions is a number."""
    return flat.reshape(shape) if len(shape) > 0 else flat[0]


def bits(key, shape, dtype):
    """Random unsigned integers."""
    dtype, shape = np.dtype(dtype), shape_tuple(shape)
    if dtype.kind != "u":
        raise TypeError(f"random bits are unsigned integers, not {dtype}")
    return shaped(in_blocks(integers, key, product(shape), dtype), shape)


def integers(key, start, count, dtype):
    """Random unsigned integers, in one dimension."""
    flat = words(key, start, count, 64 if dtype.itemsize == 8 else 32)
    return flat if flat.dtype == dtype else flat.astype(dtype)
