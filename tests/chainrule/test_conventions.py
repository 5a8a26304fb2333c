"""Arguments and results of the public functions are as in JAX. Expected values are closed forms."""

import functools

import numpy as np
import pytest

import chainrule as cr

X = np.array([0.3, -1.2, 2.0])
Y = np.array([1.5, 0.5, -0.7])


def weighted(x, y, power=2):
    return np.sum(x**power * y)


@pytest.mark.parametrize(
    "argnums, bare",
    [
        (0, True),
        (1, True),
        (-1, True),
        (-2, True),
        (np.int64(1), True),
        ((0,), False),
        ((0, 1), False),
        ([1, 0], False),
        ((-1, -2), False),
        (np.array([0, 1]), False),
    ],
)
def test_argnums(argnums, bare):
    partials = [2 * X * Y, X**2]
    got = cr.grad(weighted, argnums)(X, Y)
    value, again = cr.value_and_grad(weighted, argnums)(X, Y)
    assert np.isclose(value, np.sum(X**2 * Y))
    if bare:
        assert isinstance(got, np.ndarray)
        got, again, wanted = (got,), (again,), (partials[int(argnums)],)
    else:
        assert isinstance(got, tuple)
        wanted = tuple(partials[k] for k in argnums)
    assert len(got) == len(again) == len(wanted)
    for one, other, want in zip(got, again, wanted):
        np.testing.assert_allclose(one, want)
        np.testing.assert_allclose(other, want)


def test_keywords_are_passed_on_and_not_differentiated():
    np.testing.assert_allclose(cr.grad(weighted)(X, y=Y, power=3), 3 * X**2 * Y)
    np.testing.assert_allclose(cr.grad(weighted)(X, Y, power=3.0), 3 * X**2 * Y)
    np.testing.assert_allclose(cr.jacfwd(lambda x, *, scale: scale * x)(X, scale=2.0), 2 * np.eye(3))


class Model:
    def __init__(self, scale):
        self.scale = scale

    def loss(self, x):
        return self.scale * np.sum(x * x)

    def __call__(self, x):
        return self.loss(x)

    @cr.jit
    def compiled(self, x):
        return self.scale * np.sum(x * x)

    @functools.partial(cr.grad, argnums=1)
    def slope(self, x):
        return self.scale * np.sum(x * x)


def outer(x):
    def inner(z):
        return np.sum(z * z * x)

    return cr.grad(inner)(x)


CALLABLES = [
    lambda: lambda x: np.sum(x * x),
    lambda: Model(1.0).loss,
    lambda: Model(1.0),
    lambda: functools.partial(lambda a, x: a * np.sum(x * x), 1.0),
    lambda: functools.partial(lambda x, a: a * np.sum(x * x), a=1.0),
    lambda: "def f(x):\n    return np.sum(x * x)\n",
    lambda: cr.jit(lambda x: np.sum(x * x)),
    lambda: cr.checkpoint(lambda x: np.sum(x * x)),
]


@pytest.mark.parametrize("k", range(len(CALLABLES)))
def test_callables(k):
    f = CALLABLES[k]()
    np.testing.assert_allclose(cr.grad(f)(X), 2 * X)
    np.testing.assert_allclose(cr.jacrev(f)(X), 2 * X)
    np.testing.assert_allclose(cr.jvp(f, (X,), (Y,))[1], 2 * X @ Y)
    np.testing.assert_allclose(cr.vjp(f, X)[1](1.0)[0], 2 * X)
    np.testing.assert_allclose(cr.linearize(f, X)[1](Y), 2 * X @ Y)
    np.testing.assert_allclose(cr.hvp(f, (X,), (Y,)), 2 * Y)
    np.testing.assert_allclose(cr.hessian(f)(X), 2 * np.eye(3))


def test_as_decorators():
    @cr.grad
    def bare(x):
        return np.sum(x**3)

    @cr.grad(argnums=1)
    def called(x, y):
        return np.sum(x * y**2)

    @cr.jit(static_argnames="k")
    @cr.value_and_grad(has_aux=True)
    def both(x, k):
        return np.sum(x**k), k

    np.testing.assert_allclose(bare(X), 3 * X**2)
    np.testing.assert_allclose(called(X, Y), 2 * X * Y)
    (value, aux), slope = both(X, k=2)
    assert aux == 2 and np.isclose(value, X @ X)
    np.testing.assert_allclose(slope, 2 * X)
    assert bare.__name__ == "bare" and called.__wrapped__.__name__ == "called"


def test_methods_bind():
    model = Model(3.0)
    np.testing.assert_allclose(model.compiled(X), 3 * X @ X)
    np.testing.assert_allclose(model.slope(X), 6 * X)
    model.scale = 0.5
    np.testing.assert_allclose(model.compiled(X), 0.5 * X @ X)
    np.testing.assert_allclose(model.slope(X), X)
    np.testing.assert_allclose(cr.grad(Model(2.0).loss)(X), 4 * X)


def test_nested_functions():
    np.testing.assert_allclose(outer(X), 2 * X * X)
    np.testing.assert_allclose(cr.jit(outer)(X), 2 * X * X)


