"""Products of each row of an array with the same matrix, in a loop over the rows: one product before it.

    for k in range(n):                       product = x @ w
        y = x[k] @ w                ->       for k in range(n):
        ...                                      y = product[k]
                                                 ...

>>> from .build import Builder
>>> from .core import FLOAT, INT, Block
>>> n, k, b, body = Variable("n", INT), Variable("k", INT), Builder(), Block()
>>> x, w = Variable("x", FLOAT.with_shape((n, 3))), Variable("w", FLOAT.with_shape((3, 4)))
>>> with b.inside(body):
...     _ = b.emit(PRIMITIVES["matmul"], b.emit(PRIMITIVES["getitem"], x, (k,)), w)
>>> b.append(For((), k, 0, n, 1, (), (), body))
>>> product, loop = multiply_rows_at_once(Program("f", (x, w), b.block)).body.statements
>>> product.primitive, [statement.primitive for statement in loop.body.statements]
(matmul, [getitem, getitem])
"""

from __future__ import annotations

from dataclasses import replace

from .access import is_array
from .adopt import adopt
from .core import Assign, For, Operand, Program, Statement, Variable, assigned_in
from .loop_rewriter import LoopRewriter, is_operation
from .registry import PRIMITIVES


def multiply_rows_at_once(program: Program) -> Program:
    """The program with products of all rows before the loops over rows."""
    return Multiplying(program).run()


class Multiplying(LoopRewriter):
    """Moves products out of one loop after the other."""

    def loop(self, loop: For) -> None:
        """Emit a loop that reads rows of products made before it."""
        rows, inside = self.rows(loop), assigned_in(loop)
        statements: list[Statement] = []
        for statement in loop.body.statements:
            product = self.product(statement, rows, inside) if is_operation(statement, "matmul") else None
            if product is not None:
                row = (product, (loop.index,))
                statement = Assign(statement.targets, PRIMITIVES["getitem"], row, {}, statement.location)
            statements.append(statement)
        adopt(self.builder, replace(loop, body=replace(loop.body, statements=statements)))

    def product(
        self, statement: Assign, rows: dict[Variable, Variable], inside: set[Variable]
    ) -> Operand | None:
        """The product of all rows with a matrix or vector that is the same in all turns."""
        row, other = statement.operands
        on_the_left = row in rows
        if not on_the_left:
            row, other = other, row
        if row not in rows or not is_array(other) or other in inside or other.type.ndim > 2:
            return None
        inner = other.type.shape[0 if on_the_left else -1]
        dtypes = {row.type.dtype, other.type.dtype}
        if len(dtypes) > 1 or not row.type.inexact or not self.builder.same(row.type.shape[0], inner):
            return None
        with self.builder.at(statement.location):
            if not on_the_left and other.type.ndim == 2:
                other = self.builder.emit(PRIMITIVES["transpose"], other, axes=(1, 0))
            return self.builder.emit(PRIMITIVES["matmul"], rows[row], other)
