"""Lists, tuples, dicts, sets and namedtuples that hold run-time values; comprehensions."""

import collections
import itertools
from typing import NamedTuple

import numpy as np
import pytest

import chainrule as cr
from tests.small_programs import program

X = np.array([0.3, -1.2, 2.0, 0.7])


@program(1.3, 0.4)
def test_list_methods(x, y):
    items = [x]
    items.append(y)
    items.extend([x * y, 2.0])
    items.extend(v for v in (y, x))
    items.insert(1, x + y)
    last = items.pop()
    second = items.pop(1)
    items.reverse()
    copied = items.copy()
    copied.append(5.0)
    items[1:3] = [y, y, y]
    items[0] = last
    del items[-1]
    total = 0.0
    for k, v in enumerate(items):
        total += (k + 1) * v * v
    return total * second + len(copied) * x


@program(1.3, 0.4)
def test_list_operators(x, y):
    items = [x, y] + [x * y] * 2 + list((y,))
    a, b = items[::2], items[-2:]
    c = 3 * [x]
    return sum(a) * sum(b) + len(items) * x + sum(c) + ([x, 1.0][1] == 1.0) * y


@program(1.3)
def test_lists_are_shared(x):
    a = [x]
    b = a
    c = list(a)
    d = [a, a]
    b.append(2 * x)
    d[0][0] = 5 * x
    return sum(a) * len(c) + sum(c) + sum(d[1]) * len(d)


@program(1.3)
def test_lists_known_methods(x):
    names = ["b", "a", "c", "a"]
    position, count = names.index("a"), names.count("a")
    names.remove("a")
    names.sort()
    "".join(names)
    numbers = [3, 1, 2]
    numbers.sort(reverse=True)
    numbers.clear()
    return x * position + x ** count + len(names) * x + len(numbers)


@program(1.3, 0.4)
def test_tuples(x, y):
    t = (x, y) + (2.0,)
    u = t * 2
    a, b, *c = u
    return a * b + sum(c) + t[-1] * u[1] * len(u) + (x, y).count(y) * 3 + ((x, 1), (y, 2))[1][0]


@program(1.3, 0.4)
def test_dict_updates(x, y):
    table = {"a": x, "b": {"c": y}}
    table["d"] = x * y
    table.update({"a": 2 * x}, e=y)
    table.update([("f", x)])
    table |= {"g": 1.0}
    first = table.setdefault("h", y * y)
    again = table.setdefault("a", 100.0)
    taken = table.pop("d")
    gone = table.pop("missing", 3.0)
    del table["g"]
    table["b"]["c"] *= 3
    merged = {**table["b"], "z": x} | {"w": y}
    total = first + again * taken + gone
    for key, value in table.items():
        if key != "b":
            total = total * 1.1 + value
    return (
        total
        + sum(merged.values())
        + len(table) * x
        + table.get("e", 0.0)
        + table.get("no", y)
        + ("a" in table) * x
    )


@program(1.3)
def test_dict_of_every_making(x):
    a = dict(p=x, q=2.0)
    b = dict([("p", x * x), ("r", 3.0)])
    c = dict(zip("uv", [x, 2 * x]))
    d = dict(a, p=5 * x)
    e = {k: v for k, v in c.items() if k != "v"}
    f = dict.fromkeys(["m", "n"], x)
    counts = {}
    for word in "abca":
        counts[word] = counts.get(word, 0) + 1
    return (a["p"] * b["p"] + c["v"] * d["p"] + e["u"] + len(e) * f["m"] + len(f) + counts["a"] * x
            + sum(d.values()) * max(counts.values()))


@program(1.3, 0.4)
def test_dict_keys_of_every_kind(x, y):
    table = {(0, 1): x, 3: y, None: x * y, 2.5: 3.0, True: x + y}
    i, j = 0, 1
    return table[i, j] * table[3] + table[None] + table[2.5] * table[True]


