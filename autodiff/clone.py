"""Copies of programs with variables of their own.

>>> from ..codegen.core import FLOAT
>>> x = Variable("x", FLOAT)
>>> copied = fresh_copy(Program("f", (x,), Block([], (x,))))
>>> copied.results, copied.results[0] is x
((x,), False)
"""
from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

from ..codegen import core
from ..codegen.core import (
    Assign,
    Block,
    If,
    Operand,
    Program,
    StackType,
    Statement,
    Type,
    Variable,
    While,
    bound_in,
    free_variables,
    map_variables,
    variables_in,
    walk,
)
from ..codegen.dead_code import remove_dead_code


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
        statements = [self.statement(s) for s in block.statements]
        return Block(statements, self(block.results))

    def statement(self, statement: Statement) -> Statement:
        """A copy of a statement. What a loop carries without changing it is read from outside instead."""
        match statement:
            case Assign():
                operands = self(statement.operands)
                return Assign(self(statement.targets), statement.primitive, operands, statement.static,
                              statement.location)
            case If():
                parts = {"body": self.block(statement.body), "orelse": self.block(statement.orelse)}
                return dataclasses.replace(statement, targets=self(statement.targets), test=self(statement.test),
                                           **parts)
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
        body = [self.statement(s) for s in statement.body.statements]
        return dataclasses.replace(statement, body=Block(body, pick(results)), **parts)


def fresh_copy(program: Program) -> Program:
    """The same program with its own variables."""
    renaming = Renaming()
    renaming.bind(program.parameters)
    renaming.bind_block(program.body)
    body = renaming.block(program.body)
    renaming.retype()
    return Program(program.name, renaming(program.parameters), split_tests(body))


def split_tests(block: Block) -> Block:
    """Where a while test ends a branch or loop with a value that the body reads, the body computes it again.

    A test runs once more than its body, so that what its blocks kept for the way back would not match.
    """
    statements = []
    for statement in block.statements:
        if isinstance(statement, Assign):
            statements.append(statement)
            continue
        names = ("body", "orelse") if isinstance(statement, If) else ("body",)
        parts = {name: split_tests(getattr(statement, name)) for name in names}
        if isinstance(statement, While):
            parts["test"] = split_tests(statement.test)
            inner = [t for s in statement.test.statements if not isinstance(s, Assign) for t in s.targets]
            read = free_variables(parts["body"])
            if any(v.type.inexact and v in read for v in inner):
                renaming = Renaming()
                renaming.bind_block(parts["test"])
                again = [renaming.statement(s) for s in parts["test"].statements]
                renaming.bind_block(parts["body"])
                body = renaming.block(parts["body"])
                renaming.retype()
                parts["body"] = Block(again + body.statements, body.results)
        statements.append(dataclasses.replace(statement, **parts))
    return Block(statements, block.results)


def without_dead_code(block: Block) -> Block:
    """The block without what neither its results nor an effect depends on."""
    return remove_dead_code(Program("", (), block)).body
