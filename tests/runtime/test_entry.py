"""The short way into a program: it recognises what its program was made for, and declines all else."""

import collections
import dataclasses
import math

import numpy as np
import pytest

import chainrule as cr
from chainrule.runtime.entry import OTHER

Pair = collections.namedtuple("Pair", "left right")
scale, count, mode, table, data = 2.0, 3, "sum", {"k": 1.5}, np.array([1.0, 2.0, 3.0])


@dataclasses.dataclass
class Layer:
    w: np.ndarray
    b: float


class Model:
    slope = 2.0

    def line(self, x):
        return self.slope * x


def flat(result):
    """The numbers of a result, with their types."""
    leaves, structure = cr.tree.flatten(result)
    return [(type(leaf), np.asarray(leaf).dtype, np.asarray(leaf).tolist()) for leaf in leaves], structure


def recognised(f, *arguments, **keywords):
    """Whether a call goes the short way; its result is then that of the general way."""
    general = f.general(arguments, keywords)
    found = [r for r in (entry.enter(arguments, keywords) for entry in f.entries) if r is not OTHER]
    assert all(flat(result) == flat(general) for result in found)
    return bool(found)


ARGUMENTS = [
    (1.5,), (2,), (1j,), (np.float64(2.0),), (np.float32(2.0),), (np.array(2.0),), (np.ones(3),),
    (np.ones(1),), (np.zeros(0),), (np.ones((2, 3)),), (np.ones((2, 3), order="F"),), (np.ones(6)[::2],),
    (np.ones(3, np.float32),), (np.arange(3),), (np.array([True, False]),), (np.ones(3, "c8"),),
]  # fmt: skip


@pytest.mark.parametrize("transform", [lambda f: cr.vmap(f, None, None, axis_size=1), cr.jit])
@pytest.mark.parametrize("arguments", ARGUMENTS, ids=str)
def test_each_kind_of_argument(transform, arguments):
    f = transform(lambda x: x * 2)
    expected = arguments[0] * 2
    for _ in range(3):
        result = f(*arguments)
        assert type(result) is type(expected) and np.asarray(result).dtype == np.asarray(expected).dtype
        np.testing.assert_array_equal(result, expected)
    assert recognised(f, *arguments)


def test_each_kind_after_each_other():
    f = cr.jit(lambda x: x * 2)
    for _ in range(2):
        for (x,) in ARGUMENTS:
            result = f(x)
            assert type(result) is type(x * 2)
            np.testing.assert_array_equal(result, x * 2)
    assert len(f.entries) <= 4


@pytest.mark.parametrize("changed", [
    (np.ones(4, np.float32), 1.0), (np.ones(1), 1.0), (np.ones(8)[::2], 1.0), (np.ones((2, 2)), 1.0),
    (np.ones(4, ">f8"), 1.0), (1.0, 1.0), (np.ones(4), 1), (np.ones(4), np.float64(1.0)), (np.ones(4),),
    (np.ones(4), 1.0, 2.0), (np.ones(4).view(np.matrix), 1.0), (np.zeros(0), 1.0), ([1.0], 1.0),
], ids=str)  # fmt: skip
def test_what_it_declines(changed):
    f = cr.jit(lambda *values: sum(np.sum(v) for v in values if not isinstance(v, list)))
    f(np.ones(4), 1.0)
    (entry,) = f.entries
    assert entry.enter((np.ones(5), 2.0), {}) == 7.0
    assert entry.enter(changed, {}) is OTHER


def test_structures():
    def f(p, q, r, *, k):
        return {"z": p["b"] * k, "a": (q.left, [q.right[0] * 2], None), "layer": r.w + r.b}, p["a"], "text", 3

    def arguments():
        return {"b": np.ones(2), "a": 1.0}, Pair(2.0, (np.ones(3), None)), Layer(np.ones(2), 3.0)

    jitted = cr.jit(f)
    for _ in range(3):
        result = jitted(*arguments(), k=2.0)
        assert list(result[0]) == ["z", "a", "layer"] and result[2:] == ("text", 3)
        assert flat(result) == flat(f(*arguments(), k=2.0))
    assert recognised(jitted, *arguments(), k=2.0)
    p, q, r = arguments()
    for other in (({"a": 1.0, "b": np.ones(2)}, q, r), (p, tuple(q), r), (p, q, (r.w, r.b)), (p, q)):
        assert jitted.entries[0].enter(other, {"k": 2.0}) is OTHER
    assert jitted.entries[0].enter((p, q, r), {"k": 2}) is OTHER
    assert jitted.entries[0].enter((p, q, r), {"j": 2.0}) is OTHER
    assert jitted.entries[0].enter((p, q, r), {}) is OTHER


