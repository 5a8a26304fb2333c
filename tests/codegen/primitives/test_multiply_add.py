"""The fused multiply-add and XLA's logarithm, eager and compiled, against exact arithmetic."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

import chainrule as cr
from chainrule.autodiff import rules  # noqa: F401
from chainrule.codegen.primitives.multiply_add import logarithm, multiply_add
from tests.autodiff.rules.checks import check_rule

RUN = pytest.mark.parametrize("run", [lambda f: f, cr.jit], ids=["eager", "compiled"])
DTYPE = pytest.mark.parametrize("dtype", [np.float32, np.float64])
A, B, C = np.random.default_rng(0).standard_normal((3, 5))


def operands(dtype):
    """Numbers of which the sum cancels by any number of digits, or in which one term is far the smaller."""
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((2, 3000)).astype(dtype)
    scale = 2.0 ** rng.integers(-60, 60, 3000)
    z = np.concatenate([-(x * y)[:1000] * (1 + 1 / scale[:1000]), rng.standard_normal(2000) * scale[1000:]])
    return x, y, z.astype(dtype)


def exact(x, y, z):
    """The floats nearest to x * y + z."""
    total = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    near = np.asarray(float(total)).astype(x.dtype)
    others = np.nextafter(near, np.array([-np.inf, np.inf], x.dtype))
    distance = lambda value: abs(Fraction(float(value)) - total)
    return near if distance(near) <= min(map(distance, others)) else min(others, key=distance)


@RUN
@DTYPE
def test_one_rounding(dtype, run):
    given = operands(dtype)
    found = run(lambda x, y, z: multiply_add(x, y, z))(*given)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, [exact(*numbers) for numbers in zip(*given)])


@RUN
@DTYPE
def test_logarithm(dtype, run):
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.random(2000), 2.0 ** rng.uniform(-100, 100, 500), [1.0]]).astype(dtype)
    found = run(lambda x: logarithm(x))(x)
    with mpmath.workprec(200):
        wanted = [mpmath.log(mpmath.mpf(float(number))) for number in x]
        errors = [abs(mpmath.mpf(float(a)) - b) for a, b in zip(found, wanted)]
    units = np.array(errors, float) / np.spacing(np.abs(found))
    assert found.dtype == dtype and np.max(units) <= {np.float64: 0.52, np.float32: 1.1}[dtype]


def test_eager_and_compiled_logarithms_have_the_same_bits():
    x = np.random.default_rng(3).random(200000)
    for numbers in (x, x.astype(np.float32)):
        np.testing.assert_array_equal(cr.jit(lambda x: logarithm(x))(numbers), logarithm(numbers))


@pytest.mark.parametrize("operand", range(3))
def test_derivatives_of_multiply_add(operand):
    check_rule(multiply_add, A, B, C, operand=operand)


def test_derivative_of_the_logarithm():
    check_rule(logarithm, np.abs(A))


def test_batched_and_printed():
    def f(x, y):
        return multiply_add(x, y, 1.0)

    found = cr.vmap(f, in_axes=(0, None))(A, B)
    np.testing.assert_array_equal(found, [f(x, B) for x in A])
    assert "fused_multiply_add(x, y, 1.0)" in cr.source(cr.jit(f), stage="numpy")(A, B)
    assert "elementary.fma(x[i], y[i], 1.0)" in cr.source(cr.jit(f), stage="numba")(A, B)


def test_dtypes_that_have_none():
    for given in (np.arange(3), np.ones(3, complex), np.ones(3, np.float16)):
        with pytest.raises(cr.ChainruleError, match="'multiply_add' not supported for the input types"):
            cr.jit(lambda x: multiply_add(x, x, x))(given)
