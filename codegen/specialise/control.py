"""Branches and loops whose course is known only at run time."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..build import bound_index
from ..core import BOOL, INT, ArrayType, Block, For, If, StackType, Variable, While, type_of, walk
from ..registry import PRIMITIVES
from .machine import BranchEnds, Specialiser, Unroll
from .merge import Leaf, conflict, join_types, put_together, same_size, same_static, same_template, take_apart
from .store import Frame, Location, Trial
from .values import UNDEFINED, Array, Cell, Conflict, Maybe, is_dynamic

SHARED = "a condition or loop known only at run time decides which arrays share its memory"


# branches


def branch(s: Specialiser, test: Any, first: Callable, second: Callable, frame: Frame,
           live: frozenset[str] | None, node: Any) -> Any:
    """Specialise both paths of a condition known only at run time, and join what they leave."""
    location = s.location(node)
    block_a, trial_a, value_a = attempt(s, first)
    block_b, trial_b, value_b = attempt(s, second)
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
        if value is not place.read():
            s.store.write(place, value)
    return joined[-1]


def attempt(s: Specialiser, path: Callable) -> tuple[Block, Trial | None, Any]:
    """Specialise one path, and take its writes back; no trial if the path ends in an exception."""
    block = Block()
    s.store.open()
    ended, value = False, None
    try:
        with s.builder.inside(block):
            value = path()
    except BranchEnds:
        ended = True
    except BaseException:
        s.store.close()
        raise
    trial = s.store.close()
    return block, None if ended else trial, value


def matters(place: Location, frame: Frame, live: frozenset[str] | None) -> bool:
    """Whether a place may be read later."""
    return live is None or place.kind != "name" or place.holder is not frame or place.key in live


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

    def values(self, pairs: list[tuple[Any, Any]], generated: list[bool]) -> list[Any]:
        plans = [self.plan(a, b, g) for (a, b), g in zip(pairs, generated, strict=True)]
        targets = self.finish()
        return [put_together(template, self.pick(leaves, targets)) for template, leaves in plans]

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
        templates = [take_apart(present if v is UNDEFINED else v, leaves)
                     for v, leaves in zip((a, b), sides, strict=True)]
        if not same_template(*templates):
            return conflict(a, b, "depending on a condition known only at run time"), []
        missing = (a is UNDEFINED, b is UNDEFINED)
        joined = [self.leaf(x, y, missing) for x, y in zip(*sides, strict=True)]
        if any(leaf is None for leaf in joined):
            return conflict(a, b, "depending on a condition known only at run time"), []
        if flag is None:
            return templates[0], joined
        joined.append(self.column(flag[0], flag[1], BOOL))
        return Maybe(templates[0], Leaf(len(joined) - 1)), joined

    def leaf(self, a: Any, b: Any, missing: tuple[bool, bool]) -> Any:
        if same_static(a, b) and not any(missing):
            return a
        a_value, b_value = self.read(0, a, missing[0]), self.read(1, b, missing[1])
        types = [type_of(v) for v, gone in ((a_value, missing[0]), (b_value, missing[1])) if not gone]
        joined = join_types(types[0], types[-1])
        if joined is None:
            return None
        if isinstance(joined, ArrayType):
            joined = joined.with_shape(tuple(None if any(d in i for i in self.inner) else d for d in joined.shape))
            self.note_sharing(a, b)
        return self.column(placeholder(joined) if missing[0] else a_value,
                           placeholder(joined) if missing[1] else b_value, joined)

    def note_sharing(self, a: Any, b: Any) -> None:
        for value, trial in ((a, self.trials[0]), (b, self.trials[1])):
            if isinstance(value, Array) and value.cell.depth <= trial.depth:
                value.cell.ambiguous = SHARED

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
        return [self.wrap(targets[leaf.number]) if isinstance(leaf, Column) else leaf for leaf in leaves]

    def wrap(self, target: Variable) -> Any:
        value = self.s.wrap(target)
        if isinstance(value, Array):
            value.cell.contiguous = None
        return value


class Column:
    """The number of a result of an If or loop."""

    def __init__(self, number: int):
        self.number = number


def defined_in(block: Block) -> list[Variable]:
    """Variables that a block and the blocks in it assign."""
    found: list[Variable] = []
    for statement in walk(block):
        found.extend(statement.targets)
        if isinstance(statement, For):
            found.extend((statement.index, *statement.carried))
        elif isinstance(statement, While):
            found.extend(statement.carried)
    return found


def emit_sizes(s: Specialiser, unknown: list) -> None:
    """Read off the sizes of results that their types leave open."""
    for size, axis, array in unknown:
        s.builder.emit_size(size, array, axis)


def cast(s: Specialiser, operand: Any, to: ArrayType) -> Any:
    """An operand converted to a dtype (sizes are left alone)."""
    if isinstance(to, StackType) or isinstance(operand, Hole):
        return fill(s, operand) if isinstance(operand, Hole) else operand
    have = type_of(operand)
    if have.dtype == to.dtype and (have.weak == to.weak or not isinstance(operand, Variable)):
        return operand
    if not isinstance(operand, Variable):
        kinds = {"b": bool, "i": int, "f": float, "c": complex}
        return kinds[to.dtype.kind](operand) if to.weak else to.dtype.type(operand)
    return s.builder.emit(PRIMITIVES["astype"], operand, dtype=to.dtype, **({"weak": True} if to.weak else {}))


class Hole:
    """Stands for a value of a type on a path where there is none."""

    def __init__(self, of: ArrayType):
        self.type = of


def placeholder(of: ArrayType) -> Hole:
    return Hole(of)


def fill(s: Specialiser, hole: Hole) -> Any:
    """Any value of the hole's type: it is never read."""
    if isinstance(hole.type, StackType):
        return s.builder.emit(PRIMITIVES["stack"], element=hole.type.element)
    if not hole.type.shape:
        return cast(s, 0, hole.type)
    shape = tuple(0 if size is None else size for size in hole.type.shape)
    return s.builder.emit(PRIMITIVES["zeros"], shape, dtype=hole.type.dtype)