@program(1.3)
def test_dicts_of_lists(x):
    groups = {}
    for k in range(5):
        groups.setdefault(k % 2, []).append(x * k)
    more = collections.defaultdict(list)
    for k in range(4):
        more[k % 2].append(x + k)
    return sum(groups[0]) * sum(groups[1]) + sum(more[0]) * len(more)


@program(1.3)
def test_sets(x):
    seen = set()
    for k in [1, 2, 2, 3]:
        seen.add(k)
    other = {2, 3, 5}
    other.discard(5)
    both = seen & other
    return x * len(seen) + x ** len(both) + sum(seen | {9}) + (2 in seen) * x + len({k % 2 for k in range(5)})


@program(X, 2.0)
def test_list_comprehensions(x, y):
    a = [v * v for v in x]
    b = [v * k for k, v in enumerate(x) if k % 2]
    c = [p * q for p in (x[0], y) for q in (x[1], 2.0) if isinstance(q, float)]
    d = [[x[i] * j for j in range(i + 1)] for i in range(3)]
    e = [v if k else -v for k, v in enumerate(a)]
    f = [i for i in range(10) if i % 2 if i > 3]
    return (sum(a) + sum(b) * sum(c) + sum(sum(row) for row in d) + e[0] * e[1] + len(f) * y
            + [s for s in [x]][0].sum())


