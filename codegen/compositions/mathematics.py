"""The math module, and np.sign.

A function of `math` takes scalars, gives a Python number, and raises where it is not defined.

>>> sqrt(2)
1.4142135623730951
>>> sqrt(-1)
Traceback (most recent call last):
ValueError: math domain error
"""
import math

import numpy as np

from ..primitives import effects, elementwise, special
from ..registry import composition


def require(defined):
    """Raise what math raises, unless the function is defined here."""
    effects.check(defined, exception="ValueError", message="math domain error")


def python_float(x):
    return elementwise.astype(x, dtype=float, weak=True)


def python_int(x):
    return elementwise.astype(x, dtype=int, weak=True)


def double(x):
    """A number as precise as Python's: a float32 is widened before anything is computed."""
    return python_float(x) if np.result_type(x) in (np.float32, np.float16) else x


def scalar(primitive):
    """The primitive as a function of Python scalars to a Python scalar."""
    return lambda *operands: primitive(*[double(operand) for operand in operands], weak=True)


# Functions defined everywhere. (Out of range they give inf, where math raises OverflowError.)
for function, primitive in {
    math.exp: elementwise.exp, math.expm1: elementwise.expm1, math.cbrt: elementwise.cbrt,
    math.exp2: elementwise.exp2, math.sin: elementwise.sin, math.cos: elementwise.cos,
    math.tan: elementwise.tan, math.atan: elementwise.arctan, math.atan2: elementwise.arctan2,
    math.sinh: elementwise.sinh, math.cosh: elementwise.cosh, math.tanh: elementwise.tanh,
    math.asinh: elementwise.arcsinh, math.copysign: elementwise.copysign,
    math.degrees: elementwise.rad2deg, math.radians: elementwise.deg2rad, math.isnan: elementwise.isnan,
    math.isinf: elementwise.isinf, math.isfinite: elementwise.isfinite, math.gcd: elementwise.gcd,
    math.lcm: elementwise.lcm, math.erf: special.erf, math.erfc: special.erfc,
}.items():
    composition(function)(scalar(primitive))


@composition(math.sqrt)
def sqrt(x):
    x = double(x)
    require(elementwise.logical_not(x < 0))
    return elementwise.sqrt(x, weak=True)


@composition(math.log)
def log(x, base=None):
    x = double(x)
    require(elementwise.logical_not(x <= 0))
    if base is None:
        return elementwise.log(x, weak=True)
    base = double(base)
    require(elementwise.logical_not(base <= 0))
    return elementwise.log(x, weak=True) / elementwise.log(base, weak=True)


@composition(math.log2)
def log2(x):
    x = double(x)
    require(elementwise.logical_not(x <= 0))
    return elementwise.log2(x, weak=True)


@composition(math.log10)
def log10(x):
    x = double(x)
    require(elementwise.logical_not(x <= 0))
    return elementwise.log10(x, weak=True)


@composition(math.log1p)
def log1p(x):
    x = double(x)
    require(elementwise.logical_not(x <= -1))
    return elementwise.log1p(x, weak=True)


@composition(math.asin)
def asin(x):
    x = double(x)
    require(elementwise.logical_not(abs(x) > 1))
    return elementwise.arcsin(x, weak=True)


@composition(math.acos)
def acos(x):
    x = double(x)
    require(elementwise.logical_not(abs(x) > 1))
    return elementwise.arccos(x, weak=True)


@composition(math.acosh)
def acosh(x):
    x = double(x)
    require(elementwise.logical_not(x < 1))
    return elementwise.arccosh(x, weak=True)


@composition(math.atanh)
def atanh(x):
    x = double(x)
    require(elementwise.logical_not(abs(x) >= 1))
    return elementwise.arctanh(x, weak=True)


@composition(math.gamma)
def gamma(x):
    x = double(x)
    require(elementwise.logical_not((x <= 0) & (x == elementwise.floor(x))))
    return elementwise.astype(special.gamma(x), dtype=float, weak=True)


@composition(math.lgamma)
def lgamma(x):
    x = double(x)
    require(elementwise.logical_not((x <= 0) & (x == elementwise.floor(x))))
    return elementwise.astype(special.gammaln(x), dtype=float, weak=True)


@composition(math.pow)
def pow(x, y):
    x, y = python_float(x), python_float(y)
    finite = elementwise.isfinite(x, weak=True) & elementwise.isfinite(y, weak=True)
    undefined = ((x < 0) & (y != elementwise.floor(y, weak=True))) | ((x == 0) & (y < 0))
    require(elementwise.logical_not(finite & undefined))
    return elementwise.power(x, y, weak=True)


@composition(math.fmod)
def fmod(x, y):
    undefined = ((y == 0) & (x == x)) | (elementwise.isinf(x, weak=True) & (y == y))
    require(elementwise.logical_not(undefined))
    return elementwise.fmod(python_float(x), python_float(y), weak=True)


@composition(math.fabs)
def fabs(x):
    return elementwise.absolute(python_float(x), weak=True)


@composition(math.hypot)
def hypot(*coordinates):
    coordinates = [double(coordinate) for coordinate in coordinates]
    if len(coordinates) == 2:
        return elementwise.hypot(*coordinates, weak=True)
    length = 0.0
    for coordinate in coordinates:
        length = elementwise.hypot(length, coordinate, weak=True)
    return length


@composition(math.dist)
def dist(p, q):
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    return hypot(*[double(a) - double(b) for a, b in zip(p, q)])


@composition(math.prod)
def prod(iterable, *, start=1):
    for factor in iterable:
        start = start * factor
    return start


@composition(math.floor)
def floor(x):
    return python_int(elementwise.floor(x, weak=True))


@composition(math.ceil)
def ceil(x):
    return python_int(elementwise.ceil(x, weak=True))


@composition(math.trunc)
def trunc(x):
    return python_int(elementwise.trunc(x, weak=True))


@composition(math.modf)
def modf(x):
    x = python_float(x)
    whole = elementwise.trunc(x, weak=True)
    return elementwise.where(elementwise.isinf(x, weak=True), 0.0, x - whole, weak=True), whole


@composition(math.isclose)
def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    larger = elementwise.maximum(abs(a), abs(b), weak=True)
    near = abs(a - b) <= elementwise.maximum(rel_tol * larger, abs_tol, weak=True)
    return (a == b) | (near & elementwise.isfinite(larger, weak=True))


@composition(np.sign)
def sign(x):
    """Of a complex number, x / |x|."""
    if np.iscomplexobj(x):
        size = np.abs(x)
        return x / (size + (size == 0))
    return elementwise.sign(x)
