"""An array that a loop carries, and of which each turn's value is kept: carried as the rows of what keeps it.

    kept = empty((n, m))                             kept = empty((n + 1, m))
    for k in range(n):                               kept[0] = c
        kept[k] = c                                  for k in range(n):
        c = tanh(w @ c)                   ->             kept[k + 1] = tanh(w @ kept[k])
        after[k] = c                                 after, kept = kept[1:], kept[:-1]

So no turn makes an array of its own, copies it, or keeps twice what one turn ends and the next begins with.

>>> from .build import Builder
>>> from .core import FLOAT, INT
>>> n, k, b, body = Variable("n", INT), Variable("k", INT), Builder(), Block()
>>> x, c, end = (Variable(name, FLOAT.with_shape((3,))) for name in ("x", "c", "end"))
>>> kept, rows = (Variable(name, FLOAT.with_shape((n, 3))) for name in ("kept", "rows"))
>>> whole = b.emit(PRIMITIVES["empty"], (n, 3), dtype="float64")
>>> with b.inside(body):
...     written = b.emit(PRIMITIVES["setitem"], kept, (k,), c)
...     body.results = (b.emit(PRIMITIVES["exp"], c), written)
>>> b.append(For((end, rows), k, 0, n, 1, (c, kept), (x, whole), body))
>>> b.block.results = (rows,)
>>> made = carry_rows(Program("f", (x, n), b.block)).body.statements
>>> [getattr(statement, "primitive", "loop") for statement in made]
[empty, add, empty, setitem, 'loop', getitem]
>>> [statement.primitive for statement in made[4].body.statements]
[getitem, exp, add, setitem]
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .access import is_array
from .adopt import adopt
from .arrays_over_time import only_read
from .core import Assign, Block, For, Program, Variable, uses_in
from .loop_rewriter import LoopRewriter, is_operation
from .registry import PRIMITIVES


def carry_rows(program: Program) -> Program:
    """The program with carried arrays of which all values are kept as rows of what keeps them."""
    return Carrier(program).run()


@dataclass(frozen=True)
class Kept:
    """The place among what a loop carries of an array that keeps a value of each turn, and the write."""

    place: int
    write: Assign


class Carrier(LoopRewriter):
    """Rewrites one loop after the other."""

    def __init__(self, program: Program):
        super().__init__(program)
        self.uses = uses_in(program)

    def loop(self, loop: For) -> None:
        """Emit a loop with the first of its arrays that is kept carried as rows, then with the others."""
        for place, (carried, result) in enumerate(zip(loop.carried, loop.body.results)):
            kept = self.kept(loop, carried) if is_array(carried) and is_array(result) else None
            if kept is not None and self.alike(carried, result) and only_read(loop.body, carried):
                self.as_rows(loop, place, kept, self.kept(loop, result))
                return
        adopt(self.builder, loop)

    def alike(self, carried: Variable, result: Variable) -> bool:
        """Whether the next value has the dtype and the sizes of the one before."""
        sizes = zip(carried.type.shape, result.type.shape, strict=True)
        return carried.type.dtype == result.type.dtype and all(self.builder.same(a, b) for a, b in sizes)

    def kept(self, loop: For, value: Variable) -> Kept | None:
        """Which array made for it has a value as the row of each turn."""
        for statement in loop.body.statements:
            if not is_operation(statement, "setitem"):
                continue
            array, index, written = statement.operands
            if written is not value or array not in loop.carried or index[0] is not loop.index:
                continue
            place = loop.carried.index(array)
            whole = loop.step == 1 and all(entry == slice(None) for entry in index[1:])
            if not whole or not self.goes_through(loop, array.type.shape[0]):
                continue
            if self.made_for(loop, place, statement) and array.type.dtype == value.type.dtype:
                return Kept(place, statement)
        return None

    def made_for(self, loop: For, place: int, write: Assign) -> bool:
        """Whether an array is empty before a loop, and nothing is done with it there but one write."""
        initial, (written,) = loop.initial[place], write.targets
        if not self.made_by(initial, "empty") or loop.body.results[place] is not written:
            return False
        return all(self.uses[array] == 1 for array in (initial, written, loop.carried[place]))

    def as_rows(self, loop: For, place: int, before: Kept, after: Kept | None) -> None:
        """Emit a loop that carries one more row than it has turns, and what it gave as parts of that."""
        gone = {place, before.place} | ({after.place} if after else set())
        carried, result, array = loop.carried[place], loop.body.results[place], loop.carried[before.place]
        emit, types = self.builder.emit, carried.type
        name, dtype = loop.initial[before.place].name, str(types.dtype)
        with self.builder.at(loop.location):
            count = self.builder.dimension_add(loop.stop, 1)
            made = emit(PRIMITIVES["empty"], (count, *types.shape), dtype=dtype, name=name)
            started = emit(PRIMITIVES["setitem"], made, (0,), loop.initial[place], name=name)
        rows, ended = (Variable(variable.name, made.type) for variable in (array, loop.targets[before.place]))
        body = Block([Assign((carried,), PRIMITIVES["getitem"], (rows, (loop.index,)), {}, loop.location)])
        written = [before.write] + ([after.write] if after else [])
        body.statements += [statement for statement in loop.body.statements if statement not in written]
        with self.builder.inside(body), self.builder.at((after or before).write.location):
            next_row = (self.builder.dimension_add(loop.index, 1),)
            last = emit(PRIMITIVES["setitem"], rows, next_row, result, name=before.write.targets[0].name)
        without = lambda operands: tuple(o for k, o in enumerate(operands) if k not in gone)
        body.results = (*without(loop.body.results), last)
        self.loop(
            replace(
                loop,
                targets=(*without(loop.targets), ended),
                carried=(*without(loop.carried), rows),
                initial=(*without(loop.initial), started),
                body=body,
            )
        )
        with self.builder.at(loop.location):
            self.part(loop.targets[before.place], ended, slice(None, -1))
            if after is not None:
                self.part(loop.targets[after.place], ended, slice(1, None))
            if self.uses[loop.targets[place]]:
                row = emit(PRIMITIVES["getitem"], ended, (loop.stop,))
                self.assign(loop.targets[place], "copy", row)

    def part(self, target: Variable, rows: Variable, which: slice) -> None:
        if self.uses[target]:
            self.assign(target, "getitem", rows, (which,))
