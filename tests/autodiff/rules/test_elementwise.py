"""Elementwise rules: against differences at ordinary points, against the documented table at kinks."""

import numpy as np
import pytest

from chainrule.autodiff import rules  # noqa: F401
from chainrule.codegen.primitives import elementwise
from chainrule.codegen.registry import PRIMITIVES
from tests.autodiff.rules.checks import check_rule, fitted

HERE = {name: p for name, p in PRIMITIVES.items() if getattr(elementwise, name, None) is p}
REAL = np.array([0.3, -0.7, 1.6, -2.2])
SMALL = np.array([0.3, -0.7, 0.95, 0.01])
POSITIVE = np.array([0.3, 0.7, 1.6, 20.0])
LARGE = np.array([1.3, 1.7, 2.6, 20.0])
COMPLEX = np.array([0.3 + 0.4j, -0.7 + 0.1j, 1.6 - 2j, -0.5 - 0.6j])
UNARY = {
    "negative": (REAL, COMPLEX), "positive": (REAL, COMPLEX), "absolute": (REAL, COMPLEX),
    "square": (REAL, COMPLEX), "reciprocal": (REAL, COMPLEX), "deg2rad": (REAL,), "rad2deg": (REAL,),
    "sqrt": (POSITIVE, COMPLEX), "cbrt": (REAL,), "exp": (REAL, COMPLEX), "exp2": (REAL, COMPLEX),
    "expm1": (REAL, COMPLEX), "log": (POSITIVE, COMPLEX), "log2": (POSITIVE, COMPLEX),
    "log10": (POSITIVE, COMPLEX),
    "log1p": (POSITIVE, COMPLEX), "sin": (REAL, COMPLEX), "cos": (REAL, COMPLEX), "tan": (REAL, COMPLEX),
    "arcsin": (SMALL, COMPLEX), "arccos": (SMALL, COMPLEX), "arctan": (REAL, COMPLEX),
    "sinh": (REAL, COMPLEX),
    "cosh": (REAL, COMPLEX), "tanh": (REAL, COMPLEX), "arcsinh": (REAL, COMPLEX), "arccosh": (LARGE, COMPLEX),
    "arctanh": (SMALL, COMPLEX), "real": (REAL, COMPLEX), "imag": (COMPLEX,), "conjugate": (REAL, COMPLEX),
    "angle": (COMPLEX,),
}
OTHER = np.array([[0.5], [-1.3]])
BINARY = {
    "add": [(REAL, OTHER), (COMPLEX, OTHER)], "subtract": [(REAL, OTHER), (OTHER, COMPLEX)],
    "multiply": [(REAL, OTHER), (COMPLEX, OTHER)],
    "divide": [(REAL, OTHER), (COMPLEX, OTHER), (OTHER, COMPLEX)],
    "remainder": [(REAL, OTHER)], "fmod": [(REAL, OTHER)], "arctan2": [(REAL, OTHER)],
    "hypot": [(REAL, OTHER)],
    "power": [(POSITIVE, OTHER), (COMPLEX, OTHER), (POSITIVE, COMPLEX)], "logaddexp": [(REAL, OTHER)],
    "logaddexp2": [(REAL, OTHER)], "maximum": [(REAL, OTHER)], "minimum": [(REAL, OTHER)],
    "fmax": [(REAL, OTHER)],
    "fmin": [(REAL, OTHER)],
}
inf, nan = np.inf, np.nan


@pytest.mark.parametrize("name", UNARY)
def test_one_operand(name):
    for x in UNARY[name]:
        check_rule(PRIMITIVES[name], x)
        check_rule(PRIMITIVES[name], x[0])
        check_rule(PRIMITIVES[name], x[:0], numeric=False)
        single = np.float32 if x.dtype.kind == "f" else np.complex64
        check_rule(PRIMITIVES[name], x.astype(single), numeric=False)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("operand", [0, 1])
def test_two_operands(name, operand):
    for x, y in BINARY[name]:
        check_rule(PRIMITIVES[name], x, y, operand=operand)
        check_rule(PRIMITIVES[name], x[:1], y, operand=operand)
        check_rule(PRIMITIVES[name], x[0], y.flat[0], operand=operand)


def test_copysign_heaviside_where_astype():
    check_rule(elementwise.copysign, REAL, OTHER)
    check_rule(elementwise.heaviside, np.array([0.0, 1.0, -1.0]), REAL[:3], operand=1)
    test = np.array([True, False, False, True])
    check_rule(elementwise.where, test, REAL, OTHER, operand=1)
    check_rule(elementwise.where, test, REAL, OTHER, operand=2)
    assert elementwise.where.jvp[1, 2]((1.0, 2.0), None, test, REAL, OTHER).tolist() == [1, 2, 2, 1]
    check_rule(elementwise.astype, REAL.astype(np.float32), dtype=np.float64)
    check_rule(elementwise.astype, REAL, dtype=np.complex128)
    with pytest.warns(np.exceptions.ComplexWarning):
        check_rule(elementwise.astype, COMPLEX, dtype=np.float64)


