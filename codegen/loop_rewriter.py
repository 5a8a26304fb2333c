"""Copying a program block by block with its loops rewritten, inner loops first."""

from __future__ import annotations

from dataclasses import replace

from .adopt import adopt, open_program
from .build import Builder
from .core import (
    Assign,
    Block,
    For,
    Operand,
    Program,
    Statement,
    Variable,
    While,
    assigned_in,
    blocks_of,
)
from .linear import difference, least
from .registry import PRIMITIVES


class LoopRewriter:
    """Copies a program; subclasses say what is emitted for a loop, by default the loop."""

    def __init__(self, program: Program):
        self.program = program
        self.builder = Builder()
        open_program(self.builder, program)

    def run(self) -> Program:
        return Program(self.program.name, self.program.parameters, self.block(self.program.body))

    def block(self, block: Block) -> Block:
        made = Block([], block.results)
        with self.builder.inside(made):
            for statement in block.statements:
                statement = self.inside(statement)
                if isinstance(statement, For):
                    self.loop(statement)
                else:
                    adopt(self.builder, statement)
        return made

    def inside(self, statement: Statement) -> Statement:
        """A statement with the blocks in it rewritten."""
        names = ("test", "body") if isinstance(statement, While) else ("body", "orelse")
        parts = {name: self.block(inner) for name, inner in zip(names, blocks_of(statement))}
        return replace(statement, **parts) if parts else statement

    def loop(self, loop: For) -> None:
        adopt(self.builder, loop)

    def assign(self, target: Variable, name: str, *operands: Operand, **static: Operand) -> None:
        """Emit an operation whose result is a variable that there is."""
        made = Assign((target,), PRIMITIVES[name], operands, static, self.builder.location)
        adopt(self.builder, made)

    def made_by(self, operand: Operand, *names: str) -> bool:
        """Whether a value before the loop is the result of one of some operations."""
        made = self.builder.definitions.get(operand) if isinstance(operand, Variable) else None
        return made is not None and made.primitive.name in names

    def has_a_turn(self, loop: For) -> bool:
        """Whether a loop is known to run at least once."""
        ends = loop.start, loop.stop
        if type(loop.step) is not int or not all(isinstance(end, (int, Variable)) for end in ends):
            return False
        span = ends[::-1] if loop.step > 0 else ends
        bound = least(self.builder, difference(self.builder, *span))
        return bound is not None and bound >= 1

    def goes_through(self, loop: For, size: Operand) -> bool:
        """Whether a loop goes through all indices of an axis, up or down."""
        if loop.step == 1:
            return self.builder.same(loop.start, 0) and self.builder.same(loop.stop, size)
        down = loop.step == -1 and self.builder.same(loop.stop, -1)
        known = isinstance(loop.start, (int, Variable))
        return down and known and difference(self.builder, size, loop.start) == ({}, 1)

    def rows(self, loop: For) -> dict[Variable, Variable]:
        """Which vectors in the body of a loop are rows of which matrices, if it goes through all rows."""
        inside = assigned_in(loop)
        found: dict[Variable, Variable] = {}
        for statement in loop.body.statements:
            if not isinstance(statement, Assign) or statement.primitive is not PRIMITIVES["getitem"]:
                continue
            array, index = statement.operands
            row = index[0] is loop.index and all(entry == slice(None) for entry in index[1:])
            if not row or array in inside or array.type.ndim != 2:
                continue
            if self.goes_through(loop, array.type.shape[0]):
                found[statement.targets[0]] = array
        return found


def is_operation(statement: Statement, name: str) -> bool:
    return isinstance(statement, Assign) and statement.primitive is PRIMITIVES[name]
