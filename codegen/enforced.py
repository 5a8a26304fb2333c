"""Leave out the checks that NumPy makes itself: of indices, and of sizes that it would not broadcast.

    check_same(n, m)                         y = multiply(x, w)
    y = multiply(x, w)               ->

A check of sizes stays if the operation that NumPy would refuse is gone. The Numba backend needs all checks.

>>> from .build import Builder
>>> from .core import INT, ArrayType
>>> from .primitives import elementwise
>>> import numpy as np
>>> n, m = Variable("n", INT), Variable("m", INT)
>>> x, w = (Variable(name, ArrayType(np.dtype(float), (size,))) for name, size in (("x", n), ("w", m)))
>>> b = Builder()
>>> b.lower_bounds.update({n: 2, m: 2})
>>> y = b.emit(elementwise.multiply, x, w)
>>> [s.primitive for s in without_enforced_checks(Program("f", (x, w), b.block)).body.statements]
[multiply]
>>> b.block.statements.pop().primitive
multiply
>>> [s.primitive for s in without_enforced_checks(Program("f", (x, w), b.block)).body.statements]
[check_same]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .core import ArrayType, Assign, Block, Dimension, For, If, Operand, Program, Statement, Variable, While

Path = tuple[type, ...]


def without_enforced_checks(program: Program) -> Program:
    """The program for a backend that checks indices and shapes by itself."""
    sizes = Sizes(program)
    return Program(program.name, program.parameters, cleared(program.body, (), sizes))


def cleared(block: Block, path: Path, sizes: Sizes) -> Block:
    statements = [within(s, path, sizes) for s in block.statements if not enforced(s, path, sizes)]
    return Block(statements, block.results)


def enforced(statement: Statement, path: Path, sizes: Sizes) -> bool:
    """Whether NumPy raises the same error for what a statement checks."""
    if not isinstance(statement, Assign):
        return False
    if statement.primitive.name == "check_same" and statement.static.get("enforced"):
        return sizes.compared(*statement.operands, path)
    return statement.primitive.name == "check_index" and not statement.static.get("of_example")


def within(statement: Statement, path: Path, sizes: Sizes) -> Statement:
    path = (*path, type(statement))
    parts = {name: cleared(getattr(statement, name), path, sizes) for name in block_names(statement)}
    return replace(statement, **parts) if parts else statement


def block_names(statement: Statement) -> tuple[str, ...]:
    match statement:
        case If():
            return ("body", "orelse")
        case For():
            return ("body",)
        case While():
            return ("test", "body")
    return ()


class Sizes:
    """Which sizes the operations of a program compare, at each depth of loops and branches."""

    def __init__(self, program: Program):
        self.seen: dict[Variable, tuple[Dimension, ...]] = {}
        self.pairs: list[tuple[Path, Dimension, Dimension]] = []
        self.collect(program.body, ())

    def collect(self, block: Block, path: Path) -> None:
        for statement in block.statements:
            if isinstance(statement, Assign):
                self.operation(statement, path)
            for name in block_names(statement):
                self.collect(getattr(statement, name), (*path, type(statement)))

    def operation(self, statement: Assign, path: Path) -> None:
        name, operands = statement.primitive.name, statement.operands
        if statement.primitive.elementwise:
            shapes = [shape for shape in map(self.shape, operands) if shape]
            longest = max(shapes, key=len, default=())
            for shape in shapes:
                self.compare(path, zip(reversed(longest), reversed(shape), strict=False))
            target = statement.targets[0]
            if isinstance(target.type, ArrayType) and len(longest) == target.type.ndim:
                own = [l if l != 1 else t for l, t in zip(longest, target.type.shape, strict=True)]
                self.seen[target] = tuple(own)
        elif name == "matmul":
            left, right = map(self.shape, operands)
            self.compare(path, [(left[-1], right[max(len(right) - 2, 0)])])
        elif name in ("setitem", "index_add") and len(operands) == 3:
            whole = all(isinstance(i, slice) and i == slice(None) for i in operands[1])
            if whole and self.shape(operands[2]):
                self.compare(
                    path,
                    zip(reversed(self.shape(operands[0])), reversed(self.shape(operands[2])), strict=False),
                )
        elif name == "solve":
            left, right = map(self.shape, operands)
            self.compare(path, [(left[-1], left[-2]), (left[-1], right[0 if len(right) == 1 else -2])])

    def shape(self, operand: Operand) -> tuple[Dimension, ...]:
        """The sizes that an operand really has, before any was taken to be equal to another."""
        if not isinstance(operand, Variable) or not isinstance(operand.type, ArrayType):
            return ()
        return self.seen.get(operand, operand.type.shape)

    def compare(self, path: Path, pairs: Iterator[tuple[Dimension, Dimension]]) -> None:
        self.pairs += [(path, a, b) for a, b in pairs if a is not b]

    def compared(self, a: Dimension, b: Dimension, path: Path) -> bool:
        """Whether operations that run whenever `path` does would refuse that two sizes differ."""
        known = {a}
        while b not in known:
            more = {
                y
                for where, *pair in self.pairs
                if path[: len(where)] == where
                for x, y in (pair, pair[::-1])
                if x in known
            } - known
            if not more:
                return False
            known |= more
        return True
