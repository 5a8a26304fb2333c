"""cond, switch, select, while_loop and fori_loop, against Python; their errors."""

import numpy as np
import pytest

import chainrule as cr
from chainrule import lax
from chainrule.codegen.errors import ShapeMismatchError, TypeMismatchError, UnsupportedError
from tests.chainrule.lax_checks import check, check_batched, check_derivatives, check_values, same

R = np.random.default_rng(0)
V = R.standard_normal(3)


# branches


def test_cond():
    bent = lambda x, y: lax.cond(
        x > 0, lambda x, y: {"a": x * y, "b": np.sin(y)}, lambda x, y: {"a": x - y, "b": y**2}, x, y
    )
    reference = lambda x, y: {"a": x * y, "b": np.sin(y)} if x > 0 else {"a": x - y, "b": y**2}
    for x in (0.7, -0.7):
        check(bent, reference, np.float64(x), V)


def test_cond_runs_one_branch_only():
    function = lambda x: lax.cond(x > 0, np.sqrt, lambda x: 0.0 * x, x)
    for run in (cr.grad(function), cr.jit(cr.grad(function))):
        assert float(run(-4.0)) == 0.0 and float(run(4.0)) == 0.25
    same(cr.vmap(cr.grad(function))(np.array([4.0, -4.0])), np.array([0.25, 0.0]))
    same(
        cr.jit(cr.vmap(cr.jvp, in_axes=(None, 0, 0)))(function, (np.array([4.0, -4.0]),), (np.ones(2),))[1],
        np.array([0.25, 0.0]),
    )


def test_cond_takes_what_jax_takes():
    assert lax.cond(True, lambda: 1.0, lambda: 2.0) == 1.0
    assert lax.cond(0, lambda x: 1.0, lambda x: 2.0 * x, operand=3.0) == 6.0
    assert lax.cond(np.array(2.5), lambda x: None, lambda x: None, 3.0) is None
    assert cr.jit(lambda p: lax.cond(p, lambda: (1, None), lambda: (2, None)))(7) == (1, None)
    single = cr.jit(lambda p, x: lax.cond(p > 0, lambda: x, lambda: 0.0))(-1, np.float32(2))
    assert single == 0.0 and single.dtype == np.float32


def test_switch():
    branches = [lambda x: x, lambda x: x * x, lambda x: np.sin(x), lambda x: x[::-1] + 1]
    for k in (-2, 0, 1, 2, 3, 8):
        reference = lambda k, x: branches[min(max(k, 0), 3)](x)
        check_values(lambda k, x: lax.switch(k, branches, x), reference, k, V)
        check_derivatives(lambda x: lax.switch(k, branches, x), V)
    chosen = cr.jit(lambda k, x: lax.switch(k, branches, x))
    same(chosen(np.uint8(200), V), V[::-1] + 1)
    batched = cr.vmap(lambda k, x: lax.switch(k, branches, x), in_axes=(0, None))
    same(
        cr.jit(batched)(np.array([-3, 0, 1, 2, 3, 4]), V),
        np.stack([V, V, V * V, np.sin(V), V[::-1] + 1, V[::-1] + 1]),
    )
    gradient = cr.vmap(cr.grad(lambda x, k: lax.switch(k, [lambda x: x, lambda x: x**2, lambda x: x**3], x)))
    same(cr.jit(gradient)(np.full(3, 2.0), np.arange(3)), np.array([1.0, 4.0, 12.0]))
    assert lax.switch(5, [lambda: "only"]) == "only"


def test_select():
    pick = lambda p, a, b: lax.select(p, a, b)
    bools = V > 0
    check_values(pick, lambda p, a, b: np.where(p, a, b), bools, V, V**2)
    check_values(pick, lambda p, a, b: b, np.bool_(False), V, V**2)
    check_derivatives(lambda a, b: lax.select(bools, a, b), V, V**2)
    with pytest.raises(TypeMismatchError, match="arrays of one dtype, and was given float64 and int64"):
        lax.select(True, np.ones(2), np.ones(2, int))
    for run in (pick, cr.jit(pick)):
        with pytest.raises(ValueError, match="select needs arrays of one shape"):
            run(bools, V, np.ones(4))
        with pytest.raises(ShapeMismatchError, match="arrays of 1, 2 and 2 axes"):
            run(bools, np.ones((3, 3)), np.ones((3, 3)))
        with pytest.raises(TypeMismatchError, match="select needs bools to select by, and was given float64"):
            run(V, V, V)


