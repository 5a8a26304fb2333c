"""vmap: JAX's semantics, its errors, control flow in lanes, other transformations around and inside it."""

import dataclasses

import numpy as np
import pytest

import chainrule as cr
from chainrule import lax
from chainrule.codegen.errors import ShapeMismatchError, TypeMismatchError, UnsupportedError

R = np.random.default_rng(0)
X, Y = R.standard_normal((3, 4)), R.standard_normal((3, 4))
W = R.standard_normal((4, 4))


def one_by_one(function, *mapped):
    return np.stack([np.asarray(function(*arguments)) for arguments in zip(*mapped)])


def same(got, want, tolerance=1e-12):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


# axes


def test_axes_of_arguments_and_results():
    same(cr.vmap(np.dot)(X, Y), np.sum(X * Y, axis=1))
    same(cr.vmap(np.dot, in_axes=(1, None))(X.T, Y[0]), X @ Y[0])
    same(cr.vmap(np.dot, in_axes=(-2, 0))(X, Y), np.sum(X * Y, axis=1))
    same(cr.vmap(lambda x: 2 * x, in_axes=1, out_axes=1)(X), 2 * X)
    same(
        cr.vmap(lambda x: np.outer(x, x), out_axes=-1)(X),
        np.moveaxis(one_by_one(lambda x: np.outer(x, x), X), 0, -1),
    )
    same(cr.vmap(lambda x, y: y, in_axes=(0, None), out_axes=None)(X, Y), Y)
    same(cr.vmap(lambda x, y: y, in_axes=(0, None))(X, Y), np.broadcast_to(Y, (3, 3, 4)))


def test_structure():
    @dataclasses.dataclass
    class Layer:
        w: np.ndarray
        b: np.ndarray

    def apply(layers, x, scale=1.0):
        for layer in layers["all"]:
            x = np.tanh(layer.w @ x + layer.b) * scale
        return {"out": x, "parts": (x[0], [x[1]])}

    layers = {"all": [Layer(R.standard_normal((3, 4, 4)), X), Layer(W, Y)]}
    axes = {"all": [Layer(0, 0), Layer(None, 0)]}
    got = cr.vmap(apply, in_axes=(axes, None), out_axes={"out": 1, "parts": 0})(layers, X[0])
    for k in range(3):
        one = apply({"all": [Layer(layers["all"][0].w[k], X[k]), Layer(W, Y[k])]}, X[0])
        same(got["out"][:, k], one["out"])
        same(got["parts"][0][k], one["parts"][0])
        same(got["parts"][1][0][k], one["parts"][1][0])
    scaled = cr.vmap(apply, in_axes=(None, 0))({"all": [Layer(W, Y[0])]}, X, scale=np.arange(3.0))
    same(scaled["out"], one_by_one(lambda x, s: np.tanh(W @ x + Y[0]) * s, X, np.arange(3.0)))


def test_keywords_are_mapped_along_their_first_axis():
    same(cr.vmap(lambda x, y: x * y, in_axes=(None,))(X[0], y=np.arange(3.0)), np.arange(3.0)[:, None] * X[0])


def test_axis_size():
    same(
        cr.vmap(lambda x: x + lax.axis_index("i"), in_axes=None, axis_size=3, axis_name="i")(1.5),
        [1.5, 2.5, 3.5],
    )
    same(cr.vmap(lambda: np.ones(2), axis_size=3)(), np.ones((3, 2)))


def test_decorator_and_static_arguments():
    @cr.vmap
    def f(x):
        """It doubles."""
        return 2 * x

    same(f(X), 2 * X)
    assert f.__doc__ == "It doubles."
    same(cr.vmap(in_axes=1)(lambda x: np.sum(x))(X), X.sum(0))
    same(
        cr.vmap(lambda x, kind: x.sum() if kind == "sum" else x.max(), in_axes=(0, None))(X, "sum"), X.sum(1)
    )


def test_dtypes():
    single = X.astype(np.float32)
    same(cr.vmap(lambda x: x * 2 + float(3), in_axes=0)(single), single * 2 + 3)
    same(
        cr.vmap(lambda x, s: x * float(s))(single, np.arange(3.0)),
        one_by_one(lambda x, s: x * float(s), single, range(3)),
    )
    same(cr.vmap(lambda k: k + True)(np.arange(3)), np.arange(3) + 1)
    same(cr.vmap(lambda x: x > 0)(X), X > 0)
    same(cr.vmap(lambda x: x * 1j)(X), X * 1j)


