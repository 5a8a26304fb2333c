"""Random bits: Random123's published vectors, JAX's streams, and the same numbers eager and compiled."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import chainrule as cr
from chainrule import random
from chainrule.codegen.primitives.random_bits import philox4x32, threefry2x32

# Values computed with jax 0.10.2 (jax_enable_x64, threefry2x32, partitionable) for key(42).
JAX = np.load(Path(__file__).parents[1] / "data" / "jax_random.npz")
SEEDS = [0, 42, -1, 2**40 + 3, 2**63 - 1]
IMPLS = ["threefry2x32", "philox4x32"]

# Of the file kat_vectors in Random123 (D. E. Shaw Research): generator, counter, key, result.
KNOWN_ANSWERS = """
threefry2x32 00000000 00000000 00000000 00000000 6b200159 99ba4efe
threefry2x32 ffffffff ffffffff ffffffff ffffffff 1cb996fc bb002be7
threefry2x32 243f6a88 85a308d3 13198a2e 03707344 c4923a9c 483df7a0
philox4x32 00000000 00000000 00000000 00000000 00000000 00000000 6627e8d5 e169c58d bc57ac4c 9b00dbd8
philox4x32 ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff 408f276d 41c83b0e a20bc7c6 6d5451fd
philox4x32 243f6a88 85a308d3 13198a2e 03707344 a4093822 299f31d0 d16cfe09 94fdcceb 5001e420 24126ea1
"""


def ulps(found, expected):
    return np.max(np.abs(found - expected) / np.spacing(np.abs(expected)))


@pytest.mark.parametrize("line", KNOWN_ANSWERS.strip().splitlines())
def test_known_answers(line):
    name, *words = line.split()
    words = [np.array([int(word, 16)], np.uint32) for word in words]
    size = {"threefry2x32": 2, "philox4x32": 4}[name]
    counter, key, expected = words[:size], words[size:-size], words[-size:]
    found = {"threefry2x32": threefry2x32, "philox4x32": philox4x32}[name](*key, *counter)
    assert [int(word[0]) for word in found] == [int(word[0]) for word in expected]


def test_keys_as_in_jax():
    key = random.key(42)
    for seed, expected in zip(SEEDS, JAX["key"], strict=True):
        np.testing.assert_array_equal(random.key(seed), expected)
    np.testing.assert_array_equal(random.split(key, 5), JAX["split"])
    np.testing.assert_array_equal(random.split(key, (2, 3)), JAX["split_2_3"])
    for data, expected in zip((0, 1, 7, 2**32 - 1), JAX["fold_in"], strict=True):
        np.testing.assert_array_equal(random.fold_in(key, data), expected)


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_bits_as_in_jax(width):
    found = random.bits(random.key(42), (7, 3), f"uint{width}")
    assert found.dtype == f"uint{width}"
    np.testing.assert_array_equal(found, JAX[f"bits_{width}"])


@pytest.mark.parametrize("run", [lambda f: f, cr.jit], ids=["eager", "compiled"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats_as_in_jax(dtype, run):
    draw = lambda key: (
        random.uniform(key, (50,), dtype),
        random.uniform(key, (50,), dtype, -2.5, 3.25),
        random.normal(key, (1000,), dtype),
    )
    unit, scaled, normal = run(draw)(random.key(42))
    assert unit.dtype == scaled.dtype == normal.dtype == dtype
    np.testing.assert_array_equal(unit, JAX["uniform_" + dtype])
    np.testing.assert_array_equal(scaled, JAX["uniform_range_" + dtype])
    assert ulps(normal, JAX["normal_" + dtype]) <= 2


@pytest.mark.parametrize("run", [lambda f: f, cr.jit], ids=["eager", "compiled"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_numbers_that_are_hard_to_match(dtype, run):
    """Of a million, the smallest, the largest, and where another log or two roundings end 3 units off."""
    draw = run(lambda key: random.normal(key, (1_000_000,), dtype))
    expected = JAX["normal_at_places_" + dtype]
    for seed, places in enumerate(JAX["places_" + dtype]):
        assert ulps(draw(random.key(seed))[places], expected[seed]) <= 2


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_numbers_of_an_exported_program(dtype, tmp_path):
    def draw(key):
        return random.normal(key, (1000,), dtype)

    cr.export(draw, tmp_path)(random.key(42))
    program = "import numpy as np\nfrom draw import draw\n"
    program += "np.save('drawn.npy', draw(np.array([0, 42], np.uint32)))"
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    assert "import chainrule" not in (tmp_path / "draw_support.py").read_text()
    assert ulps(np.load(tmp_path / "drawn.npy"), JAX["normal_" + dtype]) <= 2


INTEGERS = [
    ("int32", 0, 10),
    ("int32", -5, 1000),
    ("int64", 0, 10),
    ("int64", -(2**62), 2**62 + 12345),
    ("int8", -128, 128),
    ("uint8", 0, 256),
    ("uint32", 3, 2**32),
    ("uint64", 7, 2**63 - 5),
    ("int64", 5, 5),
    ("int16", -7, 300),
    ("int32", -(2**31), 2**31),
]


@pytest.mark.parametrize("case", range(len(INTEGERS)))
def test_integers_as_in_jax(case):
    dtype, low, high = INTEGERS[case]
    found = random.randint(random.key(42), (40,), low, high, dtype)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, JAX[f"randint_{case}"])


def test_compiled_integers_over_nearly_all_values():
    low, high = -(2**63), 2**63 - 1
    words = [random.bits(key, (40,)).tolist() for key in random.split(random.key(42))]
    span = high - low
    factor = (2**32 % span) ** 2 % 2**64 % span
    expected = [
        low + (first % span * factor + second % span) % 2**64 % span
        for first, second in zip(*words, strict=True)
    ]
    found = cr.jit(lambda key: random.randint(key, (40,), low, high))(random.key(42))
    assert found.tolist() == expected


def test_integers_with_bounds_of_their_own():
    found = random.randint(random.key(42), (4, 3), np.array([0, 5, 10]), np.array([1, 50, 1000]))
    np.testing.assert_array_equal(found, JAX["randint_array"])


def test_permutations_as_in_jax():
    key = random.key(42)
    rows, columns = np.arange(12).reshape(4, 3), np.arange(12).reshape(3, 4)
    np.testing.assert_array_equal(random.permutation(key, 20), JAX["permutation_20"])
    np.testing.assert_array_equal(random.permutation(key, 2000), JAX["permutation_2000"])
    np.testing.assert_array_equal(random.permutation(key, rows), JAX["permutation_rows"])
    np.testing.assert_array_equal(random.permutation(key, columns, axis=1), JAX["permutation_axis"])
    np.testing.assert_array_equal(
        random.permutation(key, columns, axis=1, independent=True), JAX["permutation_independent"]
    )


def draws(key):
    return (
        random.split(key, 3),
        random.fold_in(key, 7),
        random.key_data(key),
        random.bits(key, (1001,), np.uint32),
        random.bits(key, (2, 3)),
        random.bits(key, (), np.uint16),
        random.randint(key, (5,), -3, 1000),
    )


@pytest.mark.parametrize("impl", IMPLS)
def test_compiled_as_eager(impl):
    key = random.key(2**35 + 7, impl)
    for found, expected in zip(cr.jit(draws)(key), draws(key), strict=True):
        assert found.dtype == expected.dtype and np.shape(found) == np.shape(expected)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("impl", IMPLS)
def test_blocks_make_no_difference(impl):
    key = random.key(1, impl)
    whole = random.bits(key, (40001,), np.uint32)
    np.testing.assert_array_equal(random.bits(key, (40001,), np.uint32), whole)
    np.testing.assert_array_equal(random.bits(key, (3,), np.uint32), whole[:3])
    assert len(np.unique(whole)) > 39900


def test_keys_are_refused_by_kind():
    with pytest.raises(TypeError, match="random key"):
        random.normal(np.array([1.0, 2.0]), (3,))
    with pytest.raises(TypeError, match="random key"):
        random.normal(42, (3,))
    with pytest.raises(ValueError, match="philox4x32"):
        random.key(0, "mersenne")
    with pytest.raises(TypeError, match="one integer"):
        random.key(0.5)


def test_nothing_drawn():
    key = random.key(0)
    assert random.normal(key, (0, 3)).shape == (0, 3)
    assert random.split(key, 0).shape == (0, 2)
    assert random.permutation(key, 0).shape == (0,)


@pytest.mark.parametrize("impl", IMPLS)
def test_batched_keys(impl):
    keys = random.split(random.key(3, impl), 4)
    draw = lambda key: random.bits(random.fold_in(key, 5), (3,), np.uint32)
    np.testing.assert_array_equal(cr.vmap(draw)(keys), np.stack([draw(key) for key in keys]))
