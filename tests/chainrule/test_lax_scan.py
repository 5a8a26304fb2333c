"""scan, map and associative_scan, against loops in Python; their errors; the size of their programs."""

import dataclasses
import itertools
import re

import numpy as np
import pytest

import chainrule as cr
from chainrule import lax
from chainrule.codegen.errors import ShapeMismatchError, TypeMismatchError
from tests.chainrule.lax_checks import check, check_batched, check_derivatives, check_values, same

R = np.random.default_rng(0)
W = 0.5 * R.standard_normal((3, 3))


def loop(f, init, rows, reverse=False):
    """What scan does, on a list of rows."""
    carry, ys = init, [None] * len(rows)
    for k in reversed(range(len(rows))) if reverse else range(len(rows)):
        carry, ys[k] = f(carry, rows[k])
    return carry, cr.tree.map(lambda *parts: np.stack(parts), *ys)


def decay(carry, x):
    return 0.5 * np.sin(carry) + x, carry * x


@pytest.mark.parametrize("length", [1, 2, 3, 7])
@pytest.mark.parametrize(
    "options", [{}, {"reverse": True}, {"unroll": 2}, {"unroll": 3, "reverse": True}, {"unroll": True}]
)
def test_numbers(length, options):
    reverse = options.get("reverse", False)
    function = lambda init, xs: lax.scan(decay, init, xs, **options)
    reference = lambda init, xs: loop(decay, init, list(xs), reverse)
    given = np.float64(0.3), R.standard_normal(length)
    if length == 3:
        check(function, reference, *given)
    else:
        check_values(function, reference, *given)


def recurrent(weights, inputs):
    def step(state, x):
        state = np.tanh(weights @ state + x)
        return state, np.sum(state)

    return lax.scan(step, np.zeros(3), inputs)


def test_arrays():
    def reference(weights, inputs):
        return loop(lambda h, x: (np.tanh(weights @ h + x),) * 2, np.zeros(3), list(inputs))[0]

    inputs = R.standard_normal((4, 3))
    check(lambda w, x: recurrent(w, x)[0], reference, W, inputs)
    check_derivatives(recurrent, W, inputs)


def test_trees():
    @dataclasses.dataclass
    class Body:
        place: np.ndarray
        speed: float

    def step(state, row):
        body, count = state["body"], state["count"]
        place = body.place + 0.1 * body.speed * row["push"][0]
        after = Body(place, 0.9 * body.speed + row["push"][1][0])
        return {"body": after, "count": count + 1}, (place, {"n": count})

    def function(start, pushes):
        state = {"count": 0, "body": Body(start, 1.0)}
        return lax.scan(step, state, {"push": (pushes, [pushes[:, 0], None])})

    def reference(start, pushes):
        rows = [{"push": (p, [p[0], None])} for p in pushes]
        return loop(step, {"count": 0, "body": Body(start, 1.0)}, rows)

    check_values(function, reference, R.standard_normal(2), R.standard_normal((3, 2)))
    check_batched(function, R.standard_normal(2), R.standard_normal((3, 2)))
    check_derivatives(
        lambda a, b: function(a, b)[0]["body"].place, R.standard_normal(2), R.standard_normal((3, 2))
    )


def test_length():
    power = lambda x, n: lax.scan(lambda c, _: (c * x, c), 1.0, None, length=n)
    for run in (power, cr.jit(power)):
        for n in (0, 1, 4):
            last, powers = run(1.5, n)
            same(last, 1.5**n, dtypes=False)
            same(powers, 1.5 ** np.arange(n))
    slope = lambda x, n: power(x, n)[0]
    assert [float(cr.jit(cr.grad(slope))(2.0, n)) for n in (0, 1, 2, 3)] == [0.0, 1.0, 4.0, 12.0]
    assert float(cr.grad(cr.grad(slope))(2.0, 3)) == 12.0
    assert float(cr.jvp(lambda x: slope(x, 3), (2.0,), (1.0,))[1]) == 12.0


@pytest.mark.parametrize("run", [lambda f: f, cr.jit])
def test_no_rows(run):
    outside = np.ones((2, 3))
    step = lambda carry, x: (carry + np.sum(x), (outside * carry, np.float32(1.0)))
    carry, (a, b) = run(lambda xs: lax.scan(step, 1.5, xs))(np.zeros((0, 4)))
    assert float(carry) == 1.5
    assert (a.shape, a.dtype, b.shape, b.dtype) == ((0, 2, 3), np.float64, (0,), np.float32)
    assert float(cr.grad(lambda c: lax.scan(step, c, np.zeros((0, 4)))[0])(1.5)) == 1.0


