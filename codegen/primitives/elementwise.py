"""Elementwise primitives: NumPy's ufuncs and the few functions like them.

>>> from ..build import Builder
>>> x = Variable("x", ArrayType(np.dtype("float32"), (4, 1)))
>>> y = Variable("y", ArrayType(np.dtype("int64"), (3,)))
>>> divide.type_rule(Builder(), x, y)
float64[4, 3]
>>> sin.type_rule(Builder(), 1.0), sin.type_rule(Builder(), 1.0, weak=True), add.type_rule(Builder(), 1, True)
(float64[], float, int)
"""
from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from ..core import INT, ArrayType, Variable, type_of
from ..errors import ShapeMismatchError, TypeMismatchError
from ..registry import METHODS, PRIMITIVES, Primitive, primitive
from .promotion import OPERATORS, common_dtype, mismatch, python_type, ufunc_dtype, weak_type


def result_type(builder, name: str, dtype_of: Callable, operands: tuple, weak: bool) -> ArrayType:
    """The type of an elementwise result: broadcast shape, promoted dtype."""
    types = tuple(map(type_of, operands))
    try:
        if name in OPERATORS and all(t.weak for t in types):
            return weak_type(name, types)
        dtype = dtype_of(types)
    except TypeError:
        raise mismatch(name, types, builder.location) from None
    shape = builder.broadcast(*(t.shape for t in types))
    if weak and shape:
        raise ShapeMismatchError("only 0-dimensional arrays can be converted to Python scalars",
                                 location=builder.location)
    return python_type(dtype) if weak else ArrayType(dtype, shape)


def elementwise(name: str, compute: Callable, *functions: Callable, printed: str | None = None,
                dtype_of: Callable | None = None) -> Primitive:
    """Register an elementwise primitive computed by `compute` (a ufunc, unless `dtype_of` gives the dtype).

    A true `weak` makes the result a Python scalar, as functions of `math` do.
    """
    apply = compute
    if dtype_of is None:
        dtype_of = lambda types: ufunc_dtype(compute, types)
    if name in PYTHON:
        apply = PYTHON[name]

    def implementation(*operands, weak=False):
        value = apply(*operands)
        return value.item() if weak and isinstance(value, (np.generic, np.ndarray)) else value

    def type_rule(builder, *operands, weak=False):
        return result_type(builder, name, dtype_of, operands, weak)

    implementation.__name__ = name
    return primitive(name, implementation, type_rule, functions=functions, printed=printed or f"np.{name}",
                     elementwise=True)


def python_bool(function: Callable) -> Callable:
    """The logical function, with Python's bool for Python's scalars."""
    def logical(*operands):
        value = function(*operands)
        return bool(value) if all(type(o) in (bool, int, float, complex) for o in operands) else value
    return logical


# What computes an operator on Python scalars: Python itself, with its result types and its errors.
PYTHON: dict[str, Callable] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "floor_divide": operator.floordiv, "remainder": operator.mod, "power": operator.pow,
    "negative": operator.neg, "positive": operator.pos, "absolute": operator.abs, "less": operator.lt,
    "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge, "equal": operator.eq,
    "not_equal": operator.ne, "bitwise_and": operator.and_, "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor, "invert": operator.invert, "left_shift": operator.lshift,
    "right_shift": operator.rshift, "logical_and": python_bool(np.logical_and),
    "logical_or": python_bool(np.logical_or), "logical_xor": python_bool(np.logical_xor),
    "logical_not": python_bool(np.logical_not),
}

add = elementwise("add", np.add, np.add, operator.add, operator.iadd, printed="+")
subtract = elementwise("subtract", np.subtract, np.subtract, operator.sub, operator.isub, printed="-")
multiply = elementwise("multiply", np.multiply, np.multiply, operator.mul, operator.imul, printed="*")
divide = elementwise("divide", np.divide, np.divide, operator.truediv, operator.itruediv, printed="/")
floor_divide = elementwise("floor_divide", np.floor_divide, np.floor_divide, operator.floordiv, printed="//")
remainder = elementwise("remainder", np.remainder, np.remainder, operator.mod, printed="%")
negative = elementwise("negative", np.negative, np.negative, operator.neg, printed="unary -")
positive = elementwise("positive", np.positive, np.positive, operator.pos, printed="unary +")
absolute = elementwise("absolute", np.absolute, np.absolute, operator.abs, printed="np.abs")

less = elementwise("less", np.less, np.less, operator.lt, printed="<")
less_equal = elementwise("less_equal", np.less_equal, np.less_equal, operator.le, printed="<=")
greater = elementwise("greater", np.greater, np.greater, operator.gt, printed=">")
greater_equal = elementwise("greater_equal", np.greater_equal, np.greater_equal, operator.ge, printed=">=")
equal = elementwise("equal", np.equal, np.equal, operator.eq, printed="==")
not_equal = elementwise("not_equal", np.not_equal, np.not_equal, operator.ne, printed="!=")
logical_and = elementwise("logical_and", np.logical_and, np.logical_and)
logical_or = elementwise("logical_or", np.logical_or, np.logical_or)
logical_xor = elementwise("logical_xor", np.logical_xor, np.logical_xor)
logical_not = elementwise("logical_not", np.logical_not, np.logical_not, operator.not_)
bitwise_and = elementwise("bitwise_and", np.bitwise_and, np.bitwise_and, operator.and_, printed="&")
bitwise_or = elementwise("bitwise_or", np.bitwise_or, np.bitwise_or, operator.or_, printed="|")
bitwise_xor = elementwise("bitwise_xor", np.bitwise_xor, np.bitwise_xor, operator.xor, printed="^")
invert = elementwise("invert", np.invert, np.invert, operator.invert, printed="~")
left_shift = elementwise("left_shift", np.left_shift, np.left_shift, operator.lshift, printed="<<")
right_shift = elementwise("right_shift", np.right_shift, np.right_shift, operator.rshift, printed=">>")


