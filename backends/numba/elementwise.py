"""Scalar arithmetic with NumPy's promotion and Python's errors, for Numba, whose promotion is another.

Numba takes a literal 0.5 for a double and adds bytes as 64-bit integers. Here every operand is put into the
dtype that NumPy computes in, and every result that Numba widens is narrowed again.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...codegen import python_arithmetic
from ...codegen.core import BOOL, FLOAT, ArrayType, Assign, Operand, Variable, type_of
from ...codegen.expand import Expander
from ...codegen.primitives.promotion import COMPARISONS, promoted_as
from ...codegen.registry import PRIMITIVES
from . import failures, forms

# NumPy computes these on truth values by logic.
LOGIC = {
    "add": "logical_or",
    "multiply": "logical_and",
    "maximum": "logical_or",
    "minimum": "logical_and",
    "fmax": "logical_or",
    "fmin": "logical_and",
    "bitwise_or": "logical_or",
    "bitwise_and": "logical_and",
    "bitwise_xor": "not_equal",
    "logical_xor": "not_equal",
    "invert": "logical_not",
    "absolute": "positive",
    "square": "positive",
    "power": "greater_equal",
    "less": "less",
}
DIVISIONS = {"divide": operator.truediv, "floor_divide": operator.floordiv, "remainder": operator.mod}
TRUTH = ("logical_and", "logical_or", "logical_not", "logical_xor")
# The dtypes of Python's own literals, as Numba reads them.
LITERAL = frozenset(map(np.dtype, (bool, np.int64, float, complex)))
# Beside a double, Numba too makes an integer a double here.
PROMOTING = frozenset(
    {"add", "subtract", "multiply", "divide", "less", "less_equal", "greater", "greater_equal",
     "equal", "not_equal"}
)
# Numba gives a double for single precision here.
WIDENED = frozenset(["floor_divide", "remainder", "power"])
# One module of Numba's cannot hold both the single and the double form of these.
DOUBLE_ONLY = frozenset({"exp2", "log2"})
# These have a form in elementary/, which loops vectorise around; in single precision its name ends in f.
VECTORISED = {
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2", "log1p": "log1p",
    "sin": "sin", "cos": "cos", "tan": "tan", "arctan": "atan", "arctan2": "atan2",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "expit": "expit", "erf": "erf", "power": "pow",
    "logaddexp": "logaddexp",
}  # fmt: skip
# These are not to be computed in any other way.
TO_THE_LAST_BIT = {"multiply_add": {"f": "fma", "d": "fma"}, "xla_log": {"f": "xla_logf", "d": "xla_log"}}
# The processor itself has these for vectors.
OF_VECTORS = frozenset(
    {"add", "subtract", "multiply", "divide", "floor_divide", "remainder", "negative", "positive",
     "absolute", "fabs", "square", "sqrt", "reciprocal", "minimum", "maximum", "fmin", "fmax", "floor",
     "ceil", "trunc", "rint", "sign", "where", "astype", "isnan", "isinf", "isfinite", "bitwise_and",
     "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift", *COMPARISONS, *TRUTH}
)  # fmt: skip
# What a loop does to numbers that it carries only for this, in any order, so that it becomes vectors.
ANY_ORDER = {"add": "plus", "maximum": "larger", "minimum": "smaller"}
# A loop that carries other numbers runs one round at a time: the C library is faster at these.
FASTER_ALONE = frozenset({"exp", "log", "log2", "power", "expit"})
# Exponents that are written out as products.
SMALL = 8


def on_vectors(statement: Assign) -> bool:
    """Whether a loop that does this operation on numbers becomes one over vectors."""
    name, of = statement.primitive.name, statement.targets[0].type
    if name == "astype":
        return not python_arithmetic.is_int_of_float(statement)
    if name in ("floor_divide", "remainder") and of.dtype.kind in "iu":
        return not isinstance(statement.operands[1], Variable)  # there are no vectors for it
    return name in OF_VECTORS or (name in VECTORISED and of.dtype.char in "fd")


def cast(to: Expander, operand: Operand, dtype: Any) -> Operand:
    """A scalar operand in a dtype; constants at once."""
    dtype, of = np.dtype(dtype), type_of(operand)
    if not isinstance(operand, Variable):
        value = dtype.type(operand).item()
        if dtype in LITERAL:
            return value
        # Not a constant: those are printed without their dtype beside an array of it.
        return to.assign(forms.cast, ArrayType(dtype), value, dtype=dtype, source=type_of(value).dtype)
    if of.dtype == dtype:
        return operand
    return to.assign(forms.cast, ArrayType(dtype), operand, dtype=dtype, source=of.dtype)


def loop_dtypes(ufunc: np.ufunc, types: list[ArrayType]) -> tuple[np.dtype, ...]:
    """The dtypes that NumPy computes in: of the operands, then of the results."""
    found = ufunc.resolve_dtypes((*map(promoted_as, types), *(None,) * ufunc.nout))
    return tuple(np.dtype(np.float32) if dtype.char == "e" else dtype for dtype in found)


def lower(to: Expander, statement: Assign) -> Operand | None:
    """A scalar operation in Numba's terms."""
    name, target = statement.primitive.name, statement.targets[0]
    operands, types = statement.operands, [type_of(o) for o in statement.operands]
    if name == "astype":
        return converted(to, operands[0], target.type)
    if name == "where":
        test, *sides = operands
        sides = [cast(to, side, target.type.dtype) for side in sides]
        return to.assign(forms.choose, target.type, cast(to, test, bool), *sides)
    if name in ("real", "imag", "conjugate") and types[0].dtype.kind != "c":
        value = 0 if name == "imag" else operands[0]
        return to.assign(
            forms.cast,
            target.type,
            cast(to, value, target.type.dtype),
            dtype=target.type.dtype,
            source=target.type.dtype,
        )
    if name in TO_THE_LAST_BIT:
        dtype = target.type.dtype
        called = forms.elementary(TO_THE_LAST_BIT[name][dtype.char])
        return to.assign(called, target.type, *(cast(to, o, dtype) for o in operands))
    if name in VECTORISED and in_support(name):
        vectorised = elementary(to, statement, (target.type.dtype,) * 2)
        if vectorised is not None:
            return vectorised
    if in_support(name):
        return from_support(to, statement)
    ufunc = getattr(np, name, None)
    if not isinstance(ufunc, np.ufunc):
        return None
    if python_arithmetic.is_python(statement):
        return python_operation(to, statement, types)
    dtypes = loop_dtypes(ufunc, types)
    if name in TRUTH:
        dtypes = (np.dtype(bool),) * len(dtypes)
    if name == "power":
        return power(to, statement, dtypes)
    vectorised = elementary(to, statement, dtypes)
    if vectorised is not None:
        return vectorised
    if name in DOUBLE_ONLY and dtypes[0].char == "f":
        wide = to.assign(
            name, ArrayType(np.dtype(float)), *(cast(to, operand, float) for operand in operands)
        )
        return to.assign(forms.cast, target.type, wide, dtype=dtypes[-1], source=np.dtype(float))
    operands = promoted(to, name, operands, dtypes)
    if name in ANY_ORDER and to.waiting is not None and operands[0] in to.sums and dtypes[-1].kind == "f":
        called = forms.elementary(ANY_ORDER[name])
        return to.assign(called, target.type, *(cast(to, o, dtypes[-1]) for o in operands))
    if dtypes[0].kind == "b" and name in LOGIC:
        name = LOGIC[name]
    if name == "positive":
        return to.assign(forms.cast, target.type, operands[0], dtype=dtypes[-1], source=dtypes[-1])
    return narrowed(to, name, target.type, operands, dtypes[-1])


