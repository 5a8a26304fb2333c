"""Matrices among the arguments that loops multiply by: they are made ready for that once, before the loop.

    for t in range(n):                                rows = aligned(w)
        h = w @ h                             ->      for t in range(n):
                                                          h = rows @ h

>>> import numpy as np
>>> from ...codegen.build import Builder
>>> from ...codegen.core import INT, ArrayType
>>> from ...codegen.registry import PRIMITIVES
>>> w, x = (Variable(name, ArrayType(np.dtype(float), (3,) * k)) for k, name in ((2, "w"), (1, "x")))
>>> h, after, body, builder = Variable("h", x.type), Variable("h", x.type), Block(), Builder()
>>> with builder.inside(body):
...     body.results = (builder.emit(PRIMITIVES["matmul"], w, h),)
>>> loop = For((after,), Variable("t", INT), 0, 5, 1, (h,), (x,), body)
>>> LoopMatrices(Program("f", (w, x), Block([loop], (after,)))).of(loop) == [w]
True
"""

from __future__ import annotations

from ...codegen.core import Assign, Block, For, Operand, Program, Statement, Variable, While, type_of, walk

FIRST = {"matmul": 0, "matmul_into": 2}  # where the factors begin among the operands


class LoopMatrices:
    """The matrices of a program that it is given and does not write."""

    def __init__(self, program: Program):
        statements = list(walk(program.body))
        assigned = [s for s in statements if isinstance(s, Assign)]
        self.turned = {s.targets[0]: s.operands[0] for s in assigned if s.primitive.name == "transpose"}
        written = {s.operands[0] for s in assigned if s.primitive.destructive}
        for loop in statements:
            if isinstance(loop, (For, While)):
                written.update(operand for operand in loop.initial if isinstance(operand, Variable))
        self.given = {p for p in program.parameters if getattr(p.type, "ndim", 0) == 2} - written

    def of(self, loop: For | While) -> list[Variable]:
        """Those that a loop multiplies by, in order."""
        found = [self.turned.get(o, o) for s in walk(Block([loop])) for o in factors(s)]
        return list(dict.fromkeys(operand for operand in found if operand in self.given))


def factors(statement: Statement) -> tuple[Operand, ...]:
    """The factors of a product that goes to BLAS."""
    if not isinstance(statement, Assign) or statement.primitive.name not in FIRST:
        return ()
    pair = statement.operands[FIRST[statement.primitive.name] :]
    return pair if all(type_of(one).dtype.char in "fdFD" for one in pair) else ()
