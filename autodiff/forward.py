"""Forward mode: a program that computes, beside each value, its tangent.

>>> from ..codegen.core import FLOAT
>>> from ..codegen.parse import parse_text
>>> from ..codegen.printing import print_program
>>> from ..codegen.specialise import Parameter, specialise
>>> f = parse_text("def f(x, y):\\n    for i in range(3):\\n        x = x * y\\n    return x")
>>> program = specialise(f, [Parameter(FLOAT, "x"), Parameter(FLOAT, "y")]).program
>>> text = print_program(forward(program, (True, False)))
>>> print("\\n".join(line for line in text.splitlines() if "#" not in line))
def f(x, y, x_dot):
    for _ in range(3):
        x = x * y
        x_dot = x_dot * y
    return x, x_dot
"""
from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from ..codegen.adopt import adopt, open_program
from ..codegen.build import Builder
from ..codegen.core import (
    Assign,
    Block,
    For,
    If,
    Operand,
    Program,
    Statement,
    Variable,
    While,
    nothing,
    type_of,
    variables_in,
)
from ..codegen.custom_calls import is_custom_call
from .activity import Activity
from .calls import call_rule, conform, emit, find_rule, name_after, pop, tangent_type, zeros
from .clone import fresh_copy
from .custom_calls import push_call


def forward(program: Program, active: tuple[bool, ...]) -> Program:
    """From primal parameters and the active ones' tangents to results and the inexact ones' tangents."""
    sweep = forward_sweep(program, active)
    results = (*sweep.program.results, *sweep.dots)
    return Program(program.name, (*sweep.program.parameters, *sweep.given), Block(sweep.statements, results))


def forward_sweep(program: Program, active: tuple[bool, ...]) -> Forward:
    """The program's statements, each followed by those for its tangents; `dots` are the results' tangents."""
    program = fresh_copy(program)
    sweep = Forward(program, active)
    for parameter, chosen in zip(program.parameters, active, strict=True):
        if chosen:
            sweep.given.append(Variable(dotted(parameter), parameter.type))
            sweep.tangents[parameter] = sweep.given[-1]
    for statement in program.body.statements:
        sweep.statement(statement)
    sweep.builder.location = None
    sweep.dots = [sweep.instantiated(r) for r in program.results if type_of(r).inexact]
    sweep.statements = sweep.builder.block.statements
    return sweep


