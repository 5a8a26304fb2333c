"""Weaken: a NumPy scalar becomes a Python number where only arrays of its own dtype see it.

    ratio = np.float64(-1.0) / n; ratio * x  ->  ratio = -1.0 / n; ratio * x

A Python float divided by zero is an error, where NumPy gives inf: only what cannot fail is rewritten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .build import fold, value_key
from .core import ArrayType, Assign, Operand, Variable, type_of
from .identities import Call, is_number
from .registry import PRIMITIVES

if TYPE_CHECKING:
    from .algebra import Rewriter

PYTHON = {np.dtype(np.float64): float, np.dtype(np.complex128): complex}
SAFE = {"add", "subtract", "multiply", "negative", "positive"}


def weaker(r: Rewriter, of: ArrayType, *operands: Operand, **static) -> Call | None:
    """The operation with a Python number for one of its operands, if its type stays as it is."""
    if not r.primitive.elementwise or of.weak or r.primitive.name == "astype":
        return None
    if r.primitive.name == "multiply" and not of.shape:
        for one, other in (operands, operands[::-1]):
            if is_number(one, 1) and not isinstance(one, Variable) and type_of(other).weak:
                return Call(PRIMITIVES["astype"], (other,), {"dtype": of.dtype})
    for place, operand in enumerate(operands):
        if not strong(operand):
            continue
        others = [type_of(o) for k, o in enumerate(operands) if k != place]
        if not any(o.dtype == operand.type.dtype and not o.weak for o in others):
            continue
        number = weak_form(r, operand)
        if number is not None:
            return Call(r.primitive, (*operands[:place], number, *operands[place + 1 :]), static)
    return None


def strong(operand: Operand) -> bool:
    """Whether an operand is a NumPy scalar, known only at run time, of a dtype that Python has too."""
    if not isinstance(operand, Variable) or not isinstance(operand.type, ArrayType) or operand.type.weak:
        return False
    return not operand.type.shape and operand.type.dtype in PYTHON


def weak_form(r: Rewriter, operand: Operand) -> Operand | None:
    """A Python number, known or not, that is equal to a NumPy scalar."""
    of = type_of(operand)
    if not isinstance(of, ArrayType) or of.shape:
        return None
    if of.weak:
        return operand if of.dtype.kind in "ifc" else None
    if not isinstance(operand, Variable):
        return operand.item() if of.dtype in PYTHON else None
    made = r.definition(operand)
    if made is None or of.dtype not in PYTHON:
        return None
    name, operands = made.primitive.name, made.operands
    if name == "astype":
        source = operands[0]
        same = type_of(source).weak and type_of(source).dtype == of.dtype
        return source if same else None
    if name not in SAFE and not (name == "divide" and never_zero(r, operands[1])):
        return None
    forms = [weak_form(r, o) for o in operands]
    if None in forms or made.static:
        return None
    return emitted(r, made, tuple(forms), operand.name)


def emitted(r: Rewriter, made: Assign, operands: tuple, name: str | None) -> Operand | None:
    """What a statement would compute of Python numbers, written before the statement in hand."""
    if not any(isinstance(o, Variable) for o in operands):
        return fold(made.primitive, operands, {})
    key = value_key(made.primitive, operands, {})
    known = r.known(key)
    if known is not None:
        return known[0]
    number = Variable(name, made.primitive.type_rule(r.builder, *operands))
    statement = Assign((number,), made.primitive, operands, {}, made.location)
    r.builder.append(statement)
    r.builder.definitions[number] = statement
    r.builder.scopes[-1].known[key] = number
    r.scopes[-1].add(number)
    r.uses[number] += 1
    return number


def never_zero(r: Rewriter, operand: Operand) -> bool:
    """Whether a number is known not to be zero."""
    if not isinstance(operand, Variable):
        return operand != 0
    bound = r.builder.lower_bound(operand)
    return bound is not None and bound > 0