def promoted(to: Expander, name: str, operands: tuple, dtypes: tuple[np.dtype, ...]) -> tuple:
    """The operands in the dtypes that NumPy computes in; Numba itself promotes an int beside a double."""
    types = [type_of(operand) for operand in operands]
    double = np.dtype(float)
    if name in PROMOTING and any(of.dtype == double for of in types) and set(dtypes[:2]) == {double}:
        return tuple(o if of.dtype == np.int64 else cast(to, o, double) for o, of in zip(operands, types))
    return tuple(cast(to, operand, dtype) for operand, dtype in zip(operands, dtypes))


def narrowed(to: Expander, name: str, of: ArrayType, operands: tuple, dtype: np.dtype) -> Operand:
    """The operation, its result in the dtype it has in NumPy."""
    narrow = dtype.kind in "iu" and dtype.itemsize < 8 or dtype == np.uint64 or dtype.char == "e"
    narrow = narrow or (dtype.char == "f" and name in WIDENED)
    if not narrow:
        return to.assign(name, of, *operands)
    wide = to.assign(name, ArrayType(np.dtype(np.int64 if dtype.kind in "iu" else np.float64)), *operands)
    return to.assign(forms.cast, of, wide, dtype=dtype, source=wide.type.dtype)


def converted(to: Expander, operand: Operand, of: ArrayType) -> Operand:
    source = type_of(operand).dtype
    if not isinstance(operand, Variable):
        operand, source = cast(to, operand, of.dtype), of.dtype
    if of.weak and of.dtype.kind == "i" and source.kind == "f":
        for name, number in (("equal", math.nan), ("isfinite", math.inf)):
            known = to.assign(name, BOOL, *(operand,) * (2 if name == "equal" else 1))
            check(to, known, *refusal(int, number))
    return to.assign(forms.cast, of, operand, dtype=of.dtype, source=source)


