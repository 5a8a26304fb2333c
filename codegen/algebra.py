"""Algebra: folds constants, shares repeated values, and applies identities, in one walk through a program.

The table is identities.py, what does not fit in a line is rewrites.py and the two beside it; here also
branches that are known, loops that run never or once, and carried variables that never change.

>>> from .build import Builder
>>> from .core import FLOAT, Program
>>> from .primitives import elementwise as e
>>> x = Variable("x", FLOAT)
>>> b = Builder()
>>> y = b.emit(e.add, b.emit(e.multiply, x, 1.0), b.emit(e.negative, b.emit(e.negative, x)))
>>> b.block.results = (y,)
>>> *_, double = apply_algebra(Program("f", (x,), b.block)).body.statements
>>> double.primitive, double.operands
(multiply, (2, x))
"""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from . import rewrites_of_memory, rewrites_of_transposes  # noqa: F401  enter their rewrites
from .build import Builder, fold, freeze, replace_type, value_key
from .core import (
    ArrayType,
    Assign,
    Block,
    Dimension,
    For,
    If,
    Operand,
    Program,
    StackType,
    Type,
    Variable,
    While,
    map_variables,
    type_of,
    uses_in,
    variables_in,
)
from .identities import Call, apply_identities
from .least_size import least_size
from .ranges import Ranges
from .registry import Primitive, array_scalar
from .rewrites import REWRITES
from .rewrites_of_arithmetic import drop_broadcast, plain_number
from .weaken import weaker

MOST_STEPS = 16


def apply_algebra(program: Program, differentiated: bool = True) -> Program:
    """The program with constants folded, repeated values shared and identities applied.

    `differentiated`: nothing is to be differentiated any more.
    """
    body = Block()
    rewriter = Rewriter(program, body)
    rewriter.differentiated = differentiated
    rewriter.statements(program.body)
    body.results = rewriter.current(program.results)
    return Program(program.name, program.parameters, body)


