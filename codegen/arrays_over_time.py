"""Which variables are one array at different times, and which are views of it.

An array that is written, or carried by a loop, is another variable after each write and each turn; all of
them are one *history*, known by one of its variables.

>>> import numpy as np
>>> from .core import ArrayType
>>> from .registry import PRIMITIVES
>>> x, y, z = (Variable(name, ArrayType(np.dtype(float), (3,))) for name in "xyz")
>>> write = Assign((y,), PRIMITIVES["setitem"], (x, (0,), 1.0))
>>> view = Assign((z,), PRIMITIVES["getitem"], (y, (slice(1, None),)))
>>> histories = Histories(Block([write, view]))
>>> histories.of(z) is histories.of(x), histories.is_view(z), histories.members(y) == {x, y}
(True, True, True)
"""

from __future__ import annotations

from .access import is_array
from .core import (
    Assign,
    Block,
    For,
    If,
    Operand,
    Statement,
    Variable,
    While,
    blocks_of,
    operands_of,
    variables_in,
    walk,
)
from .roles import is_view
from .union import Union


class Histories:
    """The histories of a block's arrays."""

    def __init__(self, block: Block):
        self.arrays = Union()
        self.views: set[Variable] = set()
        for statement in walk(block):
            self.note(statement)

    def note(self, statement: Statement) -> None:
        match statement:
            case Assign():
                if statement.primitive.destructive:
                    self.unite(statement.targets[0], statement.operands[0])
                elif is_view(statement) and is_array(statement.operands[0]):
                    self.views.update(filter(is_array, statement.targets))
                    self.unite(*statement.targets, statement.operands[0])
            case If():
                for one in zip(statement.targets, statement.body.results, statement.orelse.results):
                    self.unite(*one)
            case For() | While():
                ends = statement.initial, statement.body.results, statement.targets
                for one in zip(statement.carried, *ends):
                    self.unite(*one)

    def unite(self, *operands: Operand) -> None:
        """Let variables be one array, or views of one."""
        found = [operand for operand in operands if is_array(operand)]
        if found:
            self.arrays.join(*found)

    def of(self, variable: Variable) -> Variable:
        """The history of an array, or of the array that it is a view of."""
        return self.arrays.find(variable)

    def is_view(self, variable: Variable) -> bool:
        return variable in self.views

    def members(self, variable: Variable) -> set[Variable]:
        """All variables of the same history that are no views."""
        return self.arrays.members(variable) - self.views


def only_read(block: Block, variable: Variable) -> bool:
    """Whether nothing in a block writes to an array, or hands it or a view of it on."""
    histories = Histories(block)
    same = lambda operands: any(histories.of(v) is histories.of(variable) for v in variables_in(operands))
    if same(block.results):
        return False
    for statement in walk(block):
        if isinstance(statement, Assign):
            if statement.primitive.destructive and same(statement.operands[0]):
                return False
        elif same((operands_of(statement), [inner.results for inner in blocks_of(statement)])):
            return False
    return True
