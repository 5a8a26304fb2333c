"""NumPy's promotion (NEP 50) on core types: the one place that knows which dtypes give which.

A weak type is a Python scalar: beside an array it adds its kind but not its width. An operator on weak
operands only is Python's own, and its result is weak.

>>> single = ArrayType(np.dtype("float32"), (3,))
>>> ufunc_dtype(np.add, (single, FLOAT))
dtype('float32')
>>> ufunc_dtype(np.sin, (INT,))
dtype('float64')
>>> common_dtype((single, ArrayType(np.dtype("int64"))))
dtype('float64')
>>> weak_type("divide", (INT, INT)), weak_type("add", (BOOL, BOOL)), weak_type("less", (FLOAT, INT))
(float, int, bool)
"""
from __future__ import annotations

import functools
from collections.abc import Iterable

import numpy as np

from ..core import BOOL, COMPLEX, FLOAT, INT, ArrayType
from ..errors import Location, TypeMismatchError

PYTHON_TYPES = {"b": BOOL, "i": INT, "u": INT, "f": FLOAT, "c": COMPLEX}
WIDTH = "bifc"

COMPARISONS = frozenset(
    {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"}
    | {"logical_and", "logical_or", "logical_xor", "logical_not"}
)
ARITHMETIC = frozenset(
    {"add", "subtract", "multiply", "floor_divide", "remainder", "power", "negative", "positive", "conjugate"}
)
REAL_PARTS = frozenset({"absolute", "real", "imag"})
BITS = frozenset({"bitwise_and", "bitwise_or", "bitwise_xor"})
SHIFTS = frozenset({"invert", "left_shift", "right_shift"})
UNORDERED = frozenset({"less", "less_equal", "greater", "greater_equal", "floor_divide", "remainder"})
OPERATORS = COMPARISONS | ARITHMETIC | REAL_PARTS | BITS | SHIFTS | {"divide"}


def weak_type(name: str, types: tuple[ArrayType, ...]) -> ArrayType:
    """The type that Python gives the operator `name` on Python scalars."""
    kind = max((t.dtype.kind for t in types), key=WIDTH.index)
    if kind == "c" and name in UNORDERED:
        raise TypeError(f"{name} of a Python complex")
    if name in COMPARISONS:
        return BOOL
    if name in BITS or name in SHIFTS:
        if kind in "fc":
            raise TypeError(f"{name} of a Python {PYTHON_TYPES[kind]}")
        return BOOL if kind == "b" and name in BITS else INT
    if name == "divide":
        return COMPLEX if kind == "c" else FLOAT
    if kind == "c" and name in REAL_PARTS:
        return FLOAT
    return INT if kind == "b" else PYTHON_TYPES[kind]


def python_type(dtype: np.dtype) -> ArrayType:
    """The Python scalar type of a dtype's kind."""
    return PYTHON_TYPES[np.dtype(dtype).kind]


def ufunc_dtype(ufunc: np.ufunc, types: tuple[ArrayType, ...]) -> np.dtype:
    """The dtype of the (single) result of a ufunc on operands of these types."""
    return resolved(ufunc, tuple(map(promoted_as, types)))


@functools.cache
def resolved(ufunc: np.ufunc, operands: tuple) -> np.dtype:
    return ufunc.resolve_dtypes((*operands, *(None,) * ufunc.nout))[ufunc.nin]


def promoted_as(of: ArrayType):
    """What stands for a type in NumPy's own promotion: its dtype, or the Python type of a weak scalar."""
    if of.weak and of.dtype.kind != "b":
        return {"i": int, "f": float, "c": complex}[of.dtype.kind]
    return of.dtype


def common_dtype(types: Iterable[ArrayType]) -> np.dtype:
    """The dtype that holds values of all the types: of `np.where`, `np.concatenate`, `np.array`."""
    return np.result_type(*(one_of(t) for t in types))


def one_of(of: ArrayType):
    """A sample for np.result_type."""
    if of.weak and of.dtype.kind != "b":
        return {"i": 0, "f": 0.0, "c": 0j}[of.dtype.kind]
    return of.dtype


def mismatch(name: str, types: Iterable[ArrayType], location: Location | None) -> TypeMismatchError:
    """The error for dtypes that an operation does not take, worded as NumPy words it."""
    shown = ", ".join(str(t) if t.weak else str(t.dtype) for t in types)
    return TypeMismatchError(f"'{name}' not supported for the input types ({shown})", location=location)
