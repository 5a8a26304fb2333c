"""Effects that the user sees: each is in a program once, in the order of the original function.

What runs the function's statements a second time, to compute a value again, goes without them.

>>> from .core import FLOAT, Variable
>>> from .registry import PRIMITIVES
>>> shown = Assign((), PRIMITIVES["print"], (Variable("x", FLOAT),))
>>> without_visible(Block([shown], ())).statements
[]
"""

from __future__ import annotations

import dataclasses

from .core import Assign, Block, Program, Statement, While, blocks_of, walk
from .custom_calls import is_custom_call

VISIBLE = frozenset({"print", "callback", "use_key"})


def is_visible(statement: Statement) -> bool:
    """Whether a statement, or any within it, has an effect that the user sees."""
    if isinstance(statement, Assign):
        return statement.primitive.name in VISIBLE
    return any(is_visible(inner) for block in blocks_of(statement) for inner in block.statements)


def without_visible(block: Block) -> Block:
    """The block without the effects that the user sees."""
    kept = [silent(s) for s in block.statements if not (isinstance(s, Assign) and is_visible(s))]
    return Block(kept, block.results)


def silent(statement: Statement) -> Statement:
    """A statement without the visible effects within it."""
    if is_custom_call(statement):
        return silent_call(statement)
    if isinstance(statement, Assign) or not any(map(may_show, walk(Block([statement])))):
        return statement
    names = ("test", "body") if isinstance(statement, While) else ("body", "orelse")
    parts = {name: getattr(statement, name, None) for name in names}
    blocks = {name: without_visible(part) for name, part in parts.items() if isinstance(part, Block)}
    return dataclasses.replace(statement, **blocks)


def may_show(statement: Statement) -> bool:
    return is_custom_call(statement) or isinstance(statement, Assign) and is_visible(statement)


def silent_call(statement: Assign) -> Assign:
    """A call of a function with derivative rules; its backward rule runs for the first time."""
    call = statement.static["call"]
    parts = {name: getattr(call, name) for name in ("body", "jvp", "forward")}
    parts = {name: silent_program(part) for name, part in parts.items() if isinstance(part, Program)}
    return dataclasses.replace(statement, static={"call": dataclasses.replace(call, **parts)})


def silent_program(program: Program) -> Program:
    """The program, to be run again for its values alone."""
    return Program(program.name, program.parameters, without_visible(program.body))
