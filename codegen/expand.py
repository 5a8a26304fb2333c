"""Expand: operations that are loops over simpler ones are written as those, before loops are fused.

>>> from .build import Builder
>>> from .core import ArrayType
>>> import numpy as np
>>> builder = Builder()
>>> x, y = (Variable(name, ArrayType(np.dtype(float), (3,))) for name in "xy")
>>> builder.block.results = (builder.emit(PRIMITIVES["concatenate"], (x, y), axis=0),)
>>> [s.primitive.name for s in expand(Program("f", (x, y), builder.block)).body.statements]
['empty', 'setitem', 'setitem']
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from .build import Builder
from .core import (
    INT,
    ArrayType,
    Assign,
    Block,
    Dimension,
    For,
    If,
    Operand,
    Program,
    Statement,
    Variable,
    While,
    type_of,
)
from .registry import PRIMITIVES, Primitive, primitive

RULES: dict[str, Callable[[Expander, Assign], Operand | None]] = {}  # noqa: F821


def rule(name: str) -> Callable:
    """Enter the expansion of a primitive: it gives the result, or None where the operation stays."""

    def enter(function):
        RULES[name] = function
        return function

    return enter


def expand(program: Program) -> Program:
    """The program without the operations that have a rule here."""
    return Program(program.name, program.parameters, Expander(RULES).block(program.body))


class Expander:
    """Rewrites the statements that have a rule; emits into the innermost open block."""

    def __init__(self, rules: dict[str, Callable[[Expander, Assign], Operand | None]]):
        self.rules = rules
        self.builder = Builder()
        self.transposed: dict[Variable, Assign] = {}

    def rule(self, statement: Assign) -> Callable[[Expander, Assign], Operand | None] | None:
        """What rewrites a statement, if anything does."""
        known = PRIMITIVES.get(statement.primitive.name) is statement.primitive
        return self.rules.get(statement.primitive.name) if known else None

    def block(self, block: Block) -> Block:
        made = Block()
        with self.builder.inside(made):
            for statement in block.statements:
                self.statement(statement)
        made.results = block.results
        return made

    def statement(self, statement: Statement) -> None:
        match statement:
            case If():
                statement = dataclasses.replace(
                    statement, body=self.block(statement.body), orelse=self.block(statement.orelse)
                )
            case For():
                statement = dataclasses.replace(statement, body=self.block(statement.body))
            case While():
                statement = dataclasses.replace(
                    statement, test=self.block(statement.test), body=self.block(statement.body)
                )
            case Assign():
                if statement.primitive.name == "transpose":
                    self.transposed[statement.targets[0]] = statement
                rule = self.rule(statement)
                if rule is not None:
                    self.builder.location = statement.location
                    made = self.builder.block.statements
                    before = len(made)
                    result = rule(self, statement)
                    if result is not None:
                        self.give(statement.targets, result, made[before:])
                        return
        self.builder.append(statement)

    def give(self, targets: tuple[Variable, ...], result: Operand, emitted: list[Statement]) -> None:
        """Let the statement that made a result assign the variables that are wanted."""
        results = result if isinstance(result, tuple) else (result,)
        for target, value in zip(targets, results, strict=True):
            for statement in reversed(emitted):
                if any(value is t for t in statement.targets):
                    statement.targets = tuple(target if t is value else t for t in statement.targets)
                    break
            else:
                self.alias(target, value)

    def alias(self, target: Variable, value: Operand) -> None:
        """Let a variable be a value that something else has computed."""
        static = {"dtype": target.type.dtype} | ({"weak": True} if target.type.weak else {})
        self.builder.append(Assign((target,), PRIMITIVES["astype"], (value,), static, self.builder.location))

    def emit(self, name: str, *operands: Operand, **static: Any) -> Any:
        return self.builder.emit(PRIMITIVES[name], *operands, **static)

    def new(self, of: ArrayType, name: str | None = None) -> Variable:
        return self.builder.emit(PRIMITIVES["empty"], of.shape, dtype=of.dtype, name=name)

    def write(self, array: Variable, index: tuple, value: Operand) -> Variable:
        """One statement `setitem`, whose sizes are known to fit."""
        target = Variable(array.name, array.type)
        self.builder.append(
            Assign((target,), PRIMITIVES["setitem"], (array, index, value), {}, self.builder.location)
        )
        return target

    def assign(
        self, primitive: str | Primitive, of: ArrayType, *operands: Operand, **static: Any
    ) -> Variable:
        """A statement whose type is known."""
        target = Variable(None, of)
        primitive = PRIMITIVES[primitive] if isinstance(primitive, str) else primitive
        self.builder.append(Assign((target,), primitive, operands, static, self.builder.location))
        return target

    def cast(self, operand: Operand, dtype) -> Operand:
        of = type_of(operand)
        if of.dtype == dtype:
            return operand
        return self.assign("astype", ArrayType(dtype, of.shape), operand, dtype=dtype)

    def loops(
        self,
        sizes: tuple[Dimension, ...],
        array: Variable,
        body: Callable[[tuple, Variable], Variable],
        at: tuple = (),
    ) -> Variable:
        """Nested loops, in any order, innermost `array = body(index, array)`; gives the final array."""
        if not sizes:
            return body(at, array)
        index, carried = Variable("ijkl"[min(len(at), 3)], INT), Variable(array.name, array.type)
        target = Variable(array.name, array.type)
        block = Block()
        with self.builder.inside(block):
            block.results = (self.loops(sizes[1:], carried, body, (*at, index)),)
        self.builder.append(
            For((target,), index, 0, sizes[0], 1, (carried,), (array,), block, self.builder.location, True)
        )
        return target


def product_written(x, index, a, b):
    result = np.array(x)
    result[index] = a @ b
    return result


# `x[index] = a @ b`, without memory for the product.
matmul_into = primitive("matmul_into", product_written, lambda builder, x, *_: x.type, destructive=True)


@rule("concatenate")
def concatenate(to: Expander, statement: Assign) -> Operand:
    """Each array is written to its place."""
    target, axis = statement.targets[0], statement.static.get("axis", 0)
    result, start = to.new(target.type, target.name), 0
    for part in statement.operands[0]:
        size = type_of(part).shape[axis]
        stop = to.builder.dimension_add(start, size)
        index = (slice(None),) * axis + (slice(start, stop),) + (slice(None),) * (target.type.ndim - axis - 1)
        result = to.write(result, index, part)
        start = stop
    return result


@rule("argmax")
@rule("argmin")
def seek(to: Expander, statement: Assign) -> Operand | None:
    """The axis that is searched is made the last, so that each search is one loop."""
    array, target, axis = statement.operands[0], statement.targets[0], statement.static["axis"]
    rank = array.type.ndim
    if axis == rank - 1:
        return None
    axes = (*(k for k in range(rank) if k != axis), axis)
    shape = tuple(array.type.shape[k] for k in axes)
    turned = to.assign("transpose", array.type.with_shape(shape), array, axes=axes)
    found = to.assign(
        statement.primitive, target.type.with_shape(shape[:-1]), turned, axis=rank - 1, keepdims=False
    )
    if not statement.static.get("keepdims"):
        return found
    return to.assign("reshape", target.type, found, target.type.shape)


@rule("array")
def array(to: Expander, statement: Assign) -> Operand:
    """Each item is written to its place."""
    target = statement.targets[0]
    if not target.type.shape:
        return None
    result = to.new(target.type, target.name)
    for place in itertools.product(*map(range, target.type.shape)):
        item = statement.operands[0]
        for position in place:
            item = item[position]
        result = to.write(result, place, to.cast(item, target.type.dtype))
    return result


@rule("matmul")
def matmul(to: Expander, statement: Assign) -> Operand | None:
    """Products that BLAS does not make: of integers, of mixed dtypes, of two vectors, and of stacks."""
    (a, b), target = statement.operands, statement.targets[0]
    dtype = target.type.dtype
    left, right = a.type, b.type
    two_vectors = left.ndim == right.ndim == 1 and dtype.kind == "f"
    if dtype.kind not in "fc" or dtype.itemsize < 4 or two_vectors:
        return plain_product(to, a, b, target)
    if left.ndim <= 2 and right.ndim <= 2:
        if left.dtype == right.dtype:
            return None
        return to.assign("matmul", target.type, to.cast(a, dtype), to.cast(b, dtype))
    a, b = to.cast(a, dtype), to.cast(b, dtype)
    rank = max(left.ndim, right.ndim) - 2
    result = to.new(target.type, target.name)

    def one(at: tuple, array: Variable) -> Variable:
        parts = [matrix(to, operand, at) for operand in (a, b)]
        index = (*at, *(slice(None),) * (target.type.ndim - rank))
        return to.assign(matmul_into, array.type, array, index, *parts)

    return to.loops(target.type.shape[:rank], result, one)


def matrix(to: Expander, operand: Variable, at: tuple) -> Variable:
    """The matrix of a stack at an index of the stacks' common shape."""
    batch = operand.type.ndim - 2
    if batch <= 0:
        return operand
    last = at[len(at) - batch :]
    index = [
        0 if isinstance(size, int) and size == 1 else one for size, one in zip(operand.type.shape, last)
    ] + [slice(None)] * 2
    dtype, shape, axes = operand.type.dtype, operand.type.shape[-2:], tuple(range(operand.type.ndim))
    if operand in to.transposed:
        (operand,), axes = to.transposed[operand].operands, to.transposed[operand].static["axes"]
    index = tuple(index[axes.index(axis)] for axis in range(len(axes)))
    if axes[-2] < axes[-1]:
        return to.assign("getitem", ArrayType(dtype, shape), operand, index)
    turned = to.assign("getitem", ArrayType(dtype, shape[::-1]), operand, index)
    return to.assign("transpose", ArrayType(dtype, shape), turned, axes=(1, 0))


