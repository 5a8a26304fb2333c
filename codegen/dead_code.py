"""Dead code: removes what no result and no effect needs.

A value is needed if a result, an effect or a needed value reads it. A loop's variable that only feeds itself
is not needed; nor is a stack none of whose popped values is. That a loop might not end is no effect.

>>> from .build import Builder
>>> from .core import FLOAT, Block, Program, Variable
>>> from .primitives import elementwise as e
>>> x = Variable("x", FLOAT)
>>> b = Builder()
>>> y, unused = b.emit(e.sin, x, weak=True), b.emit(e.cos, x, weak=True)
>>> b.block.results = (y,)
>>> [s.primitive for s in remove_dead_code(Program("f", (x,), b.block)).body.statements]
[sin]
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .core import (
    ArrayType,
    Assign,
    Block,
    For,
    If,
    Operand,
    Program,
    Statement,
    Variable,
    While,
    blocks_of,
    variables_in,
)


def remove_dead_code(program: Program, keep_sizes: bool = True) -> Program:
    """The program without what is not needed.

    With `keep_sizes`, the sizes in the types of needed variables count as needed: passes to come read them.
    """
    needs = Needs(keep_sizes)
    needs.survey(program.body, None)
    for parameter in program.parameters:
        needs.need(sizes_in(parameter) if keep_sizes else ())
    needs.need(program.results)
    needs.follow()
    return Program(program.name, program.parameters, needs.sweep(program.body))


class Needs:
    """Which variables and statements are needed."""

    def __init__(self, keep_sizes: bool):
        self.keep_sizes = keep_sizes
        self.variables: set[Variable] = set()
        self.statements: set[Statement] = set()
        self.waiting: list[Variable] = []
        # what makes a variable: its statement, and its place among the statement's values
        self.maker: dict[Variable, tuple[Statement, int]] = {}
        self.enclosing: dict[Statement, Statement | None] = {}
        self.effects: list[Statement] = []

    def survey(self, block: Block, enclosing: Statement | None) -> None:
        for statement in block.statements:
            self.enclosing[statement] = enclosing
            for place, target in enumerate(statement.targets):
                self.maker[target] = statement, place
            if isinstance(statement, For):
                self.maker[statement.index] = statement, -1
            if isinstance(statement, (For, While)):
                for place, carried in enumerate(statement.carried):
                    self.maker[carried] = statement, place
            if isinstance(statement, Assign) and statement.primitive.effect:
                self.effects.append(statement)
            for inner in blocks_of(statement):
                self.survey(inner, statement)

    def need(self, operand: Operand) -> None:
        for variable in variables_in(operand):
            if variable not in self.variables:
                self.variables.add(variable)
                self.waiting.append(variable)

    def need_statement(self, statement: Statement | None) -> None:
        """Need a statement to run, hence all that decides whether it does."""
        while statement is not None and statement not in self.statements:
            self.statements.add(statement)
            match statement:
                case Assign():
                    self.need(statement.operands)
                case If():
                    self.need(statement.test)
                case For():
                    self.need((statement.start, statement.stop, statement.step))
                case While():
                    self.need(statement.test.results)
            statement = self.enclosing[statement]

    def follow(self) -> None:
        """Need all that the needed variables and the effects need."""
        for statement in self.effects:
            self.need_statement(statement)
        while self.waiting:
            variable = self.waiting.pop()
            if self.keep_sizes:
                self.need(sizes_in(variable))
            if variable not in self.maker:
                continue
            statement, place = self.maker[variable]
            self.need_statement(statement)
            if place < 0:
                continue
            match statement:
                case If():
                    self.need((statement.body.results[place], statement.orelse.results[place]))
                case For() | While():
                    self.need((statement.carried[place], statement.targets[place]))
                    self.need((statement.initial[place], statement.body.results[place]))

    def sweep(self, block: Block, places: Sequence[int] | None = None) -> Block:
        """The block with only what is needed; `places` are those of its results that stay (None: all)."""
        results = block.results if places is None else pick(block.results, places)
        return Block([self.keep(s) for s in block.statements if s in self.statements], results)

    def keep(self, statement: Statement) -> Statement:
        if isinstance(statement, Assign):
            return statement
        places = [i for i, target in enumerate(statement.targets) if target in self.variables]
        parts = {"targets": pick(statement.targets, places), "body": self.sweep(statement.body, places)}
        if isinstance(statement, If):
            return replace(statement, **parts, orelse=self.sweep(statement.orelse, places))
        parts |= {"carried": pick(statement.carried, places), "initial": pick(statement.initial, places)}
        if isinstance(statement, While):
            parts["test"] = self.sweep(statement.test)
        return replace(statement, **parts)


def pick(items: Sequence, places: Sequence[int]) -> tuple:
    return tuple(items[place] for place in places)


def sizes_in(variable: Variable) -> tuple:
    """The sizes in a variable's type."""
    return variable.type.shape if isinstance(variable.type, ArrayType) else ()
