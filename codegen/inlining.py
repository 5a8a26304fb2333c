"""Which temporaries become part of the expression that uses them, and which statements nobody needs.

A temporary that is used once, later in the same block, need not have a name: `t = x @ w; y = exp(t)` reads
`y = exp(x @ w)`. Its evaluation moves to where it is used, so it must not move past a write to what it
reads.

>>> from .core import FLOAT
>>> from .primitives import elementwise as e
>>> x, t, y = Variable("x", FLOAT), Variable(None, FLOAT), Variable("y", FLOAT)
>>> body = Block([Assign((t,), e.negative, (x,)), Assign((y,), e.exp, (t,), {"weak": True})], (y,))
>>> plan = reassemble(Program("f", (x,), body))
>>> list(plan.inlined) == [t]
True
>>> list(plan.reads(t)) == [x]
True
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from .core import (
    Assign,
    Block,
    For,
    If,
    Program,
    StackType,
    Statement,
    Variable,
    While,
    blocks_of,
    operands_of,
    variables_in,
    walk,
)
from .union import Union

# Their printed form repeats an operand, which must then be a name.
REPEATING = frozenset({"check_index", "check_same"})


@dataclass
class Plan:
    """What printing and naming need to know of a program before it has names."""

    inlined: dict[Variable, Assign] = field(default_factory=dict)
    dead: set[Assign] = field(default_factory=set)
    uses: Counter = field(default_factory=Counter)
    definitions: dict[Variable, Assign] = field(default_factory=dict)

    def reads(self, operand) -> Iterator[Variable]:
        """The variables that are read, by name, when an operand is evaluated."""
        for variable in variables_in(operand):
            if variable in self.inlined:
                yield from self.reads(self.inlined[variable].operands)
            else:
                yield variable


class Memory:
    """Which variables may share memory: united by views, writes in place and control flow."""

    def __init__(self, program: Program):
        self.shared = Union()
        for parameter in program.parameters[1:]:
            self.join(program.parameters[0], parameter)
        for statement in walk(program.body):
            self.enter(statement)

    def enter(self, statement: Statement) -> None:
        match statement:
            case Assign():
                if statement.primitive.view or statement.primitive.destructive:
                    for target in statement.targets:
                        self.join(target, statement.operands[0])
                    if statement.targets and isinstance(statement.targets[0].type, StackType):
                        self.join_all(statement.targets[0], statement.operands)
            case If():
                for block in blocks_of(statement):
                    self.join_each(statement.targets, block.results)
            case For() | While():
                self.join_each(statement.targets, statement.carried)
                self.join_each(statement.carried, statement.initial)
                self.join_each(statement.carried, statement.body.results)

    def find(self, variable: Variable) -> Variable:
        return self.shared.find(variable)

    def join(self, a, b) -> None:
        if isinstance(a, Variable) and isinstance(b, Variable):
            self.shared.join(a, b)

    def join_each(self, first: Iterable, second: Iterable) -> None:
        for a, b in zip(first, second, strict=True):
            self.join(a, b)

    def join_all(self, target: Variable, operands: tuple) -> None:
        for variable in variables_in(operands):
            self.join(target, variable)


def mutable(variable: Variable) -> bool:
    """Whether the value of a variable may be changed in place."""
    return isinstance(variable.type, StackType) or not variable.type.weak


def reassemble(program: Program, keep: Iterable[Variable] = (), copied: Iterable[Variable] = ()) -> Plan:
    """Decide what is inlined. `keep` must stay statements; `copied` may move to a block's results."""
    plan = Plan()
    count_uses(program.body, plan)
    remove_dead(plan)
    Reassembly(program, plan, set(keep), set(copied)).block(program.body, final=True)
    return plan


def count_uses(block: Block, plan: Plan) -> None:
    for statement in block.statements:
        plan.uses.update(variables_in(operands_of(statement)))
        if isinstance(statement, Assign):
            plan.definitions.update(dict.fromkeys(statement.targets, statement))
        for inner in blocks_of(statement):
            count_uses(inner, plan)
    plan.uses.update(variables_in(block.results))


