"""Copies of programs with variables of their own.

>>> from ..codegen.core import FLOAT, Variable
>>> x = Variable("x", FLOAT)
>>> copied = fresh_copy(Program("f", (x,), Block([], (x,))))
>>> copied.results, copied.results[0] is x
((x,), False)
"""
from __future__ import annotations

import dataclasses

from ..codegen.core import Assign, Block, If, Program, While, free_variables
from ..codegen.dead_code import remove_dead_code
from ..codegen.renaming import Renaming
from ..codegen.visible import without_visible


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
                silent_test = without_visible(parts["test"])
                renaming.bind_block(silent_test)
                again = [renaming.statement(s) for s in silent_test.statements]
                renaming.bind_block(parts["body"])
                body = renaming.block(parts["body"])
                renaming.retype()
                parts["body"] = Block(again + body.statements, body.results)
        statements.append(dataclasses.replace(statement, **parts))
    return Block(statements, block.results)


def without_dead_code(block: Block) -> Block:
    """The block without what neither its results nor an effect depends on."""
    return remove_dead_code(Program("", (), block)).body
