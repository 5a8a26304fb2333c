"""What the backward sweep of a block reads of the forward sweep: each value is kept, or computed again.

The backward block is made first, as if it saw the forward block's variables. What it reads of them is its
needs; a minimum cut between what cannot be computed again and the needs says what to keep. The rest is
computed again from that, from the loop's index and from what encloses the loop, just before it is read.
"""
from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator

from ..codegen.adopt import adopt
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
from ..codegen.renaming import Renaming, sizes_in
from .calls import emit
from .clone import without_dead_code
from .levels import Level
from .minimum_cut import UNLIMITED, Graph
from .tapes import RESTORE, Tape

UNKNOWN_SIZE = 100  # what a symbolic size counts for

# Elementwise, but dearer than reading a kept value.
EXPENSIVE = frozenset({
    "power", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt", "logaddexp", "logaddexp2",
    "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "hypot", "fmod",
    "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh",
    "erf", "erfc", "erfinv", "gammaln", "digamma", "expit", "logit"})
# Not elementwise, but as cheap.
CHEAP = frozenset({
    "getitem", "size", "reshape", "transpose", "broadcast_to", "copy", "concatenate",
    "zeros", "ones", "full", "arange", "constant", "array", "alias", "stopped", "joined", "seed"})


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
                   fixed: Iterable[Variable], cost: Callable[[Variable], int] = cost) -> set[Variable]:
    """The values to keep so that all needs can be computed from them, from `free` and from outside.

    `fixed` are values not to be computed again, whatever they are.
    """
    graph, sources, needs = Graph(), [], list(needs)
    waiting, free, fixed = list(needs), set(free), set(fixed)
    while waiting:
        variable = waiting.pop()
        if variable in graph.cost:
            continue
        graph.cost[variable] = cost(variable)
        definition = level.definitions.get(variable)
        if variable in fixed or not recomputable(definition):
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


class Versions:
    """The earlier versions of the arrays that a level puts back, and when each can be had."""

    def __init__(self, level: Level):
        self.level = level
        # The step that leads on from each version.
        self.steps = {step.before: step for chain in level.chains for step in chain.steps}
        self.ends = {version: value for version, value in level.regained.items() if version in self.steps}

    def needs(self) -> Iterator[Variable]:
        """What it takes to put arrays back."""
        for step in self.steps.values():
            if isinstance(step.statement, Assign):
                yield from variables_in((step.old, step.statement.operands[1]))

    def unavailable(self, draft: Block, closure: Callable) -> set[Variable]:
        """Versions, and what reads them, that are needed before the loop or branch that ends with them.

        Neither can an index to write at depend on a version, which is put back only by writing there.
        """
        found: set[Variable] = set()
        blocked = self.blocked()
        for statement in draft.statements:
            found |= self.reading(closure(reads(statement)), blocked)
            for version, value in self.ends.items():
                if value in statement.targets:
                    blocked -= self.up_to(version)
        indices = [v for s in self.steps.values() if isinstance(s.statement, Assign)
                   for v in variables_in(s.statement.operands[1])]
        return found | self.reading(closure(indices), set(self.steps))

    def reading(self, variables: Iterable[Variable], versions: set[Variable]) -> set[Variable]:
        found = set()
        for variable in variables:
            made = self.level.definitions.get(variable)
            operands = variables_in(made.operands) if recomputable(made) else ()
            if variable in versions or any(o in versions for o in operands):
                found.add(variable)
        return found

    def blocked(self) -> set[Variable]:
        """The versions that only a backward loop or branch gives."""
        blocked: set[Variable] = set()
        for chain in self.level.chains:
            places = [k for k, step in enumerate(chain.steps) if not isinstance(step.statement, Assign)]
            blocked.update(step.before for step in chain.steps[:places[-1] + 1 if places else 0])
        return blocked

    def up_to(self, version: Variable) -> set[Variable]:
        """A version, and those that writes alone lead back to from it."""
        for chain in self.level.chains:
            befores = [step.before for step in chain.steps]
            if version in befores:
                k = befores.index(version)
                first = k
                while first > 0 and isinstance(chain.steps[first - 1].statement, Assign):
                    first -= 1
                return set(befores[first:k + 1])
        return set()


