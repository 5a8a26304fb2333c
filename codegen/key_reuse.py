"""Random keys that a program uses twice: the same numbers come again where others were meant.

Samplers and `split` use a key up; what `split` and `fold_in` give is fresh. Keys are the same if they are
computed in the same way from the same things. Of two branches only one runs; a loop that uses a key from
outside of it uses it at every turn.

>>> from .core import INT, Variable
>>> from .primitives.keys import use_key
>>> key = Variable("key", INT)
>>> program = Program("f", (key,), Block([Assign((), use_key, (key,)), Assign((), use_key, (key,))]))
>>> reused(program)
[(None, None)]
>>> without_marks(program.body).statements
[]
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Hashable
from typing import Any

from .build import freeze
from .core import (
    Assign,
    Block,
    For,
    If,
    Operand,
    Program,
    Statement,
    Variable,
    While,
    blocks_of,
    bound_in,
    map_variables,
    walk,
)
from .errors import Location


class KeyReuseWarning(UserWarning):
    """A random key was used twice."""


def report(program: Program) -> bool:
    """Warn of each key that is used twice, with both lines; whether there was any."""
    found = reused(program)
    for first, second in found:
        if second is None:
            continue
        turns = "in a loop, with the same key at each turn"
        again = turns if first == second else f"and again here:\n{second}"
        warnings.warn_explicit(
            f"a random key is used twice, and gives the same numbers: here\n{first}\n{again}\n"
            "Instead: split the key, or fold_in the number of the turn; config.key_reuse = False is silent",
            KeyReuseWarning,
            second.file,
            second.line,
        )
    return bool(found)


def reused(program: Program) -> list[tuple[Location | None, Location | None]]:
    """For each key used twice, where it is used first and where again."""
    uses = Uses(program)
    uses.block(program.body, {})
    return uses.found


def without_marks(block: Block) -> Block:
    """The block without the marks."""
    kept = [
        unmarked(s) for s in block.statements if not (isinstance(s, Assign) and s.primitive.name == "use_key")
    ]
    return Block(kept, block.results)


def outer_uses(program: Program) -> list[Assign]:
    """The first mark of each key that a program has from outside of it."""
    found: dict[Operand, Assign] = {}
    own = {*program.parameters, *(t for s in walk(program.body) for t in (*s.targets, *bound_in(s)))}
    for statement in walk(program.body):
        if isinstance(statement, Assign) and statement.primitive.name == "use_key":
            (key,) = statement.operands
            if key not in own:
                found.setdefault(key, statement)
    return list(found.values())


def unmarked(statement: Statement) -> Statement:
    names = {If: ("body", "orelse"), For: ("body",), While: ("test", "body")}.get(type(statement), ())
    return dataclasses.replace(statement, **{n: without_marks(getattr(statement, n)) for n in names})


class Uses:
    """Goes through a program in order, with the keys used so far and where."""

    def __init__(self, program: Program):
        self.found: list[tuple[Location | None, Location | None]] = []
        self.made = {t: s for s in walk(program.body) if isinstance(s, Assign) for t in s.targets}
        self.known: dict[Variable, tuple[Hashable, frozenset]] = {}

    def block(self, block: Block, used: dict[Hashable, Location | None]) -> None:
        for statement in block.statements:
            match statement:
                case Assign():
                    if statement.primitive.name == "use_key":
                        self.use(self.key(statement.operands[0]), statement.location, used)
                case If():
                    paths = [dict(used) for _ in range(2)]
                    for part, path in zip(blocks_of(statement), paths, strict=True):
                        self.block(part, path)
                    for path in paths:
                        used.update(path)
                case For() | While():
                    self.loop(statement, used)

    def loop(self, loop: For | While, used: dict[Hashable, Location | None]) -> None:
        inside: dict[Hashable, Location | None] = {}
        for part in blocks_of(loop):
            self.block(part, inside)
        own = set(bound_in(loop)).union(*(s.targets for part in blocks_of(loop) for s in walk(part)))
        own |= {v for part in blocks_of(loop) for s in walk(part) for v in bound_in(s)}
        for key, location in inside.items():
            roots = key[1]
            if roots & own:
                continue
            self.use(key, location, used)
            if not at_most_once(loop):
                self.use(key, location, used)

    def use(self, key: Hashable, location: Location | None, used: dict[Hashable, Location | None]) -> None:
        if key in used:
            self.found.append((used[key], location))
        used[key] = location

    def key(self, operand: Operand) -> tuple[Hashable, frozenset]:
        """How a value is computed, the same for values that are equal, and from which variables."""
        roots: set[Variable] = set()

        def form(variable: Variable) -> Any:
            how, of = self.computed(variable)
            roots.update(of)
            return how

        try:
            how = freeze(map_variables(lambda v: Form(form(v)), operand))
        except TypeError:
            how = id(operand)
        return how, frozenset(roots)

    def computed(self, variable: Variable) -> tuple[Hashable, frozenset]:
        if variable not in self.known:
            self.known[variable] = self.compute(variable)
        return self.known[variable]

    def compute(self, variable: Variable) -> tuple[Hashable, frozenset]:
        statement = self.made.get(variable)
        itself = id(variable), frozenset((variable,))
        if statement is None or statement.primitive.effect or not statement.operands:
            return itself
        how, roots = self.key(statement.operands)
        try:
            static = freeze(statement.static)
            hash(static)
        except TypeError:
            return itself
        return (statement.primitive.name, statement.targets.index(variable), how, static), roots


class Form:
    """How a variable is computed, in the place of it in an operand."""

    def __init__(self, how: Hashable):
        self.how = how

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Form) and self.how == other.how

    def __hash__(self) -> int:
        return hash(self.how)

    def __str__(self) -> str:
        return ""


def at_most_once(loop: For | While) -> bool:
    """Whether a loop is known to have no second turn."""
    if not isinstance(loop, For) or not all(isinstance(n, int) for n in (loop.start, loop.stop, loop.step)):
        return False
    return len(range(loop.start, loop.stop, loop.step)) < 2
