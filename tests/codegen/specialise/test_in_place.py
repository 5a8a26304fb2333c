"""In-place code means what it means in NumPy: every kind of index, aliases, views, and loops around them."""
import numpy as np
import pytest

import chainrule as cr
from tests.small_programs import check, program

X = np.array([0.3, -1.2, 2.0, 0.7, 1.1])
M = np.arange(20.0).reshape(4, 5) / 7 - 1.3
T = np.arange(24.0).reshape(2, 3, 4) / 9 - 1.0


# every kind of index

def writes(index, shape=(4, 5), value=None):
    """A program that assigns to and then updates a[index]."""
    base = np.arange(float(np.prod(shape))).reshape(shape) / 7 - 1.3
    chosen = base[index] if value is None else value

    def f(x, v):
        a = x * 1.5
        a[index] = v
        b = a * x
        a[index] += b[index] * 2
        a[index] *= v
        return a * b
    check(f, base, np.asarray(chosen) * 0.3 + 0.1 if np.ndim(chosen) else 0.7)


@pytest.mark.parametrize(
    "index",
    [
        1,
        -1,
        (1, 2),
        (-1, -2),
        (slice(1, 3),),
        slice(None, None, 2),
        slice(None, None, -1),
        slice(3, 0, -2),
        (slice(1, None), slice(None, -1)),
        (slice(None), 2),
        (2, slice(None, None, -2)),
        Ellipsis,
        (Ellipsis, 1),
        (1, Ellipsis),
        (None, 1),
        (1, None, slice(1, 4)),
        (slice(None), None, 2),
        (Ellipsis, None),
        np.array([0, 2]),
        np.array([[0, 1], [2, 3]]),
        (np.array([0, 2]), np.array([1, 3])),
        (slice(None), np.array([0, 3])),
        (np.array([3, 1]), slice(1, 4)),
        (np.array([[0], [2]]), np.array([1, 4])),
        (1, np.array([0, 3])),
        np.array([-1, -3]),
        [0, 2],
        ([0, 1], [2, 4]),
        np.array([True, False, True, False]),
        (slice(None), np.array([True, False, True, False, True])),
        np.arange(20).reshape(4, 5) % 3 == 0,
        (),
        slice(2, 2),
        np.array([], int),
    ],
    ids=repr,
)
def test_write_by_index(index):
    writes(index)


@pytest.mark.parametrize("index", [
    (0, 1, 2), (slice(None), 1), (Ellipsis, -1), (slice(None), slice(None), np.array([0, 3])),
    (0, slice(None), np.array([1, 2])), (np.array([0, 1]), slice(None), np.array([1, 2])),
    (1, np.array([True, False, True])), (slice(None), np.array([0, 2]), None),
], ids=repr)
def test_write_into_three_dimensions(index):
    writes(index, (2, 3, 4))


@program(X, 2)
def test_index_that_is_an_int_argument(x, n):
    a = x.copy()
    a[n] = a[n - 1] * 3
    a[:n] *= 2
    a[n:] += a[n]
    a[-n] -= 1
    return a * x


@program(X)
def test_index_computed_at_run_time(x):
    a = x.copy()
    i = np.argmax(x)
    a[i] = x[0] * 5
    a[i - 1] += a[i]
    j = int(x[2])
    a[j:] *= 2
    a[np.argsort(x)[:2]] = 7.0 * x[:2]
    return a * x


@program(X)
def test_mask_computed_at_run_time(x):
    a = x.copy()
    a[x > 0.5] *= 3
    a[a < 0] = 0.5 * x[0]
    m = (x > 0) & (x < 1)
    a[m] = a[m] ** 2 + x[m]
    a[~m] -= 1
    return a * x


@program(X)
def test_duplicates_in_an_index(x):
    a = x.copy()
    a[np.array([0, 1, 0])] += np.array([1.0, 2.0, 3.0]) * x[:3]
    a[[2, 2]] = x[:2]
    np.add.at(a, np.array([3, 3, 4]), x[:3] * 2)
    np.add.at(a, [1, 1], 5.0)
    np.subtract.at(a, [0, 0], x[0])
    return a * x


@program(M)
def test_whole_and_broadcast_writes(m):
    a = m.copy()
    a[:] = m[0]
    a[1:3] += m[:, :1][1:3]
    a[...] = a * m
    a[:, 1] = 3.0
    a[0] = [1, 2, 3, 4, 5]
    a[:, :2] = m[0, 0]
    return a * m


@program(M)
def test_swaps(m):
    a = m.copy()
    a[[0, 1]] = a[[1, 0]]
    a[2], a[3] = a[3].copy(), a[2].copy()
    a[0, 0], a[1, 1] = a[1, 1], a[0, 0]
    a[:, [0, 2]] = a[:, [2, 0]]
    return a * m


