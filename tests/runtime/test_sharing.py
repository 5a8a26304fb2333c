"""Loops that cores share give the same bits as the same loops alone, and the same exceptions."""

import math
import os
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import chainrule as cr
from chainrule.backends.numba import cores
from chainrule.backends.numba.emit import load
from chainrule.codegen.parse import parse_text
from chainrule.runtime import sized
from chainrule.runtime.batching import Vmap
from chainrule.runtime.compilation import Jit
from tests.programs.writer import programs


@pytest.fixture
def always(monkeypatch):
    """Loops are shared among three cores, however short they are."""
    monkeypatch.setattr(cores, "WORTH_SHARING", -1.0)
    monkeypatch.setattr(sized, "LARGE", 1)
    monkeypatch.setattr(sized, "LARGE_OF_LOOPS", 1)
    with cr.config(cores=3):
        yield


def both(function, *arguments):
    """What a function gives with its loops shared, which must be what it gives alone; and its text."""
    text = cr.source(cr.jit(function), stage="numba")(*arguments)
    shared = cr.jit(function)(*arguments)
    with cr.config(cores=1):
        alone = cr.jit(function)(*arguments)
    for one, other in zip(cr.tree.leaves(shared), cr.tree.leaves(alone), strict=True):
        np.testing.assert_array_equal(one, other)
        assert np.asarray(one).dtype == np.asarray(other).dtype
    return shared, text


def newton(a):
    x = a
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x


def collatz(n):
    steps, tail = 0, np.zeros(3)
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
        tail[steps % 3] = n
    return steps, tail


SOME = np.linspace(0.5, 90.0, 301)


def test_lanes(always):
    roots, text = both(cr.vmap(newton), SOME)
    assert "cores.share(newton_turns, 0, " in text
    np.testing.assert_allclose(roots, np.sqrt(SOME), rtol=1e-12)
    slope, text = both(cr.vmap(cr.grad(newton)), SOME)
    assert "cores.share" in text
    np.testing.assert_allclose(slope, 0.5 / np.sqrt(SOME), rtol=1e-9)


def test_lanes_backwards(always):
    weights = np.cos(SOME)
    slope, text = both(cr.grad(lambda a: np.sum(cr.vmap(newton)(a) * weights)), SOME)
    assert "cores.share" in text
    np.testing.assert_allclose(slope, 0.5 * weights / np.sqrt(SOME), rtol=1e-9)


def test_lanes_with_arrays_and_integers(always):
    numbers = np.arange(1, 200)
    (steps, tails), _ = both(cr.vmap(collatz), numbers)
    for n, count, tail in zip(numbers, steps, tails):
        expected = collatz(int(n))
        assert count == expected[0]
        np.testing.assert_array_equal(tail, expected[1])


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(0,), (1,), (2,), (1000,), (50, 7), (3, 4, 5)])
def test_elements(always, dtype, shape):
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    found, _ = both(lambda x: np.tanh(x) * np.exp(-x) + x.sum(), x)
    np.testing.assert_allclose(found, np.tanh(x) * np.exp(-x) + x.sum(), rtol=1e-5)


def test_rows(always):
    x = np.random.default_rng(0).normal(size=(200, 30))

    def softmax(x):
        powers = np.exp(x - np.max(x, axis=1, keepdims=True))
        return powers / np.sum(powers, axis=1, keepdims=True)

    found, text = both(softmax, x)
    assert "cores.share" in text
    powers = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(found, powers / powers.sum(1, keepdims=True), rtol=1e-13)


def test_sizes_that_only_the_room_for_a_row_needs(always):
    def f(x, y):
        steps = x.shape[1] // 2
        kept = np.zeros((x.shape[0], steps))
        for k in range(steps):
            kept[:, k] = np.sin(x[:, k])
            if k > 0:
                kept[:, k] += kept[:, k - 1]
        return np.sum(kept[:, ::2], axis=1) * y

    x, y = np.random.default_rng(0).normal(size=(200, 30)), np.ones(200)
    found, _ = both(f, x, y)
    np.testing.assert_allclose(found, f(x, y), rtol=1e-12)
    x_bar, _ = both(cr.grad(lambda x: np.sum(f(x, y) ** 2)), x)
    np.testing.assert_allclose(x_bar, cr.grad(lambda x: np.sum(f(x, y) ** 2))(x), rtol=1e-12)


