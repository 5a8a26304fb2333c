"""Lists that grow in a loop whose length is known only at run time."""
import numpy as np
import pytest

import chainrule as cr
from chainrule.codegen.errors import UnsupportedError
from tests.small_programs import check, program, refused

X = np.array([0.3, -1.2, 2.0, 0.7])


@pytest.mark.parametrize("x", [200.0, 60.0, 1.3])
def test_append_in_a_while_loop(x):
    def f(x):
        out = []
        while x < 100:
            out.append(x * x)
            x = x * 1.2
        return np.sum(np.array(out) ** 2) * len(out)
    check(f, x)


@program(1.3)
def test_items_are_read(x):
    out = [x, 2.0]
    while out[-1] < 50:
        out.append(out[-1] * 1.3 + out[-2] * out[0])
    return out[3] * out[-1] + sum(out) * len(out) + max(out) - min(out)


@program(1.3)
def test_items_are_looped_over(x):
    out = []
    while x < 20:
        out.append(x)
        x = x * 1.5
    total = 0.0
    for v in out:
        total += v * v
    for i, v in enumerate(out):
        total += i * v
    for a, b in zip(out, reversed(out)):
        total += a * b
    for i in range(len(out)):
        total *= 1 + out[i] * 0.01
    return total


@program(X)
def test_arrays_as_items(x):
    rows = []
    while np.sum(x) < 40:
        rows.append(x * 2)
        x = x + np.abs(x)
    return np.stack(rows) * rows[0] + np.array(rows)[-1] + np.concatenate(rows)[:4] + np.vstack(rows).sum()


@program(X, 40)
def test_append_in_a_range_of_run_time_length(x, n):
    out = []
    for i in range(n):
        out.append(x[i % 4] * i)
    return np.array(out) * len(out)


@program(np.linspace(0.0, 1.0, 50))
def test_append_while_looping_over_an_array(x):
    out = [1.0]
    for v in x:
        out.append(out[-1] * v + 1)
    return np.array(out)


@pytest.mark.parametrize("limit", [-1.0, 0.5, 5.0])
def test_append_until_break(limit):
    def f(x, limit):
        out = []
        for v in x:
            if v > limit:
                break
            out.append(v * v)
        return np.sum(np.array(out)) * x + len(out)
    check(f, X, limit)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_append_under_a_condition(sign):
    def f(x):
        out = []
        for i in range(4):
            if x[i] > 0:
                out.append(x[i] * i)
        return np.array(out).sum() * x * len(out)
    check(f, X * sign)


@program(1.3)
def test_stack_of_unknown_depth(x):
    todo = [x]
    total = 0.0
    while todo:
        v = todo.pop()
        total += v * v
        if v < 4:
            todo.append(v * 2)
            if v < 2:
                todo.append(v * 3)
    return total


@program(1.3)
def test_items_are_replaced(x):
    out = [x, x]
    while out[-1] < 30:
        out.append(out[-1] * 2)
        out[0] = out[0] + out[-1]
        out[-2] *= 0.5
    return np.array(out)


@program(1.3)
def test_copies_and_sums_of_lists(x):
    out = [x]
    while out[-1] < 10:
        out = out + [out[-1] * 2]
        out += [out[-1] + 1.0]
        out.extend([x, out[-1]])
    other = out.copy()
    other.append(x)
    tail = out[1:]
    tail.append(x * 7)
    return sum(out) + len(other) * other[-1] + len(tail) * tail[-1] * tail[0]


@program(1.3)
def test_items_become_inexact(x):
    out = [1]
    while out[-1] < 20:
        out.append(out[-1] * x)
    return np.array(out)


class History:
    def __init__(self):
        self.values = []

    def note(self, v):
        self.values.append(v)


@program(1.3)
def test_a_list_in_an_object(x):
    history, alias = History(), {"h": []}
    while x < 30:
        history.note(x)
        alias["h"].append(x * x)
        x = x * 1.7
    return np.array(history.values) * np.array(alias["h"])


@program(X)
def test_nested_lists(x):
    out = []
    while x[0] < 10:
        row = []
        for v in x:
            row.append(v * 2)
        out.append(np.array(row))
        x = x + 1.5
    return np.array(out)


@program(1.2)
def test_two_lists_and_break(x):
    xs, ys = [x], []
    for i in range(100):
        y = xs[-1] * 1.1
        ys.append(y)
        if y > 5:
            break
        xs.append(y + 0.1)
    return np.array(xs).sum() * np.array(ys).sum() + len(xs)


@program(1.2)
def test_nested_growth(x):
    out = []
    while x < 10:
        y = x
        while y < 5:
            out.append(y)
            y = y * 2
        x = x * 1.4
    return np.sum(np.array(out) * np.arange(len(out)))


@program(1.2)
def test_clear(x):
    out = []
    total = 0.0
    while x < 30:
        out.append(x)
        if len(out) == 3:
            total = total + sum(out)
            out.clear()
        x = x * 1.3
    return total + sum(out)


@program(1.2)
def test_new_list_each(x):
    total = 0.0
    while x < 30:
        out = []
        y = x
        while y < 40:
            out.append(y)
            y = y * 2
        total = total + sum(out) * len(out)
        x = x * 1.3
    return total


@program(1.2)
def test_func(x):
    def collect(v):
        res = []
        while v < 20:
            res.append(v)
            v = v * 1.5
        return res
    a, b = collect(x), collect(x * 2)
    return np.dot(np.array(a)[:3], np.array(b)[:3]) + max(a) * min(b)


@program(1.2)
def test_mean(x):
    out = []
    while x < 10:
        out.append(x)
        x = x * 2
    return np.mean(out) + np.std(out) + np.max(out) + np.sum(out)


@program(X, 3)
def test_a_short_loop_of_known_length_gives_a_list_of_known_length(x, n):
    out = []
    for i in range(n):
        out.append({"v": x[i]})
    return out, [v["v"] * 2 for v in out]


def test_a_list_is_returned_where_the_loop_can_be_unrolled():
    def f(x, n):
        out = []
        for i in range(n):
            out.append(x * i)
        return out
    values, pull = cr.vjp(lambda x: f(x, 40), 2.0)
    assert values == [2.0 * i for i in range(40)]
    assert pull([1.0] * 40) == (780.0,)


def test_errors_are_python_s():
    def f(x):
        out = []
        while x < 10:
            out.append(x)
            x = x * 2
        return out[3] + out[-1]
    assert cr.grad(f)(1.0) == 16.0
    with pytest.raises(IndexError, match="list index out of range"):
        cr.grad(f)(5.0)

    def g(x):
        out = [x]
        while x < 10:
            x = x + out.pop()
        return x
    with pytest.raises(IndexError, match="pop from empty list"):
        cr.grad(g)(1.0)


@refused("returning a list whose length is known only at run time", "return np.array of the list", 1.0,
         transform=lambda f: lambda x: cr.vjp(f, x))
def test_returned_list(x):
    out = []
    while x < 10:
        out.append(x)
        x = x * 2
    return out  # here


@refused("sort() of a list whose length is known only at run time", "make an array of the list", 1.0)
def test_other_methods(x):
    out = []
    while x < 10:
        out.append(x)
        x = x * 2
    out.sort()  # here
    return out[0]


def test_items_of_several_types_are_refused():
    def f(x):
        out = []
        while x < 10:
            out.append((x, "a"))
            x = x * 2
        return out[0][0]
    with pytest.raises(UnsupportedError, match="keep one structure of values"):
        cr.grad(f)(1.0)
