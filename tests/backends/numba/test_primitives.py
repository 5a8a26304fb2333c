"""Every primitive of the registry compiles, and computes what its NumPy implementation computes."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from chainrule.backends.numba.emit import emit, load
from chainrule.codegen import custom_calls
from chainrule.codegen.core import ArrayType
from chainrule.codegen.primitives import collectives, keys
from chainrule.codegen.registry import PRIMITIVES
from tests.own_primitives import OWN

sys.path.insert(0, str(Path(__file__).parent))
from programs import compiled, program  # noqa: E402

R = np.random.default_rng(5)
V, W = R.random(5) * 0.8 + 0.1, R.random(5) * 0.8 + 0.1
A, B, C = R.standard_normal((3, 4)), R.standard_normal((4, 3)), R.standard_normal((2, 3, 4))
SQUARE = A @ B + 4 * np.eye(3)
SPD = SQUARE @ SQUARE.T + np.eye(3)
STACK = np.stack([SPD, SPD + np.eye(3)])
I, J = np.array([0, 2, -1, 0]), np.array([1, 0, 1, 3])
WORDS = np.array([[3, -1, 0], [7, 2, -5]])
BITS = np.array([1, 5, 2])
TRUTH = np.array([True, False, True])
INTEGERS = "bitwise_and bitwise_or bitwise_xor invert left_shift right_shift gcd lcm".split()


def strided(x):
    """The same array, in memory backwards and with gaps."""
    wide = np.zeros(tuple(2 * n for n in x.shape), x.dtype)[tuple(slice(None, None, -2) for _ in x.shape)]
    wide[...] = x
    return wide


def elementwise():
    for name, primitive in PRIMITIVES.items():
        if primitive.elementwise and name not in ("where", "astype") and "_word" not in name:
            yield name


def operands_of(name, dtype):
    """As many arrays as a primitive takes, of a dtype; none where it takes no such dtype."""
    samples = [V, W[::-1].copy(), V[::-1].copy()]
    if name in ("arccosh",):
        samples = [1 + V]
    if np.dtype(dtype).kind in "iu":
        samples = [BITS, BITS[::-1].copy()]
    if np.dtype(dtype).kind == "b":
        samples = [TRUTH, ~TRUTH]
    if np.dtype(dtype).kind == "c":
        samples = [V + 1j * W, W - 2j * V]
    samples = [s.astype(dtype) for s in samples]
    if name == "polygamma":
        samples = [np.array([1, 2, 0, 3, 1]), V.astype(dtype)]
    for count in (1, 2, 3):
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = PRIMITIVES[name].implementation(*samples[:count])
                program(lambda call, *x: call(name, *x), *samples[:count])
        except Exception:
            continue
        if np.asarray(value).dtype == np.float16:
            return None
        return samples[:count] if isinstance(value, np.ndarray) else None
    return None


@pytest.mark.parametrize("name", list(elementwise()))
def test_elementwise(name):
    """All dtypes in one program, to compile once."""
    sets = [operands_of(name, dtype) for dtype in ("f8", "f4", "i8", "i2", "?", "c16")]
    sets = [s for s in sets if s is not None]
    assert sets
    arguments = [a for s in sets for a in s][:24]
    letters = len(arguments)
    for start in range(0, len(sets), 3):
        some = sets[start : start + 3]

        def f(call, *x):
            x, results = list(x), []
            for s in some:
                results.append(call(name, *[x.pop(0) for _ in s]))
            return tuple(results)

        arguments = [strided(a) if k % 2 else a for k, a in enumerate(a for s in some for a in s)]
        compiled(f, *arguments)
    assert letters


@pytest.mark.parametrize("name", list(elementwise()))
def test_elementwise_scalars(name):
    """A NumPy scalar, and with Python scalars where the operation has them."""
    operands = operands_of(name, "i8" if name in INTEGERS else "f4")
    constant = 2 if name in INTEGERS else 0.25
    compiled(
        lambda call, *x: (call(name, *x), call(name, x[0], *[constant] * (len(operands) - 1))),
        *[o[0] for o in operands],
    )


@pytest.mark.parametrize("name", [n for n in PRIMITIVES if "_word" in n])
def test_words_of_random_blocks(name):
    words = R.integers(0, 2**32, (6, 5), dtype=np.uint32)
    compiled(lambda call, *x: call(name, *x), *words[: 4 if name.startswith("threefry") else 6])


PYTHON_SCALARS = [
    ("add", 2, 3.5),
    ("add", True, True),
    ("divide", 1, 4),
    ("floor_divide", -7, 2),
    ("remainder", -7.5, 2),
    ("power", 2, 5),
    ("power", 2.5, -2),
    ("negative", True),
    ("less", 1, 2.5),
    ("bitwise_and", True, False),
    ("invert", 6),
    ("absolute", -3),
    ("multiply", 2j, 1.5),
    ("logical_not", 0.0),
    ("maximum", 1, 2.5),
]


@pytest.mark.parametrize("name, values", [(n, v) for n, *v in PYTHON_SCALARS], ids=str)
def test_python_scalars(name, values):
    compiled(lambda call, *x: call(name, *x), *values)


def fill(call, x):
    n, m = x.type.shape
    return (
        call("zeros", (n, m), dtype="float32"),
        call("ones", (m,), dtype="bool"),
        call("full", (n,), 2, dtype="float64"),
        call("arange", 0, n, 1),
        call("arange", 1.0, 3.0, 0.25),
        call("array", ((1, 2.0), (3.5, 4))),
        call("setitem", call("empty", (3,), dtype="int32"), (slice(None),), 7),
    )


def stacked(call, x):
    saved = call("stack", element=ArrayType(np.dtype(float), x.type.shape[1:]))
    saved = call("push", saved, call("getitem", x, (0,)))
    saved = call("push", saved, call("getitem", x, (2,)))
    saved, first = call("pop", saved)
    saved, second = call("pop", saved)
    return call("subtract", first, second)


def checked(call, x, i):
    call("check_index", i, x.type.shape[0], axis=0)
    call("check_same", x.type.shape[0], 3, message="not three")
    call("check", call("greater", i, -1), exception="ValueError", message="negative")
    call("print", i, 2.5)
    call("print", x)
    return call("getitem", x, (i,))


TABLE = {
    "where": (
        lambda call, c, x, y: (call("where", c, x, 1), call("where", c, call("log", x), y)),
        A > 0,
        A,
        A.astype("f4"),
    ),
    "astype": (
        lambda call, x, y: (
            call("astype", x, dtype="int32"),
            call("astype", x, dtype="bool"),
            call("astype", y, dtype="complex64"),
            call("astype", x, dtype="float32"),
        ),
        A * 3,
        WORDS,
    ),
    "zeros ones full empty arange array": (fill, A),
    "constant": (lambda call, x: call("add", call("constant", value=np.arange(12.0).reshape(3, 4)), x), A),
    "size": (lambda call, x: (call("size", x, axis=0), call("add", call("size", x, axis=1), 2)), A),
    "reshape": (
        lambda call, x: (
            call("reshape", x, (x.type.shape[1], x.type.shape[0])),
            call("reshape", x, (12,)),
            call("reshape", call("multiply", x, 2), (1, x.type.shape[0], 1, x.type.shape[1])),
        ),
        A,
    ),
    "transpose": (
        lambda call, x: (
            call("transpose", x, axes=(2, 0, 1)),
            call("multiply", call("transpose", x, axes=(1, 0, 2)), 2),
        ),
        C,
    ),
    "broadcast_to": (
        lambda call, x: (
            call("broadcast_to", x, (2, x.type.shape[0], 3)),
            call("negative", call("broadcast_to", x, (2, x.type.shape[0], 3))),
        ),
        A[:, :1],
    ),
    "concatenate": (
        lambda call, x, y: (call("concatenate", (x, y, x), axis=1), call("concatenate", (y, x), axis=0)),
        A,
        WORDS.repeat(2, axis=1)[:, 1:5].repeat([2, 1], axis=0),
    ),
    "stop_gradient": (
        lambda call, x, y: (
            call("stop_gradient", x),
            call("exp", call("stop_gradient", x)),
            call("stop_gradient", y),
        ),
        A,
        np.float32(2),
    ),
    "copy": (lambda call, x: (call("copy", x), call("copy", call("transpose", x, axes=(1, 0)))), A),
    "nonzero count_nonzero": (lambda call, x: (*call("nonzero", x), call("count_nonzero", x)), WORDS),
    "slice_size slice_start": (
        lambda call, x, i, s: (
            call("getitem", x, (slice(i, None, s),)),
            call("getitem", x, (slice(None, i, 2),)),
            call("getitem", x, (slice(i, -1, -1),)),
            call("negative", call("getitem", x, (slice(i, 100, s),))),
        ),
        V,
        -3,
        2,
    ),
    "getitem": (
        lambda call, x, i, j: (
            call("getitem", x, (0, slice(1, -1))),
            call("getitem", x, (slice(None, None, -1), None, 2)),
            call("getitem", x, (i, j)),
            call("getitem", x, (slice(None), call("remainder", j, 3))),
            call("getitem", x, (1, slice(None), None)),
        ),
        A,
        np.array([0, 2, -1, 0]),
        J,
    ),
    "getitem of arrays": (
        lambda call, x, i: (
            call("getitem", x, (i, slice(None), i)),
            call("getitem", x, (slice(None), i, i)),
            call("getitem", x, (0, slice(None), i)),
            call("getitem", x, (slice(1, None), i, slice(None, None, -2))),
        ),
        C,
        np.array([[1, 0], [0, 1]]),
    ),
    "setitem": (
        lambda call, x, i: (
            call("setitem", x, (slice(1, None), slice(None, None, 2)), 1.5),
            call("setitem", x, (0,), 3),
            call("setitem", x, (slice(None, None, -1),), call("multiply", x, 2)),
            call("setitem", x, (i, slice(None)), 7.0),
            call("setitem", x, (1, 2), call("getitem", x, (0, 0))),
            call("setitem", x, (slice(1, None),), call("getitem", x, (slice(None, -1),))),
        ),
        A,
        np.array([0, -1]),
    ),
    "index_add": (
        lambda call, x, i: (
            call("index_add", x, (slice(1, None), slice(None, None, 2)), 1.5),
            call("index_add", x, (i,), x),
            call("index_add", x, (i, i), 2),
            call("index_add", x, (1, 2), 0.5),
        ),
        SQUARE,
        np.array([0, 2, 0]),
    ),
    "sum prod max min": (
        lambda call, x: tuple(
            call(name, x, axis=axis, keepdims=keep)
            for name in ("sum", "prod", "max", "min")
            for axis, keep in (((0, 1, 2), False), ((2,), True), ((0,), False), ((1,), False))
        ),
        C,
    ),
    "any all": (
        lambda call, x, y: tuple(
            call(name, y, axis=axis, keepdims=False)
            for name in ("any", "all")
            for axis in ((0, 1), (0,), (1,))
        ),
        A,
        WORDS,
    ),
    "argmax argmin": (
        lambda call, x, y: tuple(
            call(name, z, axis=axis, keepdims=keep)
            for name in ("argmax", "argmin")
            for z in (x, y)
            for axis, keep in ((0, False), (1, True))
        ),
        A,
        WORDS,
    ),
    "sum of integers": (
        lambda call, x, y: (
            call("sum", x, axis=(1,), keepdims=False),
            call("sum", y, axis=(0,)),
            call("max", x, axis=(1,), keepdims=False),
        ),
        WORDS.astype("i2"),
        TRUTH,
    ),
    "cumsum cumprod": (lambda call, x: (call("cumsum", x, axis=1), call("cumprod", x, axis=0)), A),
    "sort argsort": (lambda call, x: (call("sort", x, axis=0), call("argsort", x, axis=1)), A),
    "searchsorted": (
        lambda call, x, y, z: (call("searchsorted", x, y, side="right"), call("searchsorted", x, z)),
        np.sort(V),
        W,
        0.4,
    ),
    "matmul": (
        lambda call, a, b, v: (
            call("matmul", a, b),
            call("matmul", b, v),
            call("matmul", v, b) if False else call("matmul", v, a),
            call("matmul", v, v),
        ),
        A,
        B,
        V[:3],
    ),
    "matmul of stacks": (
        lambda call, c, b, n: (
            call("matmul", c, b),
            call("matmul", n, call("transpose", n, axes=(1, 0))),
            call("matmul", c, call("getitem", b, (slice(None), 0))),
        ),
        C,
        B,
        WORDS,
    ),
    "einsum": (
        lambda call, a, b: (
            call("einsum", a, b, subscripts="ij,jk->ik"),
            call("einsum", a, subscripts="ij->j"),
        ),
        A,
        B,
    ),
    "matmul_into": (
        lambda call, x, a, b: call("matmul_into", call("copy", x), (1,), a, b),
        np.zeros((2, 3, 3)),
        np.ones((3, 4)),
        np.arange(12.0).reshape(4, 3),
    ),
    "solve inv det": (lambda call, a, b: (call("solve", a, b), call("inv", a), call("det", a)), SQUARE, A),
    "slogdet cholesky": (lambda call, a: (*call("slogdet", a), call("cholesky", a)), STACK),
    "qr svd": (lambda call, a: (*call("qr", a), *call("svd", a, full_matrices=False)), A),
    "svdvals eigh eigvalsh": (
        lambda call, a: (call("svdvals", a), call("eigvalsh", a), call("eigh", a)[0]),
        SPD,
    ),
    "pinv": (lambda call, a: call("pinv", a, 1e-15), A),
    "cofactor": (lambda call, a: call("cofactor", a), SQUARE),
    "cofactor_along": (lambda call, a: call("cofactor_along", a, a), SQUARE),
    "fft ifft": (lambda call, x: (call("fft", x, axis=0), call("ifft", x, axis=1, norm="ortho")), A),
    "rfft irfft": (lambda call, x: call("irfft", call("rfft", x, axis=1), x.type.shape[1], axis=1), A),
    "convolve": (
        lambda call, x, y: (call("convolve", x, y, mode="full"), call("convolve", x, y, mode="valid")),
        V,
        V[:3],
    ),
    "stack push pop": (stacked, A),
    "check_same check_index check print": (checked, A, 1),
}


@pytest.mark.parametrize("names", list(TABLE))
def test_primitive(names):
    function, *arguments = TABLE[names]
    compiled(function, *arguments)


@pytest.mark.parametrize(
    "names", ["getitem", "setitem", "sum prod max min", "matmul", "reshape", "where", "copy"]
)
def test_strided(names):
    function, *arguments = TABLE[names]
    compiled(function, *[strided(a) if isinstance(a, np.ndarray) else a for a in arguments])


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (2, 0), (1, 4)])
def test_edges(shape):
    x = np.ones(shape)
    compiled(
        lambda call, x: (
            call("sum", x, axis=(0,), keepdims=False),
            call("exp", x),
            call("prod", x, axis=(0, 1)),
            call("add", x, call("sum", x, axis=(1,), keepdims=True)),
            call("cumsum", x, axis=0),
            call("concatenate", (x, x), axis=0),
        ),
        x,
    )


def test_every_primitive_has_a_row():
    named = {name for names in TABLE for name in names.split()}
    gone = (collectives, custom_calls, keys)  # no program that runs has any of these
    named |= {name for name in PRIMITIVES if any(hasattr(module, name) for module in gone)}
    # chainrule/test_effects; in codegen: test_array_stacks, test_stack_rows, test_moved_parts
    named |= {"callback", "longer", "row", "moved"}
    assert {n for n, p in OWN.items() if not p.elementwise} <= named


def test_extremes():
    x = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e308, -1e-300, -1.5, 700.0])
    one = [n for n in elementwise() if operands_of(n, "f8") is not None and len(operands_of(n, "f8")) == 1]
    for start in range(0, len(one), 20):
        some = one[start : start + 20]
        made = program(lambda call, x: tuple(call(name, x) for name in some), x)
        run = load(emit(made), "f")
        with np.errstate(all="ignore"):
            for name, found in zip(some, run(x)):
                expected = PRIMITIVES[name].implementation(x)
                np.testing.assert_allclose(found, expected, rtol=1e-12, err_msg=name)
