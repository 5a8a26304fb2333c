"""Reverse mode: a program that computes the results, then the cotangents of its active parameters.

>>> from ..codegen.core import FLOAT
>>> from ..codegen.parse import parse_text
>>> from ..codegen.printing import print_program
>>> from ..codegen.specialise import Parameter, specialise
>>> f = parse_text("def f(x, y):\\n    for i in range(3):\\n        x = x * x * y\\n    return x")
>>> program = specialise(f, [Parameter(FLOAT, "x"), Parameter(FLOAT, "y")]).program
>>> text = print_program(reverse(program, (True, False)))
>>> print("\\n".join(line for line in text.splitlines() if line and "#" not in line))
import numpy as np
def f(x, y, x_bar):
    x_tape = np.empty(3)
    for i in range(3):
        x_tape[i] = x
        x = x * x * y
    for i in range(2, -1, -1):
        x_2 = x_tape[i]
        x_bar = x_bar * y * x_2
        x_bar = x_bar + x_bar
    return x, x_bar

The forward sweep is the program itself, whose loops and branches also keep what the backward sweep reads and
should not compute again. The backward sweep goes through the statements in reverse.
"""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ..codegen.additions import add_in_place
from ..codegen.adopt import adopt_block, open_program, paste
from ..codegen.build import Builder
from ..codegen.core import (
    ArrayType,
    Assign,
    Block,
    For,
    If,
    Operand,
    Program,
    Run,
    Statement,
    Type,
    Variable,
    While,
    free_variables,
    nothing,
    type_of,
    walk,
)
from ..codegen.custom_calls import pulled
from ..codegen.dead_code import remove_dead_code
from ..codegen.errors import Location
from ..codegen.renaming import element_type
from ..codegen.visible import without_visible
from .activity import Activity
from .adjoints import Adjoints, Mask
from .branches import transpose_branch
from .calls import call_rule, conform, find_rule, repeated, tangent_type, unbroadcast
from .clone import fresh_copy
from .custom_calls import open_calls, pull_call, require_linear, settle
from .levels import Level
from .loops import transpose_loop
from .tapes import Tape, Threader, with_saves
from .transpose_memory import MEMORY


def reverse(program: Program, active: tuple[bool, ...]) -> Program:
    """From primal parameters and the inexact results' cotangents to results and parameters' cotangents."""
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
    program = add_in_place(fresh_copy(open_calls(program, active)))
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
    seeds: dict[Variable, Assign] = {}
    forward, backward = settle(forward, seeds), settle(backward, seeds)
    require_linear(Block(forward + backward, (*program.results, *bars)), seeds)
    bounds = builder.lower_bounds | threader.builder.lower_bounds
    return Sweeps(program, given, forward, backward, bars, bounds)


def narrow(of: Type) -> bool:
    """Whether a NumPy scalar of double precision would widen a type, as a Python float does not."""
    dtype = element_type(of).dtype
    return dtype.kind in "fc" and np.finfo(dtype).dtype != np.float64