def elementary(to: Expander, statement: Assign, dtypes: tuple[np.dtype, ...]) -> Operand | None:
    """The vectorised form of a function, in an innermost loop whose rounds do not wait for each other there.

    One number at a time the C library's is faster: it does not compute what this number does not need.
    """
    name, dtype, waiting = statement.primitive.name, dtypes[-1], to.waiting
    if name not in VECTORISED or dtype.char not in "fd" or waiting is None:
        return None
    if to.serial and name in FASTER_ALONE:
        return None
    if any(isinstance(o, Variable) and o in waiting for o in statement.operands):
        return None
    called = VECTORISED[name] + ("f" if dtype.char == "f" else "")
    operands = (cast(to, operand, dtype) for operand in statement.operands)
    return to.assign(forms.elementary(called), statement.targets[0].type, *operands)


@functools.cache
def in_support(name: str) -> bool:
    """Whether support.py has a function of this name; it imports Numba, which takes its time."""
    from . import support

    return hasattr(support, name)


def from_support(to: Expander, statement: Assign) -> Operand | None:
    """A call of a function of support.py, which computes in double precision."""
    name, target = statement.primitive.name, statement.targets[0]
    if any(type_of(o).dtype.kind == "c" for o in statement.operands):
        return None
    integers = target.type.dtype.kind in "iu"
    operands = [o if integers else cast(to, o, float) for o in statement.operands]
    wide = np.dtype(np.int64 if integers else float)
    value = to.assign(forms.helper(name), ArrayType(wide), *operands)
    return to.assign(forms.cast, target.type, value, dtype=target.type.dtype, source=wide)


def nonzero(to: Expander, divisor: Operand) -> bool:
    """Whether a divisor cannot be zero: a constant, or a size of an argument that is at least 2."""
    if isinstance(divisor, Variable):
        return divisor in getattr(to, "sizes", ())
    return divisor != 0


def python_operation(to: Expander, statement: Assign, types: list[ArrayType]) -> Operand | None:
    """An operation on Python scalars, with Python's errors."""
    name, target, operands = statement.primitive.name, statement.targets[0], statement.operands
    may_be_refused = target.type.dtype.kind == "f" if name == "power" else not nonzero(to, operands[-1])
    if may_be_refused:
        check_python(to, name, operands, types)
    truth = all(of.dtype.kind == "b" for of in types)
    if name in TRUTH:
        operands = tuple(cast(to, operand, bool) for operand in operands)
        return to.assign("not_equal" if name == "logical_xor" else name, target.type, *operands)
    if truth and target.type.dtype.kind == "b" and name in LOGIC:
        return to.assign(LOGIC[name] if name != "bitwise_xor" else "not_equal", target.type, *operands)
    if name not in COMPARISONS:
        operands = tuple(cast(to, o, int) if type_of(o).dtype.kind == "b" else o for o in operands)
    if name == "positive":
        dtype = target.type.dtype
        return to.assign(forms.cast, target.type, cast(to, operands[0], dtype), dtype=dtype, source=dtype)
    if name == "power":
        dtype = target.type.dtype
        return power(to, statement, (dtype, dtype, dtype))
    vectorised = elementary(to, statement, (target.type.dtype,))
    return to.assign(name, target.type, *operands) if vectorised is None else vectorised


