"""The one registry: what each primitive is, and which NumPy function is which primitive or composition.

A primitive has a name, a type rule and a NumPy implementation; its derivative rules, batching rule and
lowerings are registered onto it from the folder they belong to. A composition is a Python function
that the specialiser reads in place of a library function.

>>> from . import primitives
>>> lookup(np.tanh).name
'tanh'
"""
from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .core import Type
from .late import LateFunction


@dataclass(eq=False, slots=True)
class Primitive:
    """One operation of the core language.

    `implementation` computes it with NumPy; called as `implementation(*operands, **static)`.
    `type_rule(builder, *operands, **static)` gives the type of the result (a tuple of types for several).
    `printed` is how it reads in NumPy source: an operator ("+", "-x"), a dotted name ("np.tanh"), or a
    function from printed operands to a syntax tree (see printing.py).
    `elementwise`: broadcasts its operands and treats each element alike.
    `view`: the result may share memory with the first operand, as in NumPy.
    `destructive`: writes into its first operand (and first result) where that operand is dead.
    `allocates`: makes a fresh array from sizes alone, never shared, so that each may be written in place.
    `effect`: must stay, and stay in order, even when no result is used (print, checks).
    """

    name: str
    implementation: Callable
    type_rule: Callable[..., Type | tuple[Type, ...]]
    printed: Any = None
    elementwise: bool = False
    view: bool = False
    destructive: bool = False
    allocates: bool = False
    effect: bool = False
    jvp: dict[int, Callable] = field(default_factory=dict)
    vjp: dict[int, Callable] = field(default_factory=dict)
    batch: Callable | None = None
    lowerings: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return self.name

    def __call__(self, *operands, **static):
        """Outside the compiler a primitive is its NumPy implementation."""
        return self.implementation(*operands, **static)


class Functions(dict):
    """What library functions mean; those of a library that is imported late are entered when they are met."""

    def __missing__(self, function: Any) -> Primitive | Callable:
        enter_late()
        if function in self:
            return self[function]
        raise KeyError(function)


PRIMITIVES: dict[str, Primitive] = {}
LATE: dict[LateFunction, Primitive | Callable] = {}
FUNCTIONS: dict[Any, Primitive | Callable] = Functions()
METHODS: dict[str, Primitive | Callable] = {}


def primitive(name: str, implementation: Callable, type_rule: Callable, *, functions: tuple = (), **traits):
    """Make a primitive, enter it in the registry, and let each library function in `functions` mean it."""
    made = Primitive(name, implementation, type_rule, **traits)
    PRIMITIVES[name] = made
    for function in functions:
        enter(function, made)
    return made


def enter(function: Any, meaning: Primitive | Callable) -> None:
    """Let a library function mean a primitive or composition, if need be once its library is imported."""
    if isinstance(function, LateFunction):
        LATE[function] = meaning
    else:
        FUNCTIONS[function] = meaning


def enter_late() -> None:
    """Enter the functions of the libraries that were imported since."""
    for function in [late for late in LATE if late.module in sys.modules]:
        meaning = LATE.pop(function, None)  # another thread may do the same
        if meaning is not None:
            FUNCTIONS[function.found()] = meaning


def composition(*functions: Callable, method: str | None = None):
    """Let the decorated function stand for library functions, and for the array method of that name."""

    def register(python):
        for function in functions:
            enter(function, python)
        if method:
            METHODS[method] = python
        return python

    return register


def lookup(function: Any) -> Primitive | Callable | None:
    """The primitive or composition that a library function means, or None."""
    if isinstance(function, Primitive):
        return function
    try:
        return FUNCTIONS[function]
    except (KeyError, TypeError):
        return None


def derivative(target: Primitive, operand: int = 0, *, jvp: Callable | None = None,
               vjp: Callable | None = None):
    """Register the derivative of `target` with respect to one operand, forward and reverse side by side.

    `jvp(tangent, out, *operands, **static)` gives the part of the result's tangent that this operand's
    tangent contributes; `vjp(cotangent, out, *operands, **static)` gives the operand's cotangent. `out` is
    the result (a tuple for several results, as is `cotangent`). Both are plain Python written with NumPy;
    the specialiser reads their source.
    """
    if jvp is not None:
        target.jvp[operand] = jvp
    if vjp is not None:
        target.vjp[operand] = vjp


def zero_derivative(*targets: Primitive) -> None:
    """Each target has a zero derivative in every operand, almost everywhere (sign, floor, comparisons)."""
    for target in targets:
        target.jvp[None] = target.vjp[None] = None


def has_derivative(target: Primitive) -> bool:
    """Whether any derivative is known, zero included."""
    return bool(target.jvp or target.vjp)


def array_scalar(value: Any) -> bool:
    """Whether a constant is a number (Python's or NumPy's) that can stand in a program as it is."""
    return isinstance(value, (bool, int, float, complex, np.generic))
