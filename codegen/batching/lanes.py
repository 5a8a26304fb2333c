"""Lanes: statements done one example at a time, in a loop over the batch.

Each lane reads its row of every batched value, goes its own way, and writes its row of each result:

    for lane in range(n):
        x_lane = x[lane]
        ...
        y[lane] = y_lane

What a lane with loops computes is computed again, lane by lane, by a backward sweep: the sweep then keeps
what it needs of one lane at a time, and no lane needs anything of another.

Results whose shapes may differ have to have the first one's shape.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..adopt import adopt_block
from ..build import replace_type
from ..core import (
    INT,
    Assign,
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


UNEVEN = "vmap of a function whose result has another shape for one example than for another"


def sizes_of(statements: list[Statement]) -> Iterator[Variable]:
    """The sizes, from outside, that the types of what statements assign name."""
    own: set[Variable] = set()
    for statement in walk(Block(statements)):
        own.update((*statement.targets, *bound_in(statement)))
    for variable in own:
        yield from (size for size in sizes_in(variable.type) if size not in own)


def needed_for(wanted: Iterable[Variable], statements: list[Statement]) -> list[Statement]:
    """Those of some statements that compute what is wanted, in order."""
    needed, wanted = [], set(wanted)
    for statement in reversed(statements):
        if wanted.intersection(statement.targets):
            needed.append(statement)
            wanted.update(variables_in(operands_of(statement)))
    return needed[::-1]


class Lanes:
    """Emits regions as loops over the examples."""

    def __init__(self, batcher: Batcher):
        self.batcher = batcher

    def emit(self, region: Region, around: list[Statement], block: Block, also: Block | None) -> None:
        batcher, builder = self.batcher, self.batcher.builder
        inside, outputs = region.statements, self.outputs(region, around, block, also)
        location = builder.location = inside[0].location
        uneven = [size for of in outputs for size in sizes_in(of.type) if batcher.differs(size)]
        even = self.sizes(uneven, inside, 0)
        initial = tuple(self.room(target, even) for target in outputs)
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
            for size, own in self.sizes(uneven, inside, lane).items():
                builder.require_same(even[size], own, UNEVEN, enforced=False)
            rows = tuple(map(renaming, outputs))
            adopt_block(builder, Block(self.run_again(made, rows)))
            for row in rows if even else ():
                row.type = replace_type(row.type, {renaming(size): first for size, first in even.items()})
            body.results = tuple(builder.emit(PRIMITIVES["setitem"], array, (lane,), renaming(target))
                                 for array, target in zip(carried, outputs, strict=True))
        for result, target in zip(body.results, outputs, strict=True):
            result.name = target.name
        builder.location = location
        targets = tuple(map(batcher.fresh, outputs))
        for target in targets:
            target.type = replace_type(target.type, even)
        batcher.even.update(outputs)
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
        ragged = list(filter(self.batcher.analysis.ragged, targets))
        final = block is self.batcher.program.body
        if ragged and not (final and self.known_before(ragged, region)):
            raise UnsupportedError(
                "vmap of a function that returns, or carries through a loop, a value whose shape may "
                "differ from one example to another", "pad it to one shape, or use a loop",
                region.statements[-1].location)
        return targets

    def known_before(self, targets: list[Variable], region: Region) -> bool:
        """Whether the shapes of some results are known before there are loops to go through."""
        sizes = [size for target in targets for size in sizes_in(target.type)]
        plain = all(isinstance(s, Assign) for s in needed_for(sizes, region.statements))
        return plain and not any(isinstance(target.type, StackType) for target in targets)

    def sizes(
        self, wanted: list[Variable], inside: list[Statement], lane: Operand
    ) -> dict[Variable, Operand]:
        """What sizes, which differ from example to example, are in one of them."""
        batcher = self.batcher
        if not wanted or (isinstance(batcher.size, int) and batcher.size == 0):
            return dict.fromkeys(wanted, 0)
        needed = Block(needed_for(wanted, inside), tuple(wanted))
        renaming = Renaming({**batcher.renaming.mapping, **self.rows(needed.statements, lane, wanted)})
        renaming.bind_block(needed)
        made = renaming.statements(needed.statements)
        renaming.retype()
        adopt_block(batcher.builder, Block(made))
        return {size: renaming(size) for size in wanted}

    def room(self, target: Variable, even: dict[Variable, Operand]) -> Variable:
        """An array for what the lanes give."""
        of = batched_type(self.batcher.type(replace_type(target.type, even)), self.batcher.size)
        array = self.batcher.builder.emit(PRIMITIVES["empty"], of.shape, dtype=of.dtype)
        array.name = target.name
        return array

    def rows(
        self, inside: list[Statement], lane: Operand, more: Iterable[Variable] = ()
    ) -> dict[Variable, Operand]:
        """This lane's row of every batched value that the statements read, and of some more."""
        batcher = self.batcher
        read = dict.fromkeys(free_variables(Block(list(inside), tuple(more))))
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

    def row(self, variable: Variable, lane: Operand) -> Operand:
        """One example's value; of a Python scalar, a Python scalar."""
        builder, of = self.batcher.builder, variable.type
        row = builder.emit(PRIMITIVES["getitem"], self.batcher.renaming(variable), (lane,))
        if of.weak:
            row = builder.emit(PRIMITIVES["astype"], row, dtype=of.dtype, weak=True)
        if variable.name and isinstance(row, Variable):
            row.name = f"{variable.name}_lane"
        return row


