"""Which statements of a block share a loop nest.

A cluster is a set of statements computed by one nest: its outputs are stored, the rest are computed where
they are read and never stored. Clusters grow from the last statement back, only as long as

- an elementwise result that is not stored is read at one place only, or costs too little to be stored
  (recomputed.py);
- what is stored and also read in the nest is read at the element just stored, and no result of a reduction
  or of a write is read in it;
- an array that is written in place is read, if at all, at the element about to be written, or at elements
  that the nest does not write;
- no statement outside the nest stands between, needing one part and needed by another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .access import TRACE, gathers, indexed, is_array, is_one, loop_dims, sources
from .core import Assign, Block, Dimension, Operand, Statement, Variable, variables_in
from .recomputed import is_worth_repeating
from .roles import ELEMENTWISE, elements_read, has_effect, is_view, kind_of, reads_of

LARGEST = 120


@dataclass(eq=False)
class Cluster:
    """Statements (by position) that one nest computes."""

    space: tuple[Dimension, ...]
    members: set[int]
    outputs: set[int] = field(default_factory=set)


class Clusters:
    """The statements of one block, sorted into clusters."""

    def __init__(
        self,
        block: Block,
        region: Any,
        same: Any,
        apart: Any,
        merge: bool = True,
        library: Callable[[Assign], bool] | None = None,
    ):
        self.statements = block.statements
        self.kinds = [kind_of(statement, library) for statement in self.statements]
        self.reads = [dict.fromkeys(reads_of(statement)) for statement in self.statements]
        self.through_views: dict[int, set[Variable]] = {}
        self.region = region
        self.same = same
        self.apart = apart
        self.definition = {t: k for k, s in enumerate(self.statements) for t in s.targets}
        self.owner: dict[int, Cluster] = {}
        self.results = set(variables_in(block.results))
        self.mark_stored()
        self.link()
        for position in reversed(range(len(self.statements))):
            if self.kinds[position] in ("pure", "copy", "reduce", "write"):
                self.place(position, merge)

    # what must exist as an array

    def mark_stored(self) -> None:
        """Which results are read as whole arrays, and which statements read elements of each."""
        self.stored = {self.definition[v] for v in self.results if v in self.definition}
        self.readers: dict[int, set[int]] = {k: set() for k in range(len(self.statements))}
        for position in reversed(range(len(self.statements))):
            statement, kind = self.statements[position], self.kinds[position]
            elements = set(variables_in(elements_read(statement, kind)))
            lazy = kind not in ("view", "fill") or position not in self.stored
            for variable in self.reads[position]:
                made = self.definition.get(variable)
                if made is None:
                    continue
                whole = variable not in elements or not lazy or self.is_written(statement, kind, variable)
                if whole:
                    self.stored.add(made)
                else:
                    self.readers[made].add(position)
        for position, kind in enumerate(self.kinds):
            if kind in ("opaque", "reduce", "write"):
                self.stored.add(position)

    def is_written(self, statement: Statement, kind: str, variable: Variable) -> bool:
        return kind == "write" and statement.operands[0] is variable

    def is_lazy(self, position: int) -> bool:
        return self.kinds[position] in ("view", "fill")

    def readers_through_views(self, position: int) -> set[int]:
        found: set[int] = set()
        for reader in self.readers[position]:
            found |= self.readers_through_views(reader) if self.is_lazy(reader) else {reader}
        return found

    # order

    def link(self) -> None:
        """What comes before each statement: what it reads, effects before it, readers of what it writes."""
        self.before: list[set[int]] = []
        self.after: list[set[int]] = [set() for _ in self.statements]
        self.root: dict[Variable, Variable] = {}
        read_by: dict[Variable, set[int]] = {}
        effect: int | None = None
        for position, statement in enumerate(self.statements):
            needed = self.needed(position)
            if effect is not None:
                needed.add(effect)
            if is_view(statement) and is_array(statement.operands[0]):
                for target in statement.targets:
                    self.root[target] = self.root_of(statement.operands[0])
            for array in self.destroyed(statement):
                needed |= read_by.get(self.root_of(array), set())
            if not self.is_lazy(position) or position in self.stored:
                for variable in self.variables_through_views(position):
                    read_by.setdefault(self.root_of(variable), set()).add(position)
            if has_effect(statement):
                effect = position
            needed.discard(position)
            self.before.append(needed)
            for other in needed:
                self.after[other].add(position)

    def root_of(self, array: Variable) -> Variable:
        return self.root.get(array, array)

    def destroyed(self, statement: Statement) -> tuple[Variable, ...]:
        if isinstance(statement, Assign):
            first = statement.operands[:1] if statement.primitive.destructive else ()
            return tuple(filter(is_array, first))
        return tuple(filter(is_array, getattr(statement, "initial", ())))

    def needed(self, position: int) -> set[int]:
        """The statements whose results a statement needs, seen through views that it reads elements of."""
        statement, kind = self.statements[position], self.kinds[position]
        elements = set(variables_in(elements_read(statement, kind)))
        found: set[int] = set()
        for variable in self.reads[position]:
            made = self.definition.get(variable)
            if made is None or (made > position and not self.is_late_size(kind, made)):
                continue
            through = variable in elements and self.is_lazy(made) and kind != "opaque"
            if through and not self.is_written(statement, kind, variable):
                found |= self.needed(made)
            else:
                found.add(made)
        return found

    def is_late_size(self, kind: str, made: int) -> bool:
        """Whether a nest may use the size of a parameter that is read further down."""
        statement = self.statements[made]
        return (
            kind != "opaque"
            and isinstance(statement, Assign)
            and statement.primitive.name == "size"
            and statement.operands[0] not in self.definition
        )

    def variables_through_views(self, position: int) -> set[Variable]:
        if position not in self.through_views:
            found = set(self.reads[position])
            for variable in self.reads[position]:
                made = self.definition.get(variable)
                if made is not None and self.is_lazy(made):
                    found |= self.variables_through_views(made)
            self.through_views[position] = found
        return self.through_views[position]

    # growth

    def place(self, position: int, merge: bool) -> None:
        """Put a statement into the cluster that reads it, or one with the same index space, or its own."""
        statement = self.statements[position]
        owners = {
            id(self.owner[r]): self.owner[r] for r in self.readers_through_views(position) if r in self.owner
        }
        if merge and self.kinds[position] in ELEMENTWISE and position not in self.stored and len(owners) == 1:
            (cluster,) = owners.values()
            trial = Cluster(cluster.space, cluster.members | {position}, cluster.outputs)
            if self.valid(trial) and not self.entangled(cluster, {position}):
                self.join(cluster, trial)
                return
        if self.kinds[position] == "copy" and not self.is_made_here(statement.operands[0]):
            if (made := self.definition.get(statement.operands[0])) is not None:
                self.stored.add(made)  # it is copied as a whole
            return
        self.stored.add(position)
        own = Cluster(self.region(statement, position), {position}, {position})
        self.owner[position] = own
        self.wait_for_sizes(position, own)
        if not merge:
            return
        near = sorted(
            {id(c): c for c in self.owner.values() if c is not own}.values(), key=lambda c: min(c.outputs)
        )
        for cluster in [*owners.values(), *near[:4]]:
            if not self.same_space(cluster, own, position):
                continue
            trial = Cluster(cluster.space, cluster.members | {position}, cluster.outputs | {position})
            if self.valid(trial) and not self.entangled(cluster, {position}):
                self.join(cluster, trial)
                return

    def wait_for_sizes(self, position: int, cluster: Cluster) -> None:
        """Let a statement come after the sizes of the part that it writes."""
        for size in variables_in(cluster.space):
            made = self.definition.get(size)
            if made is not None:
                self.before[position].add(made)
                self.after[made].add(position)

    def is_made_here(self, array: Operand) -> bool:
        """Whether elements of an array are computed where they are read, so that a copy of it is a nest."""
        made = self.definition.get(array)
        return made is not None and self.is_lazy(made)

    def join(self, cluster: Cluster, trial: Cluster) -> None:
        cluster.members, cluster.outputs = trial.members, trial.outputs
        for member in cluster.members:
            self.owner[member] = cluster

    def same_space(self, a: Cluster, b: Cluster, position: int) -> bool:
        if len(a.space) != len(b.space):
            return False
        latest = max(*a.outputs, position)
        return all(self.same(one, other, latest) for one, other in zip(a.space, b.space))

    def entangled(self, cluster: Cluster, other: set[int]) -> bool:
        """Whether a statement outside both needs one and is needed by the other."""
        both = cluster.members | other
        return self.reaches(cluster.members, other, both) or self.reaches(other, cluster.members, both)

    def reaches(self, start: set[int], end: set[int], inside: set[int]) -> bool:
        waiting = [k for member in start for k in self.after[member] if k not in inside]
        seen: set[int] = set()
        while waiting:
            position = waiting.pop()
            if position in seen:
                continue
            owner = self.owner.get(position)
            group = owner.members if owner else {position}
            seen |= group
            for member in group:
                for following in self.after[member]:
                    if following in end:
                        return True
                    if following not in inside and following not in seen:
                        waiting.append(following)
        return False

    # what a nest may hold

    def trace(self, cluster: Cluster) -> dict[Variable, set]:
        """Where the nest reads each array, in terms of its loops."""
        at = tuple(TRACE.zero if is_one(size) else ("dim", d) for d, size in enumerate(cluster.space))
        seen: dict[Variable, set] = {}
        for position in cluster.outputs:
            statement, kind = self.statements[position], self.kinds[position]
            if kind == "reduce":
                self.read(cluster, seen, statement.operands[0], at)
            elif kind == "write":
                value, index = statement.operands[2], statement.operands[1]
                if is_array(value):
                    rank = value.type.ndim
                    last = ((TRACE.zero,) * rank + at)[-rank:]
                    last = tuple(TRACE.zero if is_one(s) else one for s, one in zip(value.type.shape, last))
                    self.read(cluster, seen, value, last)
                for one in indexed(statement.operands[0], index, at, TRACE):
                    self.read_indices(cluster, seen, one)
            else:
                self.read_sources(cluster, seen, statement, at)
        return seen

    def read(self, cluster: Cluster, seen: dict, array: Operand, at: tuple) -> None:
        if not is_array(array) or at in seen.setdefault(array, set()):
            return
        seen[array].add(at)
        for one in at:
            self.read_indices(cluster, seen, one)
        made = self.definition.get(array)
        if made is not None and (
            self.is_lazy(made) or made in cluster.members and made not in cluster.outputs
        ):
            self.read_sources(cluster, seen, self.statements[made], at)

    def read_sources(self, cluster: Cluster, seen: dict, statement: Assign, at: tuple) -> None:
        if self.kinds[self.definition[statement.targets[0]]] != "fill":
            for operand, place in sources(statement, at, TRACE):
                self.read(cluster, seen, operand, place)

    def read_indices(self, cluster: Cluster, seen: dict, note: Any) -> None:
        if isinstance(note, tuple):
            if note[:1] == ("gather",):
                self.read(cluster, seen, note[1], note[2])
            for part in note:
                self.read_indices(cluster, seen, part)

    def valid(self, cluster: Cluster) -> bool:
        if len(cluster.members) > LARGEST:
            return False
        late = {k for k in cluster.outputs if self.kinds[k] in ("reduce", "write")}
        read = {v for k in cluster.members for v in self.variables_through_views(k)}
        if any(self.definition.get(variable) in late for variable in read):
            return False
        seen = self.trace(cluster)
        loops = [d for d, size in enumerate(cluster.space) if not is_one(size)]
        identity = tuple(TRACE.zero if is_one(size) else ("dim", d) for d, size in enumerate(cluster.space))
        for position in cluster.members:
            target = self.statements[position].targets[0]
            places = seen.get(target, set())
            if position not in cluster.outputs:
                if not places or any(map(gathers, places)):
                    return False
                dims = [sorted(loop_dims(place)) for place in places]
                if len(places) == 1 and dims[0] != loops[: len(dims[0])]:
                    return False
                if len(places) > 1 and any(own != loops for own in dims):
                    return False
                if len(places) > 1 and not is_worth_repeating(self, cluster, position, len(places)):
                    return False
            elif places and (self.kinds[position] not in ELEMENTWISE or places != {identity}):
                return False
        return all(self.valid_write(cluster, seen, k) for k in cluster.outputs if self.kinds[k] == "write")

    def never_meet(self, one: tuple, other: tuple) -> bool:
        """Whether two notes of Trace are of elements that differ in an index that no loop moves."""
        pairs = ((a[1], b[1]) for a, b in zip(one, other) if a[0] == b[0] == "at")
        return any(self.apart(*pair) for pair in pairs)

    def valid_write(self, cluster: Cluster, seen: dict[Variable, set], position: int) -> bool:
        """Whether what a write destroys is read only where it is about to be written."""
        statement = self.statements[position]
        array, index = statement.operands[:2]
        if self.definition.get(array) in cluster.members:
            return False
        identity = tuple(TRACE.zero if is_one(size) else ("dim", d) for d, size in enumerate(cluster.space))
        place = indexed(array, index, identity, TRACE)
        moving = loop_dims(place) == set(loop_dims(identity)) and not gathers(place)
        for variable, places in seen.items():
            made = self.definition.get(variable)
            if self.root_of(variable) is not self.root_of(array) or (made is not None and self.is_lazy(made)):
                continue
            if variable is not array:
                return False
            met = {read for read in places if not self.never_meet(read, place)}
            if met and not (moving and met == {place}):
                return False
        roots = [
            self.root_of(self.statements[k].operands[0]) for k in cluster.outputs if self.kinds[k] == "write"
        ]
        return roots.count(self.root_of(array)) == 1
