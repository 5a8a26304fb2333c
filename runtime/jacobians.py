"""jacfwd and jacrev: the derivative program for every unit vector.

A column is the pushforward of a unit vector, a row the pullback of one. They are made one after the other in
a loop; or all at once, by the derivative program of a batch that is the identity matrix, where products with
vectors become matrix products by that (codegen/batching/together.py says when).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..autodiff import forward, paste, reverse, split
from ..codegen.batching import batch
from ..codegen.batching.rules import moved
from ..codegen.batching.together import better_together
from ..codegen.core import ArrayType, Block, For, Operand, Program, StackType, While, type_of, walk
from ..codegen.errors import NotDifferentiableError
from ..codegen.registry import PRIMITIVES
from ..codegen.simplify import simplify_to_differentiate
from ..codegen.small_operations import FEW
from ..codegen.specialise import put_together
from ..codegen.specialise.calls import call
from ..codegen.visible import silent_program
from .opened import Opened, as_seed, normalise_argnums, one_of, several
from .transformation import Transformation

LONGEST = 400  # statements of runs that are written out one after the other


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
        if self.rows:
            tables = [Pullback(opened, k).table(s, outputs[k], inputs, node) for k in range(len(outputs))]
        else:
            found = [Pushforward(opened, k).table(s, inputs[k], outputs, node) for k in range(len(inputs))]
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
    """The derivative program of one result or by one input, for a unit vector or for all of them."""

    loop: Any
    together: Any

    def __init__(self, opened: Opened, derived: Program, first: int):
        self.opened, self.derived, self.first = opened, derived, first

    def __specialise__(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        (seed,) = map(s.operand, arguments)
        return [s.wrap(found) for found in self.results(paste(s.builder, self.derived, self.operands(seed)))]

    def operands(self, seed: Operand) -> tuple[Operand, ...]:
        return (*self.opened.operands, seed)

    def results(self, all_of_them: tuple) -> tuple:
        """What of the program's results is derivatives."""
        return all_of_them[self.first :]

    def table(self, s: Any, chosen: Any, others: list, node: Any) -> list:
        """The derivatives that belong to the elements of `chosen`, of or by each of the others."""
        if not s.shape(chosen):
            return self.single(s, chosen, others)
        axes = (*(False for _ in self.opened.operands), True)
        if is_long_vector(s.shape(chosen)) and better_together(self.derived, axes):
            return self.at_once(s, chosen, others, axes, node)
        step = self.begun(s)
        if is_short(s.shape(chosen), step.derived):
            return self.written_out(s, step, chosen, others, node)
        return call(s, self.loop, [step, chosen, others], {}, node)

    def begun(self, s: Any) -> Sweep:
        """The sweep with what is the same for all unit vectors behind it."""
        return self

    def written_out(self, s: Any, step: Sweep, chosen: Any, others: list, node: Any) -> list:
        """The table, of a run for each of a few unit vectors."""
        of = s.type(chosen)
        runs = []
        for number in range(math.prod(of.shape)):
            unit = tuple(of.dtype.type(k == number) for k in range(math.prod(of.shape)))
            flat = s.wrap(s.builder.emit(PRIMITIVES["array"], unit, dtype=of.dtype))
            runs.append(step.__specialise__(s, [call(s, np.reshape, [flat, of.shape], {}, node)], {}, node))
        return [
            call(s, self.together, [list(parts), s.shape(chosen), s.shape(other)], {}, node)
            for parts, other in zip(zip(*runs, strict=True), others, strict=True)
        ]

    def single(self, s: Any, chosen: Any, others: list) -> list:
        """The table for a number: one run gives it."""
        found = self.results(paste(s.builder, self.derived, self.operands(one_of(s.type(chosen)))))
        types = [ArrayType(s.type(other).dtype, s.type(other).shape) for other in others]
        return [s.wrap(as_seed(s, one, of)) for one, of in zip(found, types, strict=True)]

    def at_once(self, s: Any, chosen: Any, others: list, axes: tuple[bool, ...], node: Any) -> list:
        """The table, made by one run for all unit vectors."""
        (size,) = s.shape(chosen)
        program, differ = batch(self.derived, axes, s.operand(size), None, s.builder)
        *parameters, seed = program.parameters
        with s.builder.inside(Block()) as block:
            identity = s.operand(call(s, np.eye, [size], {"dtype": seed.type.dtype}, node))
            found = self.results(paste(s.builder, program, (*parameters, identity)))
            block.results = tuple(
                self.placed(s, one) if differs else self.nothing(s, one, chosen, other)
                for one, differs, other in zip(found, self.results(differ), others, strict=True)
            )
        whole = simplify_to_differentiate(Program(program.name, tuple(parameters), block))
        return [s.wrap(one) for one in paste(s.builder, whole, tuple(self.opened.operands))]

    def nothing(self, s: Any, found: Operand, chosen: Any, other: Any) -> Operand:
        """The table of a derivative that is the same for all unit vectors, and so zero."""
        shape = self.shape(s.shape(chosen), s.shape(other))
        return s.builder.emit(PRIMITIVES["zeros"], shape, dtype=type_of(found).dtype)

    def placed(self, s: Any, found: Operand) -> Operand:
        """A batch of derivatives as a table."""
        raise NotImplementedError

    def shape(self, chosen: tuple, other: tuple) -> tuple:
        """The shape of a table."""
        raise NotImplementedError


