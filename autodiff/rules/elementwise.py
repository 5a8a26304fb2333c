"""Derivatives of the elementwise primitives.

Cotangents follow JAX's complex convention: reverse is the transpose of the real-linear map, unconjugated, so
a holomorphic function multiplies by its derivative. At kinks: the table in docs/architecture.md.

>>> elementwise.tanh.vjp[0](1.0, 0.5, None)
0.75
"""
import math

import numpy as np

from ...codegen.primitives import elementwise
from ...codegen.primitives.elementwise import (
    absolute,
    add,
    angle,
    arctan2,
    astype,
    cbrt,
    conjugate,
    copysign,
    divide,
    fmax,
    fmin,
    fmod,
    heaviside,
    hypot,
    imag,
    logaddexp,
    logaddexp2,
    maximum,
    minimum,
    multiply,
    negative,
    positive,
    power,
    real,
    remainder,
    sqrt,
    subtract,
    where,
)
from ...codegen.primitives.multiply_add import logarithm, multiply_add
from ...codegen.registry import derivative, zero_derivative

LOG_2, LOG_10 = math.log(2), math.log(10)


def partial(primitive, factor, operand=0):
    """Register a derivative that multiplies by `factor(out, *operands)`, forward and reverse."""
    product = lambda t, out, *operands: t * factor(out, *operands)
    derivative(primitive, operand, jvp=product, vjp=product)


def both(primitive, rule, operand=0):
    """Register one rule that is its own transpose."""
    derivative(primitive, operand, jvp=rule, vjp=rule)


# Arithmetic

