"""Assignment of every form, and what it does to names, elements and attributes."""
import numpy as np

from tests.small_programs import program

X = np.array([0.3, -1.2, 2.0, 0.7])


@program(1.3, 0.4)
def test_tuple_targets(x, y):
    a, b = x * y, x + y
    (c, d), e = (a, b), x
    [f, g] = [c * d, e]
    a, b = b, a
    return a * f + b * g


@program(X)
def test_unpacking_an_array(x):
    a, b, c, d = x
    (e, f), (g, h) = x.reshape(2, 2)
    return a * b + c * d + e * h - f * g


@program(X, 2.0)
def test_starred_targets(x, y):
    first, *rest = [x[0], y, x[1], x[2]]
    *start, last = rest
    a, *middle, b = (1.0, y, y * y, 3.0)
    return first * sum(start) + last * middle[0] * middle[1] + a + b


@program(1.5)
def test_starred_target_may_be_empty(x):
    first, *rest = [x]
    return first * (len(rest) + 2)


@program(0.7)
def test_starred_array_and_string(x):
    a, *b = "abc"
    c, *d = range(4)
    return x * len(b) + x ** sum(d) + (a == "a") * x


@program(1.2, 0.8)
def test_chained(x, y):
    a = b = c = x * y
    a += 1
    return a * b * c


@program(X)
def test_chained_targets_are_one_array(x):
    a = b = x * 2
    a[0] = 5.0
    return a * b


@program(1.2)
def test_walrus(x):
    y = (z := x * x) + z
    if (w := y * 2) > 1:
        y = y * w
    return y + [t := y * 3, t][1]


@program(1.2)
def test_walrus_in_a_comprehension_is_the_function_s(x):
    values = [(last := x * k) for k in range(4)]
    return sum(values) * last


@program(3.0)
def test_walrus_in_a_while_condition(x):
    total = 0.0
    while (half := x / 2) > 0.1:
        total += half * half
        x = half
    return total


@program(1.2)
def test_annotated(x):
    y: float = x * 3
    z: "unknown" = y * y  # noqa: F821
    w: int
    w = 2
    return z * w


@program(1.4, 0.6)
def test_augmented_scalars(x, y):
    a = x
    a += y
    a -= 0.5
    a *= a
    a /= y
    a **= 2
    a //= 1.0
    a += x * y
    a %= 3.0
    return a


@program(X, np.array([[1.0, 2.0], [3.0, 4.0]]))
def test_augmented_arrays(x, m):
    a = x.copy()
    a += 1
    a *= x
    a -= a[0]
    a /= 2
    a **= 2
    b = m @ m
    b @= m
    return a.sum() * b


@program(np.array([5, 6, 7]), 1.0)
def test_augmented_integers_and_bits(n, x):
    n = n.copy()
    n &= 6
    n |= 1
    n ^= 3
    n <<= 2
    n >>= 1
    n //= 2
    n %= 5
    return n * x


@program(1.1)
def test_augmented_element_and_attribute(x):
    items = [x, 2 * x]
    items[0] *= x
    items[-1] += items[0]
    table = {"a": x}
    table["a"] -= 3 * items[1]
    return table["a"] * items[0]


@program(X)
def test_augmented_index_is_evaluated_once(x):
    count = []

    def position():
        count.append(1)
        return len(count)
    a = x.copy()
    a[position()] += 10 * x[0]
    return a * len(count)


@program(2.0)
def test_list_augmented_is_in_place(x):
    a = [x]
    b = a
    a += [3 * x]
    a *= 2
    return sum(b) * len(b)


@program(X)
def test_array_augmented_is_in_place_and_plain_addition_is_not(x):
    a = x * 1
    b = a
    b += x
    c = b
    c = c + x
    return a * 2 + c


@program(1.3)
def test_del(x):
    y = x * x
    items = [y, x, 3.0]
    table = {"a": x, "b": y}
    del items[0], table["b"]
    del y
    y = x
    return sum(items) * len(table) + y


@program(1.3)
def test_order_of_evaluation(x):
    seen = []

    def note(value):
        seen.append(value)
        return value
    [note(1.0), note(x)][int(note(0.0))] + note(2.0)
    a = note(x) * note(3.0) ** note(2.0)
    return a + sum(k * v for k, v in enumerate(seen))


@program(X)
def test_targets_are_assigned_from_left_to_right(x):
    a = x.copy()
    i = 0
    i, a[i] = 2, 5.0 * x[1]
    return a * i


@program(1.3)
def test_global_and_local_of_one_name(X):  # noqa: N803
    X = X * X  # noqa: N806
    return X + 1


@program(0.9)
def test_a_local_that_shadows_a_builtin(x):
    sum = x * 3
    len = lambda v: v * v
    max, min = x, 2 * x
    abs = [max, min]
    return sum * len(x) + abs[0] * abs[1]


@program(0.9)
def test_a_local_named_like_a_module_in_use(x):
    np = x * 2
    return np * np


@program(0.9, 0.2)
def test_names_of_generated_code(x, y):
    y_bar = x * y
    x_bar, x_dot, y_dot = x + y_bar, x * x, y
    t0 = x_bar * x_dot
    zeros, size = t0 * y_dot, y_bar
    return zeros + size + x_bar


@program(1.0)
def test_unicode_and_keyword_like_names(x):
    α = x * 2
    match, case, type = α, x, 3.0
    return match * case + type


@program(X)
def test_chained_to_element_and_name(x):
    a = x.copy()
    b = a[0] = a[1] = x[2] * x[3]
    return a * b
