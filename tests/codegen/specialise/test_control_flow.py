"""Conditions and loops, and everything that leaves them, on run-time and on known values."""

import functools

import numpy as np
import pytest

import chainrule as cr
from tests.small_programs import check, program

X = np.array([0.3, -1.2, 2.0, 0.7])
M = np.arange(12.0).reshape(3, 4) / 7 - 0.5


# conditions

@pytest.mark.parametrize("x", [-3.0, -0.5, 0.5, 3.0])
def test_if_elif_else(x):
    def f(x):
        if x < -1:
            y = x * x
        elif x < 0:
            y = -x
        elif x < 1:
            pass
            y = x ** 3
        else:
            y = np.sin(x)
            y = y * 2
        return y * x
    check(f, x)


@pytest.mark.parametrize("x", [0.5, 3.0])
def test_if_without_else(x):
    def f(x):
        y = x
        if x > 1:
            y = y * 3
        return y * x
    check(f, x)


@pytest.mark.parametrize("x", [-2.0, 0.5, 3.0])
def test_return_from_anywhere(x):
    def f(x):
        if x < 0:
            return x * 3
        y = x * x
        if y > 4:
            z = y + 1
            return z * y
        return y - x
    check(f, x)


@pytest.mark.parametrize("x", [-2.0, 3.0])
def test_return_in_nested_branches(x):
    def f(x):
        if x > 0:
            if x > 2:
                return x * x
            y = 1.0
        else:
            if x < -1:
                y = x
            else:
                return x * 5
        return y * x
    check(f, x)


@pytest.mark.parametrize("x", [-0.5, 0.4, 2.0])
def test_conditional_expression(x):
    def f(x):
        a = x if x > 0 else -x
        return (a * 2 if a < 1 else a * 3 if a < 1.5 else a ** 2) * x
    check(f, x)


@pytest.mark.parametrize("x", [0.0, 0.5, 2.0])
def test_short_circuit(x):
    def f(x):
        a = x and 1 / x
        b = x or 7.0
        c = x > 1 and np.log(x) > 0.1 or x < 0.1
        return (a + b) * (3 if c else 4)
    check(f, x, derivatives=x != 0)


def test_short_circuit_does_not_evaluate_the_other_side():
    def f(x, n):
        if n < len(x) and x[n] > 0:
            return x.sum() * x[n]
        return x.sum()
    check(f, X, 2)
    check(f, X, 9)


def test_short_circuit_on_a_run_time_index():
    def f(x):
        i = 0
        while i < len(x) and x[i] < 1:
            i += 1
        return x * i
    check(f, X)
    check(f, X - 2)


@program(0.4)
def test_short_circuit_of_known_values(x):
    a = None or x
    b = [] or x * 2
    c = "" or (a and b)
    d = 0 or False or 3
    return c * d


@pytest.mark.parametrize("x", [-0.5, 0.4, 2.2])
def test_chained_comparison(x):
    def f(x):
        y = x if 0 < x < 1 else 2 * x
        if -1 <= x <= y != 4:
            y = y * x
        return y * (3 if not 0 < x <= y else 5)
    check(f, x)


def test_chained_comparison_evaluates_once():
    def f(x):
        calls = []

        def middle():
            calls.append(1)
            return x
        ok = 0 < middle() < 10
        return x * len(calls) * (2 if ok else 3)
    check(f, 1.5)


@program(1.5, np.float32(2.5))
def test_identity_and_membership(x, y):
    a = None
    total = x
    if a is None and x is not None:
        total = total * 2
    if "k" in {"k": x} and 3 not in [1, 2] and "b" in "abc":
        total = total * float(y)
    if 2.0 in (x, 2.0):
        total = total + 1
    return total


@program(X)
def test_condition_of_an_array_of_one_element(x):
    if x[:1] > 0:
        return x * 2
    return x


@program(X)
def test_any_and_all_as_conditions(x):
    if (x > 1).any() and not np.all(x > 0):
        x = x * 3
    if any(v > 5 for v in x) or all([v > -2 for v in x]):
        x = x * x
    return x


@program(X, 2)
def test_condition_on_an_int_argument(x, n):
    if n == 2:
        return x * n
    return x


@program(1.0, True)
def test_condition_on_a_bool_argument(x, flag):
    return x * 3 if flag else x * 4


@program(1.0, "square")
def test_condition_on_a_string_argument(x, mode):
    return x * x if mode == "square" else x


@program(1.0, None)
def test_condition_on_none(x, scale):
    scale = 2.0 if scale is None else scale
    return x * scale


