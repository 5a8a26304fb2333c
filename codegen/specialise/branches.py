"""Branches decided at run time: both paths are specialised, and what they leave is joined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import BOOL, ArrayType, Block, If, Variable, type_of
from .control import attempt, cast, defined_in, emit_sizes, placeholder
from .growing import element_type, growing_of, item_of, start
from .machine import BranchEnds, Specialiser
from .merge import Leaf, conflict, join_types, put_together, same_static, same_template, take_apart
from .sharing import note_shared_containers, note_sharing, sharing_key
from .store import Frame, Location
from .values import UNDEFINED, Array, Conflict, Maybe, mutable_parts


def branch(s: Specialiser, test: Any, first: Callable, second: Callable, frame: Frame,
           live: frozenset[str] | None, node: Any) -> Any:
    """Specialise both paths of a condition known only at run time, and join what they leave."""
    location = s.location(node)
    s.tests.append(test)
    try:
        block_a, trial_a, value_a = attempt(s, first)
        block_b, trial_b, value_b = attempt(s, second)
    finally:
        s.tests.pop()
    if trial_a is None or trial_b is None:
        s.builder.append(If((), test, block_a if trial_a is None else Block(),
                            block_b if trial_b is None else Block(), location))
        if trial_a is None and trial_b is None:
            raise BranchEnds
        return second() if trial_a is None else first()
    join = Join(s, test, (block_a, block_b), (trial_a, trial_b), location)
    places = [p for p in {**trial_a.outer(), **trial_b.outer()} if matters(p, frame, live)]
    pairs = [(trial_a.writes.get(p, None) if p in trial_a.writes else p.read(),
              trial_b.writes.get(p, None) if p in trial_b.writes else p.read()) for p in places]
    generated = [p.kind == "name" and p.key in p.holder.scope.generated for p in places]
    joined = join.values([*pairs, (value_a, value_b)], [*generated, False])
    for place, value in zip(places, joined, strict=False):
        if place.kind == "cell":
            value = value.cell.value
        if place.kind != "name" and isinstance(value, (Conflict, Maybe)):
            raise s.conflict(undecided(place, value), str(place.key), node)
        if value is not place.read():
            s.store.write(place, value)
    note_sharing(s, join, frame, live)
    note_shared_containers(s, [*pairs, (value_a, value_b)], joined, frame, live)
    return joined[-1]


def matters(place: Location, frame: Frame, live: frozenset[str] | None) -> bool:
    """Whether a place may be read later."""
    return live is None or place.kind != "name" or place.holder is not frame or place.key in live


def undecided(place: Location, value: Any) -> Conflict:
    """Why a list, dictionary or object has no one content after a branch."""
    if isinstance(value, Conflict) and place.kind != "list":
        return value
    what = {"list": "has another length or other kinds of items", "set": "has other items",
            "item": "is a key, or is none,", "attribute": "is an attribute, or is none,"}[place.kind]
    return Conflict(value, None, f"{what} depending on a condition known only at run time")


class Join:
    """Joins values left by the two paths of a branch, and emits the If."""

    def __init__(self, s: Specialiser, test: Any, blocks: tuple, trials: tuple, location: Any):
        self.s = s
        self.test = test
        self.blocks = blocks
        self.trials = trials
        self.location = location
        self.inner = [set(defined_in(block)) for block in blocks]
        self.columns: list[tuple[Any, Any, ArrayType]] = []
        self.numbers: dict[Any, int] = {}
        self.leaves: list[tuple[Any, Any]] = []
        self.made: dict[int, Any] = {}

    def values(self, pairs: list[tuple[Any, Any]], generated: list[bool]) -> list[Any]:
        plans = [self.plan(a, b, g) for (a, b), g in zip(pairs, generated, strict=True)]
        targets = self.finish()
        adopt = self.s.store.adopt
        return [adopt(put_together(template, self.pick(leaves, targets))) if leaves else template
                for template, leaves in plans]

    def plan(self, a: Any, b: Any, generated: bool) -> tuple[Any, list[Any]]:
        """The joined template and, for each leaf, a value or the number of a result of the If."""
        if same_static(a, b):
            return a, []
        if isinstance(a, Conflict) or isinstance(b, Conflict):
            return (a if isinstance(a, Conflict) else b), []
        partial = any(v is UNDEFINED or isinstance(v, Maybe) for v in (a, b))
        flag = None
        if partial:
            flags = [v.defined if isinstance(v, Maybe) else v is not UNDEFINED for v in (a, b)]
            a, b = (v.value if isinstance(v, Maybe) else v for v in (a, b))
            flag = None if generated else flags
        present = b if a is UNDEFINED else a
        sides: list[list[Any]] = [[], []]
        templates = [self.take_apart(side, present if v is UNDEFINED else v, leaves)
                     for side, (v, leaves) in enumerate(zip((a, b), sides, strict=True))]
        if not same_template(*templates):
            grown = self.grown(a, b)
            if grown is not None:
                return self.plan(*grown, generated)
            return conflict(a, b, "depending on a condition known only at run time"), []
        missing = (a is UNDEFINED, b is UNDEFINED)
        joined = [self.leaf(x, y, missing) for x, y in zip(*sides, strict=True)]
        if any(leaf is None for leaf in joined):
            return conflict(a, b, "depending on a condition known only at run time"), []
        if flag is None:
            return templates[0], joined
        joined.append(self.column(flag[0], flag[1], BOOL))
        return Maybe(templates[0], Leaf(len(joined) - 1)), joined

    def grown(self, a: Any, b: Any) -> tuple[Any, Any] | None:
        """Two lists of different lengths as lists that grow, if all their items are of one type."""
        if not (self.s.growing and type(a) is type(b) and type(a) in (list, tuple)):
            return None
        known = [growing_of(v) for v in (a, b)]
        if all(known) or UNDEFINED in (a, b):
            return None
        items = [item for v, growing in zip((a, b), known, strict=True) if growing is None for item in v]
        growing = next(filter(None, known), None)
        with self.s.builder.inside(Block()):
            items += [] if growing is None else [item_of(self.s, growing, 0)]
            element = element_type(self.s, items, set.union(*self.inner))
        if element is None:
            return None
        sides = []
        for side, value in enumerate((a, b)):
            if known[side] is None:
                with self.s.store.again(self.trials[side]), self.s.builder.inside(self.blocks[side]):
                    value = type(value)([start(self.s, value, element)])
                self.inner[side].update(defined_in(self.blocks[side]))
            sides.append(value)
        return tuple(sides)

    def take_apart(self, side: int, value: Any, leaves: list[Any]) -> Any:
        """The template of a value as it is at the end of a path."""
        if isinstance(value, (Array, Variable)) or not mutable_parts(value):
            return take_apart(value, leaves)
        with self.s.store.again(self.trials[side]):
            return take_apart(value, leaves)

    def leaf(self, a: Any, b: Any, missing: tuple[bool, bool]) -> Any:
        if same_static(a, b) and not any(missing):
            return a
        a_value, b_value = self.read(0, a, missing[0]), self.read(1, b, missing[1])
        types = [type_of(v) for v, gone in ((a_value, missing[0]), (b_value, missing[1])) if not gone]
        joined = join_types(*map(self.in_known_sizes, (types[0], types[-1])))
        if joined is None:
            return None
        if isinstance(joined, ArrayType):
            joined = joined.with_shape(
                tuple(None if any(d in i for i in self.inner) else d for d in joined.shape)
            )
        key = tuple(sharing_key(leaf) for leaf in (a, b))
        if all(key) and key in self.numbers:
            return Column(self.numbers[key])
        self.numbers[key] = len(self.columns)
        self.leaves.append((a, b))
        return self.column(placeholder(joined) if missing[0] else a_value,
                           placeholder(joined) if missing[1] else b_value, joined)

    def in_known_sizes(self, of: Any) -> Any:
        """A type with one name for sizes that were known to be equal before the branch."""
        if not isinstance(of, ArrayType):
            return of
        return of.with_shape(tuple(map(self.s.builder.representative, of.shape)))

    def read(self, side: int, leaf: Any, missing: bool) -> Any:
        """The operand of a leaf, read at the end of its path."""
        if missing or not isinstance(leaf, Array):
            return self.read(1 - side, leaf, False) if missing and isinstance(leaf, Array) else leaf
        with self.s.store.again(self.trials[side]), self.s.builder.inside(self.blocks[side]):
            before = self.s.read(leaf)
        self.inner[side].update(defined_in(self.blocks[side]))
        return before

    def column(self, a: Any, b: Any, joined: ArrayType) -> Column:
        self.columns.append((a, b, joined))
        self.leaves += [(None, None)] * (len(self.columns) - len(self.leaves))
        return Column(len(self.columns) - 1)

    def finish(self) -> list[Variable]:
        """Emit the If; its targets, one a column."""
        s = self.s
        for side, block in enumerate(self.blocks):
            with s.builder.inside(block):
                block.results = tuple(cast(s, column[side], column[2]) for column in self.columns)
        if not self.columns and not any(block.statements for block in self.blocks):
            return []
        unknown: list = []
        targets = tuple(s.builder.target(column[2], unknown) for column in self.columns)
        for target, (a, b, _) in zip(targets, self.columns, strict=True):
            target.name = next((v.name for v in (a, b) if isinstance(v, Variable) and v.name), None)
        s.builder.append(If(targets, self.test, *self.blocks, self.location))
        emit_sizes(s, unknown)
        return list(targets)

    def pick(self, leaves: list[Any], targets: list[Variable]) -> list[Any]:
        return [self.value(leaf.number, targets) if isinstance(leaf, Column) else leaf for leaf in leaves]

    def value(self, number: int, targets: list[Variable]) -> Any:
        """The value of a column: one array, however many names the two paths gave it."""
        if number not in self.made:
            value = self.made[number] = self.s.wrap(targets[number])
            if isinstance(value, Array):
                value.cell.contiguous = None
        return self.made[number]


class Column:
    """The number of a result of an If or loop."""

    def __init__(self, number: int):
        self.number = number