class Forward:
    """The tangents of the variables met so far."""

    def __init__(self, program: Program, active: tuple[bool, ...]):
        self.activity = Activity(program, active)
        self.builder = Builder()
        open_program(self.builder, program)
        self.tangents: dict[Variable, Operand] = {}
        self.program = program
        self.given: list[Variable] = []
        self.dots: list[Operand] = []
        self.statements: list[Statement] = []

    def tangent(self, operand: Operand) -> Operand | None:
        return self.tangents.get(operand) if isinstance(operand, Variable) else None

    def instantiated(self, operand: Operand) -> Operand:
        tangent = self.tangent(operand)
        return zeros(self.builder, type_of(operand)) if tangent is None else tangent

    def statement(self, statement: Statement) -> None:
        self.builder.location = statement.location
        match statement:
            case Assign():
                if is_custom_call(statement) and self.activity.part(statement):
                    push_call(self, statement)
                    return
                adopt(self.builder, statement)
                self.operation(statement)
            case If():
                self.branch(statement)
            case For() | While():
                self.loop(statement)

    def block(self, block: Block, targets: list[tuple[int, Variable]]) -> Block:
        """A block that also gives the tangents of the chosen results."""
        with self.builder.inside(Block()) as made:
            for statement in block.statements:
                self.statement(statement)
            tangents = [conform(self.builder, self.instantiated(block.results[k]), type_of(block.results[k]))
                        for k, _ in targets]
            made.results = (*block.results, *tangents)
        return made

    def operation(self, statement: Assign) -> None:
        if not self.activity.part(statement):
            return
        if statement.primitive.name in SPECIAL:
            getattr(self, statement.primitive.name)(statement)
            return
        totals: list[Operand | None] = [None] * len(statement.targets)
        for parts in self.parts(statement):
            for j, part in enumerate(parts if len(totals) > 1 else (parts,)):
                target = statement.targets[j]
                if part is None or not target.type.inexact:
                    continue
                part = conform(self.builder, part, target.type)
                totals[j] = part if totals[j] is None else emit(self.builder, "add", totals[j], part)
        for target, total in zip(statement.targets, totals):
            self.set(target, total)

    def parts(self, statement: Assign) -> Iterator[Operand]:
        """What each operand's tangent contributes to the results'."""
        operands, rules = statement.operands, statement.primitive.jvp
        varying = tuple(k for k, o in enumerate(operands) if any(v in self.tangents for v in variables_in(o)))
        if varying in rules:
            given = tuple(self.tangents[operands[k]] for k in varying)
            yield call_rule(self.builder, rules[varying], statement, given)
            return
        for k in varying:
            given = self.tangents_in(operands[k])
            yield call_rule(self.builder, find_rule(rules, statement, k), statement, given)

    def tangents_in(self, operand: Operand) -> Operand:
        """The tangent of an operand or tuple of operands; that of a constant is zero."""
        if isinstance(operand, (tuple, list)):
            return type(operand)(map(self.tangents_in, operand))
        return self.instantiated(operand)

    def set(self, target: Variable, tangent: Operand | None) -> None:
        if tangent is not None and target in self.activity:
            self.tangents[target] = name_after(tangent, target, "_dot")

    def push(self, statement: Assign) -> None:
        stack, value = statement.operands
        pushed = emit(self.builder, "push", self.instantiated(stack), self.instantiated(value))
        self.set(statement.targets[0], pushed)

    def pop(self, statement: Assign) -> None:
        left, value = pop(self.builder, self.instantiated(statement.operands[0]), statement.targets[1])
        self.tangents[statement.targets[0]] = left
        self.set(statement.targets[1], value)

    def branch(self, statement: If) -> None:
        chosen = [(k, t) for k, t in enumerate(statement.targets) if t in self.activity]
        body = self.block(statement.body, chosen)
        orelse = nothing(len(statement.targets) + len(chosen)) if statement.recompute else self.block(
            statement.orelse, chosen)
        made = [Variable(dotted(t), tangent_type(t.type)) for _, t in chosen]
        targets = (*statement.targets, *made)
        parts = {"targets": targets, "body": body, "orelse": orelse}
        self.builder.append(dataclasses.replace(statement, **parts))
        self.tangents.update((t, m) for (_, t), m in zip(chosen, made))

    def loop(self, loop: For | While) -> None:
        chosen = [(k, c) for k, c in enumerate(loop.carried)
                  if c in self.activity or loop.targets[k] in self.activity]
        initial = [conform(self.builder, self.instantiated(loop.initial[k]), type_of(loop.initial[k]))
                   for k, _ in chosen]
        carried = [Variable(dotted(c), tangent_type(c.type)) for _, c in chosen]
        self.tangents.update((c, m) for (_, c), m in zip(chosen, carried))
        parts = {"initial": (*loop.initial, *initial), "carried": (*loop.carried, *carried)}
        if isinstance(loop, While):
            with self.builder.inside(Block()) as test:
                for statement in loop.test.statements:
                    self.statement(statement)
                test.results = loop.test.results
                parts |= {"test": test, "body": self.block(loop.body, chosen)}
        else:
            parts["body"] = self.block(loop.body, chosen)
        made = [Variable(dotted(loop.targets[k]), tangent_type(loop.targets[k].type)) for k, _ in chosen]
        parts["targets"] = (*loop.targets, *made)
        self.builder.append(dataclasses.replace(loop, **parts))
        self.tangents.update((loop.targets[k], m) for (k, _), m in zip(chosen, made))


SPECIAL = ("push", "pop")


def dotted(variable: Variable) -> str | None:
    return f"{variable.name}_dot" if variable.name else None