def test_static_arguments():
    f = cr.jit(
        lambda x, n, how, shape: (x * n if how == "times" else x + n) + sum(shape), static_argnums=(1, -1)
    )
    for _ in range(2):
        for n in (2, 3):
            assert f(1.0, n, "times", (n, 1)) == n + n + 1
            assert f(1.0, n, "plus", (n, 1)) == 1 + n + n + 1
    assert recognised(f, 1.0, 2, "times", (2, 1))
    assert f(1.0, True, "times", (2, 1)) == 4.0
    g = cr.jit(lambda x, flag: x if flag else -x)
    assert (g(1.0, True), g(1.0, False), g(1.0, True)) == (1.0, -1.0, 1.0)
    assert recognised(g, 1.0, False)


def test_known_integers_and_sizes():
    f = cr.jit(lambda x, n: sum(x[k] for k in range(len(x))) + len([0.0 for _ in range(n)]))
    for _ in range(2):
        for size, n in ((2, 3), (3, 2), (2, 2)):
            assert f(np.ones(size), n) == size + n


def uses(x):
    return scale * x + count * table["k"] * np.sum(data) + (1 if mode == "sum" else 2)


def expected(x):
    return scale * x + count * table["k"] * data.sum() + (1 if mode == "sum" else 2)


def test_every_change_outside_is_seen(monkeypatch):
    f = cr.jit(uses)
    module = globals()

    def check():
        assert f(1.5) == expected(1.5)
        assert f(1.5) == expected(1.5)
        assert recognised(f, 1.5)

    check()
    changes = {
        "scale": [5.0, 2, np.float64(3.0)],
        "count": [4, 2.5],
        "mode": ["mean"],
        "table": [{"k": 2.0, "j": 1}],
        "data": [np.ones(5), np.ones(1), np.ones((2, 2)), np.ones(3, np.float32), np.ones(4)[::2]],
    }
    for name, values in changes.items():
        for value in values:
            monkeypatch.setitem(module, name, value)
            check()
    monkeypatch.setitem(module["table"], "k", 7.0)
    check()
    module["data"][0] = 9.0
    check()


def test_methods_closures_and_code(monkeypatch):
    model, factor = Model(), 3.0

    helper = lambda x: x * factor

    def f(x):
        return helper(model.line(x))

    jitted = cr.jit(f)
    assert jitted(1.0) == 6.0 and recognised(jitted, 1.0)
    factor = 4.0
    assert jitted(1.0) == 8.0
    model.slope = 5.0
    assert jitted(1.0) == 20.0 and jitted(1.0) == 20.0
    monkeypatch.setattr(Model, "line", lambda self, x: x)
    assert jitted(1.0) == 4.0 and jitted(1.0) == 4.0
    helper = lambda x: x - 1.0
    assert jitted(1.0) == 0.0 and jitted(1.0) == 0.0


def test_errors_and_sizes_that_differ():
    def f(x, y):
        if x[0] > 1.0:
            raise ValueError("too large")
        return np.sum(x * y)

    jitted = cr.jit(f)
    for _ in range(2):
        assert jitted(np.ones(3), np.ones(3)) == 3.0
        with pytest.raises(ValueError, match=r"\(3,\) \(4,\)"):
            jitted(np.ones(3), np.ones(4))
        with pytest.raises(ValueError, match="too large") as caught:
            jitted(np.full(3, 2.0), np.ones(3))
        assert "test_entry.py" in str(caught.value) + "".join(getattr(caught.value, "__notes__", ()))


def test_writes_and_two_names_for_one_array():
    def f(x, y):
        x[0] = 7.0
        return x, np.sum(y)

    jitted = cr.jit(f)
    for _ in range(2):
        x, y = np.ones(3), np.ones(3)
        returned, total = jitted(x, y)
        assert returned[0] == x[0] == 7.0 and total == 3.0
    with pytest.raises(ValueError, match="shares memory"):
        jitted(x, x)


def test_a_function_of_nothing():
    f = cr.jit(lambda: math.pi * scale)
    assert f() == f() == math.pi * scale and recognised(f)
    with pytest.raises(TypeError):
        f(1.0)


def test_other_modes_are_not_passed_by():
    f = cr.jit(lambda x: np.log(x))
    f(1.0), f(1.0)
    with cr.debug.nans(), pytest.raises(cr.debug.NotFiniteError):
        f(-1.0)


def test_arrays_without_axes_are_numbers_in_a_program():
    def summed(n, x):
        total = 0.0
        for i in range(n):
            total = total + x[i] * x[i]
        return total

    compiled, x = cr.jit(summed), np.arange(4.0)
    for _ in range(2):
        assert compiled(np.array(3), x) == 5.0
    np.testing.assert_array_equal(cr.jit(cr.grad(summed, argnums=1))(np.array(3), x), [0.0, 2.0, 4.0, 0.0])
