"""Reverse mode: a program that computes the results, then the cotangents of its active parameters.

    def f(x, n):                 def f(x, n, z_bar):
        y = sin(x)                   y = sin(x)
        z = multiply(y, n)   ->      z = multiply(y, n)
        return z                     y_bar = multiply(z_bar, n)
                                     x_bar = multiply(y_bar, cos(x))
                                     return z, x_bar

The forward sweep is the program itself, whose loops and branches also keep what the backward sweep reads and
should not compute again. The backward sweep goes through the statements in reverse.
"""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..codegen.build import Builder
from ..codegen.core import (
    ArrayType,
    Assign,
    Block,
    For,
    If,
    Operand,
    Program,
    Statement,
    Variable,
    While,
    free_variables,
    type_of,
)
from .activity import Activity
from .adjoints import Adjoints
from .adopt import adopt_block, open_program
from .branches import transpose_branch
from .calls import call_rule, conform, find_rule, unbroadcast, zeros
from .clone import fresh_copy
from .levels import Level
from .loops import transpose_loop
from .tapes import Tape, Threader, with_saves
from .transpose_memory import MEMORY


def reverse(program: Program, active: tuple[bool, ...]) -> Program:
    """From the primal parameters and the inexact results' cotangents to results and parameters' cotangents."""
    sweeps = reverse_sweeps(program, active)
    body = Block(sweeps.forward + sweeps.backward, (*sweeps.program.results, *sweeps.bars))
    return Program(program.name, (*sweeps.program.parameters, *sweeps.given), body)


@dataclass
class Sweeps:
    """The two halves of a reverse-mode program, the second of which reads variables of the first."""

    program: Program
    given: list[Variable]
    forward: list[Statement]
    backward: list[Statement]
    bars: list[Operand]
    lower_bounds: dict[Variable, int]


def reverse_sweeps(program: Program, active: tuple[bool, ...]) -> Sweeps:
    program = fresh_copy(program)
    sweep = Reverse(program, active)
    builder, body = sweep.builder, program.body
    given, bars = [], []
    level = Level(None, None, body, parameters=program.parameters)
    adopt_block(builder, body)
    with builder.inside(Block()) as backward:
        adjoints = Adjoints(builder, sweep.activity)
        for result in program.results:
            of = type_of(result)
            if of.inexact:
                name = result.name if isinstance(result, Variable) else None
                given.append(Variable(f"{name or 'out'}_bar", of))
                adjoints.add(result, given[-1])
        sweep.transpose(body.statements, adjoints, level)
        builder.location = None
        for parameter, chosen in zip(program.parameters, active, strict=True):
            if chosen:
                bars.append(conform(builder, adjoints.instantiated(parameter), parameter.type))
    threader = Threader(program)
    forward = threader.sweep(with_saves(body, sweep).statements)
    backward = threader.sweep(backward.statements)
    return Sweeps(program, given, forward, backward, bars, builder.lower_bounds | threader.builder.lower_bounds)


class Reverse:
    """What the whole sweep shares."""

    def __init__(self, program: Program, active: tuple[bool, ...]):
        self.activity = Activity(program, active)
        self.builder = Builder()
        open_program(self.builder, program)
        self.kept: dict[Block, list[Tape]] = {}
        self.counts: dict[While, Variable] = {}
        self.restoring: set[Variable] | None = None  # versions of arrays to put back; None: not yet decided
        self.inserted: list[tuple[Block, Statement]] = []

    def keep(self, tape: Tape) -> None:
        self.kept.setdefault(tape.level.block, []).append(tape)

    def transpose(self, statements: Iterable[Statement], adjoints: Adjoints, level: Level) -> None:
        """Emit statements backwards."""
        for statement in reversed(list(statements)):
            self.builder.location = statement.location
            match statement:
                case Assign():
                    self.operation(statement, adjoints)
                case If():
                    transpose_branch(self, statement, adjoints, level)
                case For() | While():
                    transpose_loop(self, statement, adjoints, level)

    def operation(self, statement: Assign, adjoints: Adjoints) -> None:
        primitive = statement.primitive
        if not any(adjoints.get(t) is not None for t in statement.targets):
            return
        if primitive.name in MEMORY and self.activity.any(statement.operands):
            MEMORY[primitive.name](adjoints, statement)
            return
        cotangents = [adjoints.take(t) for t in statement.targets]
        if len(cotangents) > 1:
            given = tuple(zeros(self.builder, t.type) if c is None and t.type.inexact else c
                          for t, c in zip(statement.targets, cotangents))
        else:
            given = cotangents[0]
        for k, operand in enumerate(statement.operands):
            if self.activity.any(operand):
                rule = find_rule(primitive.vjp, statement, k)
                self.contribute(statement, operand, call_rule(self.builder, rule, statement, given), adjoints)

    def contribute(self, statement: Assign, operand: Operand, cotangent: Operand, adjoints: Adjoints) -> None:
        """Add what a rule gave for an operand; for a tuple of operands, item by item."""
        if isinstance(operand, (tuple, list)):
            for item, part in zip(operand, cotangent, strict=True):
                self.contribute(statement, item, part, adjoints)
        elif cotangent is not None and operand in self.activity:
            if isinstance(operand.type, ArrayType):
                cotangent = unbroadcast(self.builder, cotangent, operand.type.shape)
            adjoints.add(operand, cotangent)

    def read_actives(self, blocks: Iterable[Block], inside: Iterable[Variable]) -> list[Variable]:
        """The active variables of enclosing blocks that blocks read."""
        own = set(inside)
        found: dict[Variable, None] = {}
        for block in blocks:
            for variable in free_variables(block):
                if variable in self.activity and variable not in own:
                    found[variable] = None
        return list(found)
