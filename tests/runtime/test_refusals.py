"""What is refused as JAX refuses it, with the text: what is wrong, whose fault, what to write instead."""

import numpy as np
import pytest

import chainrule as cr
from chainrule.codegen.errors import UnsupportedError

X = np.array([1.0, 2.0, 3.0])


def loss(x, y=2.0):
    return np.sum(x * y)


def double(x):
    return 2 * x


class Doubling:
    def __call__(self, x):
        return 2 * x


def count(x):
    return int(np.sum(x > 0))


REFUSED = {
    "vector": (
        lambda: cr.grad(double)(X),
        TypeError,
        r"line \d+, in double\n    return 2 \* x\n    \^{12}\n"
        r"grad of double needs a scalar output, and this one has shape \(3,\)\n"
        r"Instead: sum it, or use jacrev or vjp",
    ),
    "matrix": (
        lambda: cr.value_and_grad(lambda x: np.outer(x, x))(X),
        TypeError,
        r"value_and_grad of function needs a scalar output, and this one has shape \(3, 3\)",
    ),
    "tuple": (
        lambda: cr.grad(lambda x: (x, x))(1.0),
        TypeError,
        "this one is a tuple with 2 arrays or numbers in it",
    ),
    "string": (
        lambda: cr.grad(lambda x: f"{x}")(1.0),
        TypeError,
        "needs a scalar output, and this one is a string\n",
    ),
    "callable object": (
        lambda: cr.jit(cr.grad(Doubling()))(X),
        TypeError,
        r"in __call__\n    return 2 \* x\n    \^{12}\n",
    ),
    "an array or a number": (
        lambda: cr.jit(lambda x, k: 1 + (x if k > 0 else 0.0))(X, 2),
        UnsupportedError,
        r"'x if k > 0 else 0.0' is an array or number or a float depending on a condition known only at run "
        r"time\nInstead: let both branches give it the same kind of value",
    ),
    "none": (lambda: cr.grad(lambda x: None)(1.0), TypeError, "this one is a NoneType with no number in it"),
    "integer output": (
        lambda: cr.grad(lambda x: np.sum(x > 0))(X),
        TypeError,
        "real floating-point output.*dtype int64",
    ),
    "complex output": (
        lambda: cr.grad(lambda x: x * 1j)(1.0),
        TypeError,
        "real floating-point output.*complex128",
    ),
    "int": (
        lambda: cr.grad(loss)(3),
        TypeError,
        r"in loss\n    def loss\(x, y=2.0\):\n    \^{19}\n"
        r"grad needs floating-point inputs, and loss was given one of dtype int64\n"
        r"Instead: pass a float \(1.0",
    ),
    "int array": (lambda: cr.grad(loss)(np.arange(3, dtype=np.int32)), TypeError, "dtype int32"),
    "bool array": (lambda: cr.grad(loss)(X > 0), TypeError, "dtype bool"),
    "int in a dict": (
        lambda: cr.grad(lambda p: p["a"] * p["n"])({"a": 1.0, "n": 3}),
        TypeError,
        "dtype int64",
    ),
    "int for jacobian": (lambda: cr.jacfwd(double)(3), TypeError, "jacfwd needs floating-point inputs"),
    "int from jacobian": (
        lambda: cr.jacrev(lambda x: x > 0)(X),
        TypeError,
        "jacrev of function needs floating-point outputs, and one has dtype bool",
    ),
    "int for vjp": (
        lambda: cr.vjp(double, 3),
        TypeError,
        "vjp needs floating-point inputs, and double was given one",
    ),
    "int for linearize": (
        lambda: cr.linearize(double, 3),
        TypeError,
        "linearize needs floating-point inputs",
    ),
    "argnum": (
        lambda: cr.grad(loss, 2)(X, 1.0),
        ValueError,
        r"argnums=2 names an argument that isn't there: loss was called with 2 positional arguments",
    ),
    "argnum of a keyword": (
        lambda: cr.grad(loss, 1)(X, y=1.0),
        ValueError,
        "keyword arguments are not differentiated",
    ),
    "negative argnum": (lambda: cr.jacrev(loss, (0, -2))(X), ValueError, "isn't there"),
    "float argnum": (
        lambda: cr.grad(loss, 0.5)(X),
        TypeError,
        "argnums must be an int or a sequence of ints",
    ),
    "not a function": (lambda: cr.grad(3), TypeError, "expected a function, got int"),
    "no aux": (
        lambda: cr.grad(loss, has_aux=True)(X),
        TypeError,
        r"grad of loss with has_aux=True needs a function that returns \(value, aux\)",
    ),
    "no aux for vjp": (
        lambda: cr.vjp(loss, X, has_aux=True),
        TypeError,
        "vjp with has_aux=True needs a function",
    ),
    "tangent shape": (
        lambda: cr.jvp(double, (X,), (np.ones(2),)),
        ValueError,
        r"jvp of double needs a tangent of shape \(3,\), and was given one of shape \(2,\)",
    ),
    "tangent rank": (lambda: cr.jvp(double, (X,), (1.0,)), ValueError, r"needs a tangent of shape \(3,\)"),
    "tangent dtype": (
        lambda: cr.jvp(double, (X,), (X.astype(np.float32),)),
        TypeError,
        "needs a tangent of dtype float64, and was given one of dtype float32",
    ),
    "int tangent": (lambda: cr.jvp(double, (X,), (np.ones(3, int),)), TypeError, "dtype int64"),
    "tangent structure": (
        lambda: cr.jvp(lambda p: p["a"], ({"a": X},), ((X,),)),
        TypeError,
        "of another structure",
    ),
    "tangents": (lambda: cr.jvp(loss, (X, 1.0), (X,)), TypeError, "2 primals and 1 tangents"),
    "bare primals": (
        lambda: cr.jvp(double, X, X),
        TypeError,
        r"as tuples\nInstead: write jvp\(f, \(x,\), \(v,\)\)",
    ),
    "tangent of an int": (
        lambda: cr.jvp(lambda x, n: x * n, (X, 3), (X, 1)),
        ValueError,
        "other than 0 for an integer",
    ),
    "cotangent shape": (
        lambda: cr.vjp(double, X)[1](np.ones(4)),
        ValueError,
        r"vjp of double needs a cotangent of shape \(3,\), and was given one of shape \(4,\)",
    ),
    "cotangent dtype": (
        lambda: cr.vjp(double, X)[1](X.astype(complex)),
        TypeError,
        "needs a cotangent of dtype float64",
    ),
    "cotangent structure": (lambda: cr.vjp(lambda x: (x, x), X)[1](X), TypeError, "another structure"),
    "cotangent inside": (
        lambda: cr.jit(lambda x: cr.vjp(double, x)[1](np.ones(4))[0])(X),
        ValueError,
        "shape",
    ),
    "linear tangent": (lambda: cr.linearize(double, X)[1](np.ones(2)), ValueError, r"of shape \(2,\)"),
    "linear tangents": (lambda: cr.linearize(double, X)[1](X, X), TypeError, "2 tangents for 1 primals"),
    "hvp": (lambda: cr.hvp(double, (X,), (X,)), TypeError, "grad of double needs a scalar output"),
    "unhashable static": (
        lambda: cr.jit(loss, static_argnums=1)(X, [1.0]),
        TypeError,
        "a static argument must be hashable, and this list is not",
    ),
    "stage": (lambda: cr.source(double, "wasm")(X), ValueError, "there is no stage 'wasm'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusal(name):
    call, kind, text = REFUSED[name]
    with pytest.raises(kind, match=text):
        call()


def test_jvp_of_integers_is_zero():
    value, dot = cr.jvp(lambda x, n: (x * n, n, count(x)), (X, 3), (X, None))
    np.testing.assert_allclose(dot[0], 3 * X)
    assert dot[1:] == (0, 0)


def test_a_text_is_nothing_to_differentiate_by():
    with pytest.raises(TypeError, match="grad needs floating-point inputs, and f was given a str"):

        @cr.grad
        def f(name):
            return 1.0

        f("a")