class Restorer:
    """Gives a backward block what it reads of its forward block."""

    def __init__(self, sweep, level: Level, draft: Block, mapping: dict[Variable, Operand],
                 carried: Iterable[Variable] = ()):
        self.sweep, self.level = sweep, level
        self.builder = sweep.builder
        self.draft = draft
        self.versions = Versions(level)
        results, ends = draft.results, self.versions.ends
        self.draft = without_dead_code(Block(draft.statements, (results, tuple(ends.values()))))
        self.draft.results = results
        self.renaming = Renaming(dict(mapping))
        self.mapping = self.renaming.mapping
        self.mapping.update((chain.last, chain.holder) for chain in level.chains)
        self.renaming.bind_block(self.draft)
        self.carried = tuple(carried)
        self.measured = self.measure_carried()
        needed = [v for s in self.draft.statements for v in reads(s)]
        needed += [*variables_in(self.draft.results), *self.versions.needs()]
        needs = dict.fromkeys(self.own(needed))
        fixed = self.versions.unavailable(self.draft, self.closure)
        free = [*self.mapping, *(v for v in self.versions.steps if v not in fixed)]
        self.kept = chosen_to_keep(level, [n for n in needs if n not in free], free, fixed, self.cost)
        self.order = {variable: k - len(level.entry) for k, variable in enumerate(level.entry)}
        for target in (t for s in level.own_statements() for t in s.targets):
            self.order[target] = len(self.order)
        self.sized = {size: v for v in self.in_order(self.kept) if not isinstance(v.type, StackType)
                      for size in sizes_in(v.type) if size in self.kept}
        self.readers: dict[Variable, list[Variable]] = {}
        for variable in self.closure(needs):
            if recomputable(level.definitions.get(variable)) and variable not in self.kept:
                for operand in variables_in(level.definitions[variable].operands):
                    self.readers.setdefault(operand, []).append(variable)

    def closure(self, variables: Iterable[Variable]) -> dict[Variable, None]:
        """The variables of the block that others may be computed from."""
        found: dict[Variable, None] = {}
        waiting = self.own(variables)
        while waiting:
            variable = waiting.pop()
            if variable not in found:
                found[variable] = None
                made = self.level.definitions.get(variable)
                if recomputable(made):
                    waiting += self.own(variables_in(made.operands))
        return found

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
                ended = [v for v, value in self.versions.ends.items() if value in statement.targets]
                for version in ended:
                    self.provide(self.readers.get(self.versions.steps[version].after, ()))
                self.builder.location = statement.location
                adopt(self.builder, self.renaming.statement(statement))
                self.mapping.update((v, self.renaming(self.versions.ends[v])) for v in ended)
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
            elif variable not in self.kept and variable not in self.versions.steps:
                waiting += self.own(variables_in(self.level.definitions[variable].operands))
        # What was kept comes first: the sizes of arrays are read off them.
        for variable in self.in_order(v for v in wanted if v in self.kept and v not in self.sized):
            if variable not in self.mapping:
                self.restore(variable)
        for variable in self.in_order(wanted):
            if variable in self.mapping:
                continue
            if variable in self.versions.steps:
                self.put_back(variable)
            else:
                self.compute_again(variable)

    def put_back(self, version: Variable) -> None:
        """An earlier version of an array: the next one, with what was overwritten written back."""
        steps = []
        while version not in self.mapping:
            steps.append(self.versions.steps[version])
            version = steps[-1].after
        for step in reversed(steps):
            index = step.statement.operands[1]
            self.provide([step.old, *variables_in(index)])
            self.provide(self.readers.get(step.after, ()))
            if step.before not in self.mapping:
                self.builder.location = step.statement.location
                parts = (self.mapping[step.after], self.renaming(index), self.renaming(step.old))
                self.mapping[step.before] = array = emit(self.builder, "setitem", *parts)
                array.name = array.name or step.before.name

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
        for operand in variables_in(made.operands):
            if operand in self.versions.steps and operand not in self.mapping:
                self.put_back(operand)
        if variable in self.mapping:
            return
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
        # Among doubles a NumPy scalar promotes as a Python float does.
        weak = variable.type.weak and (self.sweep.narrow or variable.type.dtype.kind == "i")
        with self.read(variable, array and variable.type.weak, array and weak) as read:
            operands = self.renaming(tape.place) if array else ()
            self.builder.append(Assign((read,), RESTORE, operands, {"tape": tape}, self.builder.location))

    @contextlib.contextmanager
    def read(self, variable: Variable, strong: bool = False, weaken: bool = False) -> Iterator[Variable]:
        """A variable to be given the kept value of another; then sizes that only it knows are read off it.

        `strong`: it comes out of an array, as a NumPy scalar; `weaken`: and must be a Python scalar again.
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
        read = Variable(variable.name, of.with_dtype(of.dtype) if strong else of)
        yield read
        for axis, size in fresh.items():
            self.builder.emit_size(size, read, axis)
        if weaken:
            read = emit(self.builder, "astype", read, dtype=of.dtype, weak=True)
        self.mapping[variable] = read
