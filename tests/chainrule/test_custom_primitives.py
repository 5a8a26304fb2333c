"""Registered primitives: types, derivatives, batches, lowerings; what is missing is derived, or refused."""

import ctypes
import ctypes.util

import numpy as np
import pytest
import scipy.optimize
import scipy.special

import chainrule as cr

X = np.linspace(0.5, 3.0, 5)
RANDOM = np.random.default_rng(0)
A = RANDOM.standard_normal((3, 3)) + 3 * np.eye(3)
B = RANDOM.standard_normal(3)

neumann = cr.primitive("neumann", scipy.special.yv)
neumann.defjvps(None, lambda t, value, v, x: t * (neumann(v - 1, x) - neumann(v + 1, x)) / 2)

FIRST = (scipy.special.yv(0, X) - scipy.special.yv(2, X)) / 2
SECOND = (scipy.special.yv(-1, X) - 2 * scipy.special.yv(1, X) + scipy.special.yv(3, X)) / 4


def curve(x):
    return np.sum(neumann(1.0, x))


@pytest.mark.parametrize("outer", [lambda f: f, cr.jit], ids=["numpy", "compiled"])
def test_a_ufunc(outer):
    """Without a type rule; the reverse rule is had by transposing, the batching rule is a ufunc's."""
    np.testing.assert_allclose(outer(curve)(X), np.sum(scipy.special.yv(1, X)))
    np.testing.assert_allclose(outer(cr.grad(curve))(X), FIRST)
    np.testing.assert_allclose(outer(lambda x: cr.jvp(curve, (x,), (X,))[1])(X), FIRST @ X)
    np.testing.assert_allclose(outer(cr.grad(lambda x: np.sum(cr.grad(curve)(x))))(X), SECOND)
    np.testing.assert_allclose(outer(cr.vmap(cr.grad(lambda x: neumann(1.0, x))))(X), FIRST)
    np.testing.assert_allclose(outer(lambda x: neumann(1.0, x))(2.0), scipy.special.yv(1, 2.0))
    assert outer(lambda x: neumann(1.0, x))(np.float32([2.0])).dtype == np.float32


def solve(a, b):
    return np.linalg.solve(a, b)


def solver(name):
    made = cr.primitive(name, solve, type=lambda a, b: b)
    return made


forward_only = solver("forward_only")
forward_only.defjvps(
    lambda t, value, a, b: -np.linalg.solve(a, t @ value), lambda t, value, a, b: np.linalg.solve(a, t)
)
reverse_only = solver("reverse_only")
reverse_only.defvjps(
    lambda ct, value, a, b: -np.outer(reverse_only(a.T, ct), value),
    lambda ct, value, a, b: reverse_only(a.T, ct),
)
both_whole = solver("both_whole")


@both_whole.defjvp
def both_jvp(primals, tangents):
    (a, b), (a_dot, b_dot) = primals, tangents
    x = both_whole(a, b)
    return x, both_whole(a, b_dot - a_dot @ x)


def both_forward(a, b):
    x = both_whole(a, b)
    return x, (a, x)


def both_backward(residuals, cotangent):
    a, x = residuals
    b_bar = both_whole(a.T, cotangent)
    return -np.outer(b_bar, x), b_bar


both_whole.defvjp(both_forward, both_backward)


@pytest.mark.parametrize("outer", [lambda f: f, cr.jit], ids=["numpy", "compiled"])
@pytest.mark.parametrize("made", [forward_only, reverse_only, both_whole], ids=lambda made: made.name)
def test_one_rule_gives_the_other(made, outer):
    f = lambda a, b: np.sum(made(a, b) ** 2)
    x = np.linalg.solve(A, B)
    b_bar = np.linalg.solve(A.T, 2 * x)
    for mode in (cr.grad, cr.jacfwd):
        by_a, by_b = outer(mode(f, (0, 1)))(A, B)
        np.testing.assert_allclose(by_b, b_bar, rtol=1e-9)
        np.testing.assert_allclose(by_a, -np.outer(b_bar, x), rtol=1e-9)