def test_a_number_is_of_the_type_that_the_steps_give():
    function = lambda xs: lax.scan(lambda c, x: (c + x, c), 0, xs)
    carry, ys = cr.jit(function)(np.ones(3, np.float32))
    assert carry.dtype == ys.dtype == np.float32
    same(function(np.ones(3, np.float32))[1], ys)
    single = lambda xs: lax.scan(lambda c, x: (c * 0 + 1.0, None), np.float32(0), xs)[0]
    assert single(np.ones(3)).dtype == cr.jit(single)(np.ones(3)).dtype == np.float32


def test_writes_in_place_stay_inside():
    def step(carry, x):
        carry[0] += x[0]
        x[0] = 7.0
        return carry, carry

    function = lambda init, xs: lax.scan(step, init, xs)

    def reference(init, xs):
        sums = init[0] + np.cumsum(xs[:, 0])
        ys = np.stack([np.array([total, init[1]]) for total in sums])
        return ys[-1].copy(), ys

    check(function, reference, R.standard_normal(2), R.standard_normal((3, 2)), order=1)


def test_a_carry_in_two_places():
    function = lambda x: lax.scan(lambda c, _: ((c[1], c[0] + c[1]), c[0]), (x, x), None, length=5)
    reference = lambda x: ((x * 8, x * 13), np.stack([x * k for k in (1, 1, 2, 3, 5)]))
    check(function, reference, R.standard_normal(2), order=1)


def test_the_program_does_not_grow_with_the_length():
    def text(length, **options):
        total = lambda x: np.sum(lax.scan(decay, x, None, length=length, **options)[1])
        return cr.source(cr.grad(total), "numba")(0.5)

    def decay(carry, _):
        return 0.5 * np.sin(carry), carry

    short, long = text(10), text(10_000)
    assert re.sub(r"\d+", "0", short) == re.sub(r"\d+", "0", long)
    assert len(long.splitlines()) < 40
    assert text(10, unroll=2).count("sin") > short.count("sin")


def test_a_loop_is_a_loop():
    text = cr.source(lambda xs: lax.scan(lambda c, x: (c * 0.5 + x, c), 0.0, xs))(np.ones(4))
    assert (
        text.split("\n", 6)[-1]
        == """\
    ys = np.empty(n)
    carry = 0.0
    for k in range(n):
        ys[k] = carry
        carry = carry * 0.5 + xs[k]
    return carry, ys
"""
    )


# errors


XS = np.ones((3, 2))


@pytest.mark.parametrize(
    "step, init, kind, text",
    [
        (
            lambda c, x: ((c, c), x),
            1.0,
            TypeMismatchError,
            "scan needs a carry of one structure: f was given *, and returned (*, *)",
        ),
        (
            lambda c, x: ({"a": c["a"]}, x),
            {"a": 1.0, "b": 2.0},
            TypeMismatchError,
            "f was given {'a': *, 'b': *}, and returned {'a': *}",
        ),
        (
            lambda c, x: ({"a": c["a"] @ c["a"]}, x),
            {"a": np.ones(2)},
            ShapeMismatchError,
            "carry['a'] is float64 of shape (2,) where f is called, and float64 where it returns",
        ),
        (
            lambda c, x: (c.astype(np.float32), x),
            np.ones(2),
            TypeMismatchError,
            "carry is float64 of shape (2,) where f is called, and float32 of shape (2,) where it returns",
        ),
        (
            lambda c, x: (c + 0.5, x),
            np.int64(1),
            TypeMismatchError,
            "carry is int64 where f is called, and float64 where it returns",
        ),
        (
            lambda c, x: (c, "no"),
            1.0,
            TypeMismatchError,
            "scan needs outputs that are arrays and numbers, and y is 'no'",
        ),
        (
            lambda c, x: c,
            1.0,
            TypeMismatchError,
            "scan needs f to return (carry, y), and it returned one value",
        ),
        (
            lambda c, x: (c, x, x),
            1.0,
            TypeMismatchError,
            "scan needs f to return (carry, y), and it returned a tuple of 3",
        ),
    ],
)
def test_refused_steps(step, init, kind, text):
    function = lambda xs: lax.scan(step, init, xs)
    for run in (function, cr.jit(function)):
        with pytest.raises(kind) as caught:
            run(XS)
        told = str(caught.value).replace("(n,)", "(2,)")
        assert text in told and "Instead: " in told
    assert "test_lax_scan.py" in told


