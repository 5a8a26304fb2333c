"""How many elements are put on a stack by loops whose turns can be counted before them.

    for k in range(m):                              room = 0
        for j in range(k + 1, m):        ->         for k in range(m):
            ...                                         room = room + (m - (k + 1)) * n
            tape.append(x)   # n elements

>>> from .core import FLOAT
>>> from .primitives import elementwise as e
>>> n, k = Variable("n", INT), Variable("k", INT)
>>> loop = For((), k, 0, n, 1, (), (), Block())
>>> counting, builder = Counting((loop,), {}), Builder()
>>> counting.countable((3, k))
True
>>> room = counting.room(builder, (3, 5))
>>> [statement.primitive for statement in builder.block.statements]
[maximum, multiply]
"""

from __future__ import annotations

from collections.abc import Sequence

from .build import Builder, bound_index
from .core import INT, Assign, Block, Dimension, For, Operand, Variable, assigned_in, variables_in
from .primitives.creation import range_size
from .registry import PRIMITIVES

EXACT = frozenset({"add", "subtract", "multiply", "negative", "maximum", "minimum", "slice_size", "size"})


class Counting:
    """The sizes and trips of loops around each other, computed from what is known before them."""

    def __init__(self, loops: Sequence[For], definitions: dict[Variable, Assign]):
        self.loops = tuple(loops)
        self.definitions = definitions
        self.inside = assigned_in(loops[0])
        self.indices = {loop.index for loop in loops}

    def countable(self, sizes: Sequence[Dimension]) -> bool:
        """Whether the loops say how often they run, and these sizes of each turn are known before."""
        bounds = [bound for loop in self.loops for bound in (loop.start, loop.stop)]
        steps = all(type(loop.step) is int and loop.step for loop in self.loops)
        return steps and all(map(self.known, variables_in((tuple(sizes), tuple(bounds)))))

    def known(self, variable: Variable) -> bool:
        if variable not in self.inside or variable in self.indices:
            return True
        made = self.definitions.get(variable)
        exact = made is not None and made.primitive.name in EXACT and variable.type == INT
        return exact and all(map(self.known, variables_in(made.operands)))

    def room(self, builder: Builder, sizes: Sequence[Dimension]) -> Dimension:
        """Emit how many elements all turns together put on a stack, each an array of these sizes."""
        return self.total(builder, 0, tuple(sizes), {})

    def total(self, builder: Builder, depth: int, sizes: tuple, now: dict[Variable, Variable]) -> Dimension:
        """The elements of the loops from this depth on, with the indices `now` of those around."""
        if depth == len(self.loops):
            return builder.product(self.copy(builder, size, now) for size in sizes)
        loop = self.loops[depth]
        start, stop = (self.copy(builder, bound, now) for bound in (loop.start, loop.stop))
        bounds = [bound for inner in self.loops[depth + 1 :] for bound in (inner.start, inner.stop)]
        if not any(self.depends(v, loop.index) for v in variables_in((sizes, tuple(bounds)))):
            trips = range_size(builder, start, stop, loop.step)
            return builder.dimension_multiply(trips, self.total(builder, depth + 1, sizes, now))
        index, before, after = (Variable(name, INT) for name in (loop.index.name, "room", "room"))
        bound_index(builder, index, start, stop, loop.step)
        with builder.inside(Block()) as body:
            more = self.total(builder, depth + 1, sizes, now | {loop.index: index})
            body.results = (builder.dimension_add(before, more),)
        builder.append(For((after,), index, start, stop, loop.step, (before,), (0,), body, builder.location))
        return after

    def depends(self, variable: Variable, index: Variable) -> bool:
        made = self.definitions.get(variable) if variable in self.inside else None
        within = made is not None and any(self.depends(v, index) for v in variables_in(made.operands))
        return variable is index or within

    def copy(self, builder: Builder, size: Operand, now: dict[Variable, Variable]) -> Operand:
        """A size as it is in a turn with other indices."""
        if not isinstance(size, Variable) or size not in self.inside:
            return size
        if size in now:
            return now[size]
        made = self.definitions[size]
        operands = (self.copy(builder, operand, now) for operand in made.operands)
        name = made.primitive.name
        match name, tuple(operands):
            case "add", (a, b):
                return builder.dimension_add(a, b)
            case "subtract", (a, b):
                return builder.dimension_subtract(a, b)
            case _, operands:
                return builder.emit(PRIMITIVES[name], *operands, **made.static)