KINKS = [
    ("absolute", 0, (0.0,), 0), ("absolute", 0, (0j,), 0), ("absolute", 0, (-0.0,), 0),
    ("copysign", 0, (0.0, -1.0), 0),
    ("maximum", 0, (2.0, 2.0), 0.5), ("maximum", 1, (2.0, 2.0), 0.5), ("minimum", 0, (2.0, 2.0), 0.5),
    ("minimum", 1, (2.0, 2.0), 0.5), ("maximum", 0, (inf, inf), 0.5), ("maximum", 0, (1.0, inf), 0),
    ("fmax", 0, (1.0, nan), 1), ("fmax", 1, (1.0, nan), 0), ("fmin", 0, (1.0, nan), 1),
    ("fmin", 1, (nan, 1.0), 1),
    ("fmax", 0, (2.0, 2.0), 0.5), ("fmin", 1, (2.0, 2.0), 0.5),
    ("sqrt", 0, (0.0,), inf), ("log", 0, (0.0,), inf), ("log2", 0, (0.0,), inf), ("log10", 0, (0.0,), inf),
    ("log1p", 0, (-1.0,), inf), ("cbrt", 0, (0.0,), inf), ("arcsin", 0, (1.0,), inf),
    ("arccos", 0, (-1.0,), -inf),
    ("arccosh", 0, (1.0,), inf), ("arctanh", 0, (1.0,), inf),
    ("power", 0, (0.0, 0), 0), ("power", 0, (0.0, 1), 1), ("power", 0, (0.0, 2), 0),
    ("power", 0, (0.0, 3), 0),
    ("power", 0, (0.0, 0.0), 0), ("power", 0, (0.0, 1.0), 1), ("power", 0, (0.0, 2.0), 0),
    ("power", 0, (0.0, 0.5), inf), ("power", 0, (0.0, np.array([0, 1, 2])), [0, 1, 0]),
    ("power", 0, (-2.0, 3), 12), ("power", 0, (-2.0, -1), -0.25), ("power", 1, (0.0, 2.0), 0),
    ("power", 1, (0.0, 0.5), 0), ("power", 1, (2.0, 0.0), np.log(2)),
    ("hypot", 0, (0.0, 0.0), 0), ("hypot", 1, (0.0, 0.0), 0),
    ("logaddexp", 0, (-inf, -inf), 0.5), ("logaddexp", 1, (-inf, -inf), 0.5),
    ("logaddexp", 0, (-inf, 1.0), 0),
    ("logaddexp", 1, (-inf, 1.0), 1), ("logaddexp", 0, (inf, 1.0), 1), ("logaddexp", 1, (inf, 1.0), 0),
    ("logaddexp", 0, (inf, inf), 0.5), ("logaddexp2", 0, (-inf, -inf), 0.5),
    ("logaddexp", 0, (900.0, -900.0), 1),
    ("remainder", 0, (4.0, 2.0), 1), ("remainder", 1, (4.5, 2.0), -2), ("remainder", 1, (-4.5, 2.0), 3),
    ("fmod", 1, (-4.5, 2.0), 2), ("where", 1, (True, 1.0, nan), 1), ("where", 2, (True, 1.0, nan), 0),
]


@pytest.mark.parametrize("name, operand, operands, expected", KINKS, ids=str)
def test_kinks(name, operand, operands, expected):
    primitive = PRIMITIVES[name]
    operands = tuple(np.asarray(o)[()] if isinstance(o, (float, complex)) else o for o in operands)
    with np.errstate(divide="ignore"):
        out = primitive(*operands)
        forward = primitive.jvp[operand](1.0, out, *operands)
        reverse = primitive.vjp[operand](1.0, out, *operands)
    np.testing.assert_allclose(forward, expected)
    np.testing.assert_allclose(reverse, expected)


@pytest.mark.parametrize("name", ["real", "imag", "angle", "absolute", "conjugate"])
def test_parts_of_a_real_number(name):
    primitive = PRIMITIVES[name]
    out = primitive(REAL)
    expected = {"real": 1, "conjugate": 1, "absolute": np.sign(REAL)}.get(name, 0)
    forward, reverse = primitive.jvp[0](REAL / REAL, out, REAL), primitive.vjp[0](REAL / REAL, out, REAL)
    for given in (forward, reverse):
        np.testing.assert_array_equal(fitted(0 * REAL if given is None else given, REAL), expected + 0 * REAL)


def test_zero_derivatives_are_declared_and_zero():
    zero = {name for name, p in HERE.items() if None in p.vjp}
    assert {"sign", "floor", "rint", "floor_divide", "less", "equal", "isnan", "logical_not"} <= zero
    for name in zero & {"sign", "floor", "ceil", "trunc", "rint", "isnan", "signbit", "logical_not"}:
        np.testing.assert_array_equal(PRIMITIVES[name](REAL + 1e-6), PRIMITIVES[name](REAL))


def test_every_rule_is_exercised():
    tested = {(name, i) for name in UNARY for i in [0]} | {(name, i) for name in BINARY for i in [0, 1]}
    tested |= {("copysign", 0), ("heaviside", 1), ("where", 1), ("where", 2), ("where", (1, 2))}
    tested |= {("astype", 0), ("copysign", 1), ("heaviside", 0)}
    assert all(HERE[name].jvp[i](1.0, 0, 1.0, 1.0) is None for name, i in [("copysign", 1), ("heaviside", 0)])
    registered = {(name, i) for name, p in HERE.items() for i in [*p.jvp, *p.vjp] if i is not None}
    assert registered == tested
    assert all(p.jvp or p.vjp for p in HERE.values())
