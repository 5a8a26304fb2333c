"""Names that share arrays, lists and objects, or come to share them in branches and loops."""
import collections
from dataclasses import dataclass

import numpy as np

import chainrule as cr
from tests.small_programs import program, refused

X = np.array([0.3, -1.2, 2.0, 0.7])
M = np.arange(12.0).reshape(3, 4) / 7 - 0.5


class P:
    def __init__(self, v):
        self.v = v


@dataclass
class D:
    v: float


@program(X)
def test_alias_in_branch(x):
    if x[0] > 0:
        a = b = x.copy()
    else:
        a = b = x * 2
    a[0] = 5.0
    return a * b


@program(X)
def test_list_alias_loop(x):
    a = [x[0], x[1]]
    b = a
    for i in range(3):
        a = [a[1], a[0] * x[i]]
        b[0] = b[0] * 2
    return a[0] * b[0] + a[1] * b[1]


@program(X)
def test_list_swap_loop(x):
    a, b = [x[0]], [x[1]]
    for i in range(3):
        a[0] = a[0] * x[2] + b[0]
        a, b = b, a
    return a[0] * 2 + b[0]


@program(X)
def test_list_become_same_in_loop(x):
    a, b = [x[0]], [x[1]]
    for i in range(3):
        a = b
        a[0] = a[0] * 2
    return a[0] + b[0] * 3


@program(X)
def test_object_swap_loop(x):
    a, b = D(x[0]), D(x[1])
    for i in range(3):
        a.v = a.v * x[2] + b.v
        a, b = b, a
    return a.v * 2 + b.v


@program(X)
def test_object_become_same(x):
    a, b = D(x[0]), D(x[1])
    for i in range(3):
        a = b
        a.v = a.v * 2
    return a.v + b.v * 3


@program(X)
def test_plain_object_rebound_while(x):
    a = P(x[0])
    while a.v < 10.0:
        a = P(a.v * 2 + x[2])
    return a.v * x


@program(X)
def test_branch_returns_list(x):
    def pick(t):
        if t > 0:
            return [t, t * 2]
        return [t * 3, t]
    a, b = pick(x[0]), pick(x[1])
    a[0] = 7.0
    a.append(x[2])
    return sum(a) * sum(b)


@program(X)
def test_branch_list_append_after(x):
    items = [x[0]]
    if x[1] > 0:
        items = items + [x[1]]
        items = items[:1]
    else:
        items = [x[2]]
    items.append(x[3])
    return items[0] * items[1]


@program(X)
def test_append_in_one_branch(x):
    items = [x[0]]
    if x[1] < 0:
        items.append(x[1])
    else:
        items.append(x[2])
    return items[0] * items[1]


@program(X)
def test_nonlocal_in_branch_and_loop(x):
    total = x[0]
    def add(v):
        nonlocal total
        if v > 0:
            total = total * v
        else:
            total = total - v
    for i in range(4):
        add(x[i])
    return total


@program(X)
def test_while_with_list_state(x):
    state = [x[0], 0]
    while state[1] < 4 and state[0] < 50.0:
        state[0] = state[0] * 2 + x[1] ** 2
        state[1] += 1
    return state[0] * state[1]


@program(X)
def test_dict_changed_in_while(x):
    s = {"v": x[0], "n": 0}
    while s["v"] < 10.0:
        s = {"v": s["v"] * 2 + 1.0, "n": s["n"] + 1}
    return s["v"] * s["n"]


@program(X)
def test_view_in_list_then_write(x):
    a = x.copy()
    views = [a[i:i + 2] for i in range(3)]
    for v in views:
        v *= 2
    a[0] = views[0][1]
    return a * views[2].sum()


@program(X)
def test_argument_aliases(x):
    y = x
    z = np.asarray(x)
    y2 = y * 1
    z2 = np.array(x)
    z2[0] = 5.0
    return y * z * y2 + z2


@program(X)
def test_asarray_is_alias(x):
    a = x.copy()
    b = np.asarray(a)
    c = np.atleast_1d(a)
    d = np.ascontiguousarray(a)
    b[0] = 5.0
    c[1] = 6.0
    d[2] = 7.0
    return a * x


@program(M)
def test_views_functions(m):
    a = m.copy()
    np.flip(a, 0)[0] = 1.0
    np.rot90(a)[0, 0] = 2.0
    np.atleast_3d(a)[1, 1, 0] = 3.0
    for part in np.split(a, 2, axis=1):
        part[0] *= 2
    np.array_split(a, 3)[1][0, 0] = 9.0
    np.rollaxis(a, 1)[0, 0] = 4.0
    np.fliplr(a)[2, 0] = 8.0
    return a * m


