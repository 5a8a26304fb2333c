"""Sums of outer products of rows, and rows that are products, over a loop: one product each, after the loop.

    for k in range(n):                             for k in range(n):
        g = ...                                        kept[k] = ...
        w = w + x[k][:, None] * g         ->           ...
        y[k] = m @ g                               w = w + x.T @ kept
        ...                                        y = kept @ m.T

One factor of a sum is a row of a matrix that there is; the other may be a vector, which is then kept, if a
matrix of the size of what would be kept has been made already.

>>> from .build import Builder
>>> from .core import FLOAT, INT
>>> n, k, b, body = Variable("n", INT), Variable("k", INT), Builder(), Block()
>>> x, y = (Variable(name, FLOAT.with_shape((n, 3))) for name in "xy")
>>> w, start, end = (Variable(name, FLOAT.with_shape((3, 3))) for name in ("w", "start", "end"))
>>> with b.inside(body):
...     column = b.emit(PRIMITIVES["getitem"], b.emit(PRIMITIVES["getitem"], x, (k,)), (slice(None), None))
...     outer = b.emit(PRIMITIVES["multiply"], column, b.emit(PRIMITIVES["getitem"], y, (k,)))
...     body.results = (b.emit(PRIMITIVES["add"], w, outer),)
>>> b.append(For((end,), k, 0, n, 1, (w,), (start,), body))
>>> b.block.results = (end,)
>>> made = sum_products_at_once(Program("f", (x, y, start), b.block)).body.statements
>>> [getattr(statement, "primitive", "loop") for statement in made]
['loop', transpose, matmul, add]
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from .access import is_array
from .adopt import adopt
from .arrays_over_time import only_read
from .core import (
    Assign,
    Block,
    For,
    Operand,
    Program,
    Statement,
    Variable,
    operands_of,
    uses_in,
    variables_in,
)
from .loop_rewriter import LoopRewriter, is_operation
from .registry import PRIMITIVES


def sum_products_at_once(program: Program) -> Program:
    """The program with sums of products over loops as products after them."""
    return Summing(program).run()


@dataclass(frozen=True)
class Outer:
    """An addition of the outer product of two vectors to a sum."""

    addition: Assign
    sum: Variable
    column: Variable
    row: Variable


@dataclass
class Plan:
    """What of a loop is done after it.

    `sums` are outer products by the place of their sum among what is carried; `products` are rows of a new
    array, by its place, as the write and the product; `kept` has the matrix for each vector that is kept.
    """

    rows: dict[Variable, Variable]
    sums: dict[int, list[Outer]] = field(default_factory=dict)
    products: dict[int, tuple[Assign, Assign]] = field(default_factory=dict)
    kept: dict[Variable, Variable] = field(default_factory=dict)

    def matrix(self, vector: Variable) -> Variable:
        return self.kept.get(vector) or self.rows[vector]


class Summing(LoopRewriter):
    """Rewrites one loop after the other."""

    def __init__(self, program: Program):
        super().__init__(program)
        self.uses = uses_in(program)

    def loop(self, loop: For) -> None:
        plan = Plan(self.rows(loop))
        made = {s.targets[0]: s for s in loop.body.statements if isinstance(s, Assign) and s.targets}
        for place in range(len(loop.carried)):
            found = [o for o in self.outer_products(loop, place, made) if self.can_be_rows(o, made, plan)]
            if found:
                plan.sums[place] = found
        for place in range(len(loop.carried)):
            product = self.row_product(loop, place, made, plan)
            if product is not None:
                plan.products[place] = product
        if plan.sums:
            self.rewrite(loop, plan)
        else:
            adopt(self.builder, loop)

    # what can be done after a loop

    def outer_products(self, loop: For, place: int, made: dict[Variable, Assign]) -> list[Outer]:
        """The outer products that a loop adds to an array with which it does nothing else than add."""
        current, found = loop.carried[place], []
        if not is_array(current) or current.type.ndim != 2 or not current.type.inexact:
            return []
        for statement in loop.body.statements:
            if current not in variables_in(operands_of(statement)):
                continue
            if not is_operation(statement, "add") or self.uses[current] != 1:
                return []
            change = statement.operands[statement.operands[0] is current]
            factors = factors_of(change, made)
            if factors is not None and self.same_type(change, current):
                found.append(Outer(statement, current, *factors))
            (current,) = statement.targets
        return found if current is loop.body.results[place] and self.uses[current] == 1 else []

    def same_type(self, one: Variable, other: Variable) -> bool:
        sizes = zip(one.type.shape, other.type.shape, strict=True)
        return one.type.dtype == other.type.dtype and all(self.builder.same(*pair) for pair in sizes)

    def can_be_rows(self, outer: Outer, made: dict[Variable, Assign], plan: Plan) -> bool:
        """Whether one factor of a product is a row, and the other is too, or can be kept as one."""
        vectors = [vector for vector in (outer.column, outer.row) if vector not in plan.rows]
        if len(vectors) > 1 or any(vector not in made for vector in vectors):
            return False
        for vector in vectors:
            (width,) = vector.type.shape
            there = (m for m in plan.rows.values() if m not in self.program.parameters)
            alike = [m for m in there if self.builder.same(m.type.shape[1], width)]
            if not alike:
                return False
            shape = (alike[0].type.shape[0], width)
            plan.kept.setdefault(vector, Variable("kept", vector.type.with_shape(shape)))
        return True

    def row_product(
        self, loop: For, place: int, made: dict[Variable, Assign], plan: Plan
    ) -> tuple[Assign, Assign] | None:
        """A write of the product of a row and a matrix as a row of a new array, and the product."""
        array, result, initial = loop.carried[place], loop.body.results[place], loop.initial[place]
        write = made.get(result) if is_array(result) and result.type.ndim == 2 else None
        if write is None or not is_operation(write, "setitem") or not self.made_by(initial, "empty"):
            return None
        _, index, value = write.operands
        product = made.get(value) if isinstance(value, Variable) else None
        if product is None or not is_operation(product, "matmul") or value.type.dtype != array.type.dtype:
            return None
        vector, matrix = sorted(product.operands, key=lambda operand: operand not in plan.kept)
        known = vector in plan.kept and matrix not in made and matrix not in loop.carried
        if not known or matrix.type.ndim != 2 or matrix.type.dtype != vector.type.dtype:
            return None
        whole = index[0] is loop.index and all(entry == slice(None) for entry in index[1:])
        once = write.operands[0] is array and all(self.uses[v] == 1 for v in (array, result))
        return (write, product) if whole and once and self.goes_through(loop, array.type.shape[0]) else None

    # doing it

    def rewrite(self, loop: For, plan: Plan) -> None:
        """Emit a loop without what is planned, and that after it."""
        arrays = [Variable(kept.name, kept.type) for kept in plan.kept.values()]
        body = self.body(loop, plan, dict(zip(plan.kept, arrays)))
        without = [k for k in range(len(loop.carried)) if k not in plan.products]
        unchanged = [k for k in plan.sums if body.results[k] is loop.carried[k]]
        without = [k for k in without if k not in unchanged]
        targets = list(loop.targets)
        for place in plan.sums:
            targets[place] = Variable(targets[place].name, targets[place].type)
        with self.builder.at(loop.location):
            made = [
                self.builder.emit(PRIMITIVES["empty"], a.type.shape, dtype=str(a.type.dtype), name=a.name)
                for a in arrays
            ]
        parts = {
            "targets": (*(targets[k] for k in without), *plan.kept.values()),
            "carried": (*(loop.carried[k] for k in without), *arrays),
            "initial": (*(loop.initial[k] for k in without), *made),
        }
        written = body.results[len(loop.carried) :]
        body = Block(body.statements, (*(body.results[k] for k in without), *written))
        adopt(self.builder, replace(loop, **parts, body=body))
        for place, found in plan.sums.items():
            start = loop.initial[place] if place in unchanged else targets[place]
            self.sum(loop.targets[place], start, found, plan)
        for place, (_, product) in plan.products.items():
            self.product(loop.targets[place], product, plan)

    def body(self, loop: For, plan: Plan, arrays: dict[Variable, Variable]) -> Block:
        """The body of a loop without what is planned, that keeps vectors as rows of arrays."""
        outers = {outer.addition: outer for found in plan.sums.values() for outer in found}
        writes = [write for write, _ in plan.products.values()]
        same: dict[Operand, Operand] = {}
        written = dict(arrays)
        statements: list[Statement] = []
        current = lambda operand: same.get(operand, operand) if isinstance(operand, Variable) else operand
        for statement in loop.body.statements:
            if statement in outers:
                same[statement.targets[0]] = current(outers[statement].sum)
            elif is_operation(statement, "add"):
                statements.append(replace(statement, operands=tuple(map(current, statement.operands))))
            elif statement not in writes:
                statements.append(statement)
            for vector in arrays.keys() & set(statement.targets):
                written[vector] = self.keep(statements, vector, arrays[vector], loop)
        return Block(statements, (*map(current, loop.body.results), *written.values()))

    def keep(self, statements: list[Statement], vector: Variable, array: Variable, loop: For) -> Variable:
        """Write a vector, which the last statement makes, as a row, and let it be that row from there on."""
        last, result, row = statements[-1], Variable(array.name, array.type), (loop.index,)
        value = Variable(vector.name, vector.type) if only_read(loop.body, vector) else vector
        if value is not vector:
            targets = tuple(value if target is vector else target for target in last.targets)
            statements[-1] = replace(last, targets=targets)
        statements.append(Assign((result,), PRIMITIVES["setitem"], (array, row, value), {}, last.location))
        if value is not vector:
            statements.append(Assign((vector,), PRIMITIVES["getitem"], (result, row), {}, last.location))
        return result

    def sum(self, target: Variable, start: Variable, found: list[Outer], plan: Plan) -> None:
        """Emit a sum as what it is without outer products, and products of matrices."""
        total = None if self.made_by(start, "zeros") else start
        for outer in found:
            with self.builder.at(outer.addition.location):
                turned = self.builder.emit(PRIMITIVES["transpose"], plan.matrix(outer.column), axes=(1, 0))
                product = target if total is None and outer is found[-1] else Variable(None, target.type)
                self.assign(product, "matmul", turned, plan.matrix(outer.row))
                if total is not None:
                    result = target if outer is found[-1] else Variable(target.name, target.type)
                    self.assign(result, "add", total, product)
                    product = result
                total = product

    def product(self, target: Variable, product: Assign, plan: Plan) -> None:
        """Emit the product of all rows with a matrix."""
        one, other = product.operands
        with self.builder.at(product.location):
            if one in plan.kept:
                self.assign(target, "matmul", plan.kept[one], other)
            else:
                turned = self.builder.emit(PRIMITIVES["transpose"], one, axes=(1, 0))
                self.assign(target, "matmul", plan.kept[other], turned)


def factors_of(value: Operand, made: dict[Variable, Assign]) -> tuple[Variable, Variable] | None:
    """The vectors of which a value is the outer product."""
    product = made.get(value) if isinstance(value, Variable) else None
    if product is None or not is_operation(product, "multiply"):
        return None
    for operands in (product.operands, product.operands[::-1]):
        column, row = (stretched(operand, axis, made) for axis, operand in enumerate(operands))
        if column is not None and row is not None and column.type.dtype == row.type.dtype == value.type.dtype:
            return column, row
    return None


def stretched(operand: Operand, axis: int, made: dict[Variable, Assign]) -> Variable | None:
    """The vector that lies along one axis of a matrix, with a size of 1 along the other."""
    if not is_array(operand):
        return None
    if operand.type.ndim == 1:
        return operand if axis == 1 else None
    view = made.get(operand)
    if view is None or not is_operation(view, "getitem") or view.operands[0].type.ndim != 1:
        return None
    vector, index = view.operands
    along = ((slice(None), None),) if axis == 0 else ((None,), (None, slice(None)))
    return vector if index in along else None
