"""Matrices for products lie in memory as the products read them; sums go along rows as they lie.

    y = x[:, None, :] - m                        y = x.T[None, :, :] - m[:, :, None]
    z = transpose(y, (1, 2, 0))          ->      p = w @ y
    p = w @ z

What is transposed is what is computed from, where the rows and columns of a product of many matrices would
otherwise be apart, so that each matrix had to be copied. And a sum over a transposed product is one over it:

    sum(transpose(w @ y, (2, 0, 1)), axis=0)  ->  sum(w @ y, axis=2)

>>> import numpy as np
>>> from .build import Builder
>>> from .core import INT, ArrayType
>>> n, m, k = (Variable(name, INT) for name in "nmk")
>>> x, w = (Variable("x", ArrayType(np.dtype(float), shape)) for shape in ((n, m, k), (m, 3, k)))
>>> builder = Builder()
>>> moved = builder.emit(PRIMITIVES["transpose"], builder.emit(PRIMITIVES["exp"], x), axes=(1, 2, 0))
>>> product = builder.emit(PRIMITIVES["matmul"], w, moved)
>>> turned = builder.emit(PRIMITIVES["transpose"], product, axes=(2, 0, 1))
>>> builder.block.results = (builder.emit(PRIMITIVES["sum"], turned, axis=(0,), keepdims=False),)
>>> made = transpose_early(Program("f", (x, w), builder.block))
>>> [s.primitive.name for s in made.body.statements]
['exp', 'transpose', 'exp', 'matmul', 'transpose', 'sum']
>>> made.body.statements[-1].static["axis"], made.results[0].type
((2,), float64[m, 3])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from .access import is_array
from .core import (
    ArrayType,
    Assign,
    Block,
    If,
    Operand,
    Program,
    Statement,
    Variable,
    operands_of,
    type_of,
    uses_in,
    variables_in,
    walk,
)
from .registry import PRIMITIVES

PRODUCTS = ("matmul", "einsum")
SUMS = ("sum", "prod", "max", "min", "any", "all")


def transpose_early(program: Program) -> Program:
    """The program with transposes moved before elementwise operations, and out of sums."""
    early = Early(program)
    return Program(program.name, program.parameters, early.block(program.body)) if early.made else program


class Early:
    """Rewrites a program block by block."""

    def __init__(self, program: Program):
        self.uses: Counter[Variable] = uses_in(program)
        self.made: dict[Variable, Assign] = {}
        self.factors: set[Variable] = set()
        self.transposes: dict[Variable, list[Assign]] = {}
        self.moved: dict[Variable, Assign] = {}
        for statement in walk(program.body):
            if not isinstance(statement, Assign):
                continue
            if statement.primitive.elementwise or statement.primitive.name in ("transpose", *PRODUCTS):
                self.made.update((target, statement) for target in statement.targets)
            if statement.primitive.name in PRODUCTS:
                self.factors.update(variables_in(operands_of(statement)))
            if statement.primitive.name == "transpose":
                self.transposes.setdefault(statement.operands[0], []).append(statement)

    def block(self, block: Block) -> Block:
        here = set(block.statements)
        return Block([s for one in block.statements for s in self.statement(one, here)], block.results)

    def statement(self, statement: Statement, here: set[Statement]) -> Iterator[Statement]:
        if not isinstance(statement, Assign):
            names = ("body", "orelse") if isinstance(statement, If) else ("body",)
            yield replace(statement, **{name: self.block(getattr(statement, name)) for name in names})
        elif statement.primitive.name == "transpose" and self.moves_in(statement, here):
            yield from self.moved_in(statement)
        elif statement.primitive.name in SUMS:
            yield self.summed_as_it_lies(statement)
        else:
            yield statement

    def moves_in(self, statement: Assign, here: set[Statement]) -> bool:
        """Whether what is computed for products is only read transposed, its rows apart from its columns."""
        (array,), (result,) = statement.operands, statement.targets
        made, rank, turns = self.made.get(array), result.type.ndim, self.transposes[array]
        if rank < 3 or made is None or not made.primitive.elementwise or len(turns) != self.uses[array]:
            return False
        if not here.issuperset((made, *turns)):
            return False
        parted = lambda axes: set(axes[-2:]) != {rank - 2, rank - 1}
        return all(one.targets[0] in self.factors and parted(one.static["axes"]) for one in turns)

    def moved_in(self, statement: Assign) -> Iterator[Statement]:
        """The transposed operands, and the operation on them; later, that transposed as is still needed."""
        (array,), axes = statement.operands, statement.static["axes"]
        if array in self.moved:
            moved = self.moved[array]
            rest = tuple(moved.static["axes"].index(axis) for axis in axes)
            yield replace(statement, operands=moved.targets, static={"axes": rest})
            return
        self.moved[array] = statement
        operands: list[Operand] = []
        for operand in self.made[array].operands:
            if is_array(operand):
                *views, operand = turned(operand, axes)
                for view in views:
                    yield replace(view, location=statement.location)
            operands.append(operand)
        yield replace(self.made[array], targets=statement.targets, operands=tuple(operands))

    def summed_as_it_lies(self, statement: Assign) -> Assign:
        """A reduction of a transposed product as one of the product, where the axes left keep their order."""
        transposed = self.made.get(statement.operands[0])
        if transposed is None or transposed.primitive.name != "transpose" or statement.static.get("keepdims"):
            return statement
        product, axes = self.made.get(transposed.operands[0]), transposed.static["axes"]
        axis = statement.static["axis"]
        kept = [one for place, one in enumerate(axes) if place not in axis]
        if product is None or product.primitive.name not in PRODUCTS or kept != sorted(kept):
            return statement
        static = {**statement.static, "axis": tuple(sorted(axes[place] for place in axis))}
        return replace(statement, operands=transposed.operands, static=static)


def turned(array: Variable, axes: tuple[int, ...]) -> Iterator:
    """The statements that transpose an array once it has as many axes as are said; then the result."""
    of: ArrayType = type_of(array)
    missing = len(axes) - of.ndim
    if missing:
        wide = Variable(array.name, of.with_shape((1,) * missing + of.shape))
        index = (None,) * missing + (slice(None),) * of.ndim
        yield Assign((wide,), PRIMITIVES["getitem"], (array, index))
        array, of = wide, wide.type
    result = Variable(array.name, of.with_shape(tuple(of.shape[axis] for axis in axes)))
    yield Assign((result,), PRIMITIVES["transpose"], (array,), {"axes": tuple(axes)})
    yield result