def test_the_caller_keeps_its_arrays():
    def f(x):
        x[0] = 7.0
        return x

    given = X.copy()
    got = cr.vmap(f)(given)
    same(given, X)
    same(got[:, 0], np.full(3, 7.0))
    same(got[:, 1:], X[:, 1:])
    unchanged = cr.vmap(lambda x: x)(given)
    assert not np.shares_memory(unchanged, given)
    unchanged[...] = 0


@pytest.mark.parametrize("size", [1, 2, 17])
def test_any_number_of_examples(size):
    x = R.standard_normal((size, 4))
    f = cr.jit(cr.vmap(cr.grad(lambda x: np.sum(np.tanh(W @ x)))))
    same(f(x), one_by_one(cr.grad(lambda x: np.sum(np.tanh(W @ x))), x), 1e-10)


def test_no_examples():
    assert cr.vmap(lambda x: np.sum(x))(np.zeros((0, 4))).shape == (0,)


# errors


def test_errors_of_axes():
    with pytest.raises(TypeError, match="must be an int, None, or a tuple"):
        cr.vmap(np.sin, in_axes=0.5)
    with pytest.raises(ValueError, match=r"len\(in_axes\)=3, len\(args\)=2"):
        cr.vmap(np.dot, in_axes=(0, 0, 0))(X, Y)
    with pytest.raises(ValueError, match="at least one non-None value in in_axes"):
        cr.vmap(np.dot, in_axes=(None, None))(X[0], Y[0])
    with pytest.raises(
        ShapeMismatchError, match=r"map x along axis 2, which takes an array of at least 3 axes"
    ):
        cr.vmap(lambda x: x, in_axes=2)(X)
    with pytest.raises(
        ShapeMismatchError, match=r"map x along axis 0, which takes an array of at least 1 axis"
    ):
        cr.vmap(lambda x: x)(1.0)
    with pytest.raises(TypeMismatchError, match="in_axes has"):
        cr.vmap(lambda p: p["w"], in_axes=({"v": 0},))({"w": X})
    with pytest.raises(TypeMismatchError, match="out_axes has"):
        cr.vmap(lambda x: x, out_axes=(0, 0))(X)
    with pytest.raises(ValueError, match="out_axes is None"):
        cr.vmap(lambda x: x, out_axes=None)(X)
    with pytest.raises(ValueError, match="out_axes"):
        cr.vmap(lambda x: np.sum(x), out_axes=1)(X)


def test_errors_of_sizes():
    with pytest.raises(
        ValueError, match=r"x has shape \(3, 4\), mapped along axis 0; y has shape \(5,\), mapped"
    ):
        cr.vmap(lambda x, y: x * y)(X, np.arange(5.0))
    with pytest.raises(ValueError, match="axis_size is 4"):
        cr.vmap(lambda x: x, axis_size=4)(X)
    with pytest.raises(ValueError, match="inconsistent sizes"):
        cr.jit(cr.vmap(lambda x, y: x * y))(X, np.arange(5.0))
    with pytest.raises(ValueError, match="inconsistent sizes"):
        cr.vmap(lambda x, y: x * y)(X, np.arange(1.0))


def test_errors_name_the_part_of_an_argument():
    scaled = lambda p, x: p["w"] * x + p["b"][0]
    with pytest.raises(ValueError, match=r"p\['w'\] has shape \(3,\), mapped along axis 0; p\['b'\]\[0\]"):
        cr.vmap(scaled)({"w": np.ones(3), "b": [np.ones(4)]}, np.ones(3))
    with pytest.raises(ShapeMismatchError, match=r"map p\['b'\]\[0\] along axis 1, which takes an array"):
        cr.vmap(scaled, in_axes=({"w": 0, "b": 1}, 0))({"w": np.ones(3), "b": [np.ones(3)]}, np.ones(3))
    with pytest.raises(ShapeMismatchError, match="scale has shape \\(4,\\), mapped along axis 0"):
        cr.vmap(lambda x, scale: x * scale)(np.ones(3), scale=np.ones(4))
    with pytest.raises(ShapeMismatchError, match="map scale along axis 0, which takes an array"):
        cr.vmap(lambda x, scale: x * scale)(np.ones(3), scale=2.0)
    with pytest.raises(ShapeMismatchError, match="map x along axis -2, which takes an array of"):
        cr.vmap(lambda x: x, in_axes=-2)(np.ones(3))


