"""The blocks of the counter-based generators Threefry-2x32 and Philox-4x32, one primitive for each word
of a block.

J. Salmon, M. Moraes, R. Dror and D. Shaw, Parallel random numbers: as easy as 1, 2, 3 (SC 2011). The
functions stand in printed programs as they are here, and so have their constants in them. They work on
arrays of uint32 only: NumPy warns where scalars wrap around.

>>> [hex(word[0]) for word in threefry2x32(*np.zeros((4, 1), np.uint32))]
['0x6b200159', '0x99ba4efe']
"""

from __future__ import annotations

import numpy as np

from ..registry import primitive
from .elementwise import result_type


def rotated(x, distance):
    """32-bit words rotated to the left."""
    return (x << distance) | (x >> (32 - distance))


def threefry2x32(key0, key1, x0, x1):
    """Both words of the 20 rounds of Threefry-2x32."""
    keys = (key0, key1, key0 ^ key1 ^ 0x1BD11BDA)
    x0, x1 = x0 + key0, x1 + key1
    for group in range(5):
        for distance in ((13, 15, 26, 6), (17, 29, 16, 24))[group % 2]:
            x0 = x0 + x1
            x1 = rotated(x1, distance) ^ x0
        x0 = x0 + keys[(group + 1) % 3]
        x1 = x1 + keys[(group + 2) % 3] + (group + 1)
    return x0, x1


def philox4x32(key0, key1, x0, x1, x2, x3):
    """The four words of the 10 rounds of Philox-4x32."""
    for _ in range(10):
        first, second = x0.astype(np.uint64) * 0xD2511F53, x2.astype(np.uint64) * 0xCD9E8D57
        x0 = (second >> 32).astype(np.uint32) ^ x1 ^ key0
        x1 = second.astype(np.uint32)
        x2 = (first >> 32).astype(np.uint32) ^ x3 ^ key1
        x3 = first.astype(np.uint32)
        key0, key1 = key0 + 0x9E3779B9, key1 + 0xBB67AE85
    return x0, x1, x2, x3


def threefry_word0(key0, key1, x0, x1):
    return threefry2x32(key0, key1, x0, x1)[0]


def threefry_word1(key0, key1, x0, x1):
    return threefry2x32(key0, key1, x0, x1)[1]


def philox_word0(key0, key1, x0, x1, x2, x3):
    return philox4x32(key0, key1, x0, x1, x2, x3)[0]


def philox_word1(key0, key1, x0, x1, x2, x3):
    return philox4x32(key0, key1, x0, x1, x2, x3)[1]


def philox_word2(key0, key1, x0, x1, x2, x3):
    return philox4x32(key0, key1, x0, x1, x2, x3)[2]


def philox_word3(key0, key1, x0, x1, x2, x3):
    return philox4x32(key0, key1, x0, x1, x2, x3)[3]


def words(*functions):
    """The primitives of a generator: its words, of uint32, for keys and counters of uint32."""

    def type_of_word(builder, *operands):
        return result_type(builder, "bits", lambda types: np.dtype(np.uint32), operands, False)

    return tuple(
        primitive(f.__name__, f, type_of_word, printed=f.__name__, elementwise=True) for f in functions
    )


threefry_words = words(threefry_word0, threefry_word1)
philox_words = words(philox_word0, philox_word1, philox_word2, philox_word3)


class Generator:
    """All words of a block: computed together by NumPy, and one by one in a program, whose compiler
    merges them.
    """

    def __init__(self, together, primitives):
        self.together, self.primitives = together, primitives

    def __call__(self, *words):
        return self.together(*words)

    def __specialise__(self, s, arguments, keywords, node):
        return tuple(s.call(word, arguments, keywords, node) for word in self.primitives)


threefry = Generator(threefry2x32, threefry_words)
philox = Generator(philox4x32, philox_words)
