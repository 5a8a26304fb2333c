"""Sums of products in tiles: eight rows and sixteen columns at a time, whose sums stay in registers.

    y = zeros((n, m))                        for row in range(0, n - n % 8, 8):
    for i in range(n):                           for first in range(0, m, 16):
        for k in range(p):                           sums = zeros((8, 16))
            for j in range(m):                       for k in range(p):
                y[i, j] += a[i, k] * b[k, j]  ->         for c in range(16):
                                                             for r in range(8):
                                                                 sums[r, c] += a[row + r, k] * b[k, first + c]
                                                     y[row : row + 8, first : first + 16] = sums

Sums in memory are read and written for each product. Where sixteen do not divide a row, its last tile
overlaps the one before: so it is done for sums that begin with zeros. The rows left are done as before.

>>> import numpy as np
>>> from .blocked_sums import block_sums
>>> from .core import ArrayType
>>> from .fuse import fuse
>>> from .inplace import write_in_place
>>> from .parse import parse_text
>>> from .printing import print_program
>>> from .simplify import simplify
>>> from .specialise import Parameter, specialise
>>> text = "def f(a, b):\\n  return (a[:, :, None] * b).sum(1)"
>>> matrix = lambda name: Parameter(ArrayType(np.dtype(float), (None, None)), name)
>>> nests = fuse(write_in_place(simplify(specialise(parse_text(text), [*map(matrix, "ab")]).program)))
>>> printed = print_program(write_in_place(block_sums(nests)))
>>> print(printed.split("zeros((n, m_2))")[1].split("    blocks")[0])
<BLANKLINE>
    tiles = n // 8 if m_2 >= 16 else 0
    for tile in range(tiles):
        row = tile * 8
        for column in range(0, m_2, 16):
            first = max(min(column, m_2 - 16), 0)
            sums = np.zeros((8, 16))
            for j in range(m):
                for c in range(16):
                    part = b[j, first + c]
                    for r in range(8):
                        sums[r, c] += a[row + r, j] * part
            for r in range(8):
                for c in range(16):
                    result[row + r, first + c] = sums[r, c]
<BLANKLINE>
"""

from __future__ import annotations

import contextlib
from collections.abc import Container, Iterator
from math import prod
from typing import Any

from .build import Builder
from .core import INT, Assign, Block, For, Operand, Variable, variables_in
from .elements import CHEAP
from .registry import PRIMITIVES
from .renaming import Renaming
from .row_loops import dependent

ROWS, COLUMNS = 8, 16
FEW = 4  # products for which it costs more to clear a sum and to write it


def may_be_tiled(loops: list[For], zeros: Container[Operand]) -> bool:
    """Whether loops that add products to rows do so to zeros, and to no small array.

    What is read for all columns of a row is computed for each of them, unless LLVM sees that it is the same.
    """
    rows, *between, along = loops
    array, write = rows.carried[0], along.body.statements[-1]
    if rows.initial[0] not in zeros or array.type.dtype.kind != "f":
        return False
    if is_below(rows.stop, ROWS) or is_below(along.stop, COLUMNS):
        return False
    if all(isinstance(one.stop, int) for one in between) and prod(one.stop for one in between) < FEW:
        return False
    numbers = [s for one in loops[:-1] for s in one.body.statements[:-1]] + along.body.statements[:-1]
    moving = dependent(loops, {one.index for one in loops})
    places = [one for one in variables_in(write.operands[1]) if one in moving]
    own_place = len(places) == 2 and set(places) == {rows.index, along.index}
    return own_place and all(s.primitive.name in CHEAP for s in numbers)


def is_below(size: Operand, least: int) -> bool:
    return isinstance(size, int) and size < least


