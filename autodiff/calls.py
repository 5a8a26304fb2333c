"""Calling derivative rules from the passes, and giving what they return the type it must have."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..codegen.build import Builder
from ..codegen.core import ArrayType, Assign, Operand, StackType, Type, Variable, type_of
from ..codegen.errors import NotDifferentiableError
from ..codegen.registry import PRIMITIVES, Primitive


def emit(builder: Builder, name: str, *operands: Operand, **static: Any) -> Any:
    """Emit a primitive by name."""
    return builder.emit(PRIMITIVES[name], *operands, **static)


def call_rule(builder: Builder, rule: Callable, statement: Assign, given: Operand) -> Any:
    """The result of a rule for `statement`, given its tangent or cotangent."""
    from ..codegen.specialise import inline

    targets = statement.targets
    out = targets if len(targets) > 1 else targets[0]
    static = accepted(rule, statement)
    infinite = not refuses(statement)
    return inline(builder, rule, (given, out, *statement.operands), static, infinite)


def refuses(statement: Assign) -> bool:
    """Whether Python refuses an operation where its derivative would divide by zero."""
    name, right = statement.primitive.name, statement.operands[-1] if statement.operands else None
    divides = name in ("divide", "floor_divide", "remainder")
    return divides or name == "power" and isinstance(right, (int, float)) and right < 0


def accepted(rule: Callable, statement: Assign) -> dict[str, Any]:
    """The keywords of a statement that its rule takes; one that it cannot do without is refused."""
    parameters = inspect.signature(rule).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return {k: v for k, v in statement.static.items() if k != "weak"}
    taken = {}
    for keyword, value in statement.static.items():
        if keyword in parameters:
            taken[keyword] = value
        elif keyword not in ("weak", "dtype") and value is not None:
            raise NotDifferentiableError(
                f"the derivative of {statement.primitive.name} is not known with {keyword}={value!r}",
                f"leave {keyword} out, or write the function with others", statement.location)
    return taken


def find_rule(rules: dict[Any, Callable], statement: Assign, operand: int) -> Callable:
    """The rule for one operand; `...` stands for every operand."""
    rule = rules.get(operand, rules.get(...))
    if rule is None:
        refuse(statement.primitive, operand, statement)
    return rule


def refuse(primitive: Primitive, operand: int, statement: Assign) -> None:
    known = primitive.jvp or primitive.vjp
    where = f" with respect to operand {operand}" if known else ""
    raise NotDifferentiableError(
        f"{primitive.name} has no derivative rule{where}",
        "register a rule for it, keep it away from what is differentiated with stop_gradient, or write it "
        "with functions that have one", statement.location)



def pop(builder: Builder, stack: Operand, like: Operand) -> tuple[Variable, Variable]:
    """Pop the tangent or cotangent of `like`, whose sizes it has."""
    left, top = emit(builder, "pop", stack)
    top.type = tangent_type(type_of(like))
    return left, top


def scalar_zero(of: ArrayType) -> Any:
    """Zero as a constant of a scalar type."""
    zero = of.dtype.type(0)
    return zero.item() if of.weak else zero


def zeros(builder: Builder, of: Type) -> Operand:
    """A zero tangent or cotangent for a value of this type: of a stack, one that holds nothing."""
    if isinstance(of, StackType):
        return emit(builder, "stack", element=tangent_type(of.element))
    if not of.shape:
        return scalar_zero(of)
    return emit(builder, "zeros", of.shape, dtype=of.dtype)


def tangent_type(of: Type) -> Type:
    """The type of a tangent or cotangent that a loop carries: as the value's, but for Python scalars."""
    if isinstance(of, StackType):
        return StackType(tangent_type(of.element))
    return ArrayType(of.dtype, of.shape)


def conform(builder: Builder, value: Operand, of: Type) -> Operand:
    """A tangent or cotangent given the dtype of its value and, where it is smaller, its shape."""
    if isinstance(of, StackType):
        return value
    have = type_of(value)
    if have.dtype != of.dtype:
        if have.dtype.kind == "c" and of.dtype.kind != "c":
            value = emit(builder, "real", value)
            have = type_of(value)
        if have.dtype != of.dtype:
            value = cast(builder, value, of.dtype)
    if len(type_of(value).shape) < of.ndim or any(
            builder.same(a, 1) and not builder.same(b, 1) for a, b in zip(type_of(value).shape, of.shape)):
        value = emit(builder, "broadcast_to", value, of.shape)
    return value


def cast(builder: Builder, value: Operand, dtype: np.dtype) -> Operand:
    if not isinstance(value, Variable) and not type_of(value).shape:
        return np.dtype(dtype).type(value)
    return emit(builder, "astype", value, dtype=dtype)


def repeated(builder: Builder, cotangent: Operand, shape: tuple) -> tuple[int, ...]:
    """The axes of a cotangent along which an operand of this shape was repeated."""
    have = type_of(cotangent).shape
    extra = len(have) - len(shape)
    if extra < 0:
        return ()
    ones = [extra + axis for axis, size in enumerate(shape)
            if builder.same(size, 1) and not builder.same(have[extra + axis], 1)]
    return (*range(extra), *ones)


def unbroadcast(builder: Builder, cotangent: Operand, shape: tuple) -> Operand:
    """Sum a cotangent over the axes along which an operand of this shape was repeated."""
    axes = repeated(builder, cotangent, shape)
    if not axes:
        return cotangent
    made = builder.definitions.get(cotangent)
    if made is not None and made.primitive.name == "negative":
        return emit(builder, "negative", unbroadcast(builder, made.operands[0], shape))
    extra = len(type_of(cotangent).shape) - len(shape)
    total = emit(builder, "sum", cotangent, axis=axes, keepdims=not extra)
    if extra and len(axes) > extra:
        total = emit(builder, "reshape", total, shape)
    return total


def name_after(value: Operand, variable: Variable, suffix: str) -> Operand:
    """Name a fresh value after the variable whose tangent or cotangent it is."""
    if isinstance(value, Variable) and value.name is None and variable.name:
        value.name = variable.name + suffix
    return value
