"""Our own way of compiling with Numba: elements, variables that are never negative, and direct calls."""

import numba
import numpy as np
import pytest

from chainrule.backends.numba import element_access, pipeline

compiled = numba.njit(error_model="numpy", pipeline_class=pipeline.Compiler)


@compiled
def walk(x, v, last, unsigned):
    rows, columns = x.shape
    total, count, out = 0.0, 0, np.zeros((rows, columns), dtype=np.float32)
    for i in range(rows - 1, -1, -1):
        for j in range(columns):
            back = j - columns
            total += x[i, j] * v[count % 3] - x[i, back] + x[last, -1] + v[unsigned]
            out[i, back] = total
            out[last, 0] += i * columns + j
            count += 1
    out[0, 0] = True
    v[-1] = count
    return total, out


@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_elements_by_every_kind_of_index(order):
    x = (
        np.arange(40.0).reshape(4, 10)[::2, ::3]
        if order == "strided"
        else np.arange(8.0).reshape(2, 4, order=order)
    )
    v, expected = np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 3, 4])
    total, out = walk(x, v, -1, np.uint8(3))
    wanted_total, wanted = walk.py_func(x, expected, -1, np.uint8(3))
    np.testing.assert_allclose(total, wanted_total)
    np.testing.assert_allclose(out, wanted)
    np.testing.assert_array_equal(v, expected)


def test_what_may_wrap_around_in_a_loop_may_be_negative(monkeypatch):
    found = set()

    class Recorded(element_access.LowerElements):
        def init(self):
            super().init()
            found.update(self.signs.natural)

    monkeypatch.setattr(pipeline.Lowering, "lowering_class", Recorded)

    @compiled
    def function(x, given):
        size, power, count = x.shape[0], 2, 0
        for i in range(1, size):
            power = power * power
            count += 2
            place, before = i * size + i, i - 1
            x[0] += place + before + power + x[given]
        return x

    function(np.ones(3), -1)
    assert {"i", "count", "count.1", "place", "size"} <= found
    assert not {"before", "given", "power.1", "power.2"} & found


@compiled
def products(a, b, v, w):
    out = np.empty((a.shape[0], b.shape[1]))
    np.dot(a, b, out)
    return out, np.dot(a, b), np.dot(a, v), np.dot(w, a), np.dot(v, v), np.dot(b.T, a.T)


@pytest.mark.parametrize("sizes", [(2, 3, 4), (1, 3, 4), (2, 3, 1), (1, 3, 1), (2, 0, 3), (0, 2, 3)])
@pytest.mark.parametrize("order", "CF")
def test_products(sizes, order):
    m, k, n = sizes
    a = np.asarray(np.arange(1.0, m * k + 1).reshape(m, k), order=order)
    b = np.asarray(np.cos(np.arange(k * n)).reshape(k, n), order=order)
    v, w = np.arange(k) + 0.5, np.arange(m) - 0.5
    for got, wanted in zip(products(a, b, v, w), products.py_func(a, b, v, w), strict=True):
        np.testing.assert_allclose(got, wanted, atol=1e-12)


def test_products_of_other_sizes_are_refused():
    with pytest.raises(ValueError, match="incompatible array sizes"):
        products(np.ones((2, 3)), np.ones((2, 3)), np.ones(3), np.ones(2))


@compiled
def rearranged(x):
    turned = np.transpose(x, (2, 0, 1))
    return turned, np.ascontiguousarray(turned), np.ascontiguousarray(x), np.zeros(3, dtype=np.int32)


@pytest.mark.parametrize("step", [1, 2])
def test_transposed_and_contiguous_arrays(step):
    x = np.arange(48.0).reshape(2, 4, 6)[:, ::step]
    turned, contiguous, same, zeros = rearranged(x)
    np.testing.assert_array_equal(turned, np.transpose(x, (2, 0, 1)))
    assert np.shares_memory(turned, x) and np.shares_memory(same, x) == (step == 1)
    for array, wanted in ((contiguous, turned), (same, x)):
        assert array.flags.c_contiguous
        np.testing.assert_array_equal(array, wanted)
    assert zeros.dtype == np.int32 and not zeros.any()


def test_negative_sizes_are_refused():
    with pytest.raises(ValueError, match="negative dimensions"):
        compiled(lambda n: np.empty(n))(-1)


def test_sizes_too_big_are_refused():
    with pytest.raises(ValueError, match="array is too big"):
        compiled(lambda n: np.zeros((n, n)))(2**40)


@compiled
def made(n, number):
    turns = np.arange(n), np.arange(n - 4, n), np.arange(number, 9.5), np.arange(0, n, 2)
    filled = np.full((n, 2), number), np.full(n, n > 1), np.full(n, number, dtype=np.float32)
    return turns, filled, (max(n, 3), min(n, 3), max(number, 0.5), int(-number), int(n))


@pytest.mark.parametrize("n", [0, 1, 5])
def test_filled_arrays_ranges_and_numbers(n):
    for got, wanted in zip(made(n, 2.75), made.py_func(n, 2.75), strict=True):
        for one, other in zip(got, wanted, strict=True):
            assert np.asarray(one).dtype == np.asarray(other).dtype
            np.testing.assert_array_equal(one, other)


def test_extremes_of_nan_are_those_of_python():
    extremes = compiled(lambda a, b: (max(a, b), min(a, b)))
    for pair in [(np.nan, 1.0), (1.0, np.nan), (0.0, -0.0), (-0.0, 0.0)]:
        np.testing.assert_array_equal(np.array(extremes(*pair)), np.array(extremes.py_func(*pair)))


@compiled
def spread(x, n):
    return np.broadcast_to(x, (n, *x.shape)), np.broadcast_to(x[:1], (n,)), np.broadcast_to(x[0], n)


@pytest.mark.parametrize("step", [1, -2])
def test_broadcast_arrays(step):
    x = np.arange(6.0)[::step]
    got = spread(x, 4)
    for one, wanted in zip(got, spread.py_func(x, 4), strict=True):
        np.testing.assert_array_equal(one, wanted)
    assert np.shares_memory(got[0], x) and not got[0].flags.writeable
    with pytest.raises(ValueError, match="could not be broadcast"):
        compiled(lambda x: np.broadcast_to(x, (2, 4)))(x)
