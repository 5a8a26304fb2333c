"""Join loops: nests that go over the same rows become one, so that a row is read while it is in the cache.

    for i in range(n):                            for i in range(n):
        for j in range(m):                            for j in range(m):
            largest[i] = max(x[i, j], ...)                largest[i] = max(x[i, j], ...)
    for i in range(n):                  ->            for j in range(m):
        for j in range(m):                                y[i, j] = exp(x[i, j] - largest[i])
            y[i, j] = exp(x[i, j] - largest[i])

Two loops are joined where each turn of the second reads, of what the first writes, only what the same turn of
the first has written. The first moves down to the second, or the second up. Innermost loops stay apart.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .access import is_array
from .accumulated import only_adds, writes_as_additions
from .arrays_over_time import Histories
from .build import freeze, value_key
from .core import (
    Assign,
    Block,
    Dimension,
    For,
    If,
    Program,
    Statement,
    Variable,
    While,
    blocks_of,
    free_variables,
    variables_in,
    walk,
)
from .interchanged_loops import interchange_loops
from .lasting_arrays import is_zeros
from .renaming import Renaming
from .roles import has_effect, reads_of
from .row_loops import axes_of, may_be_joined, nested, written

# How many loops above one it is tried with.
NEAR = 6

Equal = dict[Dimension, frozenset[Dimension]]


def join_loops(program: Program) -> Program:
    """The loop program with its nests joined."""
    body = Joiner(program.body).block(program.body, {})
    interchanged = interchange_loops(body)
    if interchanged is not None:
        body = Joiner(interchanged).block(interchanged, {})
    return Program(program.name, program.parameters, body)


class Joiner:
    """Joins the loops of blocks, from the outside in."""

    def __init__(self, body: Block):
        self.histories = Histories(body)
        self.zeros = {s.targets[0] for s in walk(body) if is_zeros(s)}

    def block(self, block: Block, equal: Equal) -> Block:
        equal, made = dict(equal), []
        for place, statement in enumerate(block.statements):
            note_equal(statement, equal)
            made.append(statement)
            later = Block(block.statements[place + 1 :], block.results)
            while self.join_last(made, equal, later):
                pass
        return Block([self.inside(statement, equal) for statement in made], block.results)

    def inside(self, statement: Statement, equal: Equal) -> Statement:
        match statement:
            case For() | While():
                return replace(statement, body=self.block(statement.body, equal))
            case If():
                body, orelse = (self.block(part, equal) for part in blocks_of(statement))
                return replace(statement, body=body, orelse=orelse)
        return statement

    def join_last(self, statements: list[Statement], equal: Equal, later: Block) -> bool:
        """Join the last of some statements with a loop above it, if there is one that allows it."""
        second = statements[-1]
        if not may_be_joined(second):
            return False
        places = [k for k, s in enumerate(statements[:-1]) if may_be_joined(s)]
        for place in reversed(places[-NEAR:]):
            first, between = statements[place], statements[place + 1 : -1]
            if not same_size(first.stop, second.stop, equal) or nested(first) != nested(second):
                continue
            order = self.around(first, between, second)
            if order is None or (matched := self.in_step(first, second)) is None:
                continue
            joined, gone = join(matched, second)
            if not gone or not gone.intersection(free_variables(later)):
                before, after = order
                statements[place:] = [*before, joined, *after]
                self.histories.note(joined)
                return bool(not after)
        return False

    def around(self, first: For, between: list[Statement], second: For) -> tuple[list, list] | None:
        """What comes before and after the two as one, of what is between them; None if that cannot be."""
        targets = set(first.targets)
        if not any(targets.intersection(reads_of(s)) for s in between) and self.can_pass(first, between):
            return between, []
        needed, waiting = set(), set(reads_of(second))
        for statement in reversed(between):
            if waiting.intersection(statement.targets):
                needed.add(statement)
                waiting.update(reads_of(statement))
        before = [statement for statement in between if statement in needed]
        after = [statement for statement in between if statement not in needed]
        if any(map(has_effect, between)) or any(targets.intersection(reads_of(s)) for s in before):
            return None
        if not self.can_pass(first, before):
            return None
        return (before, after) if all(self.can_pass(s, after) for s in (*before, second)) else None

    def can_pass(self, one: Statement, others: list[Statement]) -> bool:
        """Whether the order of a statement and others, none of which needs it, makes no difference."""
        touched = {self.histories.of(v) for v in reads_of(one) if is_array(v)}
        changed, effect = {self.histories.of(array) for array in written(one)}, has_effect(one)
        for other in others:
            if effect and has_effect(other):
                return False
            if any(self.histories.of(array) in touched for array in written(other)):
                return False
            if any(self.histories.of(v) in changed for v in reads_of(other) if is_array(v)):
                return False
        return True

    def in_step(self, first: For, second: For) -> For | None:
        """The first loop, if a turn of the second needs of what it wrote only the part of the same turn.

        To an array that both only add to, they may do so in any order: what is written into zeros is added.
        """
        if has_effect(first) and has_effect(second) or self.write_other_rows(first, second):
            return None
        of = self.histories.of
        numbers = {target for target in first.targets if not is_array(target)}
        needed = [*free_variables(second.body), *variables_in(second.initial), *variables_in(second.stop)]
        if numbers.intersection(needed):
            return None
        destroyed = {of(array) for array in written(second)} - {of(array) for array in written(first)}
        if any(of(v) in destroyed for v in free_variables(first.body) if is_array(v)):
            return None
        made = {of(array) for array in written(first)}
        shared = [v for v in needed if is_array(v) and of(v) in made and v not in second.carried]
        if not all(v in first.targets for v in shared):
            return None
        for history in {of(v) for v in shared}:
            if not axes_of(first, history, self.histories) & axes_of(second, history, self.histories):
                # Were they innermost, each turn would wait for what the one before has added.
                if not nested(first) or not only_adds(second.body, history, self.histories):
                    return None
                if (first := self.adding(first, history)) is None:
                    return None
        return first

    def write_other_rows(self, first: For, second: For) -> bool:
        """Whether innermost loops go along different rows of an array: only apart they are vectorised."""
        if nested(first):
            return False
        rows, others = (self.rows_along(loop) for loop in (first, second))
        return any(rows[history] != others[history] for history in rows if history in others)

    def rows_along(self, loop: For) -> dict[Variable, set[tuple]]:
        """The rows that a loop writes from one end to the other."""
        found: dict[Variable, set[tuple]] = {}
        for statement in walk(loop.body):
            if isinstance(statement, Assign) and statement.primitive.name in ("setitem", "index_add"):
                array, index = statement.operands[:2]
                if index and index[-1] is loop.index:
                    found.setdefault(self.histories.of(array), set()).add(freeze(index[:-1]))
        return found

    def adding(self, loop: For, history: Variable) -> For | None:
        """A loop that only adds to an array, or wrote into zeros what it now adds."""
        if only_adds(loop.body, history, self.histories):
            return loop
        places = [k for k, carried in enumerate(loop.carried) if self.histories.of(carried) is history]
        if len(places) != 1 or loop.initial[places[0]] not in self.zeros:
            return None
        return writes_as_additions(loop, places[0], self.histories)


def join(first: For, second: For) -> tuple[For, set[Variable]]:
    """One loop that does the work of two, and the arrays between them that it no longer gives."""
    after = dict(zip(first.targets, first.body.results))
    onward = {t: k for k, t in enumerate(second.initial) if is_array(t) and t in after}
    renaming = Renaming({second.index: first.index, **after})
    renaming.mapping |= {second.carried[k]: after[t] for t, k in onward.items()}
    body = Block(once(first.body.statements, second.body.statements, renaming), renaming(second.body.results))
    position = {target: k for k, target in enumerate(first.targets)}
    targets, results = list(first.targets), list(first.body.results)
    for target, k in onward.items():
        targets[position[target]], results[position[target]] = second.targets[k], body.results[k]
    new = [k for k in range(len(second.initial)) if k not in onward.values()]
    pick = lambda items: tuple(items[k] for k in new)
    joined = replace(
        second,
        index=first.index,
        targets=(*targets, *pick(second.targets)),
        carried=(*first.carried, *pick(second.carried)),
        initial=(*first.initial, *pick(second.initial)),
        body=Block([*first.body.statements, *body.statements], (*results, *pick(body.results))),
        location=first.location or second.location,
    )
    return joined, set(onward)


def once(first: list[Statement], second: list[Statement], renaming: Renaming) -> list[Statement]:
    """The statements of a second body, renamed, without the numbers that the first computes too."""
    known = {number_key(statement): statement.targets for statement in first}
    made = []
    for statement in second:
        same = known.get(number_key(renamed := renaming.statement(statement)))
        if same and number_key(renamed) is not None:
            renaming.mapping |= zip(statement.targets, same)
        else:
            made.append(renamed)
    return made


def number_key(statement: Statement) -> Any:
    """What tells a number's computation from others; None for other statements."""
    if not isinstance(statement, Assign) or any(getattr(t.type, "shape", True) for t in statement.targets):
        return None
    plain = not (statement.primitive.effect or statement.primitive.destructive)
    return value_key(statement.primitive, statement.operands, statement.static) if plain else None


def note_equal(statement: Statement, equal: Equal) -> None:
    """Note that two sizes are checked to be the same."""
    if isinstance(statement, Assign) and statement.primitive.name == "check_same":
        sizes = frozenset().union(*(equal.get(size, {size}) for size in statement.operands))
        equal |= dict.fromkeys(sizes, sizes)


def same_size(a: Dimension, b: Dimension, equal: Equal) -> bool:
    return a is b or (isinstance(a, int) and isinstance(b, int) and a == b) or b in equal.get(a, ())