def in_backward_sweep(location: Location | None) -> Location | None:
    """The user's line, as what serves it in the backward sweep has it."""
    return location if location is None or location.backward else replace(location, backward=True)


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
        made = (*program.parameters, *(t for s in walk(program.body) for t in s.targets))
        self.narrow = any(narrow(v.type) for v in made)

    def keep(self, tape: Tape) -> None:
        self.kept.setdefault(tape.level.block, []).append(tape)

    def transpose(self, statements: Iterable[Statement], adjoints: Adjoints, level: Level) -> None:
        """Emit statements backwards."""
        for statement in reversed(list(statements)):
            self.builder.location = in_backward_sweep(statement.location)
            match statement:
                case Assign():
                    self.operation(statement, adjoints)
                case If(recompute=Run()):
                    self.run_again(statement, adjoints)
                case If():
                    transpose_branch(self, statement, adjoints, level)
                case For() | While():
                    transpose_loop(self, statement, adjoints, level)

    def run_again(self, statement: If, adjoints: Adjoints) -> None:
        """A body that the backward sweep computes again, and then goes through in reverse."""
        places = [k for k, t in enumerate(statement.targets) if adjoints.get(t) is not None]
        given = [adjoints.take(statement.targets[k]) for k in places]
        actives = self.read_actives((statement.body,), ())
        if not places or not actives:
            return
        results = tuple(statement.body.results[k] for k in places)
        body = without_visible(Block(statement.body.statements, results))
        program = Program("again", tuple(actives), body)
        derived = reverse(program, (True,) * len(actives))
        derived.body.results = derived.results[len(results):]
        with self.builder.inside(Block()) as body:
            seeds = [conform(self.builder, bar, type_of(result)) for bar, result in zip(given, results)]
            bars = paste(self.builder, remove_dead_code(derived), (*actives, *seeds))
            body.results = tuple(conform(self.builder, bar, v.type) for v, bar in zip(actives, bars))
        targets = tuple(Variable(f"{v.name}_bar" if v.name else None, tangent_type(v.type)) for v in actives)
        orelse, first = nothing(len(targets)), Run()
        statement.recompute, again = first, Run(first.mark, again=True)
        self.builder.append(If(targets, True, body, orelse, statement.location, again))
        for variable, target in zip(actives, targets):
            adjoints.add(variable, target)

    def operation(self, statement: Assign, adjoints: Adjoints) -> None:
        primitive = statement.primitive
        if not any(t in adjoints for t in statement.targets):
            return
        if primitive is pulled:
            pull_call(self, statement, adjoints)
            return
        if primitive.name in MEMORY and self.activity.any(statement.operands):
            MEMORY[primitive.name](adjoints, statement)
            return
        mask = None
        if len(statement.targets) > 1:
            given = tuple(adjoints.instantiated(t) if t.type.inexact else None for t in statement.targets)
            for target in statement.targets:
                adjoints.take(target)
        elif primitive.elementwise:
            given, mask = adjoints.take_masked(statement.targets[0])
        else:
            given = adjoints.take(statement.targets[0])
        if primitive.name == "where":
            self.choice(statement, given, mask, adjoints)
            return
        for k, operand in enumerate(statement.operands):
            if self.activity.any(operand):
                rule = find_rule(primitive.vjp, statement, k)
                self.contribute(operand, call_rule(self.builder, rule, statement, given), adjoints, mask)

    def choice(self, statement: Assign, given: Operand, mask: Mask | None, adjoints: Adjoints) -> None:
        """Each side of `where` has the cotangent where it was taken."""
        test, *sides = statement.operands
        for side, taken in zip(sides, (True, False)):
            if side in self.activity:
                own = Mask(test, taken)
                both = own if mask is None else mask.narrowed(self.builder, own)
                self.contribute(side, given, adjoints, both)

    def contribute(self, operand: Operand, cotangent: Operand, adjoints: Adjoints,
                   mask: Mask | None = None) -> None:
        """Add what a rule gave for an operand; for a tuple of operands, item by item."""
        if isinstance(operand, (tuple, list)):
            for item, part in zip(operand, cotangent, strict=True):
                self.contribute(item, part, adjoints)
        elif cotangent is not None and operand in self.activity:
            if isinstance(operand.type, ArrayType) and repeated(self.builder, cotangent, operand.type.shape):
                if mask is not None:
                    cotangent, mask = mask.apply(self.builder, cotangent), None
                cotangent = unbroadcast(self.builder, cotangent, operand.type.shape)
            adjoints.add(operand, cotangent, mask)

    def read_actives(self, blocks: Iterable[Block], inside: Iterable[Variable]) -> list[Variable]:
        """The active variables of enclosing blocks that blocks read."""
        own = set(inside)
        found: dict[Variable, None] = {}
        for block in blocks:
            for variable in free_variables(block):
                if variable in self.activity and variable not in own:
                    found[variable] = None
        return list(found)
