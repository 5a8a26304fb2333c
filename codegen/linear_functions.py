"""Arrays as linear functions of others, with constant factors.

>>> from .build import Builder
>>> from .core import FLOAT
>>> from .primitives import elementwise as e
>>> b, x = Builder(), Variable("x", FLOAT.with_shape((3,)))
>>> y = b.emit(e.multiply, x, 0.5)
>>> z = b.emit(e.subtract, b.emit(e.negative, y), x)
>>> fewest_arguments(b, [y, z]), fewest_arguments(b, [y, b.emit(e.negative, y)])
([x], [v...])
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from .build import Builder, value_key
from .core import ArrayType, Assign, Operand, Type, Variable

MOST = 12  # operations in a function


@dataclass(frozen=True)
class LinearFunction:
    """The steps that make an array from its arguments."""

    value: Variable
    arguments: list[Variable]
    steps: list[Assign]

    def of(self, arguments: Mapping[Variable, Operand], apply: Callable[..., Operand]) -> Any:
        """The function of other arguments, by `apply(name, *operands)`."""
        known = dict(arguments)
        for step in self.steps:
            operands = (known[o] if isinstance(o, Variable) else o for o in step.operands)
            known[step.targets[0]] = apply(step.primitive.name, *operands)
        return known[self.value]


def linear_function(
    builder: Builder, value: Variable, arguments: Collection[Variable] | None = None
) -> LinearFunction:
    """An array as a function of `arguments`, and of what cannot be looked into; of that only by default."""
    found: dict[Variable, None] = {}
    steps: list[Assign] = []

    def visit(variable: Variable) -> None:
        made = as_negative(builder, builder.definitions.get(variable))
        if variable in found or any(variable in step.targets for step in steps):
            return
        if (arguments is not None and variable in arguments) or made is None or not is_linear(builder, made):
            found[variable] = None
            return
        for operand in made.operands:
            if isinstance(operand, Variable):
                visit(operand)
        steps.append(made)

    visit(value)
    if len(steps) > MOST:
        return LinearFunction(value, [value], [])
    return LinearFunction(value, list(found), steps)


def fewest_arguments(builder: Builder, values: list[Variable]) -> list[Variable]:
    """Arrays of which all values are linear functions: some of them, or what they are made from."""
    own = list(dict.fromkeys(values))
    for value in list(own):
        others = [other for other in own if other is not value]
        if others and set(linear_function(builder, value, others).arguments) <= set(others):
            own = others
    made = list(dict.fromkeys(v for one in own for v in linear_function(builder, one).arguments))
    return made if len(made) < len(own) else own


def as_negative(builder: Builder, made: Assign | None) -> Assign | None:
    """`where(test, 0, -x)` as the negative of `where(test, 0, x)`, if that has been computed too."""
    if made is None or made.primitive.name != "where":
        return made
    test, zero, other = made.operands
    less = builder.definitions.get(other) if isinstance(other, Variable) else None
    if isinstance(zero, Variable) or np.any(zero != 0) or less is None or less.primitive.name != "negative":
        return made
    key = value_key(made.primitive, (test, zero, *less.operands), made.static)
    known = next((scope.known[key] for scope in reversed(builder.scopes) if key in scope.known), None)
    return Assign(made.targets, less.primitive, (known,)) if known is not None else made


def is_linear(builder: Builder, statement: Assign) -> bool:
    """Whether an operation on arrays of one type is linear with constant factors: it takes zeros to zeros."""
    name, operands = statement.primitive.name, statement.operands
    arrays = [o for o in operands if isinstance(o, Variable)]
    if not arrays or not all(alike(builder, o.type, statement.targets[0].type) for o in arrays):
        return False
    if name in ("negative", "add", "subtract"):
        return len(arrays) == len(operands)
    if name not in ("multiply", "divide") or len(arrays) != 1:
        return False
    (factor,) = (o for o in operands if not isinstance(o, Variable))
    if np.ndim(factor) or not np.isreal(factor) or not isfinite(factor):
        return False
    return name == "multiply" or (operands[0] is arrays[0] and factor != 0)


def alike(builder: Builder, one: Type, other: Type) -> bool:
    """Whether two types are known to be the same."""
    if not isinstance(one, ArrayType) or one.dtype != other.dtype or one.ndim != other.ndim:
        return False
    return all(map(builder.same, one.shape, other.shape))