def test_errors_of_what_is_no_axis():
    for axes in (0.5, "a"):
        with pytest.raises(TypeMismatchError, match=f"in_axes has {axes!r}, which is no axis"):
            cr.vmap(lambda x: x, in_axes=(axes,))(X)
    with pytest.raises(TypeMismatchError, match="out_axes has 0.5, which is no axis"):
        cr.vmap(lambda x: x, out_axes=0.5)(X)
    with pytest.raises(TypeMismatchError, match=r"in_axes has \(0, 1\) where there is an array or number"):
        cr.vmap(lambda x: x, in_axes=((0, 1),))(X)
    with pytest.raises(TypeMismatchError, match=r"out_axes has \(0,\) where there is a tuple with 2 parts"):
        cr.vmap(lambda x: (x, x), out_axes=(0,))(X)
    with pytest.raises(ShapeMismatchError, match="mapped output, but out_axes is None"):
        cr.vmap(lambda x: (x, {"a": x}), out_axes=(0, {"a": None}))(X)


@pytest.mark.parametrize("size", [-1, np.int64(-2)])
def test_a_negative_axis_size(size):
    with pytest.raises(ValueError, match="axis_size must not be negative"):
        cr.vmap(lambda: 1.0, axis_size=size)


def test_an_axis_size_that_is_no_int():
    with pytest.raises(TypeError, match="axis_size must be an int, and was given 2.0"):
        cr.vmap(lambda x: x, axis_size=2.0)
    assert cr.vmap(lambda: 1.0, axis_size=np.int32(2))().tolist() == [1.0, 1.0]


def test_axes_of_rest_arguments_and_lists():
    total = lambda x, *rest: x + rest[0] + rest[1]
    same(cr.vmap(total, in_axes=(0, None, 0))(V, 1.0, V), 2 * V + 1)
    same(cr.vmap(total, in_axes=[0, None, 0])(V, 1.0, V), 2 * V + 1)
    same(cr.vmap(lambda x: x, in_axes=None, axis_size=3)(2.0), np.full(3, 2.0))
    same(cr.vmap(lambda xs: xs[0] * xs[1], in_axes=([0, None],))([V, 2.0]), 2 * V)
    same(cr.vmap(np.take_along_axis, in_axes=(0, 0, None))(X, np.ones((3, 1), int), 0), X[:, 1:2])


def picked(x, k):
    return x[k]


def put(x, k):
    x[k] = 1.0
    return x


def walked(x, k):
    while k < 9:
        x = x + x[k]
        k = k + 1
    return x


@pytest.mark.parametrize("wrap", [lambda f: f, cr.jit], ids=["eager", "compiled"])
@pytest.mark.parametrize("function, index", [(picked, 7), (put, -9), (walked, 4)])
def test_an_index_out_of_bounds_is_named(function, index, wrap):
    with pytest.raises(IndexError, match=f"index {index} is out of bounds for axis 0 with size 4"):
        wrap(cr.vmap(function))(X, np.array([0, index if function is not walked else 0, 1]))
    with pytest.raises(IndexError, match=f"index {index} is out of bounds for axis 0 with size 4"):
        wrap(cr.vmap(function, in_axes=(None, 0)))(X[0], np.array([index]))


@pytest.mark.parametrize("wrap", [lambda f: f, cr.jit], ids=["eager", "compiled"])
def test_an_exception_of_an_example_keeps_its_text(wrap):
    def root(x):
        if x < 0:
            raise ValueError(f"the root of {x} is not real")
        return np.sqrt(x)

    with pytest.raises(ValueError, match="the root of -4.0 is not real"):
        wrap(cr.vmap(root))(np.array([1.0, -4.0]))


def test_results_of_different_shapes_are_refused():
    def counted(x):
        kept = []
        for value in x:
            if value > 0:
                kept.append(value)
        return np.array(kept)

    with pytest.raises(UnsupportedError, match="may differ from one example to another") as caught:
        cr.vmap(counted)(X)
    assert "test_vmap.py" in str(caught.value)


