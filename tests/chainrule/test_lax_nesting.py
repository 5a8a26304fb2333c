"""chainrule.lax inside itself, and inside every nesting of transformations."""

import numpy as np
import pytest

import chainrule as cr
from chainrule import lax
from tests.chainrule.lax_checks import same

R = np.random.default_rng(0)
STARTS = np.array([0.3, 0.9, 2.5])
RATES = R.random((4, 3)) + 0.5


def settled(x, rate):
    """Steps until x is large, each lane its own number of them."""
    grow = lambda state: (state[0] * (1 + rate) + 0.1 * np.sin(state[0]), state[1] + 1)
    return lax.while_loop(lambda state: state[0] < 4.0, grow, (x, 0))[0]


def layered(scale, starts, rates):
    """A scan, over whose rows a vmap runs lanes of while_loops, of which each takes a branch."""
    one = lambda x, rate: lax.cond(x > 0.5, settled, lambda x, rate: x * rate, x, rate)

    def step(carry, row):
        after = cr.vmap(one)(scale * carry, row)
        return 0.1 * after, np.sum(after)

    last, sums = lax.scan(step, starts, rates)
    return np.sum(last) + np.sum(sums**2)


def layered_by_loops(scale, starts, rates):
    carry, sums = starts, []
    for row in rates:
        after = []
        for x, rate in zip(carry, row):
            x = scale * x
            if x > 0.5:
                while x < 4.0:
                    x = x * (1 + rate) + 0.1 * np.sin(x)
            else:
                x = x * rate
            after.append(x)
        carry = 0.1 * np.array(after)
        sums.append(np.sum(after))
    return np.sum(carry) + np.sum(np.square(sums))


def difference(function, k, arguments, step=1e-6):
    """The gradient by argument k, by central differences."""
    leaf = np.asarray(arguments[k], float)
    found = np.zeros(leaf.shape)
    for index in np.ndindex(*leaf.shape):
        ends = []
        for sign in (step, -step):
            moved = leaf.copy()
            moved[index] += sign
            ends.append(function(*arguments[:k], moved[()], *arguments[k + 1 :]))
        found[index] = (ends[0] - ends[1]) / (2 * step)
    return found


def test_scan_over_vmap_over_while():
    given = np.float64(1.3), STARTS, RATES
    for run in (layered, cr.jit(layered)):
        same(run(*given), layered_by_loops(*given))
    gradient = cr.grad(layered, (0, 1, 2))
    found = gradient(*given)
    for k in range(3):
        same(np.asarray(found[k]), difference(layered_by_loops, k, given), dtypes=False, tolerance=1e-5)
    same(cr.jit(gradient)(*given), found)
    along = cr.jvp(layered, given, given)[1]
    same(along, sum(np.sum(g * x) for g, x in zip(found, given)), dtypes=False)
    cr.check_grads(layered, given, order=2)


def test_jit_of_vmap_of_grad():
    scales = np.array([0.9, 1.1, 1.4])
    gradient = cr.grad(layered)
    want = np.array([gradient(scale, STARTS, RATES) for scale in scales])
    batched = cr.vmap(gradient, in_axes=(0, None, None))
    same(batched(scales, STARTS, RATES), want)
    same(cr.jit(batched)(scales, STARTS, RATES), want)
    total = lambda scales: np.sum(cr.vmap(layered, in_axes=(0, None, None))(scales, STARTS, RATES))
    same(cr.jit(cr.grad(total))(scales), want)


def rolled(x):
    """A loop whose length depends on its argument, with a scan inside."""

    def body(i, y):
        return y + lax.scan(lambda c, w: (np.sin(c) * w, c), y, RATES[:, 0])[0]

    return lax.fori_loop(0, 2, body, x) * settled(x, 0.5)


def test_second_derivatives_of_batches():
    x = np.array([0.4, 0.7, 1.9])
    one = np.array([cr.hessian(rolled)(v) for v in x])
    total = lambda x: np.sum(cr.vmap(rolled)(x))
    same(cr.hessian(total)(x), np.diag(one))
    same(cr.jit(cr.hessian(total))(x), np.diag(one))
    same(cr.vmap(cr.hessian(rolled))(x), one)
    same(cr.jit(cr.vmap(cr.jacrev(cr.jacfwd(rolled))))(x), one)
    slopes = (np.array([cr.grad(rolled)(v + 1e-6) - cr.grad(rolled)(v - 1e-6) for v in x])) / 2e-6
    same(one, slopes, dtypes=False, tolerance=1e-5)


@pytest.mark.parametrize("order", [1, 2])
def test_loops_with_run_time_lengths_in_each_other(order):
    def function(x, n):
        def outer(i, y):
            return lax.while_loop(lambda z: z < i + 1.0, lambda z: z * 1.5 + x * x, y)

        return lax.fori_loop(0, n, outer, x)

    def reference(x, n):
        y = x
        for i in range(n):
            while y < i + 1.0:
                y = y * 1.5 + x * x
        return y

    for n in (0, 1, 2, 5):
        same(cr.jit(function)(0.3, n), reference(0.3, n), dtypes=False)
        cr.check_grads(lambda x: function(x, n), (0.3,), order=order)
    compiled = cr.jit(cr.grad(function))
    found = [compiled(0.3, n) for n in range(4)]
    want = [(reference(0.3 + 1e-6, n) - reference(0.3 - 1e-6, n)) / 2e-6 for n in range(4)]
    same(np.array(found), np.array(want), tolerance=1e-6)
    lanes = cr.jit(cr.vmap(cr.grad(function)))
    same(lanes(np.full(4, 0.3), np.arange(4)), np.array(found), tolerance=1e-10)


