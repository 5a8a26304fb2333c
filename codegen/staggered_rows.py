"""Two rows of a table at a time, the second one element behind: where each element waits for the one before.

    for i in range(n):                            for pair in range(n // 2):
        for j in range(m):                            i = 2 * pair
            t[i + 1, j + 1] = (                       for turn in range(m + 1):
                f(t[i, j + 1], t[i + 1, j])    ->         if turn < m:
            )                                                 t[i + 1, turn + 1] = f(t[i, turn + 1], ...)
                                                          if turn > 0:
                                                              j = turn - 1
                                                              t[i + 2, j + 1] = f(t[i + 1, j + 1], ...)
                                                  for i in range(n // 2 * 2, n): ...

The processor does both at once. Every element is computed from the same elements as before.

>>> from .core import FLOAT
>>> i, j, inner, body = Variable("i", INT), Variable("j", INT), Builder(), Block()
>>> t, u, v, w, x = (Variable("t", FLOAT.with_shape((9, 9))) for _ in range(5))
>>> with inner.inside(body):
...     left = inner.emit(PRIMITIVES["getitem"], t, (i, j))
...     place = i, inner.dimension_add(j, 1)
...     body.results = (inner.emit(PRIMITIVES["setitem"], t, place, inner.emit(PRIMITIVES["exp"], left)),)
>>> along = For((v,), j, 0, 8, 1, (t,), (u,), body)
>>> rows = For((w,), i, 0, 9, 1, (u,), (x,), Block([along], (v,)))
>>> pairs, rest = stagger_rows(Program("f", (x,), Block([rows], (w,)))).body.statements
>>> pairs.stop, rest.start, [type(s).__name__ for s in pairs.body.statements[-1].body.statements]
(4, 8, ['Assign', 'If', 'Assign', 'If'])
"""

from __future__ import annotations

from dataclasses import replace

from .access import is_array
from .build import Builder
from .core import (
    INT,
    Assign,
    Block,
    For,
    If,
    Operand,
    Program,
    Statement,
    Variable,
    While,
    assigned_in,
    blocks_of,
    variables_in,
    walk,
)
from .registry import PRIMITIVES
from .renaming import Renaming
from .row_lags import Lags

# What takes so long that other work of the processor has room beside it.
SLOW = frozenset({"exp", "log", "tanh", "sqrt", "divide", "power", "log1p", "expm1", "sin", "cos"})


def stagger_rows(program: Program) -> Program:
    """The loop program with the rows of such tables done two at a time."""
    return Program(program.name, program.parameters, Staggering(program).block(program.body))


class Staggering:
    """Rewrites the loops of blocks."""

    def __init__(self, program: Program):
        self.program = program
        self.lags: Lags | None = None

    def block(self, block: Block) -> Block:
        made: list[Statement] = []
        for statement in block.statements:
            match statement:
                case For() if (along := elements_of(statement)) is not None and self.may(statement, along):
                    made += Pairs(statement, along).write()
                    continue
                case For() | While():
                    statement = replace(statement, body=self.block(statement.body))
                case If():
                    body, orelse = map(self.block, blocks_of(statement))
                    statement = replace(statement, body=body, orelse=orelse)
            made.append(statement)
        return Block(made, block.results)

    def may(self, rows: For, along: For) -> bool:
        if self.lags is None:
            self.lags = Lags(self.program.body)
        return self.lags.one_behind(rows, along)


def elements_of(rows: For) -> For | None:
    """The only loop in a loop over rows, if its elements take long and nothing stands in the way of pairs."""
    loops = [s for s in rows.body.statements if not isinstance(s, Assign)]
    if len(loops) != 1 or not isinstance(loops[0], For):
        return None
    (along,) = loops
    known = all(loop.step in (1, -1) and not loop.fused for loop in (rows, along))
    if not known or not all(map(is_array, rows.carried)):
        return None
    if assigned_in(rows).intersection(variables_in((along.start, along.stop))):
        return None
    inner = list(walk(along.body))
    beside = [s for s in rows.body.statements if s is not along]
    if any(isinstance(s, (For, While)) for s in inner) or not effects_are_alike(inner, beside):
        return None
    made = [t for s in beside if not s.primitive.destructive for t in s.targets]
    if any(map(is_array, made)) or rows.independent:
        return None
    slow = any(isinstance(s, Assign) and s.primitive.name in SLOW for s in inner)
    return along if slow and versions(rows, along) is not None else None


def effects_are_alike(inner: list[Statement], beside: list[Assign]) -> bool:
    """Whether all that may happen but for values is one and the same exception, at any element."""
    effects = [s for s in (*inner, *beside) if isinstance(s, Assign) and s.primitive.effect]
    said = {(s.static.get("exception"), s.static.get("message")) for s in effects}
    checks = all(s.primitive is PRIMITIVES["check"] and len(s.operands) == 1 for s in effects)
    return checks and len(said) < 2 and not any(s.primitive.effect for s in beside)


def versions(rows: For, along: For) -> tuple[list, list] | None:
    """What the arrays of a loop over rows are before and after the loop in it; None if they change places."""
    now = list(rows.carried)
    before: list[Variable] = []
    for statement in rows.body.statements:
        if statement is along:
            before = list(now)
            if any(is_array(i) and i not in now for i in along.initial):
                return None
            became = dict(zip(along.initial, along.targets))
            now = [became.get(array, array) for array in now]
            after = list(now)
        elif statement.primitive.destructive:
            if statement.operands[0] not in now:
                return None
            now[now.index(statement.operands[0])] = statement.targets[0]
    return (before, after) if list(rows.body.results) == now else None