# loops


class Carried:
    """What is known at the head of a loop of a place that the loop changes: a template, and a type a leaf.

    A leaf is either unchanged (its value) or carried (its type, as `Varying`).
    """

    def __init__(self, value: Any, generated: bool):
        self.initial: list[Any] = []
        self.generated = generated
        self.undefined = value is UNDEFINED
        self.template = UNDEFINED if self.undefined else take_apart(value, self.initial)
        self.leaves: list[Any] = list(self.initial)
        self.heads: list[Any] = []


class Varying:
    """The type of a leaf that changes from one iteration to the next; sizes that change are None."""

    def __init__(self, of: ArrayType):
        self.type = of


class Loop:
    """Finds what a loop carries, by trying its body until the types at its head stay as they are."""

    def __init__(self, s: Specialiser, frame: Frame, live: frozenset[str] | None, node: Any):
        self.s = s
        self.frame = frame
        self.live = live
        self.node = node
        self.carried: dict[Location, Carried] = {}
        self.head_cells: dict[Cell, Cell] = {}

    def enter(self) -> tuple[Variable, ...]:
        """Give every carried place its value at the head of the loop."""
        heads: list[Variable] = []
        self.head_cells = {}
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
            value = put_together(state.template, values)
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
                generated = place.kind == "name" and place.key in place.holder.scope.generated
                self.carried[place] = Carried(start, generated)
                stable = False
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
        if not same_template(inside, template):
            what = conflict(state.initial, end, "").reason
            error = self.s.unsupported(f"'{place.key}' changes its kind in a loop: {what}",
                                       "keep one structure of values throughout the loop", self.node)
            raise Unroll(what, error)
        for number, leaf in enumerate(leaves):
            stable &= self.widen_leaf(place, state, number, leaf, inner)
        return stable

    def add_flag(self, state: Carried, initial: bool) -> None:
        state.template = Maybe(state.template, Leaf(len(state.leaves)))
        state.leaves.append(Varying(BOOL))
        state.initial.append(initial)

    def open_type(self, leaf: Any, inner: set[Variable]) -> ArrayType:
        found = self.s.type(leaf)
        if isinstance(found, StackType):
            return found
        sizes = tuple(None if size in inner else size for size in map(self.s.builder.representative, found.shape))
        return found.with_shape(sizes)

    def widen_leaf(self, place: Location, state: Carried, number: int, end: Any, inner: set[Variable]) -> bool:
        have = state.leaves[number]
        if not isinstance(have, Varying):
            if same_static(have, end):
                return True
            before = self.s.type(state.initial[number])
        else:
            before = have.type
        joined = join_types(before, self.open_type(end, inner))
        if joined is None:
            error = self.s.unsupported(f"'{place.key}' changes its number of dimensions in a loop",
                                       "keep its rank the same in every iteration", self.node)
            raise Unroll("rank", error)
        if isinstance(have, Varying) and same_types(have.type, joined):
            return True
        state.leaves[number] = Varying(joined)
        if isinstance(state.initial[number], Hole):
            state.initial[number] = Hole(joined)
        return False

    def results(self) -> tuple[Any, ...]:
        """The operands that the body ends with, one for each carried variable."""
        out = []
        for place, state in self.carried.items():
            end = place.read()
            if isinstance(state.template, Maybe) and not isinstance(end, Maybe):
                end = Maybe(end, True)
            if state.generated and isinstance(end, Maybe):
                end = end.value
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
                    operand = leaf if isinstance(leaf, Hole) else self.s.operand(leaf)
                    out.append(cast(self.s, operand, have.type))
        return tuple(out)

    def check_aliases(self, written: set[Cell]) -> set[Cell]:
        """Refuse where writes would go to arrays that other carried names may share; cells that are shared."""
        ends: list[Cell] = []
        for place, state in self.carried.items():
            if place.kind == "cell":
                continue
            leaves: list[Any] = []
            take_apart(place.read(), leaves)
            for number, leaf in enumerate(leaves):
                if isinstance(leaf, Array) and number < len(state.leaves) and isinstance(state.leaves[number], Varying):
                    ends.append(leaf.cell)
        starts = [cell for cell in self.head_cells.values() if cell is not None]
        outside = {cell for cell in ends if cell.depth < self.s.store.depth}
        shared = outside | {c for group in (ends, starts) for c in group if group.count(c) > 1}
        heads_written = [cell for cell in self.head_cells if cell in written]
        exchanged = {p.holder for p in self.carried if p.kind == "cell"}.intersection(starts, ends)
        if (heads_written and shared) or exchanged:
            raise Unroll("aliases", self.s.unsupported(
                "an array is written in a loop in which its name comes to share memory with another",
                "copy the array where the names are exchanged", self.node))
        for head in heads_written:
            first = self.head_cells[head]
            if first is not None:
                first.stale = "it was written in a loop under another name"
                if first.parameter:
                    raise self.s.unsupported("an argument is written in a loop under a name that changes",
                                             "copy the argument first", self.node)
        return shared

    def leave(self, targets: tuple[Variable, ...], shared: set[Cell]) -> None:
        """Give every carried place its value after the loop."""
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
            value = put_together(state.template, values)
            self.s.store.write(place, value.cell.value if place.kind == "cell" else value)
        for cell in shared:
            cell.ambiguous = SHARED

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