def test_numbers_of_single_precision_between_the_parts(always):
    x = np.linspace(0, 1, 500, dtype="float32")

    def f(x):
        total = x[3] * np.float32(0.1)
        return np.sin(x) * total, total

    (scaled, total), _ = both(f, x)
    assert scaled.dtype == np.float32 and type(total) is np.float32
    np.testing.assert_allclose(scaled, np.sin(x) * (x[3] * np.float32(0.1)), rtol=1e-6)


def test_sizes_between_the_parts_have_names_of_their_own(always):
    def steps(x, y):
        a = np.cos(x)
        b = np.exp(a[1:, 3:] - a[:-1, :-3])
        c = np.exp(b[1:, 1:] * b[:-1, :-1])
        return c[:, 2:] * y

    x, y = np.linspace(0, 2, 108).reshape(9, 12), np.linspace(1, 2, 42).reshape(7, 6)
    made = load(cr.source(cr.jit(steps), stage="numba")(x, y), "steps")
    np.testing.assert_allclose(made(x, y), steps(x, y), rtol=1e-12)


def test_turns_that_need_each_other_are_not_shared(always):
    def f(x):
        for i in range(1, x.shape[0]):
            x[i] = x[i] + 0.5 * x[i - 1]
        return x

    found, text = both(lambda x: f(x.copy()), SOME)
    assert "cores.share" not in text
    np.testing.assert_allclose(found, f(SOME.copy()))


def test_names_that_arrays_exchange(always):
    text = """def f(x, y):
        u, v = x * 1.5, np.cos(x)
        v, u = u, v
        u = u.copy()
        u[1:3] = np.sin(v[1:3] + 0.5 * (0.5 * (x[2] + 0.7) + u[0]))
        if v[-1] < -0.23:
            v = v.copy()
            v[2] = y
        return np.sum(u * v)"""
    x, y = np.random.default_rng(0).uniform(-1, 1, (40, 4)), np.linspace(-1, 1, 40)
    function = parse_text(text, {"np": np})
    lanes = [function(*lane) for lane in zip(x, y)]
    np.testing.assert_allclose(Jit(Vmap(text))(x, y), lanes, rtol=1e-12)


def test_sums_in_pieces(always):
    def f(x, w):
        parts = np.sum(np.exp(x) * w), np.max(x), np.min(w), np.sum(x > 0), np.any(x > 3), np.all(w > 0)
        return parts, np.linalg.norm(w)

    compiled = cr.jit(f)
    for size in (2, 511, 512, 513, 64 * 512, 64 * 512 + 1, 100_003):
        x, w = np.random.default_rng(size).normal(size=(2, size))
        if size == 513:
            x[300], w[10] = np.nan, -np.inf
        found = compiled(x, w)
        with cr.config(cores=1):
            np.testing.assert_array_equal(cr.tree.leaves(found), cr.tree.leaves(compiled(x, w)))
        np.testing.assert_allclose(cr.tree.leaves(found), cr.tree.leaves(f(x, w)), rtol=1e-10)
    text = cr.source(compiled, stage="numba")(x, w)
    assert "for piece in range(max(start, 0), stop):" in text and "total_parts[piece] = total" in text


def test_sums_of_rows_in_pieces(always):
    def loss(first, second, x):
        hidden = np.tanh(x @ first + second)
        return np.sum(hidden**2) / x.shape[0]

    gradient = cr.jit(cr.value_and_grad(loss, argnums=(0, 1)))
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(5, 3)), rng.normal(size=3)
    for count in (2, 16, 17, 1024, 1025):
        x = rng.normal(size=(count, 5))
        found = gradient(first, second, x)
        with cr.config(cores=1):
            for one, other in zip(cr.tree.leaves(found), cr.tree.leaves(gradient(first, second, x))):
                np.testing.assert_array_equal(one, other)
        hidden = np.tanh(x @ first + second)
        inner_bar = 2 * hidden * (1 - hidden**2) / count
        np.testing.assert_allclose(found[0], np.sum(hidden**2) / count, rtol=1e-12)
        np.testing.assert_allclose(found[1][0], x.T @ inner_bar, rtol=1e-10, atol=1e-14)
        np.testing.assert_allclose(found[1][1], inner_bar.sum(0), rtol=1e-10, atol=1e-14)
    assert "_parts[piece, i] =" in cr.source(gradient, stage="numba")(first, second, x)