class Pullback(Sweep):
    """Cotangents of one result to those of all inputs."""

    def __init__(self, opened: Opened, number: int):
        program = silent_program(opened.program)
        chosen = Block(program.body.statements, (program.results[number],))
        self.program = Program(program.name, program.parameters, chosen)
        super().__init__(opened, reverse(self.program, opened.active()), 1)
        self.loop, self.together = rows, rows_together

    def placed(self, s: Any, found: Operand) -> Operand:
        return found

    def shape(self, chosen: tuple, other: tuple) -> tuple:
        return (*chosen, *other)

    def begun(self, s: Any) -> Sweep:
        first, second = split(self.program, self.opened.active())
        residuals = first.results[1:]
        if any(isinstance(type_of(residual), StackType) for residual in residuals):
            return self
        return Backward(second, paste(s.builder, first, tuple(self.opened.operands))[1:])


class Backward(Sweep):
    """The backward half of a pullback."""

    def __init__(self, derived: Program, residuals: tuple):
        self.derived, self.residuals, self.first = derived, residuals, 0

    def operands(self, seed: Operand) -> tuple[Operand, ...]:
        return (*self.residuals, seed)


class Pushforward(Sweep):
    """Tangents of one input to those of all results."""

    def __init__(self, opened: Opened, number: int):
        program = silent_program(opened.program)
        count = len(opened.results)
        outputs = Block(program.body.statements, program.results[:count])
        active = tuple(k == number for k in range(len(program.parameters)))
        super().__init__(opened, forward(Program(program.name, program.parameters, outputs), active), count)
        self.loop, self.together = columns, columns_together

    def placed(self, s: Any, found: Operand) -> Operand:
        return moved(s.builder, found, 0, type_of(found).ndim - 1)

    def shape(self, chosen: tuple, other: tuple) -> tuple:
        return (*other, *chosen)


def is_long_vector(shape: tuple) -> bool:
    """Whether there is an axis, and more along it than one element."""
    return len(shape) == 1 and not (isinstance(shape[0], int) and shape[0] <= 1)


def is_short(shape: tuple, derived: Program) -> bool:
    """Whether there are so few unit vectors, and so little is done for each, that each has its own code."""
    known = all(isinstance(size, int) for size in shape)
    if not known or not 0 < math.prod(shape) <= FEW:
        return False
    statements = list(walk(derived.body))
    loops = any(isinstance(s, (For, While)) for s in statements)
    return not loops and math.prod(shape) * len(statements) <= LONGEST


def rows(pullback: Any, chosen: Any, inputs: list) -> list:
    """The derivatives of one result with respect to each input, a row for each element of the result."""
    size = np.size(chosen)
    tables = [np.zeros((size, *np.shape(x)), np.asarray(x).dtype) for x in inputs]
    for k in range(size):
        for table, part in zip(tables, pullback(unit(chosen, k)), strict=True):
            table[k] = part
    return [
        np.reshape(table, (*np.shape(chosen), *np.shape(x))) for table, x in zip(tables, inputs, strict=True)
    ]


def columns(pushforward: Any, chosen: Any, outputs: list) -> list:
    """The derivatives of each result with respect to one input, a column for each element of the input."""
    size = np.size(chosen)
    tables = [np.zeros((*np.shape(out), size), np.asarray(out).dtype) for out in outputs]
    for k in range(size):
        for table, part in zip(tables, pushforward(unit(chosen, k)), strict=True):
            table[..., k] = part
    return [
        np.reshape(table, (*np.shape(out), *np.shape(chosen)))
        for table, out in zip(tables, outputs, strict=True)
    ]


def rows_together(parts: list, chosen: tuple, other: tuple) -> Any:
    """The table whose rows are these."""
    return np.reshape(np.stack(parts), (*chosen, *other))


def columns_together(parts: list, chosen: tuple, other: tuple) -> Any:
    """The table whose columns are these."""
    return np.reshape(np.stack(parts, axis=-1), (*other, *chosen))


def unit(like: Any, k: Any) -> Any:
    """An array like this one, 1 at flat position k and else 0."""
    flat = np.zeros(np.size(like), like.dtype)
    flat[k] = 1
    return np.reshape(flat, np.shape(like))