@pytest.mark.parametrize("wrap", [lambda f: f, cr.jit], ids=["eager", "compiled"])
def test_slices_of_one_size_at_places_of_their_own(wrap):
    x, places = R.standard_normal(9), np.array([[1, 3], [6, 0]])
    cut = lambda x, i: x[i : i + 2]
    along = cr.vmap(cut, (None, 0))
    same(wrap(along)(x, places[0]), np.stack([x[1:3], x[3:5]]))
    same(wrap(cr.vmap(along, (None, 0)))(x, places), x[places[..., None] + np.arange(2)])
    assert wrap(along)(x, np.zeros(0, int)).shape[0] == 0
    weights = R.standard_normal((2, 2))
    gradient = cr.grad(lambda x: np.sum(along(x, places[1]) * weights))(x)
    expected = np.zeros(9)
    expected[6:8], expected[0:2] = weights
    same(gradient, expected)
    with pytest.raises(ValueError, match="another shape for one example than for another"):
        wrap(along)(x, np.array([1, 8]))


@pytest.mark.parametrize("wrap", [lambda f: f, cr.jit], ids=["eager", "compiled"])
def test_results_that_turn_out_to_have_one_shape(wrap):
    x = np.array([[1.0, -2.0, 3.0], [-1.0, 5.0, 6.0]])
    same(wrap(cr.vmap(lambda x: x[x > 0]))(x), [[1.0, 3.0], [5.0, 6.0]])

    def repeated(x, n):
        total = np.zeros(n)
        while total[0] < x:
            total += np.arange(1, n + 1)
        return total

    found = wrap(cr.vmap(repeated))(np.array([3.0, 0.0, 1.5]), np.array([2, 2, 2]))
    same(found, [[3.0, 6.0], [0.0, 0.0], [2.0, 4.0]])


def test_a_change_of_something_outside_is_refused():
    def outer(x):
        total = np.zeros(4)

        def f(row):
            total[0] = 1.0
            return row

        return cr.vmap(f)(x)

    with pytest.raises(UnsupportedError, match="changes something outside"):
        cr.jit(outer)(X)


# control flow


def newton(a):
    x = a
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def ragged_sum(x):
    chosen = x[x > 0]
    return np.sum(chosen * chosen) + len(chosen)


def early_return(x):
    for k in range(4):
        if x[k] > 0.5:
            return x[k] * 10 + k
    return np.sum(x)


def in_place(x):
    y = x.copy()
    for k in range(1, 4):
        if y[k] > y[k - 1]:
            y[k] = y[k] * y[k - 1]
        else:
            y[:k] += 1.0
    return y


def inner_length(x):
    total = 0.0
    for k in range(int(np.argmax(x)) + 1):
        total = total + x[k] ** 2 * (k + 1)
    return total


def prefix(x):
    return np.sum(x[: np.argmax(x) + 1] ** 2)


def with_matmul(x):
    for k in range(3):
        x = np.tanh(W @ x)
        if x[0] > 0:
            x = x * 2
    return x


PROGRAMS = {
    "newton": (newton, np.array([0.5, 2.0, 1e4])),
    "collatz": (collatz, np.array([1, 6, 27])),
    "ragged": (ragged_sum, X),
    "early return": (early_return, X),
    "in place": (in_place, X),
    "inner length": (inner_length, X),
    "prefix": (prefix, X),
    "with matmul": (with_matmul, X),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("wrap", [lambda f: f, cr.jit], ids=["eager", "compiled"])
def test_lanes(name, wrap):
    f, xs = PROGRAMS[name]
    same(wrap(cr.vmap(f))(xs), one_by_one(f, xs))


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "collatz"])
@pytest.mark.parametrize("wrap", [lambda f: f, cr.jit], ids=["eager", "compiled"])
def test_gradients_of_lanes(name, wrap):
    f, xs = PROGRAMS[name]
    total = lambda x: np.sum(f(x) ** 2)
    want = one_by_one(cr.grad(total), xs)
    same(wrap(cr.vmap(cr.grad(total)))(xs), want, 1e-10)
    same(wrap(cr.grad(lambda xs: np.sum(cr.vmap(f)(xs) ** 2)))(xs), want, 1e-10)
    directions = np.ones_like(xs)
    _, dots = cr.jvp(cr.vmap(total), (xs,), (directions,))
    same(dots, one_by_one(lambda w: np.sum(w), want), 1e-10)


def test_lanes_read_well():
    text = cr.source(cr.vmap(newton))(np.array([2.0, 3.0]))
    assert "for lane in range(n):" in text
    assert "while" in text
    assert "where" not in text


