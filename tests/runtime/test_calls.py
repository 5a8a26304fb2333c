"""What happens at a call: which program, whose memory, which types."""

import collections
import dataclasses
import threading

import numpy as np
import pytest

import chainrule as cr


def programs(transformed):
    return sum(map(len, transformed.programs.values()))


@pytest.mark.parametrize("transform", [cr.grad, lambda f: cr.jit(cr.grad(f))])
def test_one_program_for_all_sizes(transform):
    f = transform(lambda x, y: np.sum(np.exp(x) * y))
    for n in (2, 3, 17, 1000):
        x = np.linspace(0, 1, n)
        np.testing.assert_allclose(f(x, x), np.exp(x) * x)
    assert programs(f) == 1
    f(np.ones(5, np.float32), np.ones(5, np.float32))
    f(np.ones((4, 5)), np.ones((4, 5)))
    assert programs(f) == 3


@pytest.mark.parametrize("transform", [lambda f: f, cr.jit])
def test_an_axis_of_size_one_that_starts_to_broadcast(transform):
    f = transform(cr.grad(lambda x, y: np.sum(x * y), (0, 1)))
    y = np.arange(12.0).reshape(4, 3)
    for x in (np.ones((4, 1)), np.ones((4, 3)), np.ones((1, 3)), np.ones((1, 1)), np.ones((4, 1))):
        by_x, by_y = f(x, y)
        axes = tuple(k for k in (0, 1) if x.shape[k] == 1)
        np.testing.assert_allclose(by_x, np.sum(y, axis=axes, keepdims=True))
        np.testing.assert_allclose(by_y, np.broadcast_to(x, y.shape))


@pytest.mark.parametrize("transform", [lambda f: f, cr.jit])
def test_a_computed_size_of_one_broadcasts(transform):
    f = transform(cr.grad(lambda x, y, k: np.sum(x[:k] * y)))
    x, y = np.arange(4.0), np.arange(1.0, 4.0)
    np.testing.assert_allclose(f(x, y, 3), [1, 2, 3, 0])
    np.testing.assert_allclose(f(x, y, 1), [6, 0, 0, 0])
    np.testing.assert_allclose(f(x, y, 3), [1, 2, 3, 0])
    with pytest.raises(ValueError, match=r"\(2,\) \(3,\)"):
        f(x, y, 2)


@pytest.mark.parametrize("transform", [lambda f: f, cr.jit])
def test_sizes_that_differ_raise(transform):
    f = transform(cr.grad(lambda x, y: np.sum(x * y)))
    f(np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match=r"could not be broadcast together with shapes \(3,\) \(4,\)"):
        f(np.ones(3), np.ones(4))
    with pytest.raises(ValueError, match="size 4 is different from 3|size 3 is different from 4"):
        transform(cr.grad(lambda a, b: np.sum(a @ b)))(np.ones((2, 3)), np.ones(4))


def test_sizes_that_must_be_known_are_pinned():
    f = cr.grad(lambda x: sum(float(k) * part for k, part in enumerate(x)))
    for n in (2, 5, 2):
        np.testing.assert_allclose(f(np.ones(n)), np.arange(n))
    assert programs(f) <= 2


scale, weights = 2.0, np.array([1.0, 2.0])


def test_captures_are_fresh():
    global scale, weights
    factor = 3.0
    f = cr.grad(lambda x: factor * scale * np.sum(weights * x))
    x = np.zeros(2)
    np.testing.assert_allclose(f(x), 6 * weights)
    scale = 1.0
    np.testing.assert_allclose(f(x), 3 * weights)
    weights[0] = 5.0
    np.testing.assert_allclose(f(x), [15, 6])
    weights = np.array([1.0, 1.0, 1.0])
    np.testing.assert_allclose(f(np.zeros(3)), [3, 3, 3])
    factor = 2
    np.testing.assert_allclose(f(np.zeros(3)), [2, 2, 2])
    scale, weights = 2.0, np.array([1.0, 2.0])


def fill(x, y):
    x[0] = 7.0
    return np.sum(x * y)