def named(name: str) -> Primitive:
    """A primitive that is a ufunc of the same name."""
    return elementwise(name, getattr(np, name), getattr(np, name))


exp, exp2, expm1 = named("exp"), named("exp2"), named("expm1")
log, log2, log10, log1p = named("log"), named("log2"), named("log10"), named("log1p")
sqrt, cbrt, square, reciprocal = named("sqrt"), named("cbrt"), named("square"), named("reciprocal")
sin, cos, tan = named("sin"), named("cos"), named("tan")
arcsin, arccos, arctan, arctan2 = named("arcsin"), named("arccos"), named("arctan"), named("arctan2")
sinh, cosh, tanh = named("sinh"), named("cosh"), named("tanh")
arcsinh, arccosh, arctanh = named("arcsinh"), named("arccosh"), named("arctanh")
hypot, logaddexp, logaddexp2 = named("hypot"), named("logaddexp"), named("logaddexp2")
maximum, minimum, fmax, fmin = named("maximum"), named("minimum"), named("fmax"), named("fmin")
fmod, copysign, heaviside = named("fmod"), named("copysign"), named("heaviside")
floor, ceil, trunc, rint = named("floor"), named("ceil"), named("trunc"), named("rint")
isnan, isfinite, isinf, signbit = named("isnan"), named("isfinite"), named("isinf"), named("signbit")
deg2rad, rad2deg = named("deg2rad"), named("rad2deg")
gcd, lcm = named("gcd"), named("lcm")


def real_dtype(types: tuple[ArrayType, ...]) -> np.dtype:
    """The dtype of the real or imaginary part."""
    dtype = types[0].dtype
    return np.empty(0, dtype).real.dtype


def angle_dtype(types: tuple[ArrayType, ...]) -> np.dtype:
    """That of arctan2 of the imaginary and the real part."""
    part = types[0].with_dtype(real_dtype(types))
    return ufunc_dtype(np.arctan2, (part if types[0].dtype.kind == "c" else INT, part))


def sign_dtype(types: tuple[ArrayType, ...]) -> np.dtype:
    """That of np.sign, whose complex case is a composition: only the real case has derivative zero."""
    if types[0].dtype.kind == "c":
        raise TypeError
    return ufunc_dtype(np.sign, types)


sign = elementwise("sign", np.sign, dtype_of=sign_dtype)
real = elementwise("real", lambda x: x.real, np.real, dtype_of=real_dtype)
imag = elementwise("imag", lambda x: x.imag, np.imag, dtype_of=real_dtype)
conjugate = elementwise("conjugate", lambda x: x.conjugate(), np.conjugate, printed="np.conj",
                        dtype_of=lambda types: types[0].dtype)
angle = elementwise("angle", np.angle, np.angle, dtype_of=angle_dtype)
METHODS["conj"] = METHODS["conjugate"] = conjugate


stop_gradient = primitive("stop_gradient", lambda x: x, lambda builder, x: type_of(x), view=True)


def power_type(builder, x, y, weak=False):
    """The type of x ** y. A Python int to a negative int would be a float: that is checked."""
    types = type_of(x), type_of(y)
    if all(t.weak and t.dtype.kind in "bi" for t in types):
        bound = builder.lower_bound(y)
        if not isinstance(y, Variable) and y < 0:
            return python_type("float64")
        if bound is None or bound < 0:
            message = "an int to a negative int power is a float: make one of them a float"
            builder.emit(PRIMITIVES["check"], builder.emit(greater_equal, y, 0), message=message)
    if types[0].shape and types[0].dtype.kind == "b" and type(y) is int and y == 2:
        return types[0].with_dtype(np.int8)  # NumPy's short cut to np.square
    return result_type(builder, "power", lambda types: ufunc_dtype(np.power, types), (x, y), weak)


power = elementwise("power", np.power, np.power, operator.pow, printed="**")
power.type_rule = power_type


def where_implementation(test, x, y, weak=False):
    if weak:
        return x if test else y
    return np.where(test, x, y)[()]


def where_type(builder, test, x, y, weak=False):
    """The type of where: the test has no part in the dtype."""
    return result_type(builder, "where", lambda types: common_dtype(types[1:]), (test, x, y), weak)


where = primitive("where", where_implementation, where_type, functions=(np.where,), printed="np.where",
                  elementwise=True)


def astype_implementation(x, dtype, weak=False):
    if weak:
        return {"b": bool, "i": int, "u": int, "f": float, "c": complex}[np.dtype(dtype).kind](x)
    return np.asarray(x).astype(dtype)[()]


def astype_type(builder, x, dtype, weak=False):
    """The type with another dtype; weak, a Python scalar of that kind."""
    dtype, of = np.dtype(dtype), type_of(x)
    if dtype.kind not in "biufc":
        raise TypeMismatchError(f"arrays of dtype {dtype} are not supported", location=builder.location)
    if not weak:
        return ArrayType(dtype, of.shape)
    if of.shape:
        raise ShapeMismatchError("only 0-dimensional arrays can be converted to Python scalars",
                                 location=builder.location)
    if of.dtype.kind == "c" and dtype.kind in "if":
        raise TypeMismatchError(f"a complex number cannot be converted to {python_type(dtype)}",
                                location=builder.location)
    return python_type(dtype)


astype = primitive("astype", astype_implementation, astype_type, printed=None, elementwise=True)
