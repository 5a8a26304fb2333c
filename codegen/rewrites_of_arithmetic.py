"""Rewrites of arithmetic: signs and factors meet and cancel, arrays of one number are that number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .build import fold
from .core import ArrayType, Operand, Variable, type_of
from .identities import Call, filling_of, is_number
from .linear import difference
from .registry import PRIMITIVES, array_scalar
from .rewrites import rewrite

if TYPE_CHECKING:
    from .algebra import Rewriter


@rewrite("add", "subtract")
def offsets(r: Rewriter, of: ArrayType, a: Operand, b: Operand, **static: Any):
    """(n + 1) - 1 -> n, for Python integers."""
    if not (of.weak and of.dtype.kind == "i"):
        return None
    sign = 1 if r.primitive.name == "add" else -1
    (one, first), (other, second) = r.ranges.offset(a), r.ranges.offset(b)
    offset = first + sign * second
    if other is None:
        base = one
    elif one is None and sign > 0:
        base = other
    elif one is other and sign < 0:
        return offset
    else:
        return None
    if offset == 0 or base is None:
        return offset if base is None else base
    return Call(PRIMITIVES["add" if offset > 0 else "subtract"], (base, abs(offset)), {})


@rewrite("subtract")
def rest(r: Rewriter, of: ArrayType, a: Operand, b: Operand, **static: Any):
    """(i + n) - i -> n, for Python integers."""
    if not (of.weak and of.dtype.kind == "i" and isinstance(a, Variable) and isinstance(b, Variable)):
        return None
    terms, constant = difference(r.builder, a, b)
    return next(iter(terms)) if constant == 0 and list(terms.values()) == [1] else None


@rewrite("minimum", "maximum")
def known_order(r: Rewriter, of: ArrayType, a: Operand, b: Operand, **static: Any):
    """min(i, n) -> i, for Python integers, where i <= n is known"""
    if not (of.weak and of.dtype.kind == "i") or not all(isinstance(o, (int, Variable)) for o in (a, b)):
        return None
    small, large = (a, b) if r.primitive.name == "minimum" else (b, a)
    if r.ranges.at_most(small, large):
        return a
    return b if r.ranges.at_most(large, small) else None


def drop_broadcast(r: Rewriter, of: ArrayType, *operands: Operand, **static: Any):
    """np.broadcast_to(a, b.shape) * b -> a * b; likewise arrays of one number, and scalars reshaped."""
    if not r.primitive.elementwise:
        return None
    if of.shape and (number := number_throughout(r, *operands, **static)) is not None:
        return Call(PRIMITIVES["broadcast_to"], (number, of.shape), {})
    for place, operand in enumerate(operands):
        source = narrower(r, operand)
        if source is None or type_of(source).weak or type_of(source).dtype != operand.type.dtype:
            continue
        others = [type_of(other).shape for k, other in enumerate(operands) if k != place]
        if spanned(r, of.shape, [type_of(source).shape, *others]):
            return Call(r.primitive, (*operands[:place], source, *operands[place + 1 :]), static)
    return None


def spanned(r: Rewriter, whole: tuple, shapes: list[tuple]) -> bool:
    """Whether shapes that broadcast with each other do so to the whole one."""
    return all(
        any(len(shape) >= back and r.builder.same(shape[-back], whole[-back]) for shape in shapes)
        for back in range(1, len(whole) + 1)
    )


def number_throughout(r: Rewriter, *operands: Operand, **static: Any) -> Operand | None:
    """The number that an operation on arrays of one number each, and on numbers, has everywhere."""
    numbers = tuple(
        operand if array_scalar(operand) else filling_of(r.definition(operand)) for operand in operands
    )
    if not all(map(array_scalar, numbers)):
        return None
    typed = (
        type_of(operand).dtype.type(number) if isinstance(operand, Variable) else number
        for operand, number in zip(operands, numbers, strict=True)
    )
    return fold(r.primitive, tuple(typed), static)


def narrower(r: Rewriter, operand: Operand) -> Operand | None:
    """What an array is a broadcast of."""
    if not isinstance(operand, Variable) or not operand.type.shape:
        return None
    made = r.definition(operand)
    filling = filling_of(made)
    if filling is not None:
        return operand.type.dtype.type(filling)
    if r.made_by(operand, "broadcast_to"):
        return made.operands[0]
    if r.made_by(operand, "full"):
        return made.operands[1]
    if r.made_by(operand, "reshape", "getitem") and not type_of(made.operands[0]).shape:
        return made.operands[0]
    return None


@rewrite("multiply", "divide")
def negation_out(r: Rewriter, of: ArrayType, *operands: Operand, **static: Any):
    """-x * y -> -(x * y), where it meets another negation or is printed as it was."""
    if of.dtype.kind not in "if" or static:
        return None
    for place, operand in enumerate(operands):
        made = r.made_by(operand, "negative")
        if made is None or r.uses[operand] > 1 or not r.same_type(operand.type, of):
            continue
        inner = r.builder.emit(r.primitive, *operands[:place], made.operands[0], *operands[place + 1 :])
        return Call(PRIMITIVES["negative"], (inner,), {})
    return None


@rewrite("multiply")
def factor_of_factor(r: Rewriter, of: ArrayType, *operands: Operand, **static: Any):
    """100 * (2 * x) -> 200 * x, where one factor is a power of two, so that nothing is rounded otherwise."""
    outer, x = factor(operands)
    made = r.made_by(x, "multiply", "negative") if outer is not None else None
    if made is None or r.uses[x] > 1 or of.dtype.kind != "f" or not r.same_type(x.type, of):
        return None
    inner, rest = (-1, made.operands[0]) if made.primitive.name == "negative" else factor(made.operands)
    if inner is None or not (power_of_two(inner) or power_of_two(outer)):
        return None
    return Call(r.primitive, (outer * inner, rest), {})


def factor(operands: tuple) -> tuple[Any, Operand]:
    """A product as a constant, or None, and the other factor."""
    for constant, rest in (operands, operands[::-1]):
        if type(constant) in (int, float) and isinstance(rest, Variable):
            return constant, rest
    return None, operands[0]


def power_of_two(number: float) -> bool:
    return abs(math.frexp(number)[0]) == 0.5


@rewrite("multiply")
def factor_of_quotient(r: Rewriter, of: ArrayType, *operands: Operand, **static: Any):
    """1 / n * (2 * x) -> 2 / n * x"""
    for quotient, product in (operands, operands[::-1]):
        made, inner = r.made_by(quotient, "divide"), r.made_by(product, "multiply")
        if made is None or inner is None or r.uses[quotient] > 1 or r.uses[product] > 1:
            continue
        constant, x = factor(inner.operands)
        if constant is None or not power_of_two(constant) or not r.same_type(x.type, of):
            continue
        if type(made.operands[0]) is float and not type_of(quotient).shape and of.dtype.kind == "f":
            scaled = r.builder.emit(made.primitive, made.operands[0] * constant, made.operands[1])
            return Call(r.primitive, (scaled, x), {})
    return None


@rewrite("power")
def no_power(r: Rewriter, of: ArrayType, x: Operand, exponent: Operand, **static: Any):
    """x ** 0 -> 1"""
    if not is_number(exponent, 0) or of.weak:
        return None
    return (
        Call(PRIMITIVES["broadcast_to"], (of.dtype.type(1), of.shape), {}) if of.shape else of.dtype.type(1)
    )


@rewrite("add")
def sum_of_negated(r: Rewriter, of: ArrayType, *operands: Operand, **static: Any):
    """x + np.sum(-y) -> x - np.sum(y)"""
    for x, total in (operands, operands[::-1]):
        made = r.made_by(total, "sum")
        negated = r.made_by(made.operands[0], "negative") if made is not None else None
        if negated is not None and r.uses[total] == r.uses[made.operands[0]] == 1 and of.dtype.kind in "fc":
            positive = r.builder.emit(made.primitive, negated.operands[0], **made.static)
            return Call(PRIMITIVES["subtract"], (x, positive), {})
    return None


def plain_number(r: Rewriter, of: ArrayType, *operands: Operand, **static: Any):
    """x * np.float32(2.0) -> x * 2.0, where x has that dtype."""
    if len(operands) != 2 or not r.primitive.elementwise:
        return None
    for place, operand in enumerate(operands):
        other = operands[1 - place]
        if isinstance(operand, np.generic) and operand.dtype.kind in "iufc" and isinstance(other, Variable):
            number = operand.item()
            alike = other.type.dtype == operand.dtype and not other.type.weak
            if alike and isinstance(number, (int, float, complex)):
                return Call(r.primitive, (*operands[:place], number, *operands[place + 1 :]), static)
    return None