def test_arguments_are_modified_by_jit_only():
    x, y = np.ones(3), np.arange(3.0)
    np.testing.assert_allclose(cr.grad(fill)(x, y), [0, 1, 2])
    cr.vjp(fill, x, y)[1](1.0), cr.jvp(fill, (x, y), (x, y)), cr.jit(cr.grad(fill))(x, y)
    np.testing.assert_array_equal(x, np.ones(3))
    cr.jit(fill)(x, y)
    np.testing.assert_array_equal(x, [7, 1, 1])


def test_results_share_no_memory():
    x, y = np.ones(3), np.arange(3.0)
    for f in (cr.grad(lambda x, y: np.sum(x * y)), cr.jit(cr.grad(lambda x, y: np.sum(x * y)))):
        assert not np.shares_memory(f(x, y), y)
    value, pull = cr.vjp(lambda x, y: (x, x * y), x, y)
    assert not np.shares_memory(value[0], x)
    value[0][:] = 100.0
    x[:], y[:] = 50.0, 60.0
    by_x, by_y = pull((np.zeros(3), np.ones(3)))
    np.testing.assert_array_equal(by_x, [0, 1, 2])
    np.testing.assert_array_equal(by_y, [1, 1, 1])
    by_x[:] = -1.0
    np.testing.assert_array_equal(pull((np.zeros(3), np.ones(3)))[0], [0, 1, 2])
    value, push = cr.linearize(lambda x: x * x, x)
    x[:] = 0.0
    np.testing.assert_array_equal(push(np.ones(3)), [100, 100, 100])


Pair = collections.namedtuple("Pair", "left right")


@dataclasses.dataclass
class Layer:
    w: np.ndarray
    b: float
    name: str = "layer"


@pytest.mark.parametrize("transform", [lambda f: f, cr.jit])
def test_structures(transform):
    p = {"z": [Layer(np.array([1.0, 2.0]), 0.5)], "a": Pair(2.0, (np.array([3.0]), None)), "none": None}

    def loss(p):
        layer = p["z"][0]
        return np.sum(layer.w**2) * p["a"].left + layer.b * np.sum(p["a"].right[0])

    got = transform(cr.grad(loss))(p)
    assert list(got) == ["z", "a", "none"] and got["none"] is None
    assert isinstance(got["z"], list) and isinstance(got["z"][0], Layer) and got["z"][0].name == "layer"
    np.testing.assert_allclose(got["z"][0].w, [4.0, 8.0])
    assert got["z"][0].b == 3.0 and type(got["z"][0].b) is float
    assert isinstance(got["a"], Pair) and got["a"].left == 5.0
    np.testing.assert_allclose(got["a"].right[0], [0.5])
    assert got["a"].right[1] is None


@pytest.mark.parametrize("transform", [lambda f: f, cr.jit])
def test_dtypes(transform):
    f = transform(cr.value_and_grad(lambda x: np.sum(x * 2.0 + np.sin(x))))
    value, slope = f(1.0)
    assert type(slope) is float and type(value) is np.float64
    for x in (
        np.float32(1.0),
        np.ones(3, np.float32),
        np.ones(3, np.float32)[0],
        np.float64(1.0),
        np.ones(()),
    ):
        value, slope = f(x)
        assert slope.dtype == x.dtype == value.dtype
        np.testing.assert_allclose(slope, 2.0 + np.cos(1.0), rtol=1e-6)
    assert type(transform(lambda x: x * 2)(3.0)) is float
    assert type(transform(lambda x: x * 2)(3)) is int


def test_static_arguments():
    seen = []
    f = cr.jit(lambda x, n, mode: np.sum(x) * len(range(n)) if mode == "sum" else x[0], static_argnums=(1, 2))
    x = np.ones(3)
    assert (f(x, 2, "sum"), f(x, 3, "sum"), f(x, 2, "first")) == (6, 9, 1)
    assert programs(f) == 3
    g = cr.jit(lambda x, *, power: x**power, static_argnames="power")
    assert g(3.0, power=2) == 9 and g(3.0, power=3) == 27 and not seen


def failing(x):
    y = np.log(x)
    if y[0] > 1.0:
        raise ValueError("too large")
    return np.sum(y)