@pytest.mark.parametrize("made", [forward_only, reverse_only, both_whole], ids=lambda made: made.name)
def test_second_derivatives(made):
    inverse = np.linalg.inv(A)
    np.testing.assert_allclose(
        cr.hessian(lambda b: np.sum(made(A, b) ** 2))(B), 2 * inverse.T @ inverse, rtol=1e-9
    )
    cr.check_grads(made, (A, B), order=2)


AXES = pytest.mark.parametrize("axes", [(0, 0), (None, 0), (0, None)])


def stacks(axes):
    return (np.stack([A, 2 * A, A.T]) if axes[0] == 0 else A), (
        np.stack([B, -B, B + 1]) if axes[1] == 0 else B
    )


def check_batched(made, axes):
    a, b = stacks(axes)
    want = [np.linalg.solve(a if axes[0] is None else a[k], b if axes[1] is None else b[k]) for k in range(3)]
    np.testing.assert_allclose(cr.vmap(made, axes)(a, b), want)
    np.testing.assert_allclose(cr.jit(cr.vmap(made, axes))(a, b), want)
    f = lambda a, b: np.sum(cr.vmap(made, axes)(a, b))
    bars = [np.linalg.solve((a if axes[0] is None else a[k]).T, np.ones(3)) for k in range(3)]
    np.testing.assert_allclose(cr.grad(f, 1)(a, b), np.sum(bars, 0) if axes[1] is None else bars)


@AXES
def test_a_batch_is_a_loop(axes):
    check_batched(reverse_only, axes)


def test_a_batching_rule():
    made, shapes = solver("batched_solver"), []

    @made.defbatch
    def rule(size, batched, a, b):
        if not batched[1]:
            b = np.broadcast_to(b, (size, *b.shape))
        return np.linalg.solve(a, b[..., None])[..., 0]

    def counted(a, b):
        shapes.append(np.shape(a))
        return np.linalg.solve(a, b)

    made.lower("numpy", counted)
    made.defvjps(None, lambda ct, value, a, b: made(a.T, ct))
    for axes in ((0, 0), (None, 0), (0, None)):
        check_batched(made, axes)
    assert shapes == []


def test_several_results_and_keywords():
    def parts(x, order="up"):
        return np.sort(x) if order == "up" else -np.sort(-x), float(x.size)

    made = cr.primitive("parts", parts, type=lambda x: (x, ((), float)))
    for outer in (lambda f: f, cr.jit):
        ordered, size = outer(lambda x: made(x, order="down"))(X)
        np.testing.assert_array_equal(ordered, X[::-1])
        assert size == 5.0
    made.defjvp(lambda primals, tangents, order: (made(primals[0], order=order), (tangents[0][::-1], None)))
    np.testing.assert_array_equal(
        cr.grad(lambda x: made(x, order="down")[0][0] + made(x, order="down")[1])(X), [0, 0, 0, 0, 1]
    )


@pytest.mark.parametrize("register", ["defjvp", "defjvps", "defvjp", "defvjps"])
def test_each_kind_of_rule_takes_keywords(register):
    made = cr.primitive(f"scaled_{register}", lambda x, by=1.0: np.multiply(x, by) ** 2, type=lambda x: x)
    rules = {
        "defjvp": [lambda xs, tangents, by: (made(*xs, by=by), 2 * by**2 * xs[0] * tangents[0])],
        "defjvps": [lambda tangent, out, x, by=1.0: 2 * by * np.sqrt(out) * tangent],
        "defvjp": [lambda x, by: (made(x, by=by), x), lambda x, ct, by: (2 * by**2 * x * ct,)],
        "defvjps": [lambda ct, out, x: 2 * out / x * ct],
    }
    getattr(made, register)(*rules[register])
    loss = lambda x: np.sum(made(x, by=3.0))
    for outer in (lambda f: f, cr.jit):
        np.testing.assert_allclose(outer(cr.grad(loss))(X), 18 * X)
        np.testing.assert_allclose(outer(cr.vmap(cr.grad(loss)))(np.stack([X, 2 * X])), [18 * X, 36 * X])
    value, tangent = cr.jvp(lambda x: made(x, by=3.0), (X,), (np.ones(5),))
    np.testing.assert_allclose(value, 9 * X**2)
    np.testing.assert_allclose(tangent, 18 * X)


