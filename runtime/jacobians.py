"""jacfwd and jacrev: one pass of the derivative program for each column or row, in a loop."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..autodiff import forward, reverse
from ..codegen.core import type_of
from ..codegen.specialise import put_together
from ..codegen.specialise.calls import call
from .derivatives import Opened, normalise_argnums, refuse_dtype, unpack
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
        what = "jacrev" if self.rows else "jacfwd"
        positions = normalise_argnums(self.argnums, len(arguments), self.program_name())
        opened = Opened(s, self.function, arguments, keywords, positions, what, node)
        for result in opened.program.body.results:
            if type_of(result).dtype.kind not in "fc":
                refuse_dtype(type_of(result), what, "a result")
        primals = opened.splice(opened.program)
        inputs = [s.wrap(operand) for operand in opened.operands]
        if self.rows:
            sweep = Sweep(opened, reverse, len(primals))
            tables = [call(s, rows, [sweep, k, primals, inputs], {}, node) for k in range(len(primals))]
        else:
            sweep = Sweep(opened, forward, len(primals))
            columns_of = [call(s, columns, [sweep, k, primals, inputs], {}, node) for k in range(len(inputs))]
            tables = [list(row) for row in zip(*columns_of, strict=True)] if inputs else [[] for _ in primals]
        shaped = []
        for table in tables:
            packed = unpack(opened, positions, list(table))
            shaped.append(packed if isinstance(self.argnums, (Sequence, np.ndarray)) else packed[0])
        if self.has_aux:
            value, aux = opened.value
            del value
            return put_together(opened.template[0], shaped), aux
        return put_together(opened.template, shaped)


class Sweep:
    """One run of the derivative program, for cotangents of all results or tangents of all inputs."""

    def __init__(self, opened: Opened, mode: Any, count: int):
        self.opened = opened
        self.derived = mode(opened.program, tuple(True for _ in opened.parameters))
        self.count = count

    def __specialise__(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        results = self.opened.splice(self.derived, *map(s.operand, arguments[0]))
        return results[self.count:]


def rows(sweep: Any, number: int, outputs: list, inputs: list) -> list:
    """The derivatives of one result with respect to each input, a row for each element of the result."""
    chosen = outputs[number]
    size = np.size(chosen)
    tables = [np.zeros((size, *np.shape(x)), np.asarray(x).dtype) for x in inputs]
    for k in range(size):
        parts = sweep([unit(out, k) if which == number else np.zeros_like(out) for which, out in enumerate(outputs)])
        for table, part in zip(tables, parts, strict=True):
            table[k] = part
    return [np.reshape(table, (*np.shape(chosen), *np.shape(x))) for table, x in zip(tables, inputs, strict=True)]


def columns(sweep: Any, number: int, outputs: list, inputs: list) -> list:
    """The derivatives of each result with respect to one input, a column for each element of the input."""
    chosen = inputs[number]
    size = np.size(chosen)
    tables = [np.zeros((*np.shape(out), size), np.asarray(out).dtype) for out in outputs]
    for k in range(size):
        parts = sweep([unit(x, k) if which == number else np.zeros_like(x) for which, x in enumerate(inputs)])
        for table, part in zip(tables, parts, strict=True):
            table[..., k] = part
    return [np.reshape(table, (*np.shape(out), *np.shape(chosen))) for table, out in zip(tables, outputs, strict=True)]


def unit(like: Any, k: Any) -> Any:
    """An array like this one, 1 at flat position k and else 0."""
    if np.ndim(like) == 0:
        return np.ones_like(like)
    flat = np.zeros(np.size(like), like.dtype)
    flat[k] = 1
    return np.reshape(flat, np.shape(like))