@pytest.mark.parametrize("transform", [cr.grad, cr.jit])
def test_errors_name_the_users_line(transform):
    with pytest.raises(ValueError, match="too large") as caught:
        transform(failing)(np.full(3, 10.0))
    text = str(caught.value) + "".join(getattr(caught.value, "__notes__", ()))
    assert "if y[0] > 1.0:" in text or "test_calls.py" in text, text
    assert "test_calls.py" in text


def test_generated_source_is_in_linecache():
    import linecache
    import traceback

    try:
        cr.grad(failing)(np.full(3, 10.0))
    except ValueError as error:
        frames = traceback.extract_tb(error.__traceback__)
    made = [frame for frame in frames if frame.filename.startswith("<chainrule")]
    assert made and "too large" in made[-1].line
    assert linecache.getlines(made[-1].filename)


def test_threads():
    f = cr.jit(cr.grad(lambda x: np.sum(np.exp(x) * x)))
    x, errors = np.linspace(0, 1, 50), []

    def work():
        try:
            for _ in range(20):
                np.testing.assert_allclose(f(x), np.exp(x) * (1 + x))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert not errors, errors[:1]


def test_an_object_returned_whole_is_as_it_is_now():
    kept = dataclasses.make_dataclass("Kept", ["slope", "offset"])(np.ones(2), 2.0)
    give = cr.jit(lambda x: (kept, 2 * x))
    assert give(1.0)[0].slope.tolist() == [1.0, 1.0]
    kept.slope[0] = 7.0
    assert give(1.0)[0].slope.tolist() == [7.0, 1.0]
    kept.slope, kept.offset = np.zeros(3), 5.0
    assert give(1.0)[0].slope.tolist() == [0.0, 0.0, 0.0] and give(1.0)[0].offset == 5.0


def test_a_sum_of_bools_counts():
    x = np.array([0.2, -0.5, -0.4, 1.8])
    value, slope = cr.value_and_grad(lambda x: sum(v > 0 for v in x) * np.sum(x**2))(x)
    assert value == 2 * np.sum(x**2)
    np.testing.assert_allclose(slope, 4 * x)
    assert cr.jit(lambda x: sum([x > 0, x > -0.45]))(x).tolist() == [2, 0, 1, 2]


@pytest.mark.parametrize("f, message", [
    (lambda x: "up" if x[0] > 0 else "down", "the result is 'up' or 'down' depending on a condition"),
    (lambda x: (x, None if x[0] > 9 else x), "the result is None or an array or number depending on"),
    (lambda x: f"{x.sum():.3f}", "returning a string that depends on values known only at run time"),
])
def test_results_without_one_value_are_refused(f, message):
    with pytest.raises(cr.ChainruleError) as error:
        cr.jit(f)(np.ones(3))
    assert message in str(error.value) and "test_calls.py" in str(error.value)


def test_items_sorted_by_their_names():
    tree = {"b": np.ones(3), "a": np.array([2.0])}
    weighted = lambda d: sum((k + 1.0) * np.sum(v**2) for k, (_, v) in enumerate(sorted(d.items())))
    slope = cr.grad(weighted)(tree)
    assert slope["a"].tolist() == [4.0] and slope["b"].tolist() == [4.0, 4.0, 4.0]


def test_indices_of_an_array():
    def f(x):
        total = 0.0
        for i, j in np.ndindex(x.shape):
            total += x[i, j] ** 2
        for (i, j), v in np.ndenumerate(x):
            total += i * j * v
        return total

    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(cr.grad(f)(x), 2 * x + np.outer(np.arange(2), np.arange(3)))


COUNT = 2
FIRST = np.ones(3)
SECOND = FIRST


def test_equal_values_from_two_places_are_watched_at_both():
    @cr.jit
    def f(x, n=2):
        return x * COUNT + n

    @cr.jit
    def g(x):
        return x + FIRST + 10 * SECOND

    assert f(1.0) == 4.0 and g(0.0).tolist() == [11.0] * 3
    globals().update(COUNT=3, SECOND=np.zeros(3))
    try:
        assert f(1.0) == 5.0 and g(0.0).tolist() == [1.0] * 3
    finally:
        globals().update(COUNT=2, SECOND=FIRST)