@program(X, 2.0)
def test_other_comprehensions(x, y):
    a = {f"k{i}": v * y for i, v in enumerate(x)}
    b = {i % 2: x[i] for i in range(4)}
    c = sum(v * v for v in x if v is not None)
    d = tuple(v + y for v in x)
    e = max(v * y for v in x)
    f = len({i // 2 for i in range(6)})
    g = any(v > 1 for v in x) * y
    h = dict((k, v) for k, v in [("a", x[0])])["a"]
    return a["k2"] * b[0] + c * d[1] + e * f + g + h + ", ".join(str(i) for i in range(3)).count(",") * y


@program(1.5)
def test_comprehension_names_are_its_own(x):
    k = x
    values = [k * 2 for k in range(3)]
    functions = [lambda v: v * k for k in range(1, 4)]
    return k * sum(values) + sum(f(x) for f in functions)


@program(X)
def test_comprehension_over_rows(x):
    m = np.outer(x, x + 1)
    return np.array([row @ x for row in m]) * np.stack([row[::-1] for row in m])


@program(X)
def test_zip_and_star(x):
    pairs = [(v, v * k) for k, v in enumerate(x)]
    firsts, seconds = zip(*pairs)
    table = list(zip("ab", x))
    return sum(firsts) * sum(seconds) + dict(table)["b"] + [*firsts, *seconds][5] * np.array([*x, 1.0]).sum()


@program(X)
def test_itertools(x):
    total = 0.0
    for i, j in itertools.product(range(2), range(3)):
        total += x[i] * x[j]
    for a, b in itertools.combinations(x, 2):
        total += a * b * b
    for v in itertools.chain(x, [1.0, x[0]]):
        total = total * 0.9 + v
    for v in itertools.accumulate(x, lambda a, b: a * b):
        total += v
    for i, j in itertools.permutations(range(3), 2):
        total += x[i] - 2 * x[j]
    for a, b in itertools.pairwise(x):
        total += a * b
    for v, k in zip(x, itertools.count(2)):
        total += v * k
    for a, b in itertools.zip_longest([x[0], x[1]], [2.0], fillvalue=3.0):
        total += a * b
    for v in itertools.islice(x, 1, 3):
        total += v * v
    for v in itertools.repeat(x[0], 3):
        total += v
    for k in itertools.takewhile(lambda k: k < 2, itertools.filterfalse(lambda k: k == 1, range(5))):
        total += x[k]
    return total * next(itertools.dropwhile(lambda pair: pair[0] < 2, enumerate(x)))[1]


@program(X)
def test_iterators(x):
    numbers = iter([1.0, 2.0, 3.0])
    a = next(numbers) * x[0]
    for v in numbers:
        a = a + v * x[1]
    b = next(iter((x[2],)))
    c = next((v for v in [x[3], 5.0] if v is not None), 0.0)
    d = next(numbers, 7.0)
    return a * b + c * d


class Pair(NamedTuple):
    left: float
    right: float = 2.0

    def product(self):
        return self.left * self.right

    @property
    def total(self):
        return self.left + self.right


State = collections.namedtuple("State", ["position", "speed"])


@program(1.3, 0.4)
def test_namedtuples(x, y):
    p = Pair(x)
    q = Pair(right=y, left=x * y)
    r = p._replace(left=y)
    a, b = q
    state = State(x, speed=y)
    for _ in range(3):
        state = State(state.position + 0.1 * state.speed, state.speed - 0.1 * state.position)
    return (p.product() * q.total + r.left * a + b * state.position + state.speed * len(state) + q[0]
            + sum(q._asdict().values()))


@program(1.3)
def test_namedtuple_result(x):
    return Pair(x * x, x + 1)


@program(X, 1.5)
def test_nested_results(x, y):
    return {"a": [x * y, (y, x[0])], "b": None, "c": 3}


@program(X)
def test_result_shares_an_array_twice(x):
    y = x * x
    return y, [y, x], y[1:]


@program([1.5, 2.5])
def test_list_argument(items):
    return items[0] * items[1]


@program({"w": X, "b": 2.0}, (1.0, [X * 2]))
def test_nested_arguments(parameters, rest):
    return parameters["w"] * parameters["b"] + rest[0] * rest[1][0]


@program(X, 3)
def test_slices_as_objects(x, n):
    part = slice(1, n)
    items = [x[0], x[1], x[2], 3.0]
    return x[part] * 2 + sum(items[part]) * len(range(10)[part])


@program(X)
def test_containers_carried_in_a_loop(x):
    pair = (x[0], x)
    table = {"sum": 0.0, "product": 1.0}
    items = [x[1], x[2]]
    for i in range(len(x)):
        pair = (pair[0] * x[i], pair[1] + i)
        table["sum"] += x[i]
        table["product"] *= x[i]
        items[0], items[1] = items[1], items[0] * x[i]
    return pair[0] * pair[1] + table["sum"] * table["product"] + items[0] - items[1]


@program(X)
def test_containers_in_branches(x):
    table = {"a": x[0]}
    items = [x[1]]
    if x[2] > 0:
        table["a"] = x[2] * 2
        items[0] = items[0] * x[0]
        t = (x[0], x[1])
    else:
        table["a"] = x[3]
        t = (x[1], x[0])
    return table["a"] * items[0] + t[0] * 2 * t[1]


@program(X)
def test_stack_and_queue(x):
    stack = [x[0], x[1]]
    queue = collections.deque([x[2], x[3]])
    total = 0.0
    while stack:
        total += stack.pop() * (len(stack) + 1)
    while queue:
        total += queue.popleft() ** 2
    return total


@program(X)
def test_counter_of_known_words(x):
    counts = collections.Counter("abcab")
    return x * counts["a"] + counts["z"]


# lists as tables

KNOTS = [0.1, 0.5, 0.9, 1.4]


@program(X, 1.3)
def test_a_list_read_where_the_data_tell(weights, x):
    levels = (0, 0, 1, 2.5)
    items = [x, x * x, x + 1.0]
    k = 0
    while x > KNOTS[k + 1]:
        k += 1
    return levels[-k] * x + weights[k] * KNOTS[k] * items[k - 2] + k


@program(3.3)
def test_a_list_written_where_the_data_tell(x):
    stack, top, total = [0.0] * 5, 0, 0.0
    while x > 1:
        stack[top] = x
        top, x = top + 1, x * 0.6
    while top > 0:
        top -= 1
        total += stack[top] ** 2
    return total


def test_a_place_outside_of_a_list():
    with pytest.raises(IndexError, match="tuple index out of range"):
        cr.jit(lambda x: (1, 2, 3)[int(x)] * x)(3.5)
    with pytest.raises(cr.ChainruleError, match="an index into a list must be known"):
        cr.jit(lambda x: x if ["a", "b"][int(x)] == "a" else 2 * x)(0.5)