both(add, lambda t, out, x, y: t, 0)
both(add, lambda t, out, x, y: t, 1)
both(subtract, lambda t, out, x, y: t, 0)
both(subtract, lambda t, out, x, y: -t, 1)
both(multiply, lambda t, out, x, y: t * y, 0)
both(multiply, lambda t, out, x, y: t * x, 1)
both(divide, lambda t, out, x, y: t / y, 0)
both(divide, lambda t, out, x, y: -t * out / y, 1)
both(negative, lambda t, out, x: -t)
both(positive, lambda t, out, x: t)
both(remainder, lambda t, out, x, y: t, 0)
both(remainder, lambda t, out, x, y: -t * (x // y), 1)
both(fmod, lambda t, out, x, y: t, 0)
both(fmod, lambda t, out, x, y: -t * np.rint((x - out) / y), 1)
partial(elementwise.square, lambda out, x: 2 * x)
partial(elementwise.reciprocal, lambda out, x: -out * out)
partial(elementwise.deg2rad, lambda out, x: math.pi / 180)
partial(elementwise.rad2deg, lambda out, x: 180 / math.pi)

# y - (y != 0): at x = 0, y = 0 the derivative is 0 * 0**0, not 0 * 0**-1.
both(power, lambda t, out, x, y: t * (y * x ** (y - (y != 0))), 0)
# x + (x == 0): where out is 0 so is the derivative, not 0 * log(0).
both(power, lambda t, out, x, y: t * (out * np.log(x + (x == 0))), 1)

# Roots, exponentials and logarithms

both(sqrt, lambda t, out, x: t / (2 * out))
both(cbrt, lambda t, out, x: t / (3 * (out * out)))
both(elementwise.exp, lambda t, out, x: t * out)
both(elementwise.exp2, lambda t, out, x: t * (out * LOG_2))
both(elementwise.expm1, lambda t, out, x: t * (out + 1))
both(elementwise.log, lambda t, out, x: t / x)
both(elementwise.log2, lambda t, out, x: t / (x * LOG_2))
both(elementwise.log10, lambda t, out, x: t / (x * LOG_10))
both(elementwise.log1p, lambda t, out, x: t / (1 + x))


def share(base, out, x, y):
    """The part of x in a sum of exponentials, base(x - out), right also where out is infinite."""
    infinite = np.isinf(out)
    finite = base(np.where(infinite, 0, x) - np.where(infinite, 0, out))
    return np.where(infinite, (x == out) / (1 + (x == y)), finite)


partial(logaddexp, lambda out, x, y: share(np.exp, out, x, y), 0)
partial(logaddexp, lambda out, x, y: share(np.exp, out, y, x), 1)
partial(logaddexp2, lambda out, x, y: share(np.exp2, out, x, y), 0)
partial(logaddexp2, lambda out, x, y: share(np.exp2, out, y, x), 1)

# Trigonometric and hyperbolic functions

both(elementwise.sin, lambda t, out, x: t * np.cos(x))
both(elementwise.cos, lambda t, out, x: -t * np.sin(x))
both(elementwise.tan, lambda t, out, x: t * (1 + out * out))
both(elementwise.arcsin, lambda t, out, x: t / np.sqrt(1 - x * x))
both(elementwise.arccos, lambda t, out, x: -t / np.sqrt(1 - x * x))
both(elementwise.arctan, lambda t, out, x: t / (1 + x * x))
both(elementwise.sinh, lambda t, out, x: t * np.cosh(x))
both(elementwise.cosh, lambda t, out, x: t * np.sinh(x))
both(elementwise.tanh, lambda t, out, x: t * (1 - out * out))
both(elementwise.arcsinh, lambda t, out, x: t / np.sqrt(1 + x * x))
# Two roots: of a complex x left of 0, sqrt(x * x - 1) is the other branch.
both(elementwise.arccosh, lambda t, out, x: t / (np.sqrt(x - 1) * np.sqrt(x + 1)))
both(elementwise.arctanh, lambda t, out, x: t / (1 - x * x))
both(arctan2, lambda t, out, x, y: t * y / (x * x + y * y), 0)
both(arctan2, lambda t, out, x, y: -t * x / (x * x + y * y), 1)
# A norm, with derivative 0 at 0.
both(hypot, lambda t, out, x, y: t * x / (out + (out == 0)), 0)
both(hypot, lambda t, out, x, y: t * y / (out + (out == 0)), 1)

# The larger, the smaller, and the chosen: half to each at a tie


both(maximum, lambda t, out, x, y: np.where(x > y, t, np.where(x == y, 0.5 * t, 0)), 0)
both(maximum, lambda t, out, x, y: np.where(y > x, t, np.where(x == y, 0.5 * t, 0)), 1)
both(minimum, lambda t, out, x, y: np.where(x < y, t, np.where(x == y, 0.5 * t, 0)), 0)
both(minimum, lambda t, out, x, y: np.where(y < x, t, np.where(x == y, 0.5 * t, 0)), 1)
# fmax and fmin pass over a nan.
both(fmax, lambda t, out, x, y: np.where((x > y) | np.isnan(y), t, np.where(x == y, 0.5 * t, 0)), 0)
both(fmax, lambda t, out, x, y: np.where((y > x) | np.isnan(x), t, np.where(x == y, 0.5 * t, 0)), 1)
both(fmin, lambda t, out, x, y: np.where((x < y) | np.isnan(y), t, np.where(x == y, 0.5 * t, 0)), 0)
both(fmin, lambda t, out, x, y: np.where((y < x) | np.isnan(x), t, np.where(x == y, 0.5 * t, 0)), 1)

partial(multiply_add, lambda out, x, y, z: y, 0)
partial(multiply_add, lambda out, x, y, z: x, 1)
both(multiply_add, lambda t, out, x, y, z: t, 2)
partial(logarithm, lambda out, x: 1 / x)

both(where, lambda t, out, test, x, y: np.where(test, t, 0), 1)
both(where, lambda t, out, test, x, y: np.where(test, 0, t), 2)
derivative(where, (1, 2), jvp=lambda t, out, test, x, y: np.where(test, t[0], t[1]))

# Signs

both(copysign, lambda t, out, x, y: t * np.sign(x) * np.sign(out), 0)
both(copysign, lambda t, out, x, y: None, 1)
both(heaviside, lambda t, out, x, y: None, 0)
both(heaviside, lambda t, out, x, y: np.where(x == 0, t, 0), 1)


def direction(out, x):
    """The derivative of |x| along x: its sign, or conj(x) / |x|; 0 at 0."""
    if np.iscomplexobj(x):
        return np.conj(x) / (out + (out == 0))
    return np.sign(x)


def absolute_jvp(t, out, x):
    return np.real(t * direction(out, x))


derivative(absolute, jvp=absolute_jvp, vjp=lambda ct, out, x: ct * direction(out, x))

# Parts of complex numbers; the passes give a cotangent its operand's dtype

derivative(real, jvp=lambda t, out, x: np.real(t), vjp=lambda ct, out, x: ct)
derivative(imag, jvp=lambda t, out, x: np.imag(t),
           vjp=lambda ct, out, x: -1j * ct if np.iscomplexobj(x) else None)
both(conjugate, lambda t, out, x: np.conj(t))
derivative(angle, jvp=lambda t, out, x: np.imag(t / x) if np.iscomplexobj(x) else None,
           vjp=lambda ct, out, x: -1j * ct / x if np.iscomplexobj(x) else None)
derivative(astype, jvp=lambda t, out, x, dtype: astype(t, dtype=dtype), vjp=lambda ct, out, x, dtype: ct)

zero_derivative(
    elementwise.stop_gradient, elementwise.sign, elementwise.floor, elementwise.ceil, elementwise.trunc,
    elementwise.rint,
    elementwise.floor_divide, elementwise.gcd, elementwise.lcm,
    elementwise.less, elementwise.less_equal, elementwise.greater, elementwise.greater_equal,
    elementwise.equal, elementwise.not_equal, elementwise.isnan, elementwise.isinf, elementwise.isfinite,
    elementwise.signbit, elementwise.logical_and, elementwise.logical_or, elementwise.logical_xor,
    elementwise.logical_not, elementwise.bitwise_and, elementwise.bitwise_or, elementwise.bitwise_xor,
    elementwise.invert, elementwise.left_shift, elementwise.right_shift,
)
