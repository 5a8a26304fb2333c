"""Small arrays in loops as numbers: the same values and dtypes, and what is left of the arrays."""

import numpy as np
import pytest

import chainrule as cr


def lorenz(state, steps):
    for _ in range(steps):
        x, y, z = state
        state = state + 0.01 * np.array([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])
    return state


def rotated(v, steps):
    for _ in range(steps):
        turn = np.array([[np.cos(v[0]), -np.sin(v[0])], [np.sin(v[0]), np.cos(v[0])]])
        v = turn @ v + turn.T[0]
    return v


def until_small(v, steps):
    while np.max(np.abs(v)) > 0.1:
        if v[0] > v[1]:
            v = v * np.array([0.5, 0.9])
        else:
            v = np.array([v[1], v[0]]) * 0.8
    return v


def filled(v, steps):
    total = np.zeros(3)
    for k in range(steps):
        row = np.zeros(3)
        row[1] = v[0] * k
        row[:2] += v
        total = total + np.concatenate([row[1:], np.ones(1)])
    return total


def counted(v, steps):
    hits = np.zeros(2)
    for k in range(steps):
        inside = np.array([v[0] > k, v[1] > 0])
        hits = hits + np.where(inside, 1.0, -1.0) * np.sum(inside)
        if np.any(inside) and not np.all(inside):
            hits = hits + 1
    return hits


def kept(v, steps):
    history = np.zeros((steps, 2))
    for k in range(steps):
        v = np.tanh(v * 1.5) + np.array([v[1], -v[0]])
        history[k] = v
    return history


def turned(v, steps):
    slots = np.zeros(3)
    for k in range(steps):
        slots[k % 3] += v[k % 2]
        slots = slots * 0.9
    return slots


def solved(v, steps):
    for _ in range(steps):
        a = np.array([[2.0, v[0]], [v[1], 3.0]])
        v = np.linalg.solve(a, v) + np.sum(a, axis=1)
    return v


PROGRAMS = {f.__name__: f for f in (rotated, until_small, filled, counted, kept, turned, solved)}
DTYPES = [np.float64, np.float32]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_same_values(name, dtype):
    function, v = PROGRAMS[name], np.array([0.7, -0.4], dtype)
    got, want = cr.jit(function, static_argnums=1)(v, 5), function(v, 5)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-5 if dtype is np.float32 else 1e-12)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "counted"])
def test_same_gradients(name):
    function, v = PROGRAMS[name], np.array([0.7, -0.4])
    total = lambda v: np.sum(function(v, 4) ** 2)
    step = 1e-6
    numeric = [(total(v + step * e) - total(v - step * e)) / (2 * step) for e in np.eye(2)]
    np.testing.assert_allclose(cr.jit(cr.grad(total))(v), numeric, rtol=1e-6, atol=1e-7)


def test_lorenz():
    state = np.array([1.0, 2.0, 20.0])
    np.testing.assert_allclose(cr.jit(lorenz)(state, 50), lorenz(state, 50), rtol=1e-12)
    text = cr.source(cr.jit(lorenz), stage="numba")(state, 50)
    loop = text[text.index("for ") :]
    assert "np.empty" not in loop.replace("np.empty(3)", "", 1)
    assert "state_0" in text


def test_numbers_of_complex_arrays():
    def spun(v, steps):
        for _ in range(steps):
            v = np.array([v[0] * 1j, v[1] + v[0].real])
        return v

    v = np.array([1.0 + 2.0j, 0.5])
    np.testing.assert_allclose(cr.jit(spun)(v, 3), spun(v, 3))


def test_an_integer_that_is_a_size():
    def grown(x):
        total = 0.0
        for _ in range(3):
            counts = np.array([2, 3]) * 2
            total += np.sum(np.ones(counts[1])) + counts[0] * x[0]
        return total

    x = np.array([0.5, 1.0])
    assert cr.jit(grown)(x) == grown(x)


def test_an_array_that_is_written_at_a_place_known_at_run_time_stays_one():
    v = np.array([0.7, -0.4])
    text = cr.source(cr.jit(turned), stage="numba")(v, 5)
    assert "slots = np.zeros(3)" in text


def test_a_size_that_can_only_be_few_is_known():
    def moved(v, n):
        while n > 0:
            v = v + np.array([1.0, 2.0])
            n = n - 1
        return v

    compiled = cr.jit(moved)
    np.testing.assert_array_equal(compiled(np.zeros(2), 3), [3.0, 6.0])
    assert "v_0" in cr.source(compiled, stage="numba")(np.zeros(2), 3)
    with pytest.raises(ValueError, match=r"shapes \(3,\) \(2,\)"):
        compiled(np.zeros(3), 3)
    np.testing.assert_array_equal(compiled(np.zeros(2), 1), [1.0, 2.0])


def test_lanes_of_a_small_state():
    def slowed(y, rate):
        while np.sum(np.abs(y)) > 1:
            y = y - 0.1 * np.array([rate * y[0], y[1] - y[0]])
        return y

    ys, rates = np.array([[3.0, 1.0], [2.0, -2.0], [0.1, 0.1]]), np.array([0.5, 2.0, 1.0])
    want = np.stack([slowed(y, r) for y, r in zip(ys, rates)])
    np.testing.assert_allclose(cr.jit(cr.vmap(slowed))(ys, rates), want)
    text = cr.source(cr.jit(cr.vmap(slowed)), stage="numba")(ys, rates)
    assert "np.empty" not in text[text.index("for lane") :]


def test_a_small_array_read_at_a_place_known_at_run_time():
    def steps(a):
        z = np.array([1.3, 0.6])
        for _ in range(2):
            z = z - cr.jacfwd(lambda z: np.array([z[0] ** 2 + a * z[1], z[0] * z[1]]))(z) @ z
        return z.sum()

    def by_hand(a):
        x, y = 1.3, 0.6
        for _ in range(2):
            x, y = x - (2 * x * x + a * y), y - (y * x + x * y)
        return x + y

    slope = (by_hand(1.0 + 1e-6) - by_hand(1.0 - 1e-6)) / 2e-6
    np.testing.assert_allclose(cr.jit(cr.grad(steps))(1.0), slope, rtol=1e-8)


def test_a_small_state_that_begins_with_an_array_of_any_size():
    def turned(y, rate):
        for _ in range(3):
            y = y + 0.1 * np.array([rate * y[1], -y[0]])
        return np.sum(y)

    step = np.array([[1.0, 0.2], [-0.1, 1.0]])
    want = np.ones(2) @ np.linalg.matrix_power(step, 3)
    np.testing.assert_allclose(cr.jit(cr.grad(turned))(np.array([1.5, 2.0]), 2.0), want)


INPUTS = np.array([0.1, 0.2, -0.3])


def test_a_small_state_whose_size_only_a_product_tells():
    def fixed_point(w):
        z, turns = np.zeros(3), 0
        while True:
            new = np.tanh(w @ z + INPUTS)
            turns += 1
            if np.max(np.abs(new - z)) < 1e-12 or turns >= 200:
                break
            z = new
        return np.sum(new * INPUTS)

    w, v = np.array([[0.2, -0.1, 0.0], [0.3, 0.1, 0.2], [0.0, 0.4, 0.1]]), np.arange(9.0).reshape(3, 3)
    slope = cr.grad(fixed_point)
    want = (slope(w + 1e-6 * v) - slope(w - 1e-6 * v)) / 2e-6
    product = cr.jit(lambda w, v: cr.hvp(fixed_point, (w,), (v,)))
    np.testing.assert_allclose(product(w, v), want, rtol=1e-6)