@program(M)
def test_copy_functions(m):
    a = m.copy()
    copies = (
        np.roll(a, 1),
        np.tile(a, (1, 1)),
        np.repeat(a, 1, axis=0),
        np.concatenate([a]),
        np.array(a),
        a.flatten(),
        a.astype(float),
        np.where(a > 0, a, a),
        np.sort(a),
        np.take(a, [0], axis=0),
        np.tril(a),
        np.pad(a, 0),
        np.stack([a])[0],
        np.abs(a),
        np.clip(a, -9, 9),
        np.copy(a),
        np.diag(a[0]),
        +a,
        a[[0, 1, 2]],
        np.maximum(a, a),
        np.cumsum(a),
        np.full((3,), a[0, 0]),
        np.full_like(a, 1.0),
        np.zeros_like(a),
        np.vstack([a]),
        np.broadcast_to(a, (2, 3, 4)).copy(),
        np.meshgrid(a[0], a[1])[0],
        np.nan_to_num(a),
        np.real(a).copy(),
        np.round(a),
        np.kron(a, a),
        np.einsum("ij->ij", a) * 1,
        a @ a.T,
        np.linalg.inv(a[:, :3] + np.eye(3)),
        np.delete(a, 0, axis=0),
        np.insert(a, 0, 1.0, axis=0),
        np.append(a, a),
    )
    for b in copies:
        b[0] = 5.0
    return a * m


@program(M)
def test_real_is_a_view(m):
    a = m.copy()
    a.real[0] = 5.0
    np.real(a)[1] = 6.0
    return a * m


@program(M)
def test_squeeze_ravel_of_transposed(m):
    a = m.copy()
    b = a.T.ravel()
    b[0] = 7.0
    c = a.T.reshape(-1)
    c[1] = 8.0
    d = a.flatten()
    d[2] = 9.0
    e = a[:, ::2].ravel()
    e[0] = 3.0
    f = a[1:].ravel()
    f[0] = 2.0
    return a * m + b[0] + c[1] + f[1] + e[0]


@program(M)
def test_iterating_rows_of_a_changed(m):
    a = m.copy()
    for i, row in enumerate(a):
        row += i
        a[(i + 1) % 3] *= 1.1
    for u, v in zip(a, a[::-1]):
        u *= v
    return a * m


@program(X)
def test_string_state(x):
    mode = "a"
    t = 0.0
    for i in range(4):
        t = t + (x[i] if mode == "a" else 2 * x[i])
        mode = "b" if mode == "a" else "a"
    return t


@program(X)
def test_function_state(x):
    f = np.sin
    for i in range(3):
        x = f(x)
        f = np.cos if f is np.sin else np.sin
    return x


@program(X)
def test_conditional_swap_arrays(x):
    a, b = x.copy(), x * 2
    if x[0] > 0:
        a, b = b, a
    a[0] = 9.0
    return a + 2 * b


@program(X)
def test_loop_conditional_best(x):
    best, arg = x[0], 0
    hist = np.zeros(4)
    for i in range(1, 4):
        if x[i] > best:
            best, arg = x[i], i
        hist[i] = best
    return hist * arg + best


@program(X)
def test_array_of_unknown_size(x):
    y = x[x > 0]
    z = np.zeros(len(y))
    for i in range(len(y)):
        z[i] = y[i] * y[-1]
    return z.sum() * len(y)


@program(1.5)
def test_global_fn_default_mutable(x):
    def f(v, acc=[]):
        acc.append(v)
        return sum(acc)
    return f(x) + f(x * 2)


@program(X)
def test_deque_window(x):
    q = collections.deque(maxlen=2)
    t = 0.0
    for v in x:
        q.append(v)
        t = t + sum(q) * q[0]
    return t


@refused("this array is written in place, but", "copy the array before writing to it", X)
def test_names_that_share_on_one_path_only(x):
    if x[0] > 0:
        a = x.copy()
        b = a
    else:
        a, b = x * 2, x * 3
    a[0] = 5.0  # here
    return np.sum(a * b)


@refused("this list is changed, but a condition or loop known only at run time decides", "make a copy", X)
def test_list_that_may_be_one_of_two(x):
    a, b = [x[0]], [x[1]]
    c = a if x[2] > 0 else b
    c[0] = 3.0  # here
    return a[0] * b[0]


@refused("a list or object is changed in a loop in which its name comes to share it", "make a copy", X)
def test_objects_exchanged_in_a_loop_of_unknown_length(x):
    a, b = D(x[0]), D(x[1])
    while a.v < 100.0:  # here
        a.v = a.v * 2
        b = a
    return a.v + b.v * 3


def smoothed(u, v, steps):
    for _ in range(steps):
        v[1:-1] = 0.5 * (u[:-2] + u[2:])
        u, v = v, u
    return u, v


@program(X, 5)
def test_buffers_exchanged(x, n):
    u, v = smoothed(x * 1, np.zeros_like(x), n)
    return np.sum(u**2) + v[1] * u[2]


@refused("'w' is read after it was written in a loop under another name", "copy the array first", X, 3)
def test_name_of_a_buffer_that_is_exchanged(x, n):
    u = x * 1
    w = u
    u, v = smoothed(u, np.zeros_like(x), n)
    return np.sum(u * v) + w[1]  # here


@refused(
    "an argument is written in a loop under a name that changes",
    "copy the argument first",
    X,
    3,
    transform=cr.jit,
)
def test_argument_that_is_exchanged(u, n):
    v = np.zeros_like(u)
    for _ in range(n):  # here
        v[1:-1] = 0.5 * (u[:-2] + u[2:])
        u, v = v, u
    return u
