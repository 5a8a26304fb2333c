"""Lanes: statements done one example at a time, in a loop over the batch.

Each lane reads its row of every batched value, goes its own way, and writes its row of each result:

    for lane in range(n):
        x_lane = x[lane]
        ...
        y[lane] = y_lane

What a lane with loops computes is computed again, lane by lane, by a backward sweep: the sweep then keeps
what it needs of one lane at a time, and no lane needs anything of another.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..adopt import adopt_block
from ..core import (
    INT,
    Block,
    For,
    If,
    Operand,
    Run,
    StackType,
    Statement,
    Variable,
    While,
    bound_in,
    free_variables,
    nothing,
    operands_of,
    variables_in,
    walk,
)
from ..errors import UnsupportedError
from ..registry import PRIMITIVES
from ..renaming import Renaming, sizes_in
from .regions import Region
from .rules import batched_type

if TYPE_CHECKING:
    from .batch import Batcher


def sizes_of(statements: list[Statement]) -> Iterator[Variable]:
    """The sizes, from outside, that the types of what statements assign name."""
    own: set[Variable] = set()
    for statement in walk(Block(statements)):
        own.update((*statement.targets, *bound_in(statement)))
    for variable in own:
        yield from (size for size in sizes_in(variable.type) if size not in own)


class Lanes:
    """Emits regions as loops over the examples."""

    def __init__(self, batcher: Batcher):
        self.batcher = batcher

    def emit(self, region: Region, around: list[Statement], block: Block, also: Block | None) -> None:
        batcher, builder = self.batcher, self.batcher.builder
        inside, outputs = region.statements, self.outputs(region, around, block, also)
        location = builder.location = inside[0].location
        initial = tuple(self.room(target) for target in outputs)
        carried = tuple(Variable(array.name, array.type) for array in initial)
        lane = Variable("lane", INT)
        builder.lower_bounds[lane] = 0
        with builder.inside(Block()) as body:
            for variable in carried:
                builder.depths[variable] = len(builder.scopes)
            renaming = Renaming({**batcher.renaming.mapping, **self.rows(inside, lane)})
            renaming.bind_block(Block(inside))
            made = [renaming.statement(statement) for statement in inside]
            renaming.retype()
            adopt_block(builder, Block(self.run_again(made, tuple(map(renaming, outputs)))))
            body.results = tuple(builder.emit(PRIMITIVES["setitem"], array, (lane,), renaming(target))
                                 for array, target in zip(carried, outputs, strict=True))
        for result, target in zip(body.results, outputs, strict=True):
            result.name = target.name
        builder.location = location
        targets = tuple(map(batcher.fresh, outputs))
        builder.append(For(targets, lane, 0, batcher.size, 1, carried, initial, body, location))

    def run_again(self, made: list[Statement], outputs: tuple[Operand, ...]) -> list[Statement]:
        """A lane's statements, to be run again by a backward sweep if there are loops among them."""
        if not any(isinstance(statement, (For, While)) for statement in walk(Block(made))):
            return made
        inner = {target: Variable(target.name, target.type) for target in outputs}
        again = Renaming(dict(inner)).block(Block(made, outputs))
        return [If(outputs, True, again, nothing(len(outputs)), made[0].location, recompute=Run())]

    def outputs(self, region: Region, around: list[Statement], block: Block,
                also: Block | None) -> list[Variable]:
        """The variables assigned in a region that are read outside of it."""
        inside = set(region.statements)
        read = set(variables_in(block.results))
        for statement in around:
            if statement not in inside:
                read.update(variables_in(operands_of(statement)))
                read.update(free_variables(Block([statement])))
        if also is not None:
            read.update(free_variables(also))
        targets = [t for statement in region.statements for t in statement.targets if t in read]
        for target in targets:
            if self.batcher.analysis.ragged(target):
                raise UnsupportedError(
                    "vmap of a function that returns, or carries through a loop, a value whose shape may "
                    "differ from one example to another", "pad it to one shape, or use a loop",
                    region.statements[-1].location)
        return targets

    def room(self, target: Variable) -> Variable:
        """An array for what the lanes give."""
        of = batched_type(self.batcher.type(target.type), self.batcher.size)
        array = self.batcher.builder.emit(PRIMITIVES["empty"], of.shape, dtype=of.dtype)
        array.name = target.name
        return array

    def rows(self, inside: list[Statement], lane: Variable) -> dict[Variable, Operand]:
        """This lane's row of every batched value that the statements read."""
        batcher = self.batcher
        read = dict.fromkeys(free_variables(Block(list(inside))))
        read.update(dict.fromkeys(sizes_of(inside)))
        rows: dict[Variable, Operand] = {}
        for variable in read:
            if variable not in batcher.analysis.batched:
                continue
            if isinstance(variable.type, StackType):
                raise UnsupportedError("vmap of a loop that keeps values which only some examples read",
                                       "call the function in a loop", inside[0].location)
            rows[variable] = self.row(variable, lane)
        return rows

    def row(self, variable: Variable, lane: Variable) -> Operand:
        """One example's value; of a Python scalar, a Python scalar."""
        builder, of = self.batcher.builder, variable.type
        row = builder.emit(PRIMITIVES["getitem"], self.batcher.renaming(variable), (lane,))
        if of.weak:
            row = builder.emit(PRIMITIVES["astype"], row, dtype=of.dtype, weak=True)
        if variable.name and isinstance(row, Variable):
            row.name = f"{variable.name}_lane"
        return row