def test_control_flow_that_is_the_same_for_all_stays():
    text = cr.source(cr.vmap(lambda x, k: x * 2 if k > 0 else x, in_axes=(0, None)))(X, 1.0)
    assert "lane" not in text


# composition


def test_per_example_gradients():
    def loss(w, x, y):
        return np.sum((np.tanh(w @ x) - y) ** 2)

    want = np.stack([cr.grad(loss)(W, x, y) for x, y in zip(X, Y)])
    same(cr.vmap(cr.grad(loss), in_axes=(None, 0, 0))(W, X, Y), want)
    same(cr.jit(cr.vmap(cr.grad(loss), in_axes=(None, 0, 0)))(W, X, Y), want)
    value, grads = cr.vmap(cr.value_and_grad(loss), in_axes=(None, 0, 0))(W, X, Y)
    same(grads, want)
    same(value, one_by_one(lambda x, y: loss(W, x, y), X, Y))


def test_jacobians_by_vmap():
    f = lambda x: np.tanh(W @ x) * x[0]
    x = X[0]
    value, pullback = cr.vjp(f, x)
    rows = cr.vmap(lambda ct: cr.vjp(f, x)[1](ct)[0])(np.eye(4))
    columns = cr.vmap(lambda v: cr.jvp(f, (x,), (v,))[1], out_axes=1)(np.eye(4))
    same(rows, cr.jacrev(f)(x))
    same(columns, cr.jacrev(f)(x))


@pytest.mark.parametrize("transform", [cr.jacrev, cr.jacfwd, cr.hessian])
def test_jacobians_inside(transform):
    f = lambda x: np.sum(np.sin(W @ x) * x)
    same(cr.vmap(transform(f))(X), one_by_one(transform(f), X), 1e-10)


def test_hessian_of_a_vmap():
    total = lambda x: np.sum(cr.vmap(lambda row: np.sin(row) @ row)(x) ** 2)
    plain = lambda x: np.sum(np.sum(np.sin(x) * x, axis=1) ** 2)
    same(cr.hessian(total)(X), cr.hessian(plain)(X), 1e-10)


def test_vmap_of_vmap():
    f = lambda a, b: np.tanh(a @ b)
    table = cr.vmap(cr.vmap(f, in_axes=(None, 0)), in_axes=(0, None))
    same(table(X, Y), np.tanh(X @ Y.T))
    same(cr.jit(table)(X, Y), np.tanh(X @ Y.T))
    want = np.stack([[cr.grad(f)(a, b) for b in Y] for a in X])
    same(cr.vmap(cr.vmap(cr.grad(f), in_axes=(None, 0)), in_axes=(0, None))(X, Y), want)


def test_nested_lanes():
    grid = np.array([[2.0, 3.0], [50.0, 0.1]])
    same(cr.vmap(cr.vmap(newton))(grid), np.sqrt(grid), 1e-10)
    same(
        cr.vmap(cr.vmap(cr.grad(newton)))(grid),
        one_by_one(lambda row: one_by_one(cr.grad(newton), row), grid),
    )


def test_third_derivative_of_lanes():
    cube = cr.vmap(cr.grad(cr.grad(cr.grad(newton))))
    a = np.array([0.7, 3.0])
    same(cube(a), 3 / 8 * a**-2.5, 1e-6)


def test_closing_over_the_values_of_an_outer_vmap():
    f = lambda x: cr.vmap(lambda y: x * y + x[0])(np.stack([x, 2 * x]))
    same(cr.vmap(f)(X), one_by_one(lambda x: np.stack([x * x + x[0], 2 * x * x + x[0]]), X))


def test_inside_a_function_with_a_gradient():
    f = lambda w: np.sum(cr.vmap(lambda x: np.tanh(w @ x))(X) ** 2)
    same(cr.grad(f)(W), cr.grad(lambda w: np.sum(np.tanh(X @ w.T) ** 2))(W), 1e-10)


def test_loops_that_change_shape_alike():
    def grow(x):
        a = np.zeros(1)
        for k in range(3):
            a = np.concatenate([a, x[: k + 1] * a[-1] + 1])
        return a

    same(cr.vmap(grow)(X), one_by_one(grow, X))


# collectives


V = np.arange(4.0)


def over(function, **options):
    return cr.vmap(function, axis_name="i", **options)