# for

@program(X, 5)
def test_for_over_ranges(x, n):
    total = 0.0
    for i in range(n):
        total = total + x * i
    for i in range(1, n - 1):
        total = total * 1.1 + i
    for i in range(n, 0, -2):
        total = total - x ** 2 * i
    for _ in range(0):
        total = total * 100
    return total


@program(M)
def test_for_over_an_array(m):
    total = 0.0
    for row in m:
        for v in row:
            total = total * 0.5 + v * v
    return total


@program(1.5, X)
def test_for_over_static_iterables(x, v):
    total = x
    for k in (1, 2.5, x):
        total = total * k
    for name, scale in {"a": 2.0, "b": x}.items():
        total = total + scale * len(name)
    for letter in "abc":
        total = total * (2 if letter == "b" else 1)
    for f in [np.sin, lambda t: t * t, abs]:
        total = f(total)
    for key in {"u": 1, "w": 2}:
        total += v[{"u": 0, "w": 1}[key]]
    return total


@program(X, M)
def test_enumerate_zip_reversed(x, m):
    total = 0.0
    for i, v in enumerate(x):
        total += i * v
    for i, v in enumerate(x, start=3):
        total -= i * v * v
    for a, b in zip(x, m[0]):
        total += a * b
    for i, (a, row) in enumerate(zip(x, m)):
        total += a * row[i]
    for v in reversed(x):
        total = total * 0.9 + v
    for i in reversed(range(3)):
        total = total + x[i] ** (i + 1)
    for a, b, c in zip(x, range(10), [1.0, 2.0]):
        total += a * b * c
    return total


@program(X, 1.5)
def test_builtins_over_values(x, y):
    values = [v * y for v in x]
    a = sum(values) + sum(x) + sum([y, 1], 2.0) + sum(values, start=y)
    b = min(values) * max(values) + max(y, 2.0) + min(x) - max(x) + min(3, 4)
    c = abs(x[1]) + abs(y) + len(x) + len(values)
    d = sum(map(lambda v: v * v, x)) + sum(map(lambda p, q: p * q, x, values))
    e = len(list(filter(None, [1, 0, 2]))) * y + sum(filter(lambda k: k > 1, [1, 2, 3]))
    f = sorted(values)[0] * sorted(values, reverse=True)[0] + sorted([3, 1, 2])[0]
    g = y if any([False, y > 1]) and all([True, y < 2]) else 0.0
    return a + b + c + d + e + f + g


@program(X)
def test_min_and_max_with_key_and_default(x):
    a = max(x[0], x[1], key=lambda v: v * v)
    b = min([x[2], x[3]], key=abs)
    c = max([], default=3.0)
    d = min((3, "b"), (2, "a"))[0]
    return a * b * c * d


@program(X)
def test_sorted_with_key(x):
    pairs = sorted({"b": x[0], "a": x[1]}.items(), key=lambda p: p[0])
    words = sorted(["ccc", "a", "bb"], key=len, reverse=True)
    return pairs[0][1] * 2 + pairs[1][1] * len(words[0])


@program(2.3, -0.7)
def test_numbers(x, y):
    q, r = divmod(x, 0.7)
    return (
        pow(x, 2) + pow(x, y) + round(x) * y + round(y, 1) + q * x + r * y + float(x) * int(x) + bool(y) * x
    )


# while, break, continue, else

