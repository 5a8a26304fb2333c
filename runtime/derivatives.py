"""grad, value_and_grad, jvp, hvp and linearize: what they emit where they are called."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..autodiff import forward, reverse
from ..codegen.core import ArrayType, type_of
from ..codegen.errors import NotDifferentiableError, TypeMismatchError
from ..codegen.specialise import put_together
from ..codegen.specialise.values import Text
from ..codegen.visible import silent_program
from .opened import Opened, check_like, normalise_argnums, one_of, paired, several, shown, zero_of
from .transformation import Transformation


class Gradient(Transformation):
    """grad and value_and_grad."""

    fresh_results = True

    def __init__(self, function: Any, argnums: Any = 0, has_aux: bool = False, value: bool = False):
        super().__init__(function)
        self.argnums = argnums
        self.has_aux = has_aux
        self.value = value
        self.what = "value_and_grad" if value else "grad"

    def expand(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        name = self.program_name()
        positions = normalise_argnums(self.argnums, len(arguments), name)
        opened = Opened(s, self.function, arguments, keywords, positions, self.what, node, name, self.has_aux)
        require_scalar(s, opened, node)
        derived = reverse(opened.program, opened.active())
        results = opened.splice(derived, one_of(type_of(opened.outputs[0])), *opened.unused_seeds())
        value, aux = opened.answer(results)
        gradients = opened.unpack(positions, results[opened.count :])
        answer = gradients if several(self.argnums) else gradients[0]
        if self.value:
            return ((value, aux), answer) if self.has_aux else (value, answer)
        return (answer, aux) if self.has_aux else answer


def require_scalar(s: Any, opened: Opened, node: Any) -> None:
    """Refuse a result that has no gradient."""
    if len(opened.results) != 1 or not s.number(opened.value):
        count = len(opened.results)
        held = f"with {count} arrays or numbers in it" if count else "with no number in it"
        text = isinstance(opened.value, Text | str)
        kind = "string" if text else f"{type(opened.value).__name__} {held}"
        raise NotDifferentiableError(
            f"{opened.what} needs a scalar output, and this one is a {kind}",
            "return the loss alone, or use has_aux=True, jacrev or vjp",
            opened.where_it_returns(),
        )
    of = s.type(opened.value)
    if of.shape:
        raise NotDifferentiableError(
            f"{opened.what} needs a scalar output, and this one has shape {shown(of.shape)}",
            "sum it, or use jacrev or vjp",
            opened.where_it_returns(),
        )
    if of.dtype.kind != "f":
        hint = "use jvp or vjp, or return its real part" if of.dtype.kind == "c" else "return a float"
        raise NotDifferentiableError(
            f"{opened.what} needs a real floating-point output, and this one has dtype {of.dtype}",
            hint,
            opened.where_it_returns(),
        )


def check_pair(primals: Any, tangents: Any, what: str, location: Any) -> None:
    """Refuse primals and tangents that are not two tuples of one length."""
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TypeMismatchError(
            f"{what} takes its primals and tangents as tuples",
            f"write {what.split()[0]}(f, (x,), (v,))",
            location,
        )
    if len(primals) != len(tangents):
        raise TypeMismatchError(
            f"{what} was given {len(primals)} primals and {len(tangents)} tangents",
            "give one tangent for each primal",
            location,
        )


class Pushforward(Transformation):
    """jvp, as a function of (primals, tangents)."""

    fresh_results = True
    what = "jvp"

    def __init__(self, function: Any, has_aux: bool = False):
        super().__init__(function)
        self.has_aux = has_aux

    def expand(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        primals, tangents = arguments
        check_pair(primals, tangents, f"{self.what} of {self.program_name()}", s.location(node))
        positions = tuple(range(len(primals)))
        opened = Opened(
            s,
            self.function,
            list(primals),
            keywords,
            positions,
            self.what,
            node,
            self.program_name(),
            self.has_aux,
            integers=True,
        )
        results = opened.splice(
            forward(opened.program, opened.active()), *seeds_of(s, opened, tangents, node)
        )
        value, aux = opened.answer(results)
        dots = tangents_out(s, opened, results)
        return (value, dots, aux) if self.has_aux else (value, dots)


def seeds_of(s: Any, opened: Opened, tangents: Any, node: Any) -> list[Any]:
    """The operands that are the tangents of the parameters of an opened program."""
    given = [
        leaf
        for p, template in opened.templates.items()
        for leaf in paired(template, tangents[p], "tangent", opened.what, s.location(node))
    ]
    checked = check_like(s, [s.operand(leaf) for leaf in opened.leaves], given, "tangent", opened.what, node)
    return checked


def tangents_out(s: Any, opened: Opened, results: list[Any]) -> Any:
    """The tangent of the function's value, from a spliced program's results: zeros for integers."""
    dots = iter(results[opened.count :])
    kinds = [type_of(s.operand(result)) for result in results[: len(opened.outputs)]]
    return put_together(opened.template, [next(dots) if of.inexact else integer_zero(s, of) for of in kinds])


def integer_zero(s: Any, of: Any) -> Any:
    """The tangent of an integer or bool: zero."""
    return s.wrap(zero_of(s, ArrayType(np.dtype(float), of.shape)))


class HessianVector(Transformation):
    """hvp, as a function of (primals, tangents)."""

    fresh_results = True

    def expand(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        primals, tangents = arguments
        check_pair(primals, tangents, f"hvp of {self.program_name()}", s.location(node))
        argnums = 0 if len(primals) == 1 else tuple(range(len(primals)))
        pushed = Pushforward(Gradient(self.function, argnums))
        return pushed.expand(s, [primals, tangents], keywords, node)[1]


def only_inside(made: Any, *arguments: Any) -> Any:
    raise TypeError("what vjp or linearize gave inside a program cannot be called after it has run")


class LinearMap:
    """What linearize gives inside a function being specialised: from tangents to the result's tangent."""

    def __init__(self, opened: Opened):
        self.opened = opened
        self.derived = forward(silent_program(opened.program), opened.active())

    __call__ = only_inside

    def __specialise__(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        opened = self.opened
        check_tangent_count(opened, arguments, s.location(node))
        results = opened.splice(self.derived, *seeds_of(s, opened, arguments, node))
        return tangents_out(s, opened, results)


def check_tangent_count(opened: Opened, tangents: list, location: Any) -> None:
    if len(tangents) != len(opened.templates):
        raise TypeMismatchError(
            f"{opened.what} was given {len(tangents)} tangents for {len(opened.templates)} primals",
            "give one tangent for each primal",
            location,
        )


class Linearized(Transformation):
    """linearize inside a function being specialised, as a function of the primals."""

    def __init__(self, function: Any, has_aux: bool = False):
        super().__init__(function)
        self.has_aux = has_aux

    def expand(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        opened = Opened(
            s,
            self.function,
            arguments,
            keywords,
            tuple(range(len(arguments))),
            "linearize",
            node,
            self.program_name(),
            self.has_aux,
        )
        value, aux = opened.answer(opened.splice(opened.program))
        return (value, LinearMap(opened), aux) if self.has_aux else (value, LinearMap(opened))