@pytest.mark.parametrize(
    "first, second, kind, text",
    [
        (
            lambda x: x,
            lambda x: (x, x),
            TypeMismatchError,
            "cond needs branches that return one structure: true_fun returned *, and false_fun (*, *)",
        ),
        (
            lambda x: {"a": x},
            lambda x: {"b": x},
            TypeMismatchError,
            "true_fun returned {'a': *}, and false_fun {'b': *}",
        ),
        (lambda x: x, lambda x: None, TypeMismatchError, "true_fun returned *, and false_fun None"),
        (
            lambda x: [x],
            lambda x: [x[0]],
            ShapeMismatchError,
            "the result[0] of true_fun is float64 of shape (3,), and of false_fun float64",
        ),
        (
            lambda x: x,
            lambda x: x.astype(np.float32),
            TypeMismatchError,
            "the result of true_fun is float64 of shape (3,), and of false_fun float32 of shape (3,)",
        ),
        (
            lambda x: np.ones(2),
            lambda x: np.ones(3),
            ShapeMismatchError,
            "the result of true_fun is float64 of shape (2,), and of false_fun float64 of shape (3,)",
        ),
        (
            lambda x: "a",
            lambda x: 1.0,
            TypeMismatchError,
            "the result of true_fun is 'a', and of false_fun a Python float",
        ),
    ],
)
def test_branches_that_differ(first, second, kind, text):
    function = lambda p, x: lax.cond(p > 0, first, second, x)
    for run, p in ((cr.jit(function), 1.0), (cr.vmap(function, in_axes=(0, None)), np.ones(2))):
        with pytest.raises(kind) as caught:
            run(p, V)
        assert text in str(caught.value).replace("(n,)", "(3,)")
        assert "test_lax_control.py" in str(caught.value) and "Instead: let all branches" in str(caught.value)


def test_branches_of_another_length():
    function = cr.jit(lambda p, x, y: lax.cond(p > 0, lambda: x, lambda: y))
    same(function(1.0, V, 2 * V), V)
    same(function(-1.0, V, 2 * V), 2 * V)
    for p in (1.0, -1.0):
        with pytest.raises(ValueError, match="needs branches that return one shape"):
            function(-1.0, V, np.ones(4))


def test_conditions_that_are_none():
    for run in (lambda f: f, cr.jit):
        with pytest.raises(
            ShapeMismatchError, match="its condition to be a bool or number, and it is an array of 1"
        ):
            run(lambda x: lax.cond(x > 0, lambda: 1.0, lambda: 2.0))(V)
        with pytest.raises(
            TypeMismatchError, match="what cond_fun returns to be a bool or number, and it is a tuple"
        ):
            run(lambda x: lax.while_loop(lambda x: (x, x), lambda x: x, x))(1.0)
        with pytest.raises(ValueError, match="switch needs at least one branch"):
            run(lambda x: lax.switch(0, [], x))(1.0)
        with pytest.raises(TypeMismatchError, match="switch needs an index that is an integer"):
            run(lambda x: lax.switch(x, [lambda: 1.0]))(1.5)


# loops


def newton(a):
    return lax.while_loop(lambda x: abs(x * x - a) > 1e-13, lambda x: 0.5 * (x + a / x), a)


def test_while_loop():
    for a in (1.5, 2.0, 9.5):
        same(cr.jit(newton)(a), np.sqrt(a), dtypes=False, tolerance=1e-9)
        same(cr.jit(cr.grad(newton))(a), 0.5 / np.sqrt(a), dtypes=False, tolerance=1e-6)
    same(cr.grad(cr.grad(newton))(2.0), -0.25 * 2.0**-1.5, dtypes=False, tolerance=1e-6)
    batch = np.array([1.5, 2.0, 400.0])
    same(cr.jit(cr.vmap(cr.grad(newton)))(batch), 0.5 / np.sqrt(batch), tolerance=1e-6)


@pytest.mark.parametrize("limit", [0.5, 2.0, 5.0, 20.0])
def test_while_loop_of_trees(limit):
    def function(x, v):
        keep = lambda state: state["x"] < limit
        grow = lambda state: {
            "x": state["x"] * 2,
            "v": (np.sin(state["v"][0]) + state["x"], None),
            "n": state["n"] + 1,
        }
        return lax.while_loop(keep, grow, {"x": x, "v": (v, None), "n": 0})

    def reference(x, v):
        n = 0
        while x < limit:
            x, v, n = x * 2, np.sin(v) + x, n + 1
        return {"x": x, "v": (v, None), "n": n}

    check_values(function, reference, 1.1, V)
    check_batched(function, np.float64(1.1), V)
    check_derivatives(lambda x, v: (function(x, v)["x"], function(x, v)["v"]), 1.1, V)


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
@pytest.mark.parametrize("unroll", [None, 1, 2, True])
def test_fori_loop(steps, unroll):
    body = lambda i, c: (c[0] * c[1][i] + i, c[1])

    def reference(x, v):
        for i in range(1, 1 + steps):
            x = x * v[i] + i
        return x, v

    given = np.float64(0.8), R.standard_normal(5)
    function = lambda x, v: lax.fori_loop(1, 1 + steps, body, (x, v), unroll=unroll)
    check(function, reference, *given, order=1)