def newton(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


@pytest.mark.parametrize("a", [0.5, 2.0, 9.0])
def test_while(a):
    check(newton, a)


@pytest.mark.parametrize("x", [0.5, 3.0, 20.0])
def test_while_true_with_break_and_continue(x):
    def f(x):
        total, k = 0.0, 0
        while True:
            k += 1
            if k % 2:
                x = x * 0.7
                continue
            total += x * k
            if x < 1:
                break
        return total * x
    check(f, x)


@pytest.mark.parametrize("limit", [-10.0, 0.0, 1.0, 10.0])
def test_for_with_break_and_else(limit):
    def f(x, limit):
        total = 0.0
        for i, v in enumerate(x):
            if v > limit:
                total = total * v
                break
            total = total + v * v * (i + 1)
        else:
            total = total + 100.0 * x[0]
        return total
    check(f, X, limit)


@pytest.mark.parametrize("x", [0.1, 1.0, 4.0])
def test_while_else(x):
    def f(x):
        y, k = x, 0
        while k < 4:
            y = y * 1.3
            k += 1
            if y > 3:
                y = y + x
                break
        else:
            y = -y
        return y * x
    check(f, x)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_trip_counts(n):
    def f(x, n):
        before = x
        y = x
        for i in range(n):
            before = y
            y = y * x + i
        return y + before
    check(f, 1.3, n)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_trip_counts_at_run_time(n):
    def f(x, n):
        y = x
        k = n * 1.0
        while k > 0.5:
            z = y
            y = y * x + z
            k -= 1
        return y
    check(f, 1.3, n)


@pytest.mark.parametrize("x", [0.3, 1.0, 3.0])
def test_return_from_nested_loops(x):
    def f(x):
        total = 0.0
        for i in range(4):
            for j in range(3):
                if i == j:
                    continue
                total = total + x * (i + 1) / (j + 1)
                if total > 6:
                    return total * x
            else:
                total = total * 1.1
        return -total
    check(f, x)


@pytest.mark.parametrize("x", [0.3, 1.1, 3.0])
def test_break_in_nested_loops(x):
    def f(x):
        total, count = x, 0
        for i in range(5):
            y = x * (i + 1)
            while y > 0.2:
                y = y / 2
                if y < 0.5:
                    break
                total = total + y * y
                count += 1
            if total > 20:
                break
        return total * (count + 1) + y + i
    check(f, x)


@program(1.2)
def test_loop_variable_after_the_loop(x):
    for i in range(4):
        y = x * i
    for k in (1.0, x):
        pass
    return y + i * x + k


@program(1.2)
def test_loop_variable_assigned_in_the_loop(x):
    total = 0.0
    for i in range(4):
        i = i * 2
        total = total + x ** i
    return total * i


@program(1.1)
def test_value_overwritten_after_use(x):
    y = x
    for i in range(3):
        a = y * x
        b = a * a
        a = b + x
        y = a * 0.1
    return y * b


@program(X)
def test_values_read_before_in_and_after_a_loop(x):
    a = x * x
    early = a.sum()
    for i in range(3):
        b = a * x
        a = b + early
    return a * b + early


@program(1.3, 0.2)
def test_names_swapped_in_a_loop(x, y):
    a, b = x, y
    for i in range(5):
        a, b = b, a * b + 1
    return a - 2 * b


@program(0.4)
def test_static_loop_unrolls_where_its_index_is_needed(x):
    items = [x, x * x, 3.0]
    total = 0.0
    for i in range(len(items)):
        total = total + items[i] * {0: 1.0, 1: 2.0, 2: x}[i]
    return total


@program(X)
def test_shape_changes_in_a_loop(x):
    while x.shape[0] > 1:
        x = x[:-1] * x[1:]
    return x


@program(X)
def test_rank_changes_in_a_loop(x):
    for k in range(3):
        x = np.stack([x, x * 2])
    return x


@program(X)
def test_value_of_first_iteration_only(x):
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return best * best


@program(X)
def test_carried_int_becomes_float(x):
    total = 0
    for v in x:
        total = total + v
    return total * 2


@pytest.mark.parametrize("x", [0.5, 2.0])
def test_name_assigned_in_one_branch_only(x):
    def f(x):
        if x > 1:
            y = x * 2
        z = x
        if x > 1:
            z = y * x
        return z
    check(f, x)


def test_unassigned_name_is_python_s_error():
    def f(x):
        if x > 1:
            y = x * 2
        return y
    check(f, 2.0)
    import chainrule as cr
    with pytest.raises(UnboundLocalError, match="'y'"):
        cr.grad(f)(0.5)


# statements without a value

@program(1.2)
def test_pass_assert_and_expression_statements(x):
    """A docstring."""
    pass
    assert x > 0
    assert x < 5, f"too large: {x}"
    x * 3
    "text"
    ...
    return x * x


def test_assert_fails_as_in_python():
    import chainrule as cr

    def f(x):
        assert x > 0, "positive"
        return x * x
    with pytest.raises(AssertionError, match="positive"):
        cr.grad(f)(-1.0)


def test_raise():
    import chainrule as cr

    def f(x, mode):
        if mode == "bad":
            raise ValueError(f"no mode {mode}")
        if x < 0:
            raise ValueError("negative")
        if x > 10:
            raise OverflowError
        return x * x
    check(f, 2.0, "good")
    with pytest.raises(ValueError, match="no mode bad"):
        cr.grad(f)(2.0, "bad")
    with pytest.raises(ValueError, match="negative"):
        cr.grad(f)(-2.0, "good")
    with pytest.raises(OverflowError):
        cr.grad(f)(20.0, "good")


def test_raise_on_every_path():
    import chainrule as cr

    def f(x):
        if x < 0:
            raise ValueError("negative")
        else:
            raise KeyError("positive")

    def g(x):
        while x > 0:
            raise ArithmeticError("not so")
        return x * x
    for transform in (cr.jit, cr.grad):
        with pytest.raises(ValueError, match="negative"):
            transform(f)(-1.0)
        with pytest.raises(KeyError, match="positive"):
            transform(f)(1.0)
        with pytest.raises(ArithmeticError, match="not so"):
            transform(g)(1.0)
    assert cr.grad(g)(-3.0) == -6.0


def test_raise_in_a_loop():
    import chainrule as cr

    def f(x):
        for i in range(5):
            x = x * 2
            if x > 10:
                raise ArithmeticError("too large")
        return x
    check(f, 0.1)
    with pytest.raises(ArithmeticError, match="too large"):
        cr.grad(f)(1.0)


def test_print(capsys):
    import chainrule as cr

    def f(x):
        print("value", x, sep=": ")
        for i in range(2):
            print(f"{i}", end=";")
        return x * x
    cr.grad(f)(2.0)
    assert capsys.readouterr().out == "value: 2.0\n0;1;"


@program(X)
def test_reduce_over_values(x):
    return functools.reduce(lambda a, b: a * b + 1, x) + functools.reduce(
        lambda a, b: a + b, [x[0], 2.0], x[1]
    )


@program(1.5)
def test_known_conditions_choose_when_specialising(x):
    if len([1, 2]) == 3:
        x = undefined_name(x)  # noqa: F821
    return x * (2 if isinstance(x, float) else 3)


@program(X)
def test_while_over_a_length(x):
    k = 0
    while k < len(x):
        x = x + k
        k += 1
    return x * k


@program(2.0)
def test_try_of_known_values(x):
    try:
        n = int("3")
    except ValueError:
        n = 0
    try:
        m = {"a": 1}["b"]
    except KeyError:
        m = 5
    finally:
        x = x * 2
    return x * n * m


def element_or_not(x, flag):
    y = 0.0
    if flag > 0:
        y = x[5]
    return y + np.sum(x)


def product_or_not(x, flag):
    y = np.zeros(2)
    if flag > 0:
        y = x * np.ones(7)
    return np.sum(y) + np.sum(x)


def entry_or_not(x, flag):
    table = {"a": x}
    return np.sum(table["b"]) if flag > 0 else np.sum(table["a"])


@pytest.mark.parametrize("function", [element_or_not, product_or_not, entry_or_not])
@pytest.mark.parametrize("made", [cr.jit, cr.value_and_grad, lambda f: cr.jit(cr.value_and_grad(f))])
def test_a_mistake_counts_only_where_it_is_made(function, made):
    x = np.ones(2)
    result = made(function)(x, -1.0)
    assert (result[0] if isinstance(result, tuple) else result) == function(x, -1.0)
    with pytest.raises((IndexError, ValueError, KeyError)) as wanted:
        function(x, 1.0)
    with pytest.raises(wanted.type) as found:
        made(function)(x, 1.0)
    assert str(wanted.value).strip() in str(found.value)


def test_a_name_first_assigned_in_a_loop_within_a_loop():
    def f(w):
        total = 0.0
        for i in range(1, 4):
            x = 0.3 * i
            while True:
                slope = 2 * x
                x -= (x * x - w) / slope
                if abs(x * x - w) < 1e-12:
                    break
            for k in range(i):
                if k == 0:
                    first = x * i
            total += slope * first
        return total
    check(f, 2.0)


def test_a_name_that_every_turn_assigns():
    def last(x):
        for k in range(len(x)):
            y = x[k] * k
        return y

    def counted(x, n):
        for k in range(n):
            y = x[k] * k
        return y

    check(last, X)
    assert "UnboundLocalError" not in cr.source(cr.grad(last))(X)
    assert "    if n <= 0:\n        raise UnboundLocalError" in cr.source(counted)(X, 2)
    with pytest.raises(UnboundLocalError, match="'y' where it is not associated with a value"):
        cr.jit(counted)(X, 0)


@pytest.mark.parametrize("made", [cr.jit, cr.grad, lambda f: cr.jit(cr.grad(f))])
def test_an_exception_whose_class_has_a_value(made):
    def f(x):
        if x > 1:
            raise StopIteration
        return x

    made(f)(0.5)
    with pytest.raises(StopIteration):
        made(f)(2.0)
