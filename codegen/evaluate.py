"""A reference interpreter: runs a core program straight through its primitives' NumPy implementations.

It is slow, and has no way to be wrong that the primitives do not have; tests compare every other way of
running a program with it.

>>> from .core import FLOAT, Variable
>>> from .primitives import elementwise as e
>>> x, y = Variable("x", FLOAT), Variable("y", FLOAT)
>>> evaluate(Program("f", (x,), Block([Assign((y,), e.multiply, (x, 2.0))], (y,))), (3.0,))
6.0
"""

from __future__ import annotations

from typing import Any

from .core import Assign, Block, For, If, Program, Statement, While, map_variables


class Environment(dict):
    """The values of the variables so far."""

    def made(self, statement: Assign, operands: tuple, results: tuple) -> None:
        """Called after each operation, for those who watch."""


def evaluate(program: Program, arguments: tuple) -> Any:
    """The program's result (a tuple, unless there is one), as its printed form returns it."""
    environment = Environment(zip(program.parameters, arguments, strict=True))
    results = run(program.body, environment)
    return results[0] if len(results) == 1 else results


def value(operand: Any, environment: Environment) -> Any:
    return map_variables(environment.__getitem__, operand)


def run(block: Block, environment: Environment) -> tuple:
    for statement in block.statements:
        execute(statement, environment)
    return value(block.results, environment)


def execute(statement: Statement, environment: Environment) -> None:
    match statement:
        case Assign():
            operands = value(statement.operands, environment)
            result = statement.primitive.implementation(*operands, **statement.static)
            # A primitive may have one result and still give a tuple of it.
            results = result if isinstance(result, tuple) else (result,)
            environment.made(statement, operands, results)
            if statement.targets:
                environment.update(zip(statement.targets, results, strict=True))
        case If():
            block = statement.body if value(statement.test, environment) else statement.orelse
            environment.update(zip(statement.targets, run(block, environment), strict=True))
        case For():
            bounds = value((statement.start, statement.stop, statement.step), environment)
            carried = value(statement.initial, environment)
            for index in range(*bounds):
                environment.update(zip(statement.carried, carried, strict=True))
                environment[statement.index] = index
                carried = run(statement.body, environment)
            environment.update(zip(statement.targets, carried, strict=True))
        case While():
            carried = value(statement.initial, environment)
            while True:
                environment.update(zip(statement.carried, carried, strict=True))
                if not run(statement.test, environment)[0]:
                    break
                carried = run(statement.body, environment)
            environment.update(zip(statement.targets, carried, strict=True))
