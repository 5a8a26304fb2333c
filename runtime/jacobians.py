"""jacfwd and jacrev: one pass of the derivative program for each column or row, in a loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..autodiff import forward, reverse
from ..codegen.core import type_of
from ..codegen.errors import NotDifferentiableError
from ..codegen.specialise import put_together
from ..codegen.specialise.calls import call
from ..codegen.visible import silent_program
from .opened import Opened, normalise_argnums, several
from .transformation import Transformation


class Jacobian(Transformation):
    """jacfwd and jacrev: the array of all derivatives, of shape output shape + input shape."""

    fresh_results = True

    def __init__(self, function: Any, argnums: Any = 0, has_aux: bool = False, rows: bool = True):
        super().__init__(function)
        self.argnums = argnums
        self.has_aux = has_aux
        self.rows = rows

    def expand(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        what, name = "jacrev" if self.rows else "jacfwd", self.program_name()
        positions = normalise_argnums(self.argnums, len(arguments), name)
        opened = Opened(s, self.function, arguments, keywords, positions, what, node, name, self.has_aux)
        require_inexact(s, opened, node)
        primals = opened.splice(opened.program)
        _, aux = opened.answer(primals)
        outputs, inputs = primals[: len(opened.results)], [s.wrap(operand) for operand in opened.operands]
        sweep = Sweep(opened, reverse if self.rows else forward)
        if self.rows:
            tables = [call(s, rows, [sweep, k, outputs, inputs], {}, node) for k in range(len(outputs))]
        else:
            found = [call(s, columns, [sweep, k, outputs, inputs], {}, node) for k in range(len(inputs))]
            tables = [[column[k] for column in found] for k in range(len(outputs))]
        packed = [opened.unpack(positions, list(table)) for table in tables]
        answer = put_together(opened.template, [p if several(self.argnums) else p[0] for p in packed])
        return (answer, aux) if self.has_aux else answer


class Hessian(Transformation):
    """All second derivatives, forward over reverse."""

    fresh_results = True

    def __init__(self, function: Any, argnums: Any = 0, has_aux: bool = False):
        super().__init__(function)
        gradient = Jacobian(function, argnums, has_aux, rows=True)
        self.twice = Jacobian(gradient, argnums, has_aux, rows=False)

    def expand(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        return self.twice.expand(s, arguments, keywords, node)


def require_inexact(s: Any, opened: Opened, node: Any) -> None:
    """Refuse results that have no derivative."""
    for result in opened.outputs:
        of = type_of(result)
        if of.dtype.kind not in "fc":
            raise NotDifferentiableError(
                f"{opened.what} needs floating-point outputs, and one has dtype {of.dtype}",
                "return a float, or return it beside the value with has_aux=True",
                opened.where_it_returns(),
            )
    if not opened.outputs:
        raise NotDifferentiableError(
            f"{opened.what} needs arrays or numbers to differentiate, and the function "
            f"returns a {type(opened.value).__name__}",
            "return them",
            opened.where_it_returns(),
        )


class Sweep:
    """One run of the derivative program, for cotangents of all results or tangents of all inputs."""

    def __init__(self, opened: Opened, mode: Any):
        self.opened = opened
        self.derived = mode(silent_program(opened.program), opened.active())
        self.more = opened.unused_seeds() if mode is reverse else []

    def __specialise__(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        results = self.opened.splice(self.derived, *map(s.operand, arguments[0]), *self.more)
        return results[self.opened.count :]


def rows(sweep: Any, number: int, outputs: list, inputs: list) -> list:
    """The derivatives of one result with respect to each input, a row for each element of the result."""
    chosen = outputs[number]
    size = np.size(chosen)
    tables = [np.zeros((size, *np.shape(x)), np.asarray(x).dtype) for x in inputs]
    for k in range(size):
        parts = sweep(
            [unit(out, k) if which == number else np.zeros_like(out) for which, out in enumerate(outputs)]
        )
        for table, part in zip(tables, parts, strict=True):
            table[k] = part
    return [
        np.reshape(table, (*np.shape(chosen), *np.shape(x))) for table, x in zip(tables, inputs, strict=True)
    ]


def columns(sweep: Any, number: int, outputs: list, inputs: list) -> list:
    """The derivatives of each result with respect to one input, a column for each element of the input."""
    chosen = inputs[number]
    size = np.size(chosen)
    tables = [np.zeros((*np.shape(out), size), np.asarray(out).dtype) for out in outputs]
    for k in range(size):
        parts = sweep([unit(x, k) if which == number else np.zeros_like(x) for which, x in enumerate(inputs)])
        for table, part in zip(tables, parts[: len(tables)], strict=True):
            table[..., k] = part
    return [
        np.reshape(table, (*np.shape(out), *np.shape(chosen)))
        for table, out in zip(tables, outputs, strict=True)
    ]


def unit(like: Any, k: Any) -> Any:
    """An array like this one, 1 at flat position k and else 0."""
    if np.ndim(like) == 0:
        return np.ones_like(like)
    flat = np.zeros(np.size(like), like.dtype)
    flat[k] = 1
    return np.reshape(flat, np.shape(like))