@program(M)
def test_swap_of_rows_without_copies_repeats_a_row_as_numpy_does(m):
    a = m.copy()
    a[0], a[1] = a[1], a[0]
    return a * m


@program(X)
def test_overlapping_slices(x):
    a = x.copy()
    a[1:] = a[:-1]
    a[:-1] += a[1:]
    a[::-1][:3] = a[:3]
    return a * x


@program(X)
def test_out(x):
    a = np.zeros(5)
    np.multiply(x, 2.0, out=a)
    np.add(a, x, a)
    np.sin(a, out=a[:])
    b = np.empty((2, 5))
    np.exp(x, out=b[0])
    np.subtract(b[0], a, out=b[1])
    c = np.zeros(2)
    np.sum(b, axis=1, out=c)
    d = np.empty((5, 5))
    np.dot(x[:, None], x[None], out=d)
    return np.matmul(d, x, out=np.empty(5)) * a + c.sum()


@program(X)
def test_methods_in_place(x):
    a = x.copy()
    a.fill(x[1])
    a[2] = 9.0
    a.sort()
    b = x * 1.0
    b.sort()
    b.put([0, 1], x[2])
    np.copyto(a[:2], b[:2])
    np.fill_diagonal(m := np.outer(x, x), x[0])
    np.put(b, [4], 3.0)
    return a * b + m


@program(X)
def test_dtype_of_the_target_stays(x):
    n = np.array([1, 2, 3])
    n[0] = 7.9
    n += 2
    return n * x[:3]


@program(X, tolerance=1e-2, step=1e-2)
def test_precision_of_the_target_stays(x):
    f = np.zeros(3, np.float32)
    f[:] = x[:3]
    f *= x[0]
    return f


# aliases and views

@program(X)
def test_aliases(x):
    a = x.copy()
    b = a
    c = [a, {"k": a}]
    b[0] = x[1] * 3
    c[0][1] *= 2
    c[1]["k"] += x
    return a * b + c[1]["k"]


@program(M)
def test_views_by_slicing(m):
    a = m.copy()
    row, column, block = a[1], a[:, 2], a[1:3, 1:4]
    row *= 2
    column += row[2]
    block[0, 0] = 5 * m[0, 0]
    block[:, ::2][1] -= column[1:3]
    a[2, 3] = 1.0
    return a * m + row - column[0] + block.sum()


@program(M)
def test_views_by_shape(m):
    a = m.copy()
    flat, ravelled, turned = a.reshape(-1), a.ravel(), a.T
    flat[3] *= 4
    ravelled[5:8] += m[0, :3]
    turned[1] = m[:, 0]
    a.reshape(2, 10)[1, ::3] = 0.5
    a.swapaxes(0, 1)[0] *= 2
    np.transpose(a)[4, :2] -= 1
    np.moveaxis(a, 0, 1)[3] = m[:, 3] ** 2
    a[:, None][0, 0, 2] = 7.0
    np.squeeze(a[None])[1, 1] = 2.0
    np.expand_dims(a, 0)[0, 2, 2] += 1
    return a * m + flat[2] * turned[0, 1] + ravelled[19]


@program(T)
def test_views_of_three_dimensions(t):
    a = t.copy()
    a.transpose(2, 0, 1)[1] *= 2
    a.reshape(6, 4)[::2] += 1
    a[0].T[2] = t[1, :, 0]
    a.swapaxes(1, 2)[1, :2, :] *= t[0, 0, 0]
    a[:, 1].reshape(2, 2, 2)[..., 0] = 3.0
    return a * t


@program(M[:4, :4])
def test_diagonals(m):
    a = m.copy()
    np.fill_diagonal(a, m[0] * 2)
    a.reshape(-1)[::5] += 1
    a[np.arange(4), np.arange(4)] *= m[1]
    a.flat[1] = 4.0 * m[0, 0]
    d = np.diagonal(a)
    a[0, 0] = 9.0
    return a * m + d


@program(M)
def test_a_view_of_a_view(m):
    a = m.copy()
    b = a[1:]
    c = b[:, 1:]
    d = c.T
    e = d[::-1]
    e[0, 0] = 5.0 * m[0, 0]
    d[1] += 2
    c[0] *= m[0, 1:]
    b[1, 1] = c[0, 0]
    return a * m + e.T[0, 0] + d.sum()


@program(X)
def test_a_view_taken_before_its_base_changes(x):
    a = x.copy()
    view, value, copied = a[1:4], a[2], a[1:4].copy()
    a *= 3
    a[2] = x[0]
    return view * copied + value * view.sum()


