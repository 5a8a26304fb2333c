"""Sums in pieces: a loop that reduces becomes one over pieces of it, whose results are put together in order.

    total = 0.0                            size = max((n + 63) // 64, 512)
    for i in range(n):                     pieces = min((n + 511) // 512, 64)
        total += x[i] * x[i]               total_parts = np.empty(pieces)
                                           for piece in range(pieces):
                                               first = piece * size
                                    ->         total = 0.0
                                               for i in range(first, min(first + size, n)):
                                                   total += x[i] * x[i]
                                               total_parts[piece] = total
                                           total = 0.0
                                           for piece in range(pieces):
                                               total += total_parts[piece]

The turns of the loop over the pieces do not depend on each other, so that cores can share them. Where a piece
begins and ends depends on the number of turns alone: any number of cores gives the same sum, to the bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .access import Index, is_array
from .build import Builder
from .core import INT, Block, Dimension, For, Operand, Program, Variable, type_of
from .nests import INDEX_NAMES
from .reductions import elements_for_one, identity, reductions
from .registry import PRIMITIVES
from .row_loops import nested

PIECES = 64  # more than there are cores, since some take longer than others
LEAST = 512  # turns of a piece: so many that those left over from vectors do not count
LEAST_OF_ROWS = 16  # turns that each add to an array, which a piece clears and adds once more


def reduce_in_pieces(program: Program) -> Program:
    """The program with pieces of those marked loops that reduce."""
    builder = Builder()
    for statement in program.body.statements:
        reduced = reductions(statement) if isinstance(statement, For) and statement.independent else {}
        if reduced:
            Pieces(builder, statement, reduced).write()
        else:
            builder.append(statement)
    return Program(program.name, program.parameters, Block(builder.block.statements, program.results))


class Pieces:
    """Writes a loop in pieces."""

    def __init__(self, builder: Builder, loop: For, reduced: dict[int, str]):
        self.builder, self.loop, self.reduced = builder, loop, reduced
        self.builder.location = loop.location
        self.arrays = [k for k in reduced if is_array(loop.carried[k])]
        self.others = [k for k, carried in enumerate(loop.carried) if k not in reduced and is_array(carried)]

    def write(self) -> None:
        size, pieces = self.sizes()
        emit, carried = self.builder.emit, self.loop.carried
        made = lambda k, *shape: emit(PRIMITIVES["empty"], shape, dtype=carried[k].type.dtype)
        shape = lambda k: getattr(carried[k].type, "shape", ())
        parts = {k: made(k, pieces, *shape(k)) for k in self.reduced}
        own = {k: made(k, *shape(k)) for k in self.arrays}
        for k in self.reduced:
            parts[k].name = f"{carried[k].name or 'total'}_parts"
        for k in self.arrays:
            own[k].name = carried[k].name
        self.put_together(pieces, dict(zip(parts, self.loop_over(pieces, size, parts, own))))

    def sizes(self) -> tuple[Dimension, Dimension]:
        """How many turns a piece has, and how many pieces there are."""
        count, builder = self.loop.stop, self.builder
        least = LEAST
        if nested(self.loop):
            least = LEAST_OF_ROWS if self.arrays else 1
        least *= max((elements_for_one(self.loop, self.loop.carried[k]) for k in self.arrays), default=1)
        size, pieces = (self.rounded_up(count, by) for by in (PIECES, least))
        size, pieces = builder.dimension_max(size, least), builder.dimension_min(pieces, PIECES)
        for value, name in ((size, "size"), (pieces, "pieces")):
            if isinstance(value, Variable):
                value.name = name
        return size, pieces

    def rounded_up(self, count: Dimension, by: int) -> Dimension:
        """How many groups of so many there are, with the rest as one."""
        if by == 1:
            return count
        return self.builder.emit(PRIMITIVES["floor_divide"], self.builder.dimension_add(count, by - 1), by)

    def loop_over(self, pieces: Dimension, size: Dimension, parts: dict, own: dict) -> tuple[Variable, ...]:
        """The loop over the pieces, which gives the parts of what is reduced."""
        loop, builder = self.loop, self.builder
        initial = (*(loop.initial[k] for k in self.others), *parts.values(), *own.values())
        carried, ends = (tuple(Variable(v.name, v.type) for v in initial) for _ in range(2))
        count = len(self.others)
        now = dict(zip(self.others, carried))
        results = dict(zip(parts, carried[count:]))
        sums = dict(zip(own, carried[count + len(parts) :]))
        piece = Variable("piece", INT)
        with builder.inside(Block()) as body:
            first = builder.dimension_multiply(piece, size)
            first.name = "first"
            end = builder.dimension_min(builder.dimension_add(first, size), loop.stop)
            for k, array in sums.items():
                everything = (slice(None),) * array.type.ndim
                now[k] = sums[k] = builder.emit(PRIMITIVES["setitem"], array, everything, self.nothing(k))
            now |= {k: self.nothing(k) for k in self.reduced if k not in sums}
            values = self.some_turns(first, end, now)
            for k, array in results.items():
                store = lambda array, at, value=values[k]: self.store(
                    array, (piece, *at), self.element(value, at)
                )
                results[k] = self.nest(array, type_of(values[k]).shape, store)
            body.results = (*(values[k] for k in self.others), *results.values(), *(values[k] for k in sums))
        targets = (*(loop.targets[k] for k in self.others), *ends[count:])
        builder.append(
            For(targets, piece, 0, pieces, 1, carried, initial, body, loop.location, independent=True)
        )
        return targets[count : count + len(parts)]

    def some_turns(self, first: Operand, end: Operand, now: dict[int, Operand]) -> list[Variable]:
        """The loop itself, from a turn to another; its values after it."""
        loop = self.loop
        initial = tuple(now.get(k, before) for k, before in enumerate(loop.initial))
        targets = tuple(Variable(v.name, v.type) for v in loop.targets)
        parts = {"targets": targets, "initial": initial, "start": first, "stop": end}
        self.builder.append(replace(loop, **parts))
        return list(targets)

    def put_together(self, pieces: Dimension, parts: dict[int, Variable]) -> None:
        """What is reduced, from the parts and from what there was before."""
        loop, builder, piece = self.loop, self.builder, Variable("piece", INT)
        pick = lambda items: tuple(items[k] for k in parts)
        carried = tuple(Variable(v.name, v.type) for v in pick(loop.carried))
        with builder.inside(Block()) as body:
            results = []
            for before, (k, part) in zip(carried, parts.items()):
                step = PRIMITIVES[self.reduced[k]]
                joined = lambda array, at, part=part, step=step: builder.emit(
                    step, self.element(array, at), self.element(part, (piece, *at))
                )
                if is_array(before):
                    add = lambda array, at, joined=joined: self.store(array, at, joined(array, at))
                    results.append(self.nest(before, before.type.shape, add))
                else:
                    results.append(joined(before, ()))
            body.results = tuple(results)
        ends = pick(loop.targets), piece, 0, pieces, 1, carried, pick(loop.initial)
        builder.append(For(*ends, body, loop.location))

    def nothing(self, k: int) -> Operand:
        return identity(self.reduced[k], self.loop.carried[k].type.dtype)

    def element(self, value: Operand, at: Index) -> Operand:
        return self.builder.emit(PRIMITIVES["getitem"], value, at) if is_array(value) else value

    def store(self, array: Variable, at: Index, value: Operand) -> Variable:
        return self.builder.emit(PRIMITIVES["setitem"], array, at, value)

    def nest(
        self,
        array: Variable,
        shape: tuple[Dimension, ...],
        store: Callable[[Variable, Index], Variable],
        at: Index = (),
    ) -> Variable:
        """Loops that do something with each element of an array."""
        if len(at) == len(shape):
            return store(array, at)
        carried, target = (Variable(array.name, array.type) for _ in range(2))
        index = Variable(INDEX_NAMES[len(at)] if len(at) < len(INDEX_NAMES) else f"i{len(at)}", INT)
        with self.builder.inside(Block()) as body:
            body.results = (self.nest(carried, shape, store, (*at, index)),)
        loop = For(
            (target,), index, 0, shape[len(at)], 1, (carried,), (array,), body, self.loop.location, True
        )
        self.builder.append(loop)
        return target
