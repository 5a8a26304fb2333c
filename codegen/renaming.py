"""Renaming: a program's statements copied with other variables, in their types too.

>>> from .core import FLOAT
>>> x, y, z = (Variable(name, FLOAT) for name in "xyz")
>>> Renaming({x: z, y: 2.0})((x, slice(None, y)))
(z, slice(None, 2.0, None))
"""
from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

from . import core
from .core import (
    Assign,
    Block,
    If,
    Operand,
    StackType,
    Statement,
    Type,
    Variable,
    While,
    bound_in,
    map_variables,
    variables_in,
    walk,
)


def element_type(of: Type) -> core.ArrayType:
    """The array type of a value, or of what a stack holds."""
    return of.element if isinstance(of, StackType) else of


def sizes_in(of: Type) -> Iterator[Variable]:
    """The symbolic sizes that a type mentions."""
    return variables_in(element_type(of).shape)


class Renaming:
    """Replaces variables in operands, types and statements."""

    def __init__(self, mapping: dict[Variable, Operand] | None = None):
        self.mapping = mapping if mapping is not None else {}
        self.made: list[Variable] = []

    def __call__(self, operand: Operand) -> Operand:
        return map_variables(lambda v: self.mapping.get(v, v), operand)

    def type(self, of: Type) -> Type:
        if isinstance(of, StackType):
            return StackType(self.type(of.element))
        return of.with_shape(self(of.shape)) if of.shape else of

    def bind(self, variables: Iterable[Variable]) -> None:
        """Give each variable a fresh one."""
        for variable in variables:
            if variable not in self.mapping:
                self.mapping[variable] = made = Variable(variable.name, variable.type)
                self.made.append(made)

    def bind_block(self, block: Block) -> None:
        for statement in walk(block):
            self.bind(statement.targets)
            self.bind(bound_in(statement))

    def retype(self) -> None:
        """Once every size has its replacement, replace the sizes in the types of the fresh variables."""
        for variable in self.made:
            variable.type = self.type(variable.type)
        self.made.clear()

    def block(self, block: Block) -> Block:
        statements = self.statements(block.statements)
        return Block(statements, self(block.results))

    def statements(self, statements: list[Statement]) -> list[Statement]:
        return [self.statement(statement) for statement in statements]

    def statement(self, statement: Statement) -> Statement:
        """A copy of a statement. What a loop carries without changing it is read from outside instead."""
        match statement:
            case Assign():
                operands = self(statement.operands)
                return Assign(self(statement.targets), statement.primitive, operands, statement.static,
                              statement.location)
            case If():
                parts = {"body": self.block(statement.body), "orelse": self.block(statement.orelse)}
                parts |= {"targets": self(statement.targets), "test": self(statement.test)}
                return dataclasses.replace(statement, **parts)
        changed = []
        results = statement.body.results
        for k, variable in enumerate(statement.carried):
            if results[k] is variable:
                outside = self(statement.initial[k])
                self.mapping[variable] = self.mapping[statement.targets[k]] = outside
            else:
                changed.append(k)
        pick = lambda items: tuple(self(items[k]) for k in changed)
        parts = {"targets": pick(statement.targets), "carried": pick(statement.carried)}
        parts |= {"initial": pick(statement.initial)}
        if isinstance(statement, While):
            parts |= {"test": self.block(statement.test)}
        else:
            parts |= {name: self(getattr(statement, name)) for name in ("index", "start", "stop", "step")}
        body = self.statements(statement.body.statements)
        return dataclasses.replace(statement, body=Block(body, pick(results)), **parts)
