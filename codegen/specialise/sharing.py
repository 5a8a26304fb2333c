"""Which arrays, lists and objects may be one after a branch or in a loop: these cannot be written."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .carried import Varying
from .machine import Specialiser, Unroll
from .merge import same_static, take_apart
from .store import Frame
from .values import Array, Cell, collect_cells, mutable_parts

if TYPE_CHECKING:
    from .branches import Join
    from .loop_variables import Loop

SHARED = "a condition or loop known only at run time decides which arrays share its memory"


def note_shared_containers(s: Specialiser, pairs: list, joined: list, frame: Frame,
                           live: frozenset[str] | None) -> None:
    """A list or object that two paths leave under one name, and another name uses, cannot change."""
    olds = [[(side, part) for side, one in enumerate(pair) for part in mutable_parts(one)]
            if not same_static(*pair) else [] for pair in pairs]
    counts = Counter(key for parts in olds for key in {(side, id(part)) for side, part in parts})
    if not counts:
        return
    used: set[int] = set()
    for value in values_in_use(s, frame, live):
        used.update(id(part) for part in mutable_parts(value))
    for parts, value in zip(olds, joined, strict=True):
        shared = [part for side, part in parts if counts[side, id(part)] > 1 or id(part) in used]
        if shared:
            for part in (*shared, *mutable_parts(value)):
                s.store.ambiguous[id(part)] = part


def values_in_use(s: Specialiser, frame: Frame, live: frozenset[str] | None) -> Iterator[Any]:
    """The values of all names that any function now running can still read."""
    for running in (frame, *s.frames):
        while running is not None:
            for name, value in running.names.items():
                if not (running is frame and live is not None and name not in live):
                    yield value
            running = running.parent


def note_sharing(s: Specialiser, join: Join, frame: Frame, live: frozenset[str] | None) -> None:
    """Joined arrays that may be arrays which are still in use cannot be written; nor can these."""
    columns = [
        (value, [(side, leaf.cell) for side, leaf in enumerate(join.leaves[k]) if isinstance(leaf, Array)])
        for k, value in join.made.items()
        if isinstance(value, Array)
    ]
    seen = Counter(key for _, keys in columns for key in set(keys))
    outer = {cell for key in seen for cell in key[1:] if cell.depth <= join.trials[0].depth}
    in_use = cells_in_use(s, frame, live) if outer else set()
    for value, keys in columns:
        shared = [c for side, c in keys if c.ambiguous or seen[side, c] > 1
                  or c in outer and (c.parameter or c in in_use)]
        if shared:
            value.cell.ambiguous = next((c.ambiguous for c in shared if c.ambiguous), SHARED)
        for cell in shared:
            cell.ambiguous = cell.ambiguous or SHARED


def cells_in_use(s: Specialiser, frame: Frame, live: frozenset[str] | None) -> set[Cell]:
    """The buffers of all arrays that any function now running can still reach."""
    found: set[Cell] = set()
    seen: set[int] = set()
    for value in values_in_use(s, frame, live):
        collect_cells(value, found, seen)
    return found


def sharing_key(leaf: Any) -> Any:
    """The identity of an array, view and all; None for anything else."""
    return (leaf.cell, *map(id, leaf.path)) if isinstance(leaf, Array) else None


# loops


def check_aliases(loop: Loop, written: set[Cell]) -> set[Cell]:
    """Refuse where writes would go to arrays that other carried names may share; cells that are shared."""
    ends: list[Cell] = []
    comes_from: dict[Cell, Cell] = {}
    for place, state in loop.carried.items():
        if place.kind == "cell":
            continue
        leaves: list[Any] = []
        take_apart(place.read(), leaves)
        for number, leaf in enumerate(leaves):
            if (
                isinstance(leaf, Array)
                and number < len(state.leaves)
                and isinstance(state.leaves[number], Varying)
            ):
                ends.append(leaf.cell)
                head = loop.head_cell_at.get((id(state), number))
                if head is not None:
                    comes_from[head] = leaf.cell
    starts = [cell for cell in loop.head_cells.values() if cell is not None]
    outside = {cell for cell in ends if cell.depth < loop.s.store.depth}
    shared = outside | {c for group in (ends, starts) for c in group if group.count(c) > 1}
    heads_written = [cell for cell in loop.head_cells if cell in written]
    exchanged = {p.holder for p in loop.carried if p.kind == "cell"}.intersection(starts, ends)
    if (heads_written and shared) or exchanged:
        raise Unroll("aliases", loop.s.unsupported(
            "an array is written in a loop in which its name comes to share memory with another",
            "copy the array where the names are exchanged", loop.node))
    for head in heads_written:
        for first in buffers_of(loop, head, comes_from):
            first.stale = "it was written in a loop under another name"
            if first.parameter:
                raise loop.s.unsupported("an argument is written in a loop under a name that changes",
                                         "copy the argument first", loop.node)
    return shared


def buffers_of(loop: Loop, head: Cell | None, comes_from: dict[Cell, Cell]) -> Iterator[Cell]:
    """The buffers from before the loop that an array may be in one of the iterations."""
    seen: set[Cell] = set()
    while head in loop.head_cells and head not in seen:
        seen.add(head)
        first = loop.head_cells[head]
        if first is not None:
            yield first
        head = comes_from.get(head)


def check_containers(loop: Loop, changed: set[int]) -> None:
    """Refuse where a list or object is changed that other names may share, as names are exchanged."""
    rebuilt = [(place, state) for place, state in loop.carried.items() if state.objects]
    if not rebuilt:
        return
    ends = [part for place, _ in rebuilt for part in mutable_parts(place.read())]
    starts = [part for _, state in rebuilt for part in state.objects]
    used: set[int] = set()
    for value in values_in_use(loop.s, loop.frame, loop.live):
        used.update(id(part) for part in mutable_parts(value))
    born = loop.s.store.born[-1]
    loop.shared_containers = [part for part in ends if id(part) not in born or repeated(part, ends)]
    loop.shared_containers += [part for part in starts if id(part) in used or repeated(part, starts)]
    if loop.shared_containers and changed.intersection(map(id, (*ends, *starts))):
        raise Unroll("aliases", loop.s.unsupported(
            "a list or object is changed in a loop in which its name comes to share it with another",
            "make a copy where the names are exchanged", loop.node))


def repeated(part: Any, parts: list[Any]) -> bool:
    return sum(part is other for other in parts) > 1