def same_types(a: Any, b: Any) -> bool:
    if isinstance(a, StackType) or isinstance(b, StackType):
        return isinstance(a, StackType) and isinstance(b, StackType)
    return (a.dtype == b.dtype and a.weak == b.weak and a.ndim == b.ndim
            and all(x is y or same_size(x, y) for x, y in zip(a.shape, b.shape, strict=True)))


def range_loop(s: Specialiser, start: Any, stop: Any, step: Any, body: Callable[[Variable], None],
               frame: Frame, live: frozenset[str] | None, node: Any, name: str | None) -> None:
    """`for i in range(start, stop, step): body(i)` as a loop of the core program."""
    loop = Loop(s, frame, live, node)
    location = s.location(node)
    while True:
        index, block = Variable(name, INT), Block()
        bound_index(s.builder, index, start, step)
        s.builder.upper_bounds[index] = stop if isinstance(step, int) and step > 0 else None
        stable, carried, shared = one_pass(s, loop, block, index, lambda i=index: body(i))
        if stable:
            break
    if not block.statements and not loop.carried:
        return
    initial = loop.initial_operands()
    targets, unknown = loop.targets()
    s.builder.append(For(targets, index, start, stop, step, carried, initial, block, location))
    emit_sizes(s, unknown)
    loop.leave(targets, shared)


