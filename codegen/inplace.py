"""Writing in place: puts copies where memory is shared, so that each write may go into the array itself.

After this pass the first operand of every destructive primitive (setitem, index_add, push, pop) is not
read again, its memory is ours, and nothing that is read later shares it: target and operand may have
one name, and `y = setitem(x, i, v)` be printed as `x[i] = v`. Where a copy is needed it goes where it
costs least: on a small view that must outlive the write, before a loop rather than in it, else on the array
written.

A parameter is the caller's: it is copied before it is written, unless it is among `owned_parameters`.
With `fresh_results`, no result shares memory with a parameter or with another result.

>>> from .build import Builder
>>> from .core import Program
>>> from .primitives import creation, indexing
>>> b = Builder()
>>> x = b.emit(creation.zeros, (3,), dtype="float64")
>>> y = b.emit(indexing.setitem, x, (0,), 1.0)
>>> z = b.emit(indexing.setitem, x, (0,), 2.0)
>>> b.block.results = (y, z)
>>> [s.primitive for s in write_in_place(Program("f", (), b.block)).body.statements]
[zeros, copy, setitem, setitem]
"""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .alias import NOTHING
from .core import (
    Assign,
    Block,
    For,
    Operand,
    Program,
    Statement,
    Variable,
    While,
    blocks_of,
    type_of,
)
from .errors import Location
from .registry import PRIMITIVES
from .sharing import Copies, Sharing


def write_in_place(
    program: Program, owned_parameters: Iterable[Variable] = frozenset(), fresh_results: bool = False
) -> Program:
    """The program with the copies it needs for every write to be done in place."""
    sharing = Sharing(program, owned_parameters)
    maker = CopyMaker(sharing.solve())
    body = maker.block(program.body)
    if fresh_results:
        body.results = separate(body, program.results, sharing)
    return Program(program.name, program.parameters, body)


class CopyMaker:
    """Makes the copies that were found to be needed."""

    def __init__(self, copies: Copies):
        self.copies = copies

    def block(self, block: Block) -> Block:
        made = Block([], block.results)
        for statement in block.statements:
            if isinstance(statement, Assign):
                self.assign(made, statement)
            else:
                self.compound(made, statement)
        return made

    def assign(self, made: Block, statement: Assign) -> None:
        operands = list(statement.operands)
        if statement in self.copies.written:
            operands[0] = copy_of(made, operands[0], statement.targets[0].name, statement.location)
        if statement in self.copies.pushed:
            operands[1] = copy_of(made, operands[1], None, statement.location)
        if not statement.targets or statement.targets[0] not in self.copies.views:
            made.statements.append(replace(statement, operands=tuple(operands)))
            return
        (target,) = statement.targets
        view = Variable(None, target.type)
        made.statements.append(replace(statement, targets=(view,), operands=tuple(operands)))
        made.statements.append(Assign((target,), PRIMITIVES["copy"], (view,), {}, statement.location))

    def compound(self, made: Block, statement: Statement) -> None:
        parts = {}
        if hasattr(statement, "carried"):
            parts["initial"] = copied(made, statement, statement.initial, self.copies.initial)
        names = ("test", "body") if isinstance(statement, While) else ("body", "orelse")
        parts |= {name: self.block(inner) for name, inner in zip(names, blocks_of(statement))}
        if hasattr(statement, "carried"):
            body = parts["body"]
            body.results = copied(body, statement, body.results, self.copies.turned)
        made.statements.append(replace(statement, **parts))


def copy_of(block: Block, operand: Operand, name: str | None, location: Location | None) -> Variable:
    """A copy of an operand, made at the end of a block."""
    copied = Variable(name, type_of(operand))
    block.statements.append(Assign((copied,), PRIMITIVES["copy"], (operand,), {}, location))
    return copied


def copied(block: Block, loop: For | While, operands: tuple, which: set[Variable]) -> tuple:
    """A loop's operands, with copies, made at the end of a block, for the carried variables `which`."""
    return tuple(
        copy_of(block, operand, carried.name, loop.location) if carried in which else operand
        for carried, operand in zip(loop.carried, operands)
    )


def separate(body: Block, results: tuple[Operand, ...], sharing: Sharing) -> tuple[Operand, ...]:
    """The results, each with memory of its own."""
    taken = NOTHING
    separated: list[Operand] = []
    for result in results:
        own = sharing.own_of(result)
        if own & taken or not all(buffer.owned for buffer in own):
            result = copy_of(body, result, result.name if isinstance(result, Variable) else None, None)
        taken |= own
        separated.append(result)
    return tuple(separated)