class Pairs:
    """Writes the loops that take the place of one over rows."""

    def __init__(self, rows: For, along: For):
        self.rows, self.along = rows, along
        place = rows.body.statements.index(along)
        self.before, self.after = rows.body.statements[:place], rows.body.statements[place + 1 :]
        self.entering, self.leaving = versions(rows, along)
        self.builder = Builder()
        self.builder.location = rows.location
        self.copies = [Renaming(), Renaming()]
        for copy in self.copies:
            copy.bind_block(rows.body)

    def write(self) -> list[Statement]:
        rows, builder, total = self.rows, self.builder, self.trips(self.rows)
        if isinstance(total, int):
            pairs = max(total // 2, 0)
        else:
            pairs = builder.dimension_max(builder.emit(PRIMITIVES["floor_divide"], total, 2, weak=True), 0)
        named(pairs, "pairs")
        fresh = lambda: tuple(Variable(carried.name, carried.type) for carried in rows.carried)
        pair, carried, between = Variable("pair", INT), fresh(), fresh()
        with builder.inside(Block()) as body:
            body.results = self.both_rows(pair, carried)
        even = isinstance(total, int) and total == 2 * pairs
        targets = rows.targets if even else between
        builder.append(For(targets, pair, 0, pairs, 1, carried, rows.initial, body, rows.location))
        if even:
            return builder.block.statements
        start = self.further(rows, builder.dimension_multiply(pairs, 2))
        builder.append(replace(rows, start=start, initial=between))
        return builder.block.statements

    def trips(self, loop: For) -> Operand:
        """How many turns a loop has; fewer than none where it has none."""
        ends = (loop.stop, loop.start) if loop.step == 1 else (loop.start, loop.stop)
        return self.builder.dimension_subtract(*ends)

    def both_rows(self, pair: Variable, carried: tuple[Variable, ...]) -> tuple[Operand, ...]:
        """Write two rows; what the arrays are then."""
        builder, twice = self.builder, self.builder.dimension_multiply(pair, 2)
        now: list[Operand] = list(carried)
        for copy, turn in zip(self.copies, (twice, builder.dimension_add(twice, 1))):
            row = self.further(self.rows, turn)
            copy.mapping[self.rows.index] = row
            copy.mapping.update(zip(self.rows.carried, now))
            builder.block.statements += copy.statements(self.before)
            now = [copy(array) for array in self.entering]
        for copy in self.copies:
            copy.mapping.update(zip(self.entering, now))
        self.both_loops()
        now = [self.copies[1](array) for array in self.leaving]
        for copy in self.copies:
            copy.mapping.update(zip(self.leaving, now))
            builder.block.statements += copy.statements(self.after)
            now = [copy(array) for array in self.rows.body.results]
        return tuple(now)

    def both_loops(self) -> None:
        """Write the loop over the elements of both rows."""
        builder, along = self.builder, self.along
        arrays = [k for k, carried in enumerate(along.carried) if is_array(carried)]
        numbers = [k for k in range(len(along.carried)) if k not in arrays]
        slots = [(1, k) for k in arrays] + [(row, k) for row in (0, 1) for k in numbers]
        turn, trips = Variable("turn", INT), self.trips(along)
        fresh = lambda: {(row, k): Variable(along.carried[k].name, along.carried[k].type) for row, k in slots}
        carried, targets, now = fresh(), fresh(), {}
        now.update(carried)
        with builder.inside(Block()) as body:
            for row, copy in enumerate(self.copies):
                own = [slot for slot in slots if slot[0] == row or slot[1] in arrays]
                test = builder.emit(PRIMITIVES["less"], *((turn, trips) if row == 0 else (0, turn)))
                with builder.inside(Block()) as done:
                    copy.mapping[along.index] = self.further(along, builder.dimension_add(turn, -row))
                    copy.mapping.update((along.carried[slot[1]], now[slot]) for slot in own)
                    done.statements += copy.statements(along.body.statements)
                    done.results = tuple(copy(along.body.results[slot[1]]) for slot in own)
                ends = [Variable(now[slot].name, now[slot].type) for slot in own]
                same = Block([], tuple(now[slot] for slot in own))
                builder.append(If(tuple(ends), test, done, same, along.location))
                now.update(zip(own, ends))
            body.results = tuple(now[slot] for slot in slots)
        initial = tuple(self.copies[row](along.initial[k]) for row, k in slots)
        stop = builder.dimension_add(trips, 1)
        results = tuple(targets[slot] for slot in slots)
        begun = tuple(carried[slot] for slot in slots)
        builder.append(For(results, turn, 0, stop, 1, begun, initial, body, along.location))
        for row, copy in enumerate(self.copies):
            own = [slot for slot in slots if slot[0] == row or slot[1] in arrays]
            copy.mapping.update((along.targets[slot[1]], targets[slot]) for slot in own)

    def further(self, loop: For, turns: Operand) -> Operand:
        """The index of a loop after so many turns."""
        ahead = self.builder.dimension_add if loop.step == 1 else self.builder.dimension_subtract
        return named(ahead(loop.start, turns), loop.index.name)


def named(value: Operand, name: str | None) -> Operand:
    """A value that was made here, with a name if it has none."""
    if isinstance(value, Variable):
        value.name = value.name or name
    return value
