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
from .arrays_over_time import Histories
from .build import value_key
from .core import (
    Assign,
    Block,
    Dimension,
    For,
    If,
    Operand,
    Program,
    Statement,
    Variable,
    While,
    blocks_of,
    free_variables,
    operands_of,
    variables_in,
    walk,
)
from .renaming import Renaming
from .roles import has_effect, reads_of

# How many loops above one it is tried with.
NEAR = 6
# Primitives whose operands begin with an array and an index.
INDEXED = ("getitem", "setitem", "index_add", "matmul_into")

Equal = dict[Dimension, frozenset[Dimension]]


def join_loops(program: Program) -> Program:
    """The loop program with its nests joined."""
    return Program(program.name, program.parameters, Joiner(program.body).block(program.body, {}))


class Joiner:
    """Joins the loops of blocks, from the outside in."""

    def __init__(self, body: Block):
        self.histories = Histories(body)

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
            if order is None or not self.in_step(first, second):
                continue
            joined, gone = join(first, second)
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

    def in_step(self, first: For, second: For) -> bool:
        """Whether a turn of the second loop needs of what the first wrote only the part of the same turn."""
        if has_effect(first) and has_effect(second):
            return False
        of = self.histories.of
        numbers = {target for target in first.targets if not is_array(target)}
        needed = [*free_variables(second.body), *variables_in(second.initial), *variables_in(second.stop)]
        if numbers.intersection(needed):
            return False
        destroyed = {of(array) for array in written(second)} - {of(array) for array in written(first)}
        if any(of(v) in destroyed for v in free_variables(first.body) if is_array(v)):
            return False
        made = {of(array) for array in written(first)}
        shared = [v for v in needed if is_array(v) and of(v) in made and v not in second.carried]
        if not all(v in first.targets for v in shared):
            return False
        return all(
            self.axes(first, history) & self.axes(second, history) for history in {of(v) for v in shared}
        )

    def axes(self, loop: For, history: Variable) -> set[int]:
        """The axes along which everything that a loop does with an array is at the loop's own index."""
        found = set(range(history.type.ndim))
        blocks = [loop.body]
        for statement in walk(loop.body):
            found &= self.axes_in(statement, history, loop.index)
            blocks += blocks_of(statement)
        results = [v for block in blocks for v in variables_in(block.results)]
        return set() if any(self.is_view_of(v, history) for v in results) else found

    def axes_in(self, statement: Statement, history: Variable, index: Variable) -> set[int]:
        everything, none = set(range(history.type.ndim)), set()
        touched = [v for v in variables_in(operands_of(statement)) if self.is_part_of(v, history)]
        if not isinstance(statement, Assign):
            return none if any(map(self.histories.is_view, touched)) else everything
        first = touched and touched[0] is statement.operands[0]
        if all(map(self.histories.is_view, touched)):
            return none if first and statement.primitive.destructive else everything
        if len(touched) > 1 or not first or statement.primitive.name not in INDEXED:
            return none
        return places_of(index, statement.operands[1])

    def is_part_of(self, variable: Variable, history: Variable) -> bool:
        return is_array(variable) and self.histories.of(variable) is history

    def is_view_of(self, variable: Variable, history: Variable) -> bool:
        return self.is_part_of(variable, history) and self.histories.is_view(variable)


def places_of(variable: Variable, index: tuple) -> set[int]:
    """The axes at which an index has a variable; none behind a new axis or an array."""
    found = set()
    for place, entry in enumerate(index):
        if entry is None or is_array(entry):
            break
        if entry is variable:
            found.add(place)
    return found


def may_be_joined(statement: Statement) -> bool:
    plain = isinstance(statement, For) and statement.fused
    return plain and isinstance(statement.step, int) and (statement.start, statement.step) == (0, 1)


def nested(loop: For) -> bool:
    """Whether there is a loop in a loop, or work on whole arrays."""
    return any(
        isinstance(statement, (For, While)) or statement.primitive.name == "matmul_into"
        for statement in walk(loop.body)
        if not isinstance(statement, If)
    )


def written(statement: Statement) -> list[Variable]:
    """The arrays that a statement writes into, as they are before."""
    found: list[Operand] = []
    for inner in (statement, *(s for block in blocks_of(statement) for s in walk(block))):
        if isinstance(inner, Assign):
            found += inner.operands[:1] if inner.primitive.destructive else ()
        else:
            found += getattr(inner, "initial", ())
    return [operand for operand in found if is_array(operand)]


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