def remove_dead(plan: Plan) -> None:
    """Find the statements without effect whose results nobody reads, and what only they read."""
    waiting = list(dict.fromkeys(plan.definitions.values()))
    while waiting:
        statement = waiting.pop()
        unneeded = not statement.primitive.effect and not any(plan.uses[t] for t in statement.targets)
        if unneeded and statement not in plan.dead:
            plan.dead.add(statement)
            for variable in variables_in(statement.operands):
                plan.uses[variable] -= 1
                if variable in plan.definitions:
                    waiting.append(plan.definitions[variable])


class Reassembly:
    """Goes through a program once, and decides for each temporary when it meets its only use."""

    def __init__(self, program: Program, plan: Plan, keep: set[Variable], copied: set[Variable]):
        self.plan, self.keep, self.copied = plan, keep, copied
        self.memory = Memory(program)

    def block(self, block: Block, final: bool = False, test: bool = False) -> None:
        """Decide for a block; the results of a function (`final`) and of a loop's test are expressions."""
        born: dict[Variable, int] = {}
        written: list[tuple[int, Variable]] = []
        for position, statement in enumerate(block.statements):
            if statement in self.plan.dead:
                continue
            for inner in blocks_of(statement):
                self.block(inner, test=isinstance(statement, While) and inner is statement.test)
            self.consume(movable(statement), born, written)
            if isinstance(statement, (For, While)):
                wanted = [v for v in variables_in(statement.initial) if v in self.copied]
                self.consume(wanted, born, written)
            if isinstance(statement, Assign) and self.candidate(statement):
                born[statement.targets[0]] = position
            written += [(position, base) for base in self.writes(statement)]
        results = list(variables_in(block.results))
        self.consume(results if final or test else [v for v in results if v in self.copied], born, written)

    def candidate(self, statement: Assign) -> bool:
        """Whether a statement may become part of another."""
        primitive = statement.primitive
        if len(statement.targets) != 1 or primitive.effect or primitive.destructive:
            return False
        target = statement.targets[0]
        if self.plan.uses[target] != 1 or target in self.keep or isinstance(target.type, StackType):
            return False
        return target.name is None or target in self.copied

    def consume(self, operands: Iterable[Variable], born: dict, written: list) -> None:
        """Inline the operands that can be evaluated here as well as where they stand."""
        for variable in operands:
            if variable in born and not self.disturbed(variable, born[variable], written):
                self.plan.inlined[variable] = self.plan.definitions[variable]

    def disturbed(self, variable: Variable, since: int, written: list) -> bool:
        """Whether something that an expression reads was written after `since`."""
        writes = {base for position, base in written if position > since}
        if not writes:
            return False
        statement = self.plan.definitions[variable]
        if statement.primitive.name == "size":
            return False
        return any(mutable(v) and self.memory.find(v) in writes for v in self.plan.reads(statement.operands))

    def writes(self, statement: Statement) -> set[Variable]:
        """The memory that a statement writes, and that of the statements in it."""
        inside = [statement] if isinstance(statement, Assign) else walk(Block(
            [s for block in blocks_of(statement) for s in block.statements]))
        return {self.memory.find(s.operands[0]) for s in inside
                if isinstance(s, Assign) and s.primitive.destructive and isinstance(s.operands[0], Variable)}


def movable(statement: Statement) -> list[Variable]:
    """The operands of a statement that may be expressions, not names."""
    match statement:
        case Assign():
            if statement.primitive.name in REPEATING:
                return []
            first = 1 if statement.primitive.destructive else 0
            return list(variables_in(statement.operands[first:]))
        case If():
            return list(variables_in(statement.test))
        case For():
            return list(variables_in((statement.start, statement.stop, statement.step)))
    return []