def test_sizes_known_only_at_run_time():
    made = cr.primitive("distinct", np.unique, type=lambda x: ((None,), x.dtype))
    x = np.array([1.0, 1.0, 2.0])
    for outer in (lambda f: f, cr.jit):
        assert outer(lambda x: np.sum(made(x)) * len(made(x)))(x) == 6.0
    np.testing.assert_array_equal(cr.grad(lambda x: np.sum(x) * len(made(x)))(x), [2.0, 2.0, 2.0])


def test_arithmetic_of_sizes():
    made = cr.primitive("padded", lambda x: np.pad(x, 1), type=lambda x: ((x.shape[0] + 2,), x.dtype))
    made.defjvps(lambda t, value, x: np.concatenate([np.zeros(1), t, np.zeros(1)]))
    np.testing.assert_array_equal(cr.grad(lambda x: np.sum(made(x) * np.arange(7.0)))(X), np.arange(1.0, 6.0))
    np.testing.assert_array_equal(cr.jit(lambda x: made(x) + np.arange(7.0))(X), np.pad(X, 1) + np.arange(7))


def test_c():
    """A function of the C library, of one number, called for each."""
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    library.cbrt.restype, library.cbrt.argtypes = ctypes.c_double, [ctypes.c_double]
    made = cr.primitive("c_cbrt", np.vectorize(library.cbrt, otypes=[float]), type="elementwise")
    made.defjvps(lambda t, value, x: t / (3 * value**2))
    for outer in (lambda f: f, cr.jit):
        np.testing.assert_allclose(outer(cr.grad(lambda x: np.sum(made(x))))(X), X ** (-2 / 3) / 3)
        np.testing.assert_allclose(outer(cr.vmap(made))(X), np.cbrt(X))
    made.lower("numba", "def cbrt(x):\n    return np.exp(np.log(x) / 3)")
    np.testing.assert_allclose(cr.jit(made)(X), np.cbrt(X))
    assert "objmode" not in cr.source(cr.jit(made), "numba")(X)


def test_a_solver_of_scipy():
    """The root of x**3 + x = a: by the implicit function theorem its derivative is 1 / (3 x**2 + 1)."""
    find = lambda a: scipy.optimize.brentq(lambda x: x**3 + x - a, -10, 10)
    root = cr.primitive("root", find, type=lambda a: ((), float))
    root.defjvps(lambda t, x, a: t / (3 * x**2 + 1))
    a = np.array([0.0, 2.0, 10.0])  # the roots are 0, 1, 2
    slopes, bends = np.array([1, 1 / 4, 1 / 13]), np.array([0, -6 / 4**3, -12 / 13**3])
    for outer in (lambda f: f, cr.jit):
        np.testing.assert_allclose(outer(cr.vmap(root))(a), [0, 1, 2], atol=1e-10)
        np.testing.assert_allclose(outer(cr.vmap(cr.grad(root)))(a), slopes, atol=1e-9)
        np.testing.assert_allclose(outer(cr.vmap(cr.grad(cr.grad(root))))(a), bends, atol=1e-9)


def test_lowerings():
    made = cr.primitive("lowered", np.linalg.solve, type=lambda a, b: b)
    made.lower("numba", solve)
    np.testing.assert_allclose(cr.jit(made)(A, B), np.linalg.solve(A, B))
    assert "objmode" not in cr.source(cr.jit(made), "numba")(A, B)
    made.lower("cuda", "extern C")
    with pytest.raises(TypeError, match="needs CUDA C"):
        made.lower("cuda", 3)
    with pytest.raises(ValueError, match="there is no backend 'tpu'; the backends are numpy, numba, cuda"):
        made.lower("tpu", 3)