class Rewriter:
    """Copies a program statement by statement; `mapping` says what became of each variable."""

    def __init__(self, program: Program, body: Block):
        self.builder = Builder(body)
        self.mapping: dict[Variable, Operand] = {}
        self.truths: dict[Variable, bool] = {}
        self.scopes: list[set[Variable]] = [set(program.parameters)]
        self.ranges = Ranges(self.builder)
        self.primitive: Primitive | None = None
        self.differentiated = True
        for parameter in program.parameters:
            sizes = parameter.type.shape if isinstance(parameter.type, ArrayType) else ()
            self.builder.lower_bounds.update(dict.fromkeys(variables_in(sizes), least_size()))
        self.uses = uses_in(program)

    # what the rewrites ask

    def definition(self, operand: Operand) -> Assign | None:
        return self.builder.definitions.get(operand) if isinstance(operand, Variable) else None

    def made_by(self, operand: Operand, *names: str) -> Assign | None:
        """The statement that made an operand, if it is one of these primitives."""
        made = self.definition(operand)
        return made if made is not None and made.primitive.name in names else None

    def visible(self, variable: Variable) -> bool:
        return any(variable in scope for scope in self.scopes)

    def same_shape(self, one: tuple[Dimension, ...], other: tuple[Dimension, ...]) -> bool:
        return len(one) == len(other) and all(map(self.builder.same, one, other))

    def same_type(self, one: Type, other: Type) -> bool:
        if not (isinstance(one, ArrayType) and isinstance(other, ArrayType)):
            return one == other
        return one.dtype == other.dtype and one.weak == other.weak and self.same_shape(one.shape, other.shape)

    # copying

    def current(self, operand: Operand) -> Operand:
        """An operand in terms of the new program."""
        return map_variables(lambda v: self.mapping.get(v, v), operand)

    def retype(self, variable: Variable) -> Variable:
        """The variable, or another if the sizes in its type have changed."""
        of = replace_type(variable.type, self.mapping)
        if of == variable.type:
            return variable
        changed = Variable(variable.name, of)
        self.mapping[variable] = changed
        self.uses[changed] = self.uses[variable]
        return changed

    def define(self, *variables: Variable) -> tuple[Variable, ...]:
        """Variables as the new program has them, which from here on are visible."""
        changed = tuple(map(self.retype, variables))
        self.scopes[-1].update(changed)
        return changed

    def become(self, variable: Variable, operand: Operand) -> None:
        """Let an operand stand for a variable from here on."""
        self.mapping[variable] = operand
        if isinstance(operand, Variable):
            self.uses[operand] += max(self.uses[variable] - 1, 0)
            operand.name = operand.name or variable.name

    @contextlib.contextmanager
    def inside(self, block: Block) -> Iterator[Block]:
        self.scopes.append(set())
        with self.builder.inside(block):
            yield block
        self.scopes.pop()

    def statements(self, block: Block) -> None:
        for statement in block.statements:
            match statement:
                case Assign():
                    self.assign(statement)
                case If():
                    self.branch(statement)
                case For():
                    self.range_loop(statement)
                case While():
                    self.while_loop(statement)

    def copy(self, block: Block) -> Block:
        copied = Block()
        with self.inside(copied):
            self.statements(block)
            copied.results = self.current(block.results)
        return copied

    # assignments

    def assign(self, statement: Assign) -> None:
        primitive, operands = statement.primitive, self.current(statement.operands)
        static = {k: self.current_static(v) for k, v in statement.static.items()}
        if primitive.effect:
            self.effect(statement, operands, static)
            return
        if len(statement.targets) == 1:
            (target,) = statement.targets
            of = replace_type(target.type, self.mapping)
            outcome = self.rewritten(of, target, Call(primitive, operands, static))
            if not isinstance(outcome, Call):
                self.become(target, outcome)
                return
            primitive, operands, static = outcome
        shared = not (primitive.destructive or primitive.allocates)
        key = value_key(primitive, operands, static) if shared else None
        if key is not None and (known := self.known(key)) is not None:
            for target, value in zip(statement.targets, known):
                self.become(target, value)
            return
        targets = self.define(*statement.targets)
        made = replace(statement, targets=targets, primitive=primitive, operands=operands, static=static)
        self.builder.append(made)
        self.builder.definitions.update(dict.fromkeys(targets, made))
        if key is not None:
            self.builder.scopes[-1].known[key] = targets if len(targets) > 1 else targets[0]

    def current_static(self, value: Any) -> Any:
        return replace_type(value, self.mapping) if isinstance(value, (ArrayType, StackType)) else value

    def known(self, key: Any) -> tuple[Variable, ...] | None:
        found = next((s.known[key] for s in reversed(self.builder.scopes) if key in s.known), None)
        return found if found is None or isinstance(found, tuple) else (found,)

    def rewritten(self, of: Type, target: Variable, call: Call) -> Operand | Call:
        """What an operation becomes: an operand, or the call that is left."""
        for _ in range(MOST_STEPS):
            outcome = self.step(of, target, call)
            if not isinstance(outcome, Call):
                return call if outcome is None else outcome
            call = outcome
        return call

    def step(self, of: Type, target: Variable, call: Call) -> Operand | Call | None:
        """One step of rewriting, or None where there is none."""
        primitive, operands, static = call
        if operands and all(map(array_scalar, operands)):
            value = fold(primitive, operands, static)
            if value is not None and self.same_type(type_of(value), of):
                return value
        self.primitive = primitive
        for outcome in self.outcomes(of, *call):
            if isinstance(outcome, Call):
                if not unchanged(outcome, call):
                    return outcome
            elif self.may_replace(outcome, target, of):
                return outcome
        return None

    def outcomes(self, of: Type, primitive: Primitive, operands: tuple, static: dict) -> Iterator[Any]:
        """What an operation may become, the best first."""
        if primitive.name == "stop_gradient" and not self.differentiated:
            return
        for rewrite in (*REWRITES.get(primitive.name, ()), drop_broadcast):
            yield rewrite(self, of, *operands, **static)
        for outcome in apply_identities(self.definition, primitive, operands) if not static else ():
            unary = isinstance(outcome, Call) and len(outcome.operands) == 1
            if not unary or self.same_type(type_of(outcome.operands[0]), of):
                yield outcome
        yield weaker(self, of, *operands, **static)
        # last, for it hides that a zero was an array of zeros
        yield plain_number(self, of, *operands, **static)

    def may_replace(self, outcome: Operand | None, target: Variable, of: Type) -> bool:
        return outcome is not None and outcome is not target and self.same_type(type_of(outcome), of)

    def effect(self, statement: Assign, operands: tuple, static: dict) -> None:
        """Keep an effect, unless it is a check that is known to hold."""
        name = statement.primitive.name
        if name == "use_key":
            return
        if name.startswith("check") and not statement.targets:
            key = value_key(statement.primitive, operands, {})
            if self.holds(name, operands) or (key is not None and self.known(key) is not None):
                return
            if key is not None:
                self.builder.scopes[-1].known[key] = ()
        self.builder.append(replace(statement, operands=operands, static=static))
        if name == "check_same":
            a, b = map(self.builder.representative, operands)
            old, new = (a, b) if isinstance(a, Variable) else (b, a)
            if isinstance(old, Variable):
                self.builder.scopes[-1].equal[old] = new

    def holds(self, name: str, operands: tuple) -> bool:
        match name, operands:
            case "check_same", (a, b):
                return self.builder.same(a, b)
            case "check", (test, *_):
                return isinstance(test, (bool, np.bool_)) and bool(test)
            case "check_index", (index, size):
                return self.ranges.within(index, size)
        return False

    # control flow

    def branch(self, statement: If) -> None:
        test = self.current(statement.test)
        taken = self.truths.get(test) if isinstance(test, Variable) else bool(test)
        if taken is not None and not statement.recompute:
            block = statement.body if taken else statement.orelse
            self.statements(block)
            for target, result in zip(statement.targets, self.current(block.results)):
                self.become(target, result)
            return
        blocks = []
        for truth, block in ((True, statement.body), (False, statement.orelse)):
            self.truths[test] = truth
            blocks.append(self.copy(block))
            self.truths.pop(test, None)
        body, orelse = blocks
        kept: dict[Any, int] = {}
        repeats: list[tuple[Variable, int]] = []
        for place, (target, yes, no) in enumerate(zip(statement.targets, body.results, orelse.results)):
            key = simple_key((yes, no))
            if simple_key(yes) is not None and simple_key(yes) == simple_key(no):
                self.become(target, yes)
            elif key in kept:
                repeats.append((target, kept[key]))
            else:
                kept[place if key is None else key] = place
        places = tuple(kept.values())
        body.results, orelse.results = (tuple(b.results[k] for k in places) for b in blocks)
        if places or body.statements or orelse.statements:
            targets = self.define(*(statement.targets[k] for k in places))
            self.builder.append(replace(statement, targets=targets, test=test, body=body, orelse=orelse))
        for target, place in repeats:
            self.become(target, self.current(statement.targets[place]))

    def unchanging(self, statement: For | While, initial: tuple) -> list[int]:
        """The places of the carried variables that change; those that do not become their initial values."""
        places = []
        for place, (carried, first) in enumerate(zip(statement.carried, initial)):
            result = statement.body.results[place]
            key = simple_key(result)
            constant = not isinstance(first, Variable) and key is not None and key == simple_key(first)
            of = replace_type(carried.type, self.mapping)
            if (result is carried or constant) and self.same_type(type_of(first), of):
                self.become(carried, first)
                self.become(statement.targets[place], first)
            else:
                places.append(place)
        return places

    def range_loop(self, statement: For) -> None:
        start, stop, step = self.current((statement.start, statement.stop, statement.step))
        initial = self.current(statement.initial)
        if all(isinstance(bound, int) for bound in (start, stop, step)) and step != 0:
            turns = range(start, stop, step)
            if len(turns) <= 1 and self.fit(statement.carried, initial):
                self.few_turns(statement, turns, initial)
                return
        places = self.unchanging(statement, initial)
        body = Block()
        with self.inside(body):
            (index,) = self.define(statement.index)
            with self.ranges.loop(index, start, stop, step):
                carried = self.define(*(statement.carried[k] for k in places))
                self.statements(statement.body)
                body.results = tuple(self.current(statement.body.results[k]) for k in places)
        parts = {"index": index, "start": start, "stop": stop, "step": step}
        self.finish(statement, places, initial, carried=carried, body=body, **parts)

    def few_turns(self, statement: For, turns: range, initial: tuple) -> None:
        """A loop that runs never or once."""
        results = initial
        if turns:
            self.become(statement.index, turns[0])
            for carried, first in zip(statement.carried, initial):
                self.become(carried, first)
            self.statements(statement.body)
            results = self.current(statement.body.results)
        for target, result in zip(statement.targets, results):
            self.become(target, result)

    def fit(self, carried: tuple[Variable, ...], initial: tuple) -> bool:
        pairs = ((type_of(first), replace_type(c.type, self.mapping)) for c, first in zip(carried, initial))
        return all(self.same_type(*pair) for pair in pairs)

    def while_loop(self, statement: While) -> None:
        initial = self.current(statement.initial)
        (end,) = statement.test.results
        never = not isinstance(self.current(end), Variable) and not self.current(end)
        if never and not statement.test.statements and self.fit(statement.carried, initial):
            for target, first in zip(statement.targets, initial):
                self.become(target, first)
            return
        places = self.unchanging(statement, initial)
        test, body = Block(), Block()
        with self.inside(test):
            carried = self.define(*(statement.carried[k] for k in places))
            self.statements(statement.test)
            test.results = self.current(statement.test.results)
            with self.inside(body):
                self.statements(statement.body)
                body.results = tuple(self.current(statement.body.results[k]) for k in places)
        self.finish(statement, places, initial, carried=carried, test=test, body=body)

    def finish(self, statement: For | While, places: list[int], initial: tuple, **parts: Any) -> None:
        parts["initial"] = tuple(initial[k] for k in places)
        parts["targets"] = self.define(*(statement.targets[k] for k in places))
        self.builder.append(replace(statement, **parts))


def unchanged(outcome: Call, call: Call) -> bool:
    """Whether a rewrite gave back what it was given."""
    key = value_key(*outcome)
    return key is not None and key == value_key(*call)


def simple_key(operand: Operand) -> Any:
    """A key equal for equal operands; None where there is none."""
    try:
        key = freeze(operand)
        hash(key)
    except TypeError:
        return None
    return key