def test_refused_lengths():
    f = lambda c, x: (c, None)
    for xs, options, text in [
        (None, {}, "scan got no arrays to scan over, and no length"),
        ((XS, 1.0), {}, "scan needs arrays in xs, and there is a single number in it"),
        (XS, {"length": 4}, "scan got a length other than that of the arrays in xs"),
        ((XS, np.ones(4)), {}, "scan got arrays of different lengths in xs"),
        (None, {"length": -1}, "scan got a negative length"),
        (XS, {"unroll": 0}, "unroll must be at least 1, and is 0"),
    ]:
        function = lambda init: lax.scan(f, init, xs, **options)[0]
        for run in (function, cr.jit(function), cr.grad(function)):
            with pytest.raises(ValueError, match=re.escape(text)):
                run(1.0)


def test_steps_that_raise():
    def never(carry, x):
        raise ValueError("never")

    def positive(carry, x):
        assert x > 0, "not positive"
        return carry + x, carry

    for run in (lambda f: f, cr.jit, cr.grad):
        with pytest.raises(ValueError, match="never"):
            run(lambda c: lax.scan(never, c, XS)[0])(1.0)
        with pytest.raises(AssertionError, match="not positive"):
            run(lambda c: lax.scan(positive, c, np.array([1.0, -1.0]))[0])(1.0)


def test_outputs_of_other_sizes_than_the_rows():
    xs = R.standard_normal((4, 5))
    step = lambda c, x: (
        c,
        (np.concatenate([x, c]), x[1:-1], np.outer(x, c), np.repeat(x, 2), np.arange(len(x) // 2)),
    )
    function = lambda c, xs: lax.scan(step, c, xs)
    reference = lambda c, xs: loop(step, c, list(xs))
    check_values(function, reference, np.ones(2), xs)
    cr.check_grads(function, (np.ones(2), xs))


def test_a_shape_that_depends_on_values_is_refused():
    with pytest.raises(ShapeMismatchError, match="one whose shape depends on values"):
        cr.jit(lambda xs: lax.scan(lambda c, x: (c, x[x > 0]), 0.0, xs))(XS)
    with pytest.raises(ValueError, match="one shape"):
        cr.jit(lambda xs: lax.scan(lambda c, x: (c[c > 1], x), np.ones(3), xs))(XS)


# map and associative_scan


@pytest.mark.parametrize("batch_size", [None, 1, 2, 3, 7])
def test_map(batch_size):
    function = lambda xs, ys: lax.map(
        lambda row: (row[0] @ row[1], {"s": np.sin(row[0])}), (xs, ys), batch_size=batch_size
    )
    reference = lambda xs, ys: (np.sum(xs * ys, axis=1), {"s": np.sin(xs)})
    given = R.standard_normal((5, 2)), R.standard_normal((5, 2))
    if batch_size in (None, 2):
        check(function, reference, *given, order=1)
    else:
        check_values(function, reference, *given)


@pytest.mark.parametrize("length", [0, 1, 2, 3, 6, 9])
@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan(length, reverse):
    def affine(first, second):
        return first[0] * second[0], first[1] * second[0] + second[1]

    def reference(a, b):
        if reverse:
            a, b = a[::-1], b[::-1]
        scales, shifts = np.cumprod(a, axis=0), b.copy()
        for k in range(1, len(b)):
            shifts[k] = shifts[k - 1] * a[k] + b[k]
        return (scales[::-1].copy(), shifts[::-1].copy()) if reverse else (scales, shifts)

    function = lambda a, b: lax.associative_scan(affine, (a, b), reverse=reverse)
    given = R.random((length, 2)), R.random((length, 2))
    if length == 6:
        check(function, reference, *given, order=1)
    else:
        check_values(function, reference, *given)


def test_associative_scan_along_an_axis():
    x = R.random((2, 5, 3))
    for axis in (0, 1, 2, -1, -2):
        function = lambda x: lax.associative_scan(np.multiply, x, axis=axis)
        check_values(function, lambda x: np.cumprod(x, axis=axis), x)
        cr.check_grads(function, (x,))
    products = lambda x: lax.associative_scan(np.matmul, x)
    square = R.random((4, 2, 2))
    chained = lambda x: np.stack(list(itertools.accumulate(x, np.matmul)))
    check_values(products, chained, square)
    check_batched(products, square)
    cr.check_grads(products, (square,))
    with pytest.raises(ShapeMismatchError, match="axis 3 of an array of 3 axes"):
        lax.associative_scan(np.add, x, axis=3)
    for run in (lambda f: f, cr.jit):
        with pytest.raises(ValueError, match="different lengths"):
            run(lambda x, y: lax.associative_scan(lambda a, b: a, (x, y)))(np.ones(3), np.ones(4))