def one_pass(s: Specialiser, loop: Loop, block: Block, index: Variable | None, body: Callable) -> tuple:
    """Try the body once; whether the head was stable, the carried variables, and the cells that are shared."""
    s.store.open()
    s.loops.append({index} if index is not None else set())
    try:
        with s.builder.inside(block):
            carried = loop.enter()
            s.loops[-1].update(carried)
            body()
            stable, shared = finish_pass(s, loop, block)
    finally:
        s.loops.pop()
        s.store.close()
    return stable, carried, shared


def finish_pass(s: Specialiser, loop: Loop, block: Block) -> tuple[bool, set[Cell]]:
    writes = {place: place.read() for place in s.store.trials[-1] if outer_place(s, place)}
    stable = loop.settle(block, writes)
    if not stable:
        return False, set()
    written = {place.holder for place in s.store.trials[-1] if place.kind == "cell"}
    shared = loop.check_aliases(written)
    block.results = loop.results()
    return True, shared


def outer_place(s: Specialiser, place: Location) -> bool:
    return id(place.holder) not in s.store.born[-1] and place.depth < s.store.depth


def while_loop(s: Specialiser, test: Callable[[], Any], body: Callable[[], None], frame: Frame,
               live: frozenset[str] | None, node: Any) -> None:
    """`while test(): body()` as a loop of the core program."""
    loop = Loop(s, frame, live, node)
    location = s.location(node)
    while True:
        head, block = Block(), Block()
        s.store.open()
        s.loops.append(set())
        try:
            with s.builder.inside(head):
                carried = loop.enter()
                s.loops[-1].update(carried)
                going = test()
                if going is False:
                    return
                head.results = (going,)
                with s.builder.inside(block):
                    body()
                    whole = Block([*head.statements, *block.statements])
                    stable, shared = finish_pass(s, loop, whole)
                    block.results = whole.results
                    block.statements = block.statements
        finally:
            s.loops.pop()
            s.store.close()
        if stable:
            break
    if going is True:
        raise s.unsupported("this loop never ends: its condition does not depend on what it changes",
                            "add a break, or a condition that becomes false", node)
    initial = loop.initial_operands()
    targets, unknown = loop.targets()
    s.builder.append(While(targets, carried, initial, head, block, location))
    emit_sizes(s, unknown)
    loop.leave(targets, shared)


def truth(s: Specialiser, value: Any, node: Any) -> Any:
    """A value as a condition: a Python bool, or a boolean scalar known only at run time."""
    value = s.defined(value, "condition", node)
    if not is_dynamic(value):
        return bool(value)
    of = s.type(value)
    if of.shape:
        if all(isinstance(size, int) and size == 1 for size in of.shape):
            value = s.emit("reshape", value, ())
        else:
            raise s.unsupported(
                "the truth value of an array with more than one element is ambiguous",
                "use a.any() or a.all()", node)
    if of.dtype.kind == "b":
        return s.operand(value)
    return s.builder.emit(PRIMITIVES["not_equal"], s.operand(value), 0)


__all__ = ["branch", "cast", "range_loop", "truth", "while_loop"]
