"""The table of algebraic identities, and how an operation is matched with it.

A line reads `what is found -> what it becomes`, in Python: single letters stand for any operand (`c` for a
condition), `zeros` and `ones` for arrays (and NumPy scalars) made full of them, `nothing` for any zero, calls
for primitives. A line holds where both sides have one type, which algebra.py checks. Every line is exact in
floating point, but for the sign of a zero where zeros are added; `x + 0.0` stays, for it makes 0.0 of -0.0.
"""
from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .build import freeze
from .core import Assign, Operand, StackType, Variable, type_of
from .registry import PRIMITIVES, Primitive

IDENTITIES = """
x * 1 -> x
1 * x -> x
x * ones -> x
ones * x -> x
x / 1 -> x
x / ones -> x
x ** 1 -> x
x - 0 -> x
x - zeros -> x
x + zeros -> x
zeros + x -> x
zeros - x -> -x
-1 * x -> -x
x * -1 -> -x
x / -1 -> -x
+x -> x
-(-x) -> x
x + x -> 2 * x
x + -y -> x - y
-x + y -> y - x
x - -y -> x + y
where(c, x, nothing) + where(c, nothing, y) -> where(c, x, y)
where(c, nothing, x) + where(c, y, nothing) -> where(c, y, x)
-x * -y -> x * y
-x / -y -> x / y
absolute(absolute(x)) -> absolute(x)
absolute(-x) -> absolute(x)
conjugate(conjugate(x)) -> x
real(x) -> x
stop_gradient(x) -> x
where(c, x, x) -> x
where(True, x, y) -> x
where(False, x, y) -> y
maximum(x, x) -> x
minimum(x, x) -> x
logical_not(logical_not(x)) -> x
logical_and(x, x) -> x
logical_or(x, x) -> x
logical_and(x, True) -> x
logical_and(True, x) -> x
logical_or(x, False) -> x
logical_or(False, x) -> x
logical_and(x, False) -> False
logical_and(False, x) -> False
logical_or(x, True) -> True
logical_or(True, x) -> True
copy(copy(x)) -> copy(x)
"""

# These hold for integers only.
INTEGER_IDENTITIES = """
x + 0 -> x
0 + x -> x
x * 0 -> 0
0 * x -> 0
x - x -> 0
x // 1 -> x
x == x -> True
x <= x -> True
x >= x -> True
x != x -> False
x < x -> False
x > x -> False
"""

# These hold for numbers that are not complex.
REAL_IDENTITIES = """
conjugate(x) -> x
"""

OPERATORS = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "power",
    ast.FloorDiv: "floor_divide", ast.USub: "negative", ast.UAdd: "positive",
    ast.Eq: "equal", ast.NotEq: "not_equal", ast.Lt: "less", ast.LtE: "less_equal",
    ast.Gt: "greater", ast.GtE: "greater_equal",
}  # fmt: skip


class Call(NamedTuple):
    """An operation to put in the place of another, with a result of the same type."""

    primitive: Primitive
    operands: tuple[Operand, ...]
    static: dict[str, Any]


class Pattern(NamedTuple):
    """One side of an identity: a primitive's name and the patterns of its operands."""

    name: str
    operands: tuple


class Identity(NamedTuple):
    found: Pattern
    becomes: Any
    kinds: str


def read_pattern(node: ast.expr) -> Any:
    """A pattern, a letter, or a constant."""
    match node:
        case ast.Name():
            return node.id
        case ast.Constant():
            return ast.Constant(node.value)
        case ast.UnaryOp(ast.USub(), ast.Constant()):
            return ast.Constant(-node.operand.value)
        case ast.UnaryOp():
            return Pattern(OPERATORS[type(node.op)], (read_pattern(node.operand),))
        case ast.BinOp():
            return Pattern(OPERATORS[type(node.op)], (read_pattern(node.left), read_pattern(node.right)))
        case ast.Compare():
            sides = node.left, node.comparators[0]
            return Pattern(OPERATORS[type(node.ops[0])], tuple(map(read_pattern, sides)))
        case ast.Call():
            return Pattern(node.func.id, tuple(map(read_pattern, node.args)))
    raise ValueError(ast.unparse(node))