@program(X)
def test_a_view_of_an_old_array_stays_with_the_old(x):
    a = x.copy()
    view = a[1:4]
    a = a * 2
    view *= 5
    a[2] = 1.0
    return np.concatenate([a, view])


@program(X)
def test_broadcast_is_a_view(x):
    a = x.copy()
    wide = np.broadcast_to(a, (2, 5))
    a[0] = 7.0 * x[1]
    return wide * x


def halve(a, k=1):
    a[k] *= 0.5
    return a


@program(X)
def test_functions_write_their_arguments(x):
    a = x.copy()
    b = halve(a)
    halve(a[2:], 0)
    halve(b)

    def add(target, value):
        target += value
    add(a, x)
    add(a[1:3], x[0])
    return a * b


def test_the_caller_s_array_is_not_changed_by_a_derivative():
    def f(x):
        x *= 2
        x[0] = x[1] ** 2
        return np.sum(x * x)
    x = X.copy()
    g = cr.grad(f)(x)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_allclose(g, [0.0, 4 * 8 * X[1] ** 3 * 2 + 8 * X[1], *(8 * X[2:])])
    value, pull = cr.vjp(f, x)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_allclose(pull(1.0)[0], g)


@program(X)
def test_returned_argument_and_view(x):
    return x, x[1:], x.reshape(5, 1)


# loops

@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_writes_in_a_loop_of_n_steps(n):
    def f(x, n):
        a = x.copy()
        for i in range(n):
            a[i] = a[i + 1] * a[i - 1] + i
        return a * x
    check(f, X, n)


@program(X)
def test_recurrence(x):
    h = np.zeros(6)
    for t in range(5):
        h[t + 1] = np.tanh(h[t] * 0.5 + x[t])
    return h


@program(M)
def test_sweeps(m):
    a = m.copy()
    for t in range(3):
        for i in range(1, 3):
            for j in range(1, 4):
                a[i, j] = (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) * 0.25 + a[i, j] ** 2 * 0.1
    return a


@program(M)
def test_stencil_with_slices(m):
    u = m.copy()
    for t in range(4):
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] - 2 * u[1:-1, 1:-1])
        u[0] = u[1]
        u[:, -1] *= 0.5
    return u


@program(X)
def test_two_buffers_exchanged_in_a_loop(x):
    a, b = x.copy(), np.zeros(5)
    for t in range(4):
        b[1:-1] = a[:-2] * a[2:] + t
        b[0], b[-1] = a[0], a[-1]
        a, b = b, a
    return a * 2 + b


@program(X)
def test_two_buffers_exchanged_an_odd_number_of_times(x):
    a, b = x.copy(), x * 2
    for t in range(3):
        a[0] += b[1]
        a, b = b, a
    return a * b


@program(X)
def test_buffer_exchanged_with_a_copy(x):
    u, v = x.copy(), x.copy()
    for t in range(3):
        v[1:] = u[:-1] * u[1:]
        u, v = v, u.copy()
    return u * v


@program(X, 0.5)
def test_writes_under_conditions(x, limit):
    a = x.copy()
    for i in range(len(a)):
        if a[i] > limit:
            a[i] *= 2
            if a[i] > 3:
                continue
            a[i - 1] += a[i]
        else:
            a[i] = -a[i] * x[0]
        if a[i] > 100:
            break
    return a * x


@program(X)
def test_while_loop_with_writes(x):
    a = x.copy()
    i, total = 0, 0.0
    while i < len(a) and total < 3:
        a[i] = a[i] * a[i] + total
        total += a[i]
        i += 1
    return a * total


@program(M)
def test_return_from_a_loop_that_writes(m):
    a = m.copy()
    for i in range(4):
        for j in range(5):
            a[i, j] *= 1.5
            if a[i, j] > 0.4:
                return a * m
    return a


@program(M)
def test_views_in_a_loop(m):
    a = m.copy()
    for row in a:
        row *= row[0]
    for i in range(3):
        row, below = a[i], a[i + 1]
        below += row * 0.5
        row[i] = 1.0 * m[0, i]
    return a * m


@program(M)
def test_view_taken_before_a_loop(m):
    a = m.copy()
    row = a[2]
    for i in range(4):
        a[i] *= i + 1
        row[i] += 1
    return a * m + row


@program(X)
def test_array_made_in_a_loop(x):
    total = np.zeros(5)
    for i in range(3):
        b = x * i
        b[i] = total[i] + 1
        total += b
        last = b
    return total * last


@program(X)
def test_array_replaced_and_then_written(x):
    a = x
    for i in range(3):
        a = a * x
        a[i] = 2.0 * x[i]
    return a


