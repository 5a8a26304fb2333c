"""Leave out the checks that NumPy makes itself: of indices, and of sizes that it would not broadcast.

    check_index(i, n)                        y = getitem(x, (i,))
    y = getitem(x, (i,))             ->

The NumPy backend needs no check that an array operation makes anyway; the Numba backend needs them all.

>>> from .build import Builder
>>> from .core import INT, Variable
>>> from .primitives import effects
>>> b, i, n = Builder(), Variable("i", INT), Variable("n", INT)
>>> b.emit(effects.check_index, i, n, axis=0)
()
>>> without_enforced_checks(Program("f", (i, n), b.block)).body.statements
[]
"""
from __future__ import annotations

from dataclasses import replace

from .core import Assign, Block, For, If, Program, Statement, While


def without_enforced_checks(program: Program) -> Program:
    """The program for a backend that checks indices and shapes by itself."""
    return Program(program.name, program.parameters, cleared(program.body))


def cleared(block: Block) -> Block:
    return Block([within(s) for s in block.statements if not enforced(s)], block.results)


def enforced(statement: Statement) -> bool:
    """Whether NumPy raises the same error for what a statement checks."""
    if not isinstance(statement, Assign):
        return False
    return statement.primitive.name == "check_index" or bool(statement.static.get("enforced"))


def within(statement: Statement) -> Statement:
    match statement:
        case If():
            return replace(statement, body=cleared(statement.body), orelse=cleared(statement.orelse))
        case For():
            return replace(statement, body=cleared(statement.body))
        case While():
            return replace(statement, test=cleared(statement.test), body=cleared(statement.body))
    return statement
