"""What the backward sweep of a block reads of the forward sweep: each value is kept, or computed again.

The backward block is made first, as if it saw the forward block's variables. What it reads of them is its
needs; a minimum cut between what cannot be computed again and the needs says what to keep. The rest is
computed again from that, from the loop's index and from what encloses the loop, just before it is read.
"""
from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator

from ..codegen.core import (
    Assign,
    Block,
    Operand,
    StackType,
    Statement,
    Variable,
    bound_in,
    free_variables,
    variables_in,
    walk,
)
from .adopt import adopt
from .calls import emit
from .clone import Renaming, sizes_in, without_dead_code
from .levels import Level
from .minimum_cut import UNLIMITED, Graph
from .tapes import RESTORE, Tape

UNKNOWN_SIZE = 100  # what a symbolic size counts for

# Elementwise, but dearer than reading a kept value.
EXPENSIVE = frozenset(
    "power exp exp2 expm1 log log2 log10 log1p cbrt sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh "
    "arcsinh arccosh arctanh hypot logaddexp logaddexp2 fmod erf erfc erfinv gammaln digamma expit logit".split())
CHEAP = frozenset("getitem size reshape transpose broadcast_to zeros ones full arange constant copy concatenate "
                  "array".split())


def recomputable(statement: Assign | None) -> bool:
    if statement is None or len(statement.targets) != 1:
        return False
    primitive = statement.primitive
    return primitive.name in CHEAP or (primitive.elementwise and primitive.name not in EXPENSIVE)


def cost(variable: Variable) -> int:
    """About how many bytes it takes to keep a value."""
    if isinstance(variable.type, StackType):
        return UNLIMITED
    sizes = [UNKNOWN_SIZE if isinstance(s, Variable) else max(int(s), 1) for s in variable.type.shape]
    return variable.type.dtype.itemsize * math.prod(sizes)


def chosen_to_keep(level: Level, needs: Iterable[Variable], free: Iterable[Variable],
                   cost: Callable[[Variable], int] = cost) -> set[Variable]:
    """The values to keep so that all needs can be computed from them, from `free` and from outside."""
    graph, sources, needs = Graph(), [], list(needs)
    waiting, free = list(needs), set(free)
    while waiting:
        variable = waiting.pop()
        if variable in graph.cost:
            continue
        graph.cost[variable] = cost(variable)
        definition = level.definitions.get(variable)
        if not recomputable(definition):
            sources.append(variable)
            continue
        for operand in variables_in(definition.operands):
            if operand in level.bound and operand not in free:
                graph.edges.setdefault(operand, []).append(variable)
                waiting.append(operand)
    return graph.cut(sources, needs) if sources else set()


def reads(statement: Statement) -> Iterable[Variable]:
    """What a statement reads, with the sizes in the types of what it makes."""
    yield from free_variables(Block([statement]))
    for inner in walk(Block([statement])):
        for variable in (*inner.targets, *bound_in(inner)):
            yield from sizes_in(variable.type)