@program(X)
def test_array_in_a_list_written_in_a_loop(x):
    rows = [x.copy(), x * 2]
    for i in range(3):
        rows[0][i] = rows[1][i] * x[i]
        rows[1] += rows[0]
    return rows[0] * rows[1]


class Holder:
    def __init__(self, data):
        self.data = data

    def step(self, k):
        self.data[k] *= 2
        self.data[k + 1:] += self.data[k]


@program(X)
def test_array_in_an_object_written_in_a_loop(x):
    holder = Holder(x.copy())
    alias = holder.data
    for i in range(3):
        holder.step(i)
    return alias * x


@program(X)
def test_overwritten_after_use(x):
    a = x.copy()
    y = a * a
    a[1] = 3.0
    z = a * y
    a[:] = 0.0
    a += z
    return a * y


@program(X)
def test_last_write_wins(x):
    a = x.copy()
    a[1] = x[0] * 2
    a[1] = x[2] * 3
    a[:2] = 5.0 * x[3]
    return a * x


@program(X)
def test_conditional_array(x):
    a = x.copy() if x[0] > 0 else x * 2
    a[1] = 4.0
    return a * x


@program(M)
def test_elimination(m):
    a = m[:, :4] + 3 * np.eye(4)
    for k in range(3):
        for i in range(k + 1, 4):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
    return a


@program(X)
def test_histogram_of_run_time_bins(x):
    counts = np.zeros(4)
    for v in x:
        k = int(abs(v) * 1.4)
        counts[k] += v * v
    return counts


def test_errors_are_numpy_s():
    def outside(x):
        a = x.copy()
        a[5] = 1.0
        return np.sum(a)

    def wrong_shape(x):
        a = x.copy()
        a[:2] = x[:3]
        return np.sum(a)

    def cast(x):
        a = np.array([1, 2, 3, 4, 5])
        a += x
        return np.sum(a * x)

    def run_time(x):
        a = x.copy()
        a[np.argmax(x) + 3] = 1.0
        return np.sum(a)
    for function, error in ((outside, IndexError), (wrong_shape, ValueError), (cast, TypeError),
                            (run_time, IndexError)):
        with pytest.raises(error):
            function(X)
        with pytest.raises(error):
            cr.grad(function)(X)


VIEWS_OF_A_NUMBER = {
    "new axis": lambda y: y[None],
    "reshape": lambda y: y.reshape(1),
    "atleast_1d": np.atleast_1d,
}


@pytest.mark.parametrize("number", [np.zeros, lambda shape: np.array(2.0)])
@pytest.mark.parametrize("view", VIEWS_OF_A_NUMBER)
def test_view_of_a_0_d_array(view, number):
    """It may share the array's memory or not, and is therefore not written to."""

    def f(x):
        y = number(())
        z = VIEWS_OF_A_NUMBER[view](y)
        z[0] = x
        return y + z[0]

    with pytest.raises(NotImplementedError, match="it is a view of what may be a 0-d array"):
        cr.grad(f)(1.5)


def test_a_number_as_an_array_of_its_own():
    def f(x):
        z = np.atleast_1d(x)
        z[0] = 3.0
        return x * z[0]

    assert cr.jit(f)(1.5) == 4.5 and cr.grad(f)(1.5) == 3.0


def test_a_slice_of_one_element_broadcasts():
    def shortest(d):
        for k in range(len(d)):
            d = np.minimum(d, d[:, k : k + 1] + d[k : k + 1, :])
        return d

    def scaled(d):
        d = d.copy()
        for i in range(len(d) - 1, -1, -1):
            for j in range(i):
                d[j : j + 1] -= d[j : j + 1, i : i + 1] * d[i : i + 1]
            if d[i, 0] > 5:
                break
        return d

    lengths = np.abs(M[:, :4]) + 0.2
    check(shortest, lengths, compiled=True)
    check(scaled, lengths, compiled=True)


@pytest.mark.parametrize("made", [np.ascontiguousarray, np.asfortranarray])
@pytest.mark.parametrize("part", [lambda x: x, np.transpose, lambda x: x[:, ::2], lambda x: x[0]])
def test_an_array_laid_out_anew_is_a_view_or_a_copy(made, part):
    def f(x):
        y = made(part(x * 1.0))
        z = x + 1.0
        w = made(part(z))
        w[...] = 5.0
        return np.sum(z) * np.sum(y)

    check(f, M, compiled=True)


@pytest.mark.parametrize("name", ["flags", "strides", "base"])
def test_attributes_of_memory(name):
    with pytest.raises(NotImplementedError, match=f"the attribute .{name} of an array"):
        cr.jit(lambda x: getattr(x, name))(M)