def test_fori_loop_with_bounds_known_at_run_time():
    power = lambda x, start, stop: lax.fori_loop(start, stop, lambda i, y: y * x + i, 1.0)
    for bounds in ((0, 0), (0, 1), (2, 4), (5, 3), (-2, 1)):
        want = 1.0
        for i in range(*bounds):
            want = want * 1.5 + i
        same(cr.jit(power)(1.5, *bounds), want, dtypes=False)
        cr.check_grads(lambda x: power(x, *bounds), (1.5,), order=2)
        same(
            cr.jit(cr.grad(power))(1.5, *bounds),
            cr.jvp(lambda x: power(x, *bounds), (1.5,), (1.0,))[1],
            dtypes=False,
        )
    unrolled = cr.jit(lambda n: lax.fori_loop(0, n, lambda i, c: c + i, 0, unroll=2))
    assert [unrolled(n) for n in (-3, 0, 1, 4, 5)] == [0, 0, 0, 6, 10]
    lanes = cr.vmap(cr.grad(lambda x, n: lax.fori_loop(0, n, lambda i, y: y * x, 1.0)))
    same(cr.jit(lanes)(np.full(4, 2.0), np.arange(4)), np.array([0.0, 1.0, 4.0, 12.0]))


def test_the_order_of_keys_stays():
    swapped = lambda i, c: {"b": c["a"] + i, "a": c["b"]}
    for run in (lambda f: f, cr.jit):
        assert list(run(lambda x: lax.fori_loop(0, 3, swapped, {"a": x, "b": x}))(1.0).items()) == [
            ("a", 2.0),
            ("b", 3.0),
        ]


def test_the_callers_arrays_stay():
    def body(i, state):
        state[i] = 2 * state[i - 1]
        return state

    start = np.ones(4)
    for run in (lambda f: f, cr.jit):
        same(run(lambda x: lax.fori_loop(1, 4, body, x))(start), np.array([1.0, 2.0, 4.0, 8.0]))
    same(start, np.ones(4))
    check_derivatives(lambda x: lax.fori_loop(1, 4, body, x), start + 0.5)


@pytest.mark.parametrize(
    "body, init, kind, text",
    [
        (
            lambda c: (c, c),
            1.0,
            TypeMismatchError,
            "while_loop needs a carry of one structure: body_fun was given *, and returned (*, *)",
        ),
        (
            lambda c: {"n": c["n"], "v": c["v"][None]},
            {"n": 1, "v": V},
            ShapeMismatchError,
            "carry['v'] is float64 of shape (3,) where body_fun is called, and float64 of shape (1, 3) where",
        ),
        (
            lambda c: [c[0], "b"],
            [1.0, "a"],
            TypeMismatchError,
            "carry[1] is 'a' where body_fun is called, and 'b' where it returns",
        ),
        (
            lambda c: [c[0], None],
            [1.0, 2.0],
            TypeMismatchError,
            "body_fun was given [*, *], and returned [*, None]",
        ),
    ],
)
def test_refused_bodies(body, init, kind, text):
    function = lambda x: lax.while_loop(lambda c: True, body, init)
    for run in (function, cr.jit(function), cr.grad(function)):
        with pytest.raises(kind) as caught:
            run(1.0)
        told = str(caught.value).replace("(n,)", "(3,)").replace("(1, n)", "(1, 3)")
        assert text in told and "Instead: " in told
    assert "test_lax_control.py" in told


def test_a_carry_that_changes_its_length():
    function = lambda x, y: lax.fori_loop(0, 2, lambda i, c: y, x)
    for run in (function, cr.jit(function)):
        with pytest.raises(ValueError, match="of one shape"):
            run(V, np.ones(4))
    same(cr.jit(function)(V, 2 * V), 2 * V)


def test_errors_inside_a_step_name_its_line():
    outside = np.ones(3)

    def body(i, carry):
        outside[i] = 1.0
        return carry

    with pytest.raises(UnsupportedError) as caught:
        cr.jit(lambda x: lax.fori_loop(0, 2, body, x))(1.0)
    assert "in body\n    outside[i] = 1.0\n" in str(caught.value)