def test_generated_source():
    text = cr.source(curve)(X)
    assert "from chainrule.codegen.registered import neumann" in text
    assert "np.sum(neumann(1.0, x))" in text


def test_the_name_is_taken():
    """Registered again under its name, and a function and variables of that name."""

    def once(value):
        made = cr.primitive("again", lambda x: x + value, type=lambda x: x)

        def again(x):
            return made(x)

        return again

    first, second = once(1.0), once(2.0)
    for outer in (lambda f: f, cr.jit):
        assert (outer(first)(1.0), outer(second)(1.0), outer(first)(3.0)) == (2.0, 3.0, 4.0)

    def other(neumann_of):
        neumann_2 = neumann_of + 1
        return neumann(1.0, neumann_2)

    assert cr.jit(other)(1.0) == scipy.special.yv(1, 2.0)


def test_refused():
    made = cr.primitive("unruled", np.sort, type=lambda x: x)
    loss = lambda x: np.sum(made(x))
    said = r"unruled has no derivative rule\nInstead: register one with unruled.defjvps or unruled.defvjps"
    for derivative in (cr.grad, cr.jacfwd):
        with pytest.raises(TypeError, match=said) as caught:
            derivative(loss)(X)
        assert "test_custom_primitives.py" in str(caught.value)
    with pytest.raises(TypeError, match="primitive 'untyped' needs a type rule"):
        cr.primitive("untyped", np.sort)
    with pytest.raises(ValueError, match="is an identifier, and not 'a b'"):
        cr.primitive("a b", np.sort)
    with pytest.raises(TypeError, match="needs a function, and was given a int"):
        cr.primitive("number", 3)
    with pytest.raises(TypeError, match="a primitive takes arrays and numbers by position"):
        cr.jit(lambda x: made("text"))(X)
    with pytest.raises(
        NotImplementedError, match="the keyword axis of the primitive unruled depends on values"
    ):
        cr.jit(lambda x: made(x, axis=np.sum(x)))(X)
    with pytest.raises(NotImplementedError, match="the keyword key of the primitive unruled is a builtin"):
        cr.jit(lambda x: made(x, key=len))(X)


def test_a_function_that_is_not_what_was_declared():
    shape = cr.primitive("wrong_shape", lambda x: x[1:], type=lambda x: x)
    dtype = cr.primitive("wrong_dtype", lambda x: x.astype(np.float32), type=lambda x: x)
    count = cr.primitive("wrong_count", lambda x: x, type=lambda x: (x, x))
    for outer in (lambda f: f, cr.jit):
        with pytest.raises(
            ValueError, match=r"registered with a result of shape \(5,\).*one of shape \(4,\)"
        ):
            outer(shape)(X)
        with pytest.raises(TypeError, match="registered with a result of dtype float64.*float32"):
            outer(dtype)(X)
        with pytest.raises(TypeError, match="registered with 2 results"):
            outer(lambda x: count(x))(X)


def test_results_are_fresh():
    """A function that returns its argument does not let it be overwritten."""
    same = cr.primitive("same", lambda x: x, type=lambda x: x)

    def f(x):
        y = same(x)
        y[0] = 100.0
        return x[0] + y[0]

    for outer in (lambda f: f, cr.jit):
        assert outer(f)(X.copy()) == X[0] + 100.0


def test_nothing_outlives_the_process(tmp_path):
    """A program that calls a registered function is neither exported nor kept for another process."""
    with pytest.raises(NotImplementedError, match="export of curve, which calls neumann of this process"):
        cr.export(curve, tmp_path)(X)
    from chainrule.runtime.kept_texts import ours

    assert not ours(neumann.core.implementation)