def check_python(to: Expander, name: str, operands: tuple, types: list[ArrayType]) -> None:
    """Checks for what Python refuses to compute."""
    emit = lambda called, *of: to.assign(called, FLOAT if called == "floor" else BOOL, *of)
    for why, wrong in python_arithmetic.refused(emit, name, operands):
        check(to, emit("logical_not", wrong), *REFUSALS[why](name, types))


def refused_division(name: str, types: list[ArrayType]) -> tuple[str, str]:
    """What this Python says when it divides numbers of these types by zero."""
    kinds = {of.dtype.kind for of in types}
    kind = complex if "c" in kinds else float if "f" in kinds else int
    return refusal(DIVISIONS[name], kind(1), kind(0))


def refusal(function: Callable, *arguments: Any) -> tuple[str, str]:
    """The exception that a call ends in: its class and its text."""
    try:
        function(*arguments)
    except (ArithmeticError, ValueError) as error:
        return type(error).__name__, str(error)
    raise AssertionError(f"{function} accepts {arguments}")


IMAGINARY = "a negative number to a fractional power is complex: make one of them complex"
REFUSALS: dict[str, Callable[[str, list[ArrayType]], tuple[str, str]]] = {
    python_arithmetic.DIVISION: refused_division,
    python_arithmetic.NEGATIVE_POWER: lambda name, types: refusal(operator.pow, 0.0, -1.0),
    python_arithmetic.FRACTIONAL_POWER: lambda name, types: ("ValueError", IMAGINARY),
}


def power(to: Expander, statement: Assign, dtypes: tuple[np.dtype, ...]) -> Operand:
    """A power: a small integer exponent that is known stays one, so that products are multiplied out."""
    (base, exponent), of = statement.operands, statement.targets[0].type
    dtype = dtypes[-1]
    base = cast(to, base, dtypes[0])
    known = not isinstance(exponent, Variable) and complex(exponent).imag == 0
    if known and float(complex(exponent).real).is_integer() and abs(exponent) <= SMALL:
        exponent = int(complex(exponent).real)
        if dtype.kind == "f" and exponent < 0:
            # Numba's own, of a negative exponent, refuses zero.
            whole = base if exponent == -1 else narrowed(to, "power", of, (base, -exponent), dtype)
            return to.assign("divide", of, cast(to, 1, dtype), whole)
        if dtype.kind in "fc":
            return narrowed(to, "power", of, (base, exponent), dtype)
        if exponent >= 0:
            return narrowed(to, "power", of, (base, exponent), dtype)
    if dtype.kind in "iu":
        exponent = cast(to, exponent, np.int64)
        value = to.assign(
            forms.helper("integer_power"), ArrayType(np.dtype(np.int64)), cast(to, base, np.int64), exponent
        )
        return to.assign(forms.cast, of, value, dtype=dtype, source=np.dtype(np.int64))
    if dtype.kind == "b":
        return to.assign("greater_equal", of, base, cast(to, exponent, bool))
    vectorised = elementary(to, statement, dtypes)
    if vectorised is not None:
        return vectorised
    return narrowed(to, "power", of, (base, cast(to, exponent, dtypes[1])), dtype)


def check(to: Expander, test: Variable, exception: str, message: str, *values: Operand) -> None:
    """A check at run time; with values the message is a template, for which see failures.py."""
    primitive = failures.check if values else PRIMITIVES["check"]
    static = {"exception": exception, "message": message}
    to.builder.append(Assign((), primitive, (test, *values), static, to.builder.location))