def plain_product(to: Expander, a: Variable, b: Variable, target: Variable) -> Operand:
    """A matrix product as a sum of products."""
    dtype = target.type.dtype
    a, b = to.cast(a, dtype), to.cast(b, dtype)
    vector = a.type.ndim == 1, b.type.ndim == 1
    first = (*(slice(None),) * (a.type.ndim - 1), None, slice(None)) if not vector[0] else (slice(None),)
    sizes = target.type.shape
    rows = () if vector[0] else (a.type.shape[-2],)
    columns = () if vector[1] else (b.type.shape[-1],)
    batch = sizes[: len(sizes) - len(rows) - len(columns)]
    inner = a.type.shape[-1]
    if vector[1]:
        left, right = a, b
    else:
        # (..., rows, 1, inner) * (..., 1, columns, inner)
        axes = (*range(b.type.ndim - 2), b.type.ndim - 1, b.type.ndim - 2)
        turned = to.assign("transpose", b.type.with_shape(tuple(b.type.shape[k] for k in axes)), b, axes=axes)
        left = (
            a
            if vector[0]
            else to.assign("getitem", a.type.with_shape((*a.type.shape[:-1], 1, inner)), a, first)
        )
        right = (
            turned
            if vector[0]
            else to.assign(
                "getitem",
                b.type.with_shape((*turned.type.shape[:-2], 1, *turned.type.shape[-2:])),
                turned,
                (*(slice(None),) * (b.type.ndim - 2), None, slice(None), slice(None)),
            )
        )
    product = ArrayType(dtype, (*batch, *rows, *columns, inner))
    name = "logical_and" if dtype.kind == "b" else "multiply"
    terms = to.assign(name, product, left, right)
    return to.assign(
        "any" if dtype.kind == "b" else "sum", target.type, terms, axis=(product.ndim - 1,), keepdims=False
    )
