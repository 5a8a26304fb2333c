"""Where a block stands in the forward sweep: the loops and branches around it, and what is bound in it."""
from __future__ import annotations

from collections.abc import Iterator

from ..codegen.core import Assign, Block, For, If, Operand, Statement, Variable, While, bound_in
from ..codegen.custom_calls import alias, joined, pulled


class Level:
    """A block of the forward sweep: the body of a program or a loop, or a branch."""

    def __init__(self, parent: Level | None, statement: Statement | None, block: Block,
                 parameters: tuple[Variable, ...] = ()):
        self.parent = parent
        self.statement = statement
        self.block = block
        self.chains: list = []  # arrays to be put back (chains.py)
        self.regained: dict[Variable, Operand] = {}  # versions with which backward loops and branches end
        self.entry: tuple[Variable, ...] = tuple(parameters)
        if statement is not None and not isinstance(statement, If):
            self.entry = bound_in(statement)
        self.survey()

    def survey(self) -> None:
        """Work out what is bound in the block and how."""
        self.bound: set[Variable] = set(self.entry)
        self.definitions: dict[Variable, Assign] = dict(self.parent.definitions) if self.parent else {}
        for inner in self.own_statements():
            self.bound.update(inner.targets)
            if isinstance(inner, Assign):
                self.definitions.update((t, value_only(inner, t)) for t in inner.targets)

    def own_statements(self) -> list[Statement]:
        """The block's statements, after those of a while loop's test."""
        before = self.statement.test.statements if isinstance(self.statement, While) else []
        return before + self.block.statements

    def around(self) -> Iterator[Level]:
        """This level and those around it, innermost first."""
        level = self
        while level is not None:
            yield level
            level = level.parent

    @property
    def loops(self) -> list[For | While]:
        """The loops around the block, outermost first."""
        return [level.statement for level in self.around() if isinstance(level.statement, (For, While))][::-1]

    @property
    def top(self) -> Level:
        return list(self.around())[-1]

    def is_outside(self, variable: Variable) -> bool:
        """Whether a variable is bound before all loops and branches around this block."""
        return not any(variable in level.bound for level in self.around() if level.parent is not None)


def value_only(statement: Assign, target: Variable) -> Assign:
    """The statement that gives a variable its value, without what is there for its derivative only."""
    if statement.primitive not in (pulled, joined):
        return statement
    value = statement.operands[statement.targets.index(target)]
    return Assign((target,), alias, (value,), {}, statement.location)