def test_transformations_inside_steps():
    descend = lambda w, x: (w - 0.1 * cr.grad(lambda w: np.sum((w * x - 1.0) ** 2))(w), np.sum(w))
    function = lambda w, xs: lax.scan(descend, w, xs)
    w, xs = R.random(3), R.random((4, 3))
    last, sums = w, []
    for x in xs:
        sums.append(np.sum(last))
        last = last - 0.2 * x * (last * x - 1.0)
    same(cr.jit(function)(w, xs), (last, np.array(sums)))
    same(function(w, xs), (last, np.array(sums)))
    cr.check_grads(function, (w, xs), order=2)
    checkpointed = lambda w, xs: lax.scan(cr.checkpoint(descend), w, xs)
    loss = lambda f: lambda w, xs: np.sum(f(w, xs)[0] ** 2)
    same(cr.jit(cr.grad(loss(checkpointed), (0, 1)))(w, xs), cr.grad(loss(function), (0, 1))(w, xs))


factor = 2.0
offsets = [1, 2]


def test_what_a_step_reads_is_read_at_each_call():
    global factor

    def step(carry, x, shift=0.5):
        return factor * carry + x + offsets[0] + shift, None

    function = lambda xs: lax.scan(step, 0.0, xs)[0]
    compiled = cr.jit(function)
    xs = np.arange(3.0)
    found = [compiled(xs)]
    want = [function(xs)]
    factor = 3.0
    found.append(compiled(xs))
    want.append(function(xs))
    offsets[0] = 5
    found.append(compiled(xs))
    want.append(function(xs))
    step.__defaults__ = (np.array([1.0, 2.0]).sum(),)
    found.append(compiled(xs))
    want.append(function(xs))
    factor, offsets[0] = 2.0, 1
    assert len(set(want)) == 4
    same(np.array(found), np.array(want))


def test_states_of_sizes_that_prove_equal_are_kept_in_one_array():
    def loss(W, U, xs):
        step = lambda h, x: (np.tanh(W @ h + U @ x),) * 2
        return np.sum(lax.scan(step, np.zeros(W.shape[0]), xs)[1] ** 2)

    given = R.random((3, 3)), R.random((3, 2)), R.random((4, 2))
    assert "append" not in cr.source(cr.grad(loss))(*given)
    cr.check_grads(loss, given)


def test_branches_in_steps_whose_sizes_only_run_time_tells():
    def function(x, y):
        step = lambda row: lax.cond(np.sum(row) > 1.5, lambda: np.cos(row) + x, lambda: row * y)
        return lax.map(step, RATES[:, :2])

    x, y = R.random(2), R.random(2)
    want = np.stack([np.cos(row) + x if np.sum(row) > 1.5 else row * y for row in RATES[:, :2]])
    for run in (lambda f: f, cr.jit):
        same(run(function)(x, y), want)
    cr.check_grads(function, (x, y))


def test_stopped_values():
    function = lambda x: lax.fori_loop(0, 3, lambda i, y: y * lax.stop_gradient(x), x)
    for run in (lambda f: f, cr.jit):
        same(run(cr.grad(function))(2.0), 8.0, dtypes=False)


def test_collectives_inside_loops():
    function = lambda x: lax.fori_loop(0, 2, lambda i, y: y - 0.5 * lax.pmean(y, "i"), x)
    batch = cr.vmap(function, axis_name="i")
    same(batch(STARTS), STARTS - 0.75 * np.mean(STARTS))
    same(
        cr.jit(cr.grad(lambda x: np.sum(batch(x) ** 2)))(STARTS),
        2 * (STARTS - 0.75 * np.mean(STARTS)) - 0.75 * 2 * np.mean(STARTS - 0.75 * np.mean(STARTS)),
    )


def test_a_method_and_a_partial_as_steps():
    import functools

    class Cell:
        def __init__(self, weight):
            self.weight = weight

        def step(self, state, x):
            return np.tanh(self.weight * state + x), state

    def scaled(weight, state, x):
        return np.tanh(weight * state + x), state

    xs = R.random(5)
    want = 0.0
    for x in xs:
        want = np.tanh(0.7 * want + x)
    for step in (Cell(0.7).step, functools.partial(scaled, 0.7)):
        for run in (lambda f: f, cr.jit):
            same(run(lambda xs: lax.scan(step, 0.0, xs)[0])(xs), want)
    same(
        cr.jit(cr.grad(lambda w: lax.scan(Cell(w).step, 0.0, xs)[0]))(0.7),
        cr.jvp(lambda w: lax.scan(functools.partial(scaled, w), 0.0, xs)[0], (0.7,), (1.0,))[1],
        dtypes=False,
    )