def test_a_written_loop_adds_in_its_own_order(always):
    def f(x):
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i]
        return total

    found, text = both(f, SOME)
    assert "cores.share" not in text
    assert found == f(SOME)


def test_written_loops_are_shared(always):
    def f(x):
        y = np.zeros((x.shape[0], 4))
        for i in range(x.shape[0]):
            for k in range(4):
                y[i, k] = math.sin(x[i]) if k % 2 else y[i, k - 1] + x[i]
        return y

    found, text = both(f, SOME)
    assert "cores.share" in text
    np.testing.assert_allclose(found, f(SOME), rtol=1e-14)


def test_the_exception_is_the_first_one(always):
    table = np.arange(10.0)

    def look_up(k, n):
        total = 0.0
        while n > 0:
            total, n = total + table[k], n - 1
        return total

    places, counts = np.zeros(300, int), np.full(300, 50)
    places[40:] = np.arange(40, 300)
    for cores_used in (1, 3):
        with (
            cr.config(cores=cores_used),
            pytest.raises(IndexError, match="index 40 is out of bounds") as caught,
        ):
            cr.jit(cr.vmap(look_up))(places, counts)
        assert "test_sharing.py" in caught.value.__notes__[0]


def test_a_variable_called_cores(always):
    def f(x):
        cores = np.exp(x)
        return cores * 2

    found, text = both(f, SOME / 100)
    assert "cores.share" in text
    np.testing.assert_allclose(found, 2 * np.exp(SOME / 100), rtol=1e-14)


def test_many_callers_at_once(always):
    f, found = cr.jit(cr.vmap(newton)), {}
    f(SOME)

    def call(k):
        found[k] = f(SOME * (k + 1))

    threads = [threading.Thread(target=call, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(8):
        np.testing.assert_allclose(found[k], np.sqrt(SOME * (k + 1)), rtol=1e-12)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own(always):
    f = cr.jit(cr.vmap(newton))
    expected = f(SOME)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(f(SOME), expected) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_small_calls_take_the_plain_function():
    f = cr.jit(lambda x: np.exp(x) * 2)
    f(np.ones(10))
    f(np.ones(2**15))
    f(np.ones(10))
    text = f.entries[0].text
    assert "(large if" in text and "else small)" in text
    assert "cores" not in cr.source(f, stage="numba")(np.ones(10))
    assert "cores.share" in cr.source(f, stage="numba")(np.ones(2**15))


def test_sizes_that_are_known_before():
    f = cr.jit(lambda key: cr.random.normal(key, (2**16,)))
    assert "cores.share" in cr.source(f, stage="numba")(cr.random.key(0))
    with cr.config(cores=1):
        expected = cr.jit(lambda key: cr.random.normal(key, (2**16,)))(cr.random.key(0))
    np.testing.assert_array_equal(f(cr.random.key(0)), expected)


@given(programs())
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
def test_programs_in_lanes(always, text):
    batch = np.random.default_rng(0).uniform(-1, 1, (40, 4)), np.linspace(-1, 1, 40)
    function = parse_text(text, {"np": np})
    for one in (Vmap(text), Vmap(cr.grad(Vmap(function).function))):
        shared = Jit(one)(*batch)
        with cr.config(cores=1):
            np.testing.assert_array_equal(shared, Jit(one)(*batch))


def test_turns_that_only_begin_slowly_stay_on_one_core(monkeypatch):
    done, clock = [], [0.0]

    def turns(start, stop):
        clock[0] += (stop - start) * (5e-6 if done else 30e-6)
        done.append((start, stop))

    monkeypatch.setattr(cores, "perf_counter", lambda: clock[0])
    with cr.config(cores=2):
        cores.share(turns, 0, 32)
    assert done == [(0, 2), (2, 4), (4, 32)]
