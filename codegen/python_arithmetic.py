"""Where Python refuses to compute with its own numbers, and NumPy does not.

>>> from .build import Builder
>>> from .core import FLOAT
>>> from .registry import PRIMITIVES
>>> builder, x = Builder(), Variable("x", FLOAT)
>>> emit = lambda name, *operands: builder.emit(PRIMITIVES[name], *operands)
>>> [why for why, _ in refused(emit, "divide", (1.0, x))]
['division by zero']
>>> [why for why, _ in refused(emit, "power", (x, -0.5))]
['zero to a negative power', 'a negative number to a fractional power']
>>> list(refused(emit, "divide", (x, 2.0))), list(refused(emit, "power", (x, 2)))
([], [])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .core import Assign, Operand, Statement, Variable, type_of

DIVISIONS = ("divide", "floor_divide", "remainder")
DIVISION, NEGATIVE_POWER, FRACTIONAL_POWER = (
    "division by zero",
    "zero to a negative power",
    "a negative number to a fractional power",
)


def is_python(statement: Assign) -> bool:
    """Whether an operation is Python's own, on Python's numbers."""
    return all(type_of(operand).weak for operand in statement.operands) and not statement.static.get("weak")


def is_int_of_float(statement: Assign) -> bool:
    """Whether a statement is Python's int of a float: there is none of NaN and of infinity."""
    if statement.primitive.name != "astype":
        return False
    of, source = statement.targets[0].type, type_of(statement.operands[0])
    return of.weak and of.dtype.kind == "i" and source.dtype.kind == "f"


def is_check(statement: Statement) -> bool:
    return isinstance(statement, Assign) and statement.primitive.name == "check"


def may_refuse(statement: Statement) -> bool:
    """Whether a statement is a check, or an operation that Python does not always do."""
    if not isinstance(statement, Assign) or is_check(statement):
        return isinstance(statement, Assign)
    name, operands = statement.primitive.name, statement.operands
    if name == "power" and statement.targets[0].type.dtype.kind != "f":
        return False
    computed = name == "power" or name in DIVISIONS
    return computed and is_python(statement) and any(True for _ in refused(lambda *of: None, name, operands))


def refused(emit: Callable[..., Operand], name: str, operands: tuple) -> Iterator[tuple[str, Operand]]:
    """Why Python may refuse an operation, and whether it does: of floats, where the operation is a power."""
    if name in DIVISIONS and (isinstance(operands[1], Variable) or operands[1] == 0):
        yield DIVISION, emit("equal", operands[1], 0)
    if name != "power":
        return
    base, exponent = operands
    known = not isinstance(exponent, Variable)
    if not known or exponent < 0:
        zero = emit("equal", base, 0)
        yield NEGATIVE_POWER, zero if known else emit("logical_and", zero, emit("less", exponent, 0))
    if type_of(exponent).dtype.kind == "f" and not (known and exponent.is_integer()):
        negative = emit("less", base, 0)
        fractional = known or emit("not_equal", exponent, emit("floor", exponent))
        yield FRACTIONAL_POWER, negative if known else emit("logical_and", negative, fractional)