def test_aux_is_passed_on():
    def f(x):
        y = np.sin(x)
        return np.sum(y * x), {"y": y, "n": 3, "name": "sine", "none": None}

    def check(aux):
        np.testing.assert_allclose(aux["y"], np.sin(X))
        assert (aux["n"], aux["name"], aux["none"]) == (3, "sine", None)

    slope = np.cos(X) * X + np.sin(X)
    got, aux = cr.grad(f, has_aux=True)(X)
    np.testing.assert_allclose(got, slope)
    check(aux)
    (value, aux), got = cr.value_and_grad(f, has_aux=True)(X)
    np.testing.assert_allclose([value, *got], [np.sin(X) @ X, *slope])
    check(aux)
    for jacobian in (cr.jacfwd, cr.jacrev):
        got, aux = jacobian(f, has_aux=True)(X)
        np.testing.assert_allclose(got, slope)
        check(aux)
    got, aux = cr.hessian(f, has_aux=True)(X)
    np.testing.assert_allclose(got, np.diag(2 * np.cos(X) - X * np.sin(X)), atol=1e-15)
    check(aux)
    value, dot, aux = cr.jvp(f, (X,), (Y,), has_aux=True)
    np.testing.assert_allclose([value, dot], [np.sin(X) @ X, slope @ Y])
    check(aux)
    value, pull, aux = cr.vjp(f, X, has_aux=True)
    np.testing.assert_allclose(pull(2.0)[0], 2 * slope)
    check(aux)
    value, push, aux = cr.linearize(f, X, has_aux=True)
    np.testing.assert_allclose(push(Y), slope @ Y)
    check(aux)


def test_jacobians_of_structures():
    f = lambda p, z: {"product": p["x"] * z, "pair": (np.sum(p["x"]), p["s"] * z)}
    p, z = {"x": X, "s": 2.0}, 3.0
    for jacobian in (cr.jacfwd, cr.jacrev):
        by_p, by_z = (
            lambda j: [
                {k: j[k][i] if k == "product" else (j[k][0][i], j[k][1][i]) for k in j} for i in (0, 1)
            ]
        )(jacobian(f, (0, 1))(p, z))
        np.testing.assert_allclose(by_p["product"]["x"], 3 * np.eye(3))
        np.testing.assert_allclose(by_p["product"]["s"], np.zeros(3))
        np.testing.assert_allclose(by_p["pair"][0]["x"], np.ones(3))
        assert by_p["pair"][1]["s"] == 3.0
        np.testing.assert_allclose(by_z["product"], X)
        assert by_z["pair"][1] == 2.0


def test_hessian_of_several():
    (xx, xy), (yx, yy) = cr.hessian(weighted, (0, 1))(X, Y)
    np.testing.assert_allclose(xx, np.diag(2 * Y), atol=1e-15)
    np.testing.assert_allclose(xy, np.diag(2 * X), atol=1e-15)
    np.testing.assert_allclose(yx, np.diag(2 * X), atol=1e-15)
    np.testing.assert_allclose(yy, np.zeros((3, 3)))


def test_hvp_of_several():
    got = cr.hvp(weighted, (X, Y), (Y, X))
    np.testing.assert_allclose(got[0], 2 * Y * Y + 2 * X * X)
    np.testing.assert_allclose(got[1], 2 * X * Y)


def test_check_grads():
    cr.check_grads(lambda x, y: {"a": np.sin(x) * y, "b": np.exp(y)}, (X, 0.5), order=3)
    cr.check_grads(weighted, (X, Y), 2, modes="rev", rtol=1e-4)
    cr.check_grads(lambda x: x * np.float32(2), (np.float32([1, 2]),))
    wrong = cr.grad(lambda x: x**2)
    with pytest.raises(AssertionError, match="forward mode is not what central differences say"):
        cr.check_grads(lambda x: x * cr.stop_gradient(x), (2.0,))
    with pytest.raises(AssertionError, match="reverse mode"):
        cr.check_grads(lambda x: x * cr.stop_gradient(x), (2.0,), modes=("rev",))
    with pytest.raises(ValueError, match="no mode 'forward'"):
        cr.check_grads(wrong, (2.0,), modes="forward")
    with pytest.raises(ValueError, match="at least 1"):
        cr.check_grads(wrong, (2.0,), order=0)


def test_keywords_and_dicts_in_any_order():
    """Leaves are numbered in one order, whatever the order of keys."""
    f = lambda z, a: z["q"] * a["b"] ** 2 + z["p"] * a["a"] ** 3
    by_a = cr.grad(f, 1)({"q": 2.0, "p": 3.0}, {"b": 0.5, "a": 0.25})
    assert by_a == {"b": 2 * 2 * 0.5, "a": 3 * 3 * 0.25**2} and list(by_a) == ["b", "a"]
    assert cr.grad(lambda x, *, z, a: x * (z - a) + a)(1.0, z=5.0, a=3.0) == 2.0
    assert cr.jit(lambda x, *, z, a: x * (z - a) + a)(1.0, z=5.0, a=3.0) == 5.0


def test_complex_follows_jax():
    """Reverse mode transposes without conjugation: for f = z**2, ct * 2z."""
    z = 1.5 - 0.5j
    _, pull = cr.vjp(lambda z: z * z, z)
    assert np.isclose(pull(1.0 + 2.0j)[0], (1 + 2j) * 2 * z)
    assert np.isclose(cr.jvp(lambda z: z * z, (z,), (1j,))[1], 2j * z)
