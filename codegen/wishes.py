"""Names for temporaries that the user never named: short, and of what they hold."""

from __future__ import annotations

from collections.abc import Callable

from .core import INT, ArrayType, Assign, StackType, Variable
from .inlining import Plan

NOUNS = {"add": "total", "subtract": "difference", "multiply": "product", "matmul": "product"}
NOUNS |= {"sum": "total", "prod": "product", "max": "largest", "min": "smallest", "einsum": "product"}
NOUNS |= {"argmax": "position", "argmin": "position", "maximum": "larger", "minimum": "smaller"}
NOUNS |= {"sqrt": "root", "where": "choice", "solve": "solution", "inv": "inverse", "negative": "negated"}
NOUNS |= {"divide": "ratio", "power": "power", "square": "square", "getitem": "part", "concatenate": "joined"}
NOUNS |= {"array": "values"}
NOUNS |= {"constant": "values", "arange": "steps", "nonzero": "at", "astype": "cast", "stack": "saved"}
NOUNS |= {"setitem": "result", "index_add": "result", "matmul_into": "product"}
NOUNS |= {"zeros": "result", "empty": "result", "ones": "ones", "full": "filled", "sort": "ordered"}
NOUNS |= {"argsort": "order", "transpose": "turned", "reshape": "reshaped"}
NOUNS |= {"pop": "value", "count_nonzero": "count"}
NOUNS |= {"floor_divide": "quotient", "remainder": "rest", "broadcast_to": "spread", "copy": "copy"}
NOUNS |= {"less": "mask", "less_equal": "mask", "greater": "mask", "greater_equal": "mask", "equal": "mask"}
NOUNS |= {"not_equal": "mask", "logical_and": "mask", "logical_or": "mask", "logical_not": "mask"}
SIZES = ("n", "m", "k")
LONGEST = 16


def wish_for(members: list[Variable], plan: Plan, name_of: Callable[[Variable], str | None]) -> str:
    """A name for a class of unnamed variables, from the operation that makes the first of them."""
    if isinstance(members[0].type, StackType):
        return "saved"
    made = next((plan.definitions[m] for m in members if m in plan.definitions), None)
    if made is None:
        return "i" if members[0].type == INT else "value"
    return noun(made, members[0], name_of)


def noun(made: Assign, variable: Variable, name_of: Callable[[Variable], str | None]) -> str:
    kind = made.primitive.name
    if kind == "size":
        axis = made.static.get("axis", 0)
        return SIZES[axis] if axis < len(SIZES) else "size"
    scalar = isinstance(variable.type, ArrayType) and not variable.type.shape
    if NOUNS.get(kind) == "mask" and scalar:
        return "test"
    operand = made.operands[0] if made.operands else None
    of = name_of(operand) if isinstance(operand, Variable) and len(made.operands) == 1 else None
    if kind == "transpose" and of:
        return f"{of}_t"
    if kind not in NOUNS and of and len(kind) + len(of) < LONGEST:
        return f"{kind}_{of}"
    return NOUNS.get(kind, kind)