class Tiles:
    """Writes the loops for whole tiles; `now` has the present versions of the array and of a tile's sums."""

    def __init__(self, loops: list[For]):
        self.loops, self.builder, self.renaming = loops, Builder(), Renaming()
        self.builder.location = loops[0].location
        self.now = {"array": loops[0].initial[0]}
        *outer, along = loops
        numbers = [s for one in outer for s in one.body.statements[:-1]] + along.body.statements
        own = dependent(loops, {loops[0].index})
        self.of_a_row = [s for s in numbers if own.intersection(s.targets) or s is numbers[-1]]

    def emit(self, primitive: str, *operands: Operand, **static: Any) -> Operand:
        return self.builder.emit(PRIMITIVES[primitive], *operands, **static)

    @contextlib.contextmanager
    def over(self, name: str | None, stop: Operand, key: str, step: int = 1) -> Iterator[Variable]:
        """Write a loop whose turns change one of the arrays."""
        index, initial, location = Variable(name, INT), self.now[key], self.builder.location
        carried, after = (Variable(initial.name, initial.type) for _ in range(2))
        self.now[key] = carried
        with self.builder.inside(Block()) as block:
            yield index
            block.results = (self.now[key],)
        self.builder.append(For((after,), index, 0, stop, step, (carried,), (initial,), block, location))
        self.now[key] = after

    def write(self) -> Operand:
        """Write all tiles; how many there are of rows."""
        rows, *_, along = self.loops
        tiles = self.emit("floor_divide", rows.stop, ROWS, weak=True)
        if isinstance(along.stop, Variable):
            wide = self.emit("greater_equal", along.stop, COLUMNS)
            tiles = self.emit("where", wide, tiles, 0, weak=True)
        if isinstance(tiles, Variable):
            tiles.name = "tiles"
        with self.over("tile", tiles, "array") as tile:
            row = self.emit("multiply", tile, ROWS, name="row")
            with self.over("column", along.stop, "array", COLUMNS) as column:
                self.tile(row, column)
        return tiles

    def tile(self, row: Variable, column: Variable) -> None:
        """Write one tile: its sums, then these into the array."""
        rows, *_, along = self.loops
        last = self.builder.dimension_subtract(along.stop, COLUMNS)
        first = self.emit("minimum", column, last, weak=True)
        first = self.emit("maximum", first, 0, weak=True, name="first")
        dtype = self.now["array"].type.dtype
        self.now["sums"] = self.emit("zeros", (ROWS, COLUMNS), dtype=dtype, name="sums")
        self.add_up(row, first)
        with self.over("r", ROWS, "array") as r, self.over("c", COLUMNS, "array") as c:
            self.place(row, first, r, c)
            index = self.renaming(along.body.statements[-1].operands[1])
            value = self.emit("getitem", self.now["sums"], (r, c))
            self.now["array"] = self.emit("setitem", self.now["array"], index, value)

    def place(self, row: Variable, first: Variable, r: Variable, c: Variable) -> None:
        """Let the indices of the rows, and along them, be those of an element of a tile."""
        self.renaming.mapping[self.loops[-1].index] = self.emit("add", first, c)
        self.renaming.mapping[self.loops[0].index] = self.emit("add", row, r)

    def add_up(self, row: Variable, first: Variable) -> None:
        """Write the loops over what is summed, with those over the sums in them."""
        mapping = self.renaming.mapping
        with contextlib.ExitStack() as loops:
            for one in self.loops[:-1]:
                if one is not self.loops[0]:
                    stop = self.renaming(one.stop)
                    mapping[one.index] = loops.enter_context(self.over(one.index.name, stop, "sums"))
                self.for_all_rows(one)
            c = loops.enter_context(self.over("c", COLUMNS, "sums"))
            mapping[self.loops[-1].index] = self.emit("add", first, c)
            self.for_all_rows(self.loops[-1])
            r = loops.enter_context(self.over("r", ROWS, "sums"))
            self.place(row, first, r, c)
            for statement in self.of_a_row:
                self.copy(statement, (r, c))

    def for_all_rows(self, loop: For) -> None:
        """Write the numbers of a loop that are the same in all rows of a tile."""
        for statement in loop.body.statements:
            if isinstance(statement, Assign) and statement not in self.of_a_row:
                self.copy(statement)

    def copy(self, statement: Assign, at: tuple = ()) -> None:
        """Write a statement anew, that of the array's elements for the tile's sums `at` a place."""
        self.renaming.bind(statement.targets)
        made = self.renaming.statement(statement)
        if statement.operands[:1] == self.loops[-1].carried:
            made.operands = (self.now["sums"], at, *made.operands[2:])
        if statement.primitive.destructive:
            self.now["sums"] = Variable("sums", self.now["sums"].type)
            made.targets = (self.now["sums"],)
        self.builder.append(made)