def test_sums_and_means():
    same(over(lambda v: lax.psum(v, "i"))(V), np.full(4, 6.0))
    same(over(lambda v: lax.psum(v, "i"), out_axes=None)(V), 6.0)
    same(over(lambda v: lax.pmean(v, "i"))(V), np.full(4, 1.5))
    same(over(lambda v: v / lax.psum(v, "i"))(V), V / 6)
    same(over(lambda v: lax.psum({"a": v, "b": 1}, "i"))(V)["b"], np.full(4, 4))
    same(over(lambda v: lax.pmax(v, "i") - lax.pmin(v, "i"))(V), np.full(4, 3.0))
    assert over(lambda v: v * lax.axis_size("i") + lax.axis_index("i"))(V).tolist() == [0, 5, 10, 15]


def test_moving_values():
    same(over(lambda v: lax.all_gather(v, "i"))(V), np.tile(V, (4, 1)))
    same(over(lambda v: lax.ppermute(v, "i", [(k, (k + 1) % 4) for k in range(4)]))(V), [3.0, 0.0, 1.0, 2.0])
    same(over(lambda v: lax.ppermute(v, "i", [(0, 1)]))(V + 5), [0.0, 5.0, 0.0, 0.0])
    table = R.standard_normal((4, 4, 3))
    same(over(lambda r: lax.psum_scatter(r, "i"))(table), table.sum(0))
    same(over(lambda r: lax.all_to_all(r, "i", 0, 0))(table), np.swapaxes(table, 0, 1))
    same(over(lambda r: lax.all_to_all(r, "i", 0, 1))(table), np.moveaxis(table, 0, 2).copy())
    same(over(lambda r: lax.all_gather(r, "i", axis=1))(X), np.broadcast_to(X.T, (3, 4, 3)))
    same(over(lambda r: lax.all_gather(r, "i", tiled=True))(X), np.tile(X.reshape(-1), (3, 1)))
    same(over(lambda r: lax.psum_scatter(r, "i", tiled=True))(R.standard_normal((2, 6))).shape, (2, 3))


def test_derivatives_through_collectives():
    same(over(cr.grad(lambda v: lax.pmean(v**2, "i")))(V), 2 * V)
    f = lambda v: np.sum(over(lambda v: v / lax.psum(v * v, "i"))(v))
    same(cr.grad(f)(V), cr.grad(lambda v: np.sum(v / np.sum(v * v)))(V))
    for move in (
        lambda v: lax.ppermute(v, "i", [(0, 2), (1, 0)]),
        lambda v: lax.all_gather(v, "i") ** 2,
        lambda v: lax.pmax(v, "i"),
    ):
        function = lambda v, move=move: over(move)(np.sin(v))
        ct = R.standard_normal(np.shape(function(V)))
        value, pullback = cr.vjp(function, V)
        direction = R.standard_normal(4)
        _, dot = cr.jvp(function, (V,), (direction,))
        np.testing.assert_allclose(np.sum(dot * ct), np.sum(pullback(ct)[0] * direction))


def test_two_named_axes():
    both = cr.vmap(lambda r: cr.vmap(lambda x: x / lax.psum(x, ("i", "j")), axis_name="j")(r), axis_name="i")
    same(both(np.abs(X)), np.abs(X) / np.abs(X).sum())
    rows = cr.vmap(cr.vmap(lambda x: lax.psum(x, "i"), axis_name="j"), axis_name="i")
    same(rows(X), np.tile(X.sum(0), (3, 1)))
    gathered = cr.vmap(cr.vmap(lambda x: lax.all_gather(x, "i"), axis_name="j"), axis_name="i")
    same(gathered(X), np.broadcast_to(X.T, (3, 4, 3)))
    moved = cr.vmap(cr.vmap(lambda x: lax.ppermute(x, "i", [(0, 1)]), axis_name="j"), axis_name="i")
    same(moved(X), np.stack([np.zeros(4), X[0], np.zeros(4)]))