def read_table(text: str, kinds: str) -> Iterator[Identity]:
    for line in text.strip().splitlines():
        sides = (ast.parse(side.strip(), mode="eval").body for side in line.split("->"))
        found, becomes = map(read_pattern, sides)
        yield Identity(found, becomes, kinds)


TABLE: dict[str, list[Identity]] = {}
for row in (*read_table(IDENTITIES, "biufc"), *read_table(INTEGER_IDENTITIES, "iu"),
            *read_table(REAL_IDENTITIES, "biuf")):  # fmt: skip
    TABLE.setdefault(row.found.name, []).append(row)

Definition = Callable[[Operand], Assign | None]


def apply_identities(
    definition: Definition, primitive: Primitive, operands: tuple
) -> Iterator[Operand | Call]:
    """What the operation becomes by each identity that fits, to be had if the types agree."""
    if len(operands) == 0 or any(isinstance(o, Variable) and isinstance(o.type, StackType) for o in operands):
        return
    for identity in TABLE.get(primitive.name, ()):
        bound: dict[str, Operand] = {}
        patterns = identity.found.operands
        if len(operands) != len(patterns):
            continue
        if not all(fits(definition, *pair, bound) for pair in zip(patterns, operands)):
            continue
        kinds = [type_of(operand).dtype.kind for letter, operand in bound.items() if letter != "c"]
        if not all(kind in identity.kinds for kind in kinds):
            continue
        becomes = identity.becomes
        if not isinstance(becomes, Pattern):
            yield becomes.value if isinstance(becomes, ast.Constant) else bound[becomes]
        elif "b" not in kinds:
            yield Call(PRIMITIVES[becomes.name], tuple(meaning(part, bound) for part in becomes.operands), {})


def meaning(part: Any, bound: dict[str, Operand]) -> Operand:
    """What a letter or constant on the right side of an identity is."""
    return part.value if isinstance(part, ast.Constant) else bound[part]


def fits(definition: Definition, pattern: Any, operand: Operand, bound: dict[str, Operand]) -> bool:
    """Whether an operand fits a pattern; `bound` takes what the letters stand for."""
    if isinstance(pattern, Pattern):
        made = definition(operand)
        return (
            made is not None
            and made.primitive.name == pattern.name
            and len(made.operands) == len(pattern.operands)
            and all(fits(definition, p, o, bound) for p, o in zip(pattern.operands, made.operands))
        )
    if isinstance(pattern, ast.Constant):
        return is_number(operand, pattern.value)
    if pattern == "nothing":
        return is_number(operand, 0) or full_of(definition, operand, 0)
    if pattern in ("zeros", "ones"):
        return full_of(definition, operand, int(pattern == "ones"))
    if isinstance(operand, np.ndarray):
        return False
    if pattern in bound:
        return freeze(bound[pattern]) == freeze(operand)
    bound[pattern] = operand
    return True


def is_number(operand: Operand, wanted: Any) -> bool:
    """Whether an operand is this constant, whatever its type; -0.0 is not 0."""
    if not isinstance(operand, (bool, int, float, complex, np.generic)) or operand != wanted:
        return False
    return isinstance(wanted, bool) == isinstance(operand, (bool, np.bool_)) and not (
        wanted == 0 and np.signbit(np.real(operand))
    )


def full_of(definition: Definition, operand: Operand, number: int) -> bool:
    """Whether an operand is an array made full of 0 or 1, or such a NumPy scalar."""
    if not isinstance(operand, Variable):
        return isinstance(operand, np.generic) and is_number(operand, number)
    filling = filling_of(definition(operand))
    return filling is not None and is_number(filling, number)


def filling_of(made: Assign | None) -> Operand | None:
    """The constant that an array is made full of, if it is made so."""
    if made is None:
        return None
    match made.primitive.name:
        case "zeros":
            return 0
        case "ones":
            return 1
        case "full":
            value = made.operands[1]
        case "broadcast_to":
            value = made.operands[0]
        case _:
            return None
    return None if isinstance(value, (Variable, np.ndarray)) else value