class Restorer:
    """Gives a backward block what it reads of its forward block."""

    def __init__(self, sweep, level: Level, draft: Block, mapping: dict[Variable, Operand],
                 carried: Iterable[Variable] = ()):
        self.sweep, self.level = sweep, level
        self.builder = sweep.builder
        self.draft = without_dead_code(draft)
        self.renaming = Renaming(dict(mapping))
        self.mapping = self.renaming.mapping
        self.renaming.bind_block(self.draft)
        self.carried = tuple(carried)
        self.measured = self.measure_carried()
        own = self.own(v for s in self.draft.statements for v in reads(s))
        needs = dict.fromkeys([*own, *self.own(variables_in(self.draft.results))])
        self.kept = chosen_to_keep(level, needs, self.mapping, self.cost)
        self.order = {variable: k - len(level.entry) for k, variable in enumerate(level.entry)}
        for target in (t for s in level.own_statements() for t in s.targets):
            self.order[target] = len(self.order)
        self.sized = {size: v for v in self.in_order(self.kept) if not isinstance(v.type, StackType)
                      for size in sizes_in(v.type) if size in self.kept}

    cost = staticmethod(cost)

    def measure_carried(self) -> list[tuple[Variable, Variable, int]]:
        """Sizes of carried cotangents that differ from one iteration to the next are read off them."""
        measured = []
        for variable in self.carried:
            if isinstance(variable.type, StackType):
                continue
            for axis, size in enumerate(variable.type.shape):
                if size in self.level.bound and size not in self.mapping:
                    self.mapping[size] = self.fresh_size(size)
                    measured.append((self.mapping[size], variable, axis))
            variable.type = self.renaming.type(variable.type)
        return measured

    def fresh_size(self, size: Variable) -> Variable:
        """A variable for a size that will be read off an array; it is bounded as it was."""
        fresh = Variable(size.name, size.type)
        self.builder.lower_bounds[fresh] = self.builder.lower_bounds.get(size, 0)
        return fresh

    def own(self, variables: Iterable[Variable]) -> list[Variable]:
        return [v for v in variables if v in self.level.bound and v not in self.mapping]

    def block(self) -> Block:
        """The backward block, complete."""
        with self.builder.inside(Block()) as final:
            for measured in self.measured:
                self.builder.emit_size(*measured)
            for statement in self.draft.statements:
                self.provide(reads(statement))
                self.builder.location = statement.location
                adopt(self.builder, self.renaming.statement(statement))
            self.provide(variables_in(self.draft.results))
            final.results = self.renaming(self.draft.results)
        self.renaming.retype()
        return final

    def provide(self, variables: Iterable[Variable]) -> None:
        """Restore variables and what they are computed from, in the order of the forward block."""
        wanted: dict[Variable, None] = {}
        waiting = self.own(variables)
        while waiting:
            variable = waiting.pop()
            if variable in wanted:
                continue
            wanted[variable] = None
            if variable in self.sized:
                waiting.append(self.sized[variable])
            elif variable not in self.kept:
                waiting += self.own(variables_in(self.level.definitions[variable].operands))
        # What was kept comes first: the sizes of arrays are read off them.
        for variable in self.in_order(v for v in wanted if v in self.kept and v not in self.sized):
            if variable not in self.mapping:
                self.restore(variable)
        for variable in self.in_order(wanted):
            if variable not in self.mapping:
                self.compute_again(variable)

    def in_order(self, variables: Iterable[Variable]) -> list[Variable]:
        """Variables in the order of the forward block."""
        return sorted(variables, key=lambda v: self.order.get(v, len(self.order)))

    def computable(self, variable: Variable) -> bool:
        """Whether a size can be computed from what has been restored so far."""
        if variable not in self.level.bound or variable in self.mapping:
            return True
        made = self.level.definitions.get(variable)
        return (variable not in self.kept and recomputable(made)
                and all(map(self.computable, variables_in(made.operands))))

    def compute_again(self, variable: Variable) -> None:
        made = self.level.definitions[variable]
        self.builder.location = made.location
        result = self.builder.emit(made.primitive, *self.renaming(made.operands), **made.static)
        if isinstance(result, Variable) and result.name is None:
            result.name = variable.name
        self.mapping[variable] = result

    def restore(self, variable: Variable) -> None:
        """Read a kept value back, and off it the sizes that only it knows."""
        tape = Tape.of(variable, self.level)
        self.sweep.keep(tape)
        if tape.kind == "value":
            self.mapping[variable] = tape.final
            return
        array = tape.kind == "array"
        with self.read(variable, strong=array) as read:
            operands = self.renaming(tape.place) if array else ()
            self.builder.append(Assign((read,), RESTORE, operands, {"tape": tape}, self.builder.location))

    @contextlib.contextmanager
    def read(self, variable: Variable, strong: bool = False) -> Iterator[Variable]:
        """A variable to be given the kept value of another; then sizes that only it knows are read off it.

        `strong`: it comes out of an array, and must be made a Python scalar again.
        """
        fresh: dict[int, Variable] = {}
        sizes = () if isinstance(variable.type, StackType) else variable.type.shape
        for axis, size in enumerate(sizes):
            if self.own(variables_in(size)):
                if self.computable(size):
                    self.provide([size])
                else:
                    self.mapping[size] = fresh[axis] = self.fresh_size(size)
        of = self.renaming.type(variable.type)
        strong = strong and of.weak and of.dtype.kind != "b"
        read = Variable(variable.name, of.with_dtype(of.dtype) if strong else of)
        yield read
        for axis, size in fresh.items():
            self.builder.emit_size(size, read, axis)
        self.mapping[variable] = emit(self.builder, "astype", read, dtype=of.dtype, weak=True) if strong else read
