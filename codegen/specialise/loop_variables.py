"""What a loop carries: the variables that its body changes, and the types that they have at its head."""
from __future__ import annotations

from typing import Any

from ..core import BOOL, INT, ArrayType, Block, StackType, Variable
from .branches import matters
from .carried import Carried, Rows, Varying, same_types
from .control import Hole, cast, defined_in, emit_sizes
from .growing import Growing, buffer_type, element_type, growing_of, item_of, start
from .machine import Specialiser, Unroll
from .merge import (
    Leaf,
    conflict,
    join_types,
    put_together,
    same_size,
    same_static,
    same_template,
    take_apart,
)
from .sharing import SHARED
from .store import Frame, Location
from .values import UNDEFINED, Array, Cell, Conflict, Maybe, mutable_parts


class Loop:
    """Finds what a loop carries, by trying its body until the types at its head stay as they are."""

    def __init__(
        self, s: Specialiser, frame: Frame, live: frozenset[str] | None, node: Any, long: bool = True,
        counted: bool = False,
    ):
        self.s = s
        self.long = long
        self.counted = counted
        self.frame = frame
        self.live = live
        self.node = node
        self.carried: dict[Location, Carried] = {}
        self.head_cells: dict[Cell, Cell] = {}
        self.head_cell_at: dict[tuple[int, int], Cell] = {}
        self.waiting: list[Location] = []
        self.shared_containers: list[Any] = []
        self.assigned: set[Location] = set()  # the names that every turn assigns

    def begin(self) -> None:
        """Carry the places that hold lists or objects, as these are before the loop: now."""
        for place in self.waiting:
            self.carry(place, place.read())
        self.waiting = []

    def carry(self, place: Location, start: Any) -> None:
        generated = place.kind == "name" and place.key in place.holder.scope.generated
        self.carried[place] = Carried(start, generated)

    def enter(self) -> tuple[Variable, ...]:
        """Give every carried place its value at the head of the loop."""
        heads: list[Variable] = []
        self.head_cells, self.head_cell_at = {}, {}
        for place, state in self.carried.items():
            state.heads = []
            values = []
            for number, leaf in enumerate(state.leaves):
                if not isinstance(leaf, Varying):
                    values.append(leaf)
                    continue
                head = self.head(leaf.type, place.key if place.kind == "name" else None)
                state.heads.append(head)
                heads.append(head)
                values.append(self.wrap(head, state, number))
            value = self.s.store.adopt(put_together(state.template, values))
            self.s.store.write(place, value.cell.value if place.kind == "cell" else value)
        return tuple(heads)

    def head(self, of: ArrayType, name: str | None) -> Variable:
        unknown: list = []
        head = self.s.builder.target(of, unknown)
        head.name = name
        emit_sizes(self.s, unknown)
        return head

    def wrap(self, head: Variable, state: Carried, number: int) -> Any:
        value = self.s.wrap(head)
        if isinstance(value, Array):
            value.cell.contiguous = None
            first = state.initial[number] if number < len(state.initial) else None
            self.head_cells[value.cell] = first.cell if isinstance(first, Array) else None
            self.head_cell_at[id(state), number] = value.cell
        return value

    def settle(self, block: Block, trial_writes: dict[Location, Any]) -> bool:
        """Compare the end of the body with the head; widen what differs. Whether nothing did."""
        stable = True
        inner = set(defined_in(block))
        for place, end in trial_writes.items():
            if place not in self.carried:
                start = self.initial_value(place)
                if same_static(start, end) or not matters(place, self.frame, self.live):
                    continue
                stable = False
                if mutable_parts(start):
                    self.waiting.append(place)
                else:
                    self.carry(place, start)
        for place, state in self.carried.items():
            stable &= self.widen(place, state, place.read(), inner)
        return stable

    def initial_value(self, place: Location) -> Any:
        return self.s.store.trials[-1][place]

    def widen(self, place: Location, state: Carried, end: Any, inner: set[Variable]) -> bool:
        if isinstance(end, Conflict):
            raise self.s.conflict(end, str(place.key), self.node)
        flag = None
        if isinstance(state.template, Maybe) or state.undefined or isinstance(end, Maybe) or end is UNDEFINED:
            flag = end.defined if isinstance(end, Maybe) else end is not UNDEFINED
            end = end.value if isinstance(end, Maybe) else end
        if end is UNDEFINED:
            return True
        end = self.same_growth(state, end)
        leaves: list[Any] = []
        template = take_apart(end, leaves)
        stable = True
        if state.undefined:
            stable = False
            state.undefined = False
            state.template, state.leaves = template, [Varying(self.open_type(leaf, inner)) for leaf in leaves]
            state.initial = [Hole(leaf.type) for leaf in state.leaves]
            if not state.generated:
                self.add_flag(state, False)
        elif flag is not None and not isinstance(state.template, Maybe) and not state.generated:
            stable = False
            self.add_flag(state, True)
        inside = state.template.value if isinstance(state.template, Maybe) else state.template
        if not same_template(inside, template) and self.grow(state, end, inner):
            return False
        if not same_template(inside, template):
            what = conflict(state.initial, end, "").reason
            error = self.s.unsupported(f"'{place.key}' changes its kind in a loop: {what}",
                                       "keep one structure of values throughout the loop", self.node)
            raise Unroll(what, error)
        for number, leaf in enumerate(leaves):
            stable &= self.widen_leaf(place, state, number, leaf, inner)
        return stable & self.widen_flag(state, flag)

    def widen_flag(self, state: Carried, flag: Any) -> bool:
        """Carry whether a name is assigned, if a turn changes that."""
        if not isinstance(state.template, Maybe) or state.generated:
            return True
        number = state.template.defined.index
        if isinstance(state.leaves[number], Varying) or same_static(state.leaves[number], flag):
            return True
        state.leaves[number] = Varying(BOOL)
        return False

    def same_growth(self, state: Carried, end: Any) -> Any:
        """The end of a list that grows elsewhere in the loop, as a list that grows."""
        growing = growing_of(state.template)
        if growing is None or growing_of(end) is not None or type(end) is not type(state.template):
            return end
        of = state.leaves[0].type
        return type(end)([start(self.s, end, ArrayType(of.dtype, of.shape[1:], growing.weak))])

    def grow(self, state: Carried, end: Any, inner: set[Variable]) -> bool:
        """Let a list whose length the loop changes be one that grows, if its items are of one type."""
        if not (
            self.s.growing and self.long and type(end) in (list, tuple) and type(end) is type(state.template)
        ):
            return False
        growing, known = growing_of(end), growing_of(state.template)
        if growing is not None and known is not None:
            state.template = type(end)([Growing(Leaf(0), Leaf(1), growing.weak and known.weak)])
            return True
        items = [leaf for leaf in state.initial if not isinstance(leaf, Hole)]
        items += [item_of(self.s, growing, 0)] if growing is not None else list(end)
        element = element_type(self.s, items, inner)
        if element is None or len(state.initial) != len(state.template):
            return False
        state.initial = [Rows(state.initial, element), len(state.initial)]
        state.leaves = [Varying(buffer_type(element)), Varying(INT)]
        state.template = type(end)([Growing(Leaf(0), Leaf(1), element.weak)])
        return True

    def add_flag(self, state: Carried, initial: bool) -> None:
        state.template = Maybe(state.template, Leaf(len(state.leaves)))
        state.leaves.append(Varying(BOOL))
        state.initial.append(initial)

    def open_type(self, leaf: Any, inner: set[Variable]) -> ArrayType:
        found = self.s.type(leaf)
        if isinstance(found, StackType):
            return found
        sizes = tuple(
            None if size in inner else size for size in map(self.s.builder.representative, found.shape)
        )
        return found.with_shape(sizes)

    def in_sizes_of(self, before: Any, end: Any, open_end: Any) -> Any:
        """The type at the end of the body, with the sizes at its head where these are known to be equal."""
        if isinstance(end, StackType) or isinstance(before, StackType) or before.ndim != end.ndim:
            return open_end
        sizes = zip(before.shape, end.shape, open_end.shape, strict=True)
        return open_end.with_shape(tuple(
            first if first is not None and self.s.builder.same(first, last) else opened
            for first, last, opened in sizes))

    def widen_leaf(
        self, place: Location, state: Carried, number: int, end: Any, inner: set[Variable]
    ) -> bool:
        have = state.leaves[number]
        if not isinstance(have, Varying):
            if same_static(have, end):
                return True
            before = self.s.type(state.initial[number])
        else:
            before = have.type
        joined = join_types(before, self.in_sizes_of(before, self.s.type(end), self.open_type(end, inner)))
        if joined is None:
            error = self.s.unsupported(f"'{place.key}' changes its number of dimensions in a loop",
                                       "keep its rank the same in every iteration", self.node)
            raise Unroll("rank", error)
        if isinstance(have, Varying) and same_types(have.type, joined):
            return True
        if self.counted and self.stretched(before, end, inner):
            what = f"'{place.key}' has an axis of size 1 before a loop, and a longer one in it"
            error = self.s.unsupported(what, "begin with an array of the full size", self.node)
            raise Unroll("size", error)
        state.leaves[number] = Varying(joined)
        if isinstance(state.initial[number], Hole):
            state.initial[number] = Hole(joined)
        return False

    def stretched(self, before: Any, end: Any, inner: set[Variable]) -> bool:
        """Whether an axis of size 1 is broadcast to a size that is there before the loop."""
        after = self.open_type(end, inner)
        if isinstance(before, StackType) or isinstance(after, StackType):
            return False
        return any(
            isinstance(one, int) and one == 1 and other is not None and not same_size(one, other)
            for one, other in zip(before.shape, after.shape)
        )

    def results(self) -> tuple[Any, ...]:
        """The operands that the body ends with, one for each carried variable."""
        out = []
        for place, state in self.carried.items():
            end = place.read()
            if isinstance(state.template, Maybe) and not isinstance(end, Maybe):
                if end is not UNDEFINED:
                    self.assigned.add(place)
                end = Maybe(end, True)
            if state.generated and isinstance(end, Maybe):
                end = end.value
            end = self.same_growth(state, end)
            leaves: list[Any] = []
            if end is UNDEFINED:
                leaves = [Hole(leaf.type) for leaf in state.leaves]
            else:
                take_apart(end, leaves)
            for have, leaf in zip(state.leaves, leaves, strict=True):
                if isinstance(have, Varying):
                    operand = leaf if isinstance(leaf, Hole) else self.s.operand(leaf)
                    out.append(cast(self.s, operand, have.type))
        return tuple(out)

    def initial_operands(self) -> tuple[Any, ...]:
        out = []
        for state in self.carried.values():
            for have, leaf in zip(state.leaves, state.initial, strict=True):
                if isinstance(have, Varying):
                    leaf = start(self.s, leaf.items, leaf.element).buffer if isinstance(leaf, Rows) else leaf
                    operand = leaf if isinstance(leaf, Hole) else self.s.operand(leaf)
                    out.append(cast(self.s, operand, have.type))
        return tuple(out)

    def leave(self, targets: tuple[Variable, ...], shared: set[Cell], ran: Any = None) -> None:
        """Give every carried place its value after the loop, which had a turn if `ran`, if that is known."""
        remaining = iter(targets)
        for place, state in self.carried.items():
            values = []
            for leaf in state.leaves:
                if not isinstance(leaf, Varying):
                    values.append(leaf)
                    continue
                target = next(remaining)
                value = self.s.wrap(target)
                if isinstance(value, Array):
                    value.cell.contiguous = None
                    if shared and place.kind != "cell":
                        value.cell.ambiguous = SHARED
                values.append(value)
            value = self.s.store.adopt(self.after_turns(place, put_together(state.template, values), ran))
            self.s.store.write(place, value.cell.value if place.kind == "cell" else value)
            for part in mutable_parts(value) if self.shared_containers else ():
                self.s.store.ambiguous[id(part)] = part
        for part in self.shared_containers:
            self.s.store.ambiguous[id(part)] = part
        for cell in shared:
            cell.ambiguous = SHARED

    def after_turns(self, place: Location, value: Any, ran: Any) -> Any:
        """The value of a name: one that every turn assigns is assigned if there was a turn."""
        if ran is None or place not in self.assigned:
            return value
        if ran is True:
            return value.value
        state = self.carried[place]
        before = state.initial[state.template.defined.index]
        return Maybe(value.value, ran) if before is False else value

    def targets(self) -> tuple[tuple[Variable, ...], list]:
        unknown: list = []
        targets = []
        for place, state in self.carried.items():
            for leaf in state.leaves:
                if isinstance(leaf, Varying):
                    target = self.s.builder.target(leaf.type, unknown)
                    target.name = place.key if place.kind == "name" else None
                    if place.kind == "cell":
                        target.name = place.read().name
                    targets.append(target)
        return tuple(targets), unknown