def test_errors_of_collectives():
    with pytest.raises(NameError, match="unbound axis name: 'k'"):
        over(lambda v: lax.psum(v, "k"))(V)
    with pytest.raises(NameError, match="unbound axis name"):
        lax.psum(1.0, "i")
    with pytest.raises(UnsupportedError, match="go different ways"):
        over(lambda v: lax.psum(v, "i") if v > 1 else v)(V)
    with pytest.raises(ValueError, match="must be unique"):
        over(lambda v: lax.ppermute(v, "i", [(0, 1), (0, 2)]))(V)
    with pytest.raises(ValueError, match="counted from 0"):
        over(lambda v: lax.ppermute(v, "i", [(0, -1)]))(V)
    with pytest.raises(ValueError, match="axis 0 of the array must be a multiple of the batch"):
        over(lambda v: lax.psum_scatter(v, "i", tiled=True))(np.ones((5, 3)))
    for axis in (3, -4):
        with pytest.raises(IndexError, match=f"axis {axis} is out of bounds for array of dimension 3"):
            over(lambda v: lax.all_gather(v, "i", axis=axis))(np.ones((2, 2, 2)))


@pytest.mark.parametrize("wrap", [lambda f: f, cr.jit])
def test_a_permutation_of_more_examples_than_there_are(wrap):
    with pytest.raises(IndexError, match="to or from example 9, and the batch has 4 examples"):
        wrap(over(lambda v: lax.ppermute(v, "i", [(0, 9)])))(V)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "bool", "float32"])
def test_the_sum_of_what_is_the_same_for_all_is_as_wide_as_any_other(dtype):
    x = np.full(3, 200 if dtype == "uint8" else 2**30).astype(dtype)
    for got in (over(lambda v: lax.psum(v, "i"))(x), over(lambda v: lax.psum(x, "i"))(x)[0]):
        assert got.dtype == np.sum(x).dtype
        assert got.tolist() == [np.sum(x)] * 3


def test_collectives_along_axes_counted_from_the_end():
    x = R.standard_normal((4, 3, 4))
    same(over(lambda v: lax.all_gather(v, "i", axis=-1))(x), np.stack([np.moveaxis(x, 0, -1)] * 4))
    same(over(lambda v: lax.psum_scatter(v, "i", scatter_dimension=-1))(x), x.sum(0).T)
    same(over(lambda v: lax.all_to_all(v, "i", -1, 0))(x), np.einsum("ijk->kij", x))
    same(over(lambda v: lax.all_to_all(v, "i", -1, -1))(x), np.einsum("ijk->kji", x))
    tiles = over(lambda v: lax.psum_scatter(v, "i", scatter_dimension=-1, tiled=True))(x[:2])
    same(tiles, np.stack([x[:2].sum(0)[:, :2], x[:2].sum(0)[:, 2:]]))


def test_each_example_rolled_by_a_shift_of_its_own():
    x, shifts = R.standard_normal((3, 2, 5)), np.array([0, 3, -8])
    along = cr.vmap(lambda x, k: np.roll(x, k, axis=1))
    same(along(x, shifts), np.stack([np.roll(one, k, axis=1) for one, k in zip(x, shifts, strict=True)]))
    both = cr.vmap(lambda x, k: np.roll(x, (1, k), axis=(0, 1)), in_axes=(None, 0))
    same(both(x[0], shifts), np.stack([np.roll(x[0], (1, k), axis=(0, 1)) for k in shifts]))


def test_a_branch_whose_value_and_tangent_have_one_size_known_at_run_time():
    rows = np.array([[0.3, 0.2], [-0.8, 0.5], [1.1, -0.4]])

    def function(x, y):
        shift = np.sin(x)
        out = np.zeros((rows.shape[0], y.shape[0]))
        for k in range(rows.shape[0]):
            z = rows[k]
            if np.sum(z) > 0.3:
                r = np.cos(z) + shift + z
            else:
                r = np.cos(z) + y + z
            out[k] = y + r
        return np.sum(out)

    along = lambda x, y: cr.jvp(lambda x: function(x, y), (x,), (x,))[1]
    x, y = R.standard_normal((3, 2)), R.standard_normal((3, 2))
    same(cr.vmap(along)(x, y), 2 * np.sum(x * np.cos(x), axis=1))


def test_two_masks_of_each_example():
    def clipped(x):
        y = x.copy()
        y[y > 0.2] = y[y > 0.2] ** 2
        y[y < -1.0] = -1.0
        return y

    same(cr.jit(cr.vmap(clipped))(X), one_by_one(clipped, X))
    slope = lambda x: 2 * x * (x > 0.2) + ((x <= 0.2) & (x >= -1.0))
    same(cr.vmap(cr.grad(lambda x: np.sum(clipped(x))))(X), slope(X))
