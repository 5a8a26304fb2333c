"""A program in parts, so that cores can share a loop whose turns do not depend on each other.

Such a loop becomes a function of its own, for the turns from `start` to `stop`; so do the statements between.
A function in Python calls one after the other, and lets the loops be shared:

    def squares(x):
        n, result = squares_before(x)
        cores.share(squares_turns, 0, n, x, result)
        return result
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import gast

from ...codegen.core import (
    INT,
    ArrayType,
    Assign,
    Block,
    For,
    Operand,
    Program,
    StackType,
    Statement,
    Variable,
    free_variables,
    type_of,
    uses_in,
    variables_in,
)
from ...codegen.independent import is_fresh
from ...codegen.inlining import reassemble
from ...codegen.naming import name_variables, unique
from ...codegen.renaming import Renaming
from ...codegen.roles import has_effect
from ...codegen.trees import assign, call, constant, infix, name, statement, stored, tuple_tree
from . import forms
from .counting import counting_from

WIDE = ("float64", "int64", "complex128", "bool")

Tree = Any


@dataclass
class Part:
    """One function: what it is given and gives back. A loop's is also given its first turn and its end.

    `renamed`: what the arrays that it writes are called from then on.
    """

    program: Program
    given: tuple[Variable, ...]
    gives: tuple[Variable, ...] = ()
    turns: tuple[Operand, Operand] | None = None
    renamed: tuple[tuple[Variable, Operand], ...] = ()


@dataclass
class Divided:
    """The parts of a program, in order, and its variables' names."""

    program: Program
    names: dict[Variable, str]
    parts: list[Part] = field(default_factory=list)

    def between(self, group: list[Statement], later: Block) -> None:
        """Add a part for the statements between loops that are shared."""
        wanted = free_variables(later)
        gives = tuple(dict.fromkeys(t for one in group for t in one.targets if t in wanted))
        given = tuple(free_variables(Block(group)))
        if not gives and not any(map(has_effect, group)):
            return
        self.parts.append(Part(self.function("part", group, given, gives), given, gives))

    def loop(self, loop: For, tapes: list[Assign], later: Block) -> None:
        """Add a part for some of a loop's turns, upward."""
        own = {loop.index, *loop.carried, *(target for tape in tapes for target in tape.targets)}
        read = (*variables_in(loop.initial), *free_variables(Block([*tapes])), *free_variables(loop.body))
        given = tuple(dict.fromkeys(variable for variable in read if variable not in own))
        first, end = Variable("start", INT), Variable("stop", INT)
        targets = tuple(Variable(c.name, c.type) for c in loop.carried)
        least = loop.start if loop.step == 1 else loop.stop + 1
        some = counting_from(replace(loop, targets=targets, start=first, stop=end, step=1), least)
        program = self.function("turns", [*tapes, *some], given, (), (first, end))
        turns = (loop.start, loop.stop) if loop.step == 1 else (after(loop.stop), after(loop.start))
        wanted = free_variables(later)
        renamed = tuple((t, array) for t, array in zip(loop.targets, loop.initial) if t in wanted)
        self.parts.append(Part(program, given, (), turns, renamed))

    def name(self, variable: Variable) -> str:
        """A variable's name; one that the whole has only inside an expression gets one of its own."""
        if variable not in self.names:
            self.names[variable] = unique(variable.name or "value", set(self.names.values()))
        return self.names[variable]

    def function(self, what: str, statements: list, given: tuple, gives: tuple, more: tuple = ()) -> Program:
        """A program of its own, with the names that its variables have in the whole."""
        of_name: dict[str, Variable] = {}
        renaming = Renaming({variable: variable for variable in more})
        for variable in given:
            called = self.name(variable)
            renaming.mapping[variable] = of_name.setdefault(called, Variable(called, variable.type))
        renaming.bind_block(Block(statements))
        block = renaming.block(Block(statements, gives))
        renaming.retype()
        for parameter in more:
            while parameter.name in of_name:
                parameter.name += "_"
        number = sum(part.program.name.count(f"_{what}") for part in self.parts) + 1
        called = f"{self.program.name}_{what}" + (f"_{number}" if number > 1 else "")
        return Program(called, (*more, *of_name.values()), block)


def divide(program: Program) -> Divided | None:
    """A lowered program in parts; None if there is no loop in it to be shared."""
    program = without_last_casts(program)
    shared = shared_loops(program)
    if not shared:
        return None
    tapes = tapes_of(program, shared)
    private = {tape for made in tapes.values() for tape in made}
    groups = grouped([one for one in program.body.statements if one not in private], shared)
    divided = Divided(program, name_variables(program, reassemble(program)).names)
    for place, group in enumerate(groups):
        later = [s for others in groups[place + 1 :] for s in (*tapes.get(others[0], ()), *others)]
        if group[0] in shared:
            divided.loop(group[0], tapes[group[0]], Block(later, program.results))
        else:
            divided.between(group, Block(later, program.results))
    return divided


def without_last_casts(program: Program) -> Program:
    """A program without casts at its end that change nothing: each part is a function."""
    statements, results = list(program.body.statements), list(program.results)
    while statements and statements[-1].targets and casts_to_same(statements[-1]):
        last = statements.pop()
        results = [last.operands[0] if result is last.targets[0] else result for result in results]
    return Program(program.name, program.parameters, Block(statements, tuple(results)))


def casts_to_same(statement: Statement) -> bool:
    is_cast = isinstance(statement, Assign) and statement.primitive is forms.cast
    return is_cast and statement.static["source"] == statement.static["dtype"]


def shared_loops(program: Program) -> list[For]:
    """The loops to be shared: none while a list is in use, since those of Python are other lists."""
    made = {parameter for parameter in program.parameters if isinstance(parameter.type, StackType)}
    shared = []
    for place, one in enumerate(program.body.statements):
        if isinstance(one, For) and one.independent:
            later = free_variables(Block(program.body.statements[place:], program.results))
            if not made.intersection(later):
                shared.append(one)
        made.update(target for target in one.targets if isinstance(target.type, StackType))
    return shared


def tapes_of(program: Program, shared: list[For]) -> dict[For, list[Assign]]:
    """What makes the arrays that nothing but one shared loop reads: each core is to have its own."""
    uses, made = uses_in(program), {s.targets[0]: s for s in program.body.statements if is_fresh(s)}
    return {
        loop: [
            made[array]
            for array, target in zip(loop.initial, loop.targets)
            if array in made and uses[array] == 1 and not uses[target]
        ]
        for loop in shared
    }


def grouped(statements: list[Statement], shared: list[For]) -> list[list[Statement]]:
    """The loops to be shared, each alone, and the statements between."""
    groups: list[list[Statement]] = []
    for one in statements:
        if groups and one not in shared and groups[-1][0] not in shared:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def after(operand: Operand) -> Operand:
    return operand + 1 if isinstance(operand, int) else (operand, 1)


def driver(divided: Divided, restored: list[Tree]) -> list[Tree]:
    """The statements of the function that calls the parts; it returns the trees of the results."""
    written = []
    for part in divided.parts:
        operands = [name(parameter.name) for parameter in part.program.parameters]
        if part.turns is None:
            made = call(part.program.name, *operands)
            targets = [stored(divided.name(variable)) for variable in part.gives]
            written.append(assigned(targets, made) if targets else statement(made))
            written += [restoring(divided.name(v), v) for v in part.gives if is_narrow(v)]
        else:
            bounds = [bound_tree(divided, bound) for bound in part.turns]
            written.append(statement(call("cores.share", name(part.program.name), *bounds, *operands[2:])))
            written += other_names(divided, part)
    return [*written, gast.Return(restored[0] if len(restored) == 1 else tuple_tree(restored))]


def other_names(divided: Divided, part: Part) -> list[Tree]:
    """The statement that gives the arrays of a loop their other names, if there are any."""
    names = [(divided.name(target), divided.name(array)) for target, array in part.renamed]
    names = [(new, old) for new, old in names if new != old]
    values = [name(old) for _, old in names]
    if not names:
        return []
    return [
        assigned([stored(new) for new, _ in names], values[0] if len(values) == 1 else tuple_tree(values))
    ]


def assigned(targets: list[Tree], value: Tree) -> Tree:
    return assign(targets[0] if len(targets) == 1 else gast.Tuple(targets, gast.Store()), value)


def bound_tree(divided: Divided, bound: Operand) -> Tree:
    """The tree of a loop's bound, or of what follows it."""
    if isinstance(bound, tuple):
        return infix("+", name(divided.name(bound[0])), constant(bound[1]))
    return name(divided.name(bound)) if isinstance(bound, Variable) else constant(bound)


def is_narrow(variable: Variable) -> bool:
    """Whether a value is a number that Numba gives back as a wider one."""
    of = type_of(variable)
    return isinstance(of, ArrayType) and not of.shape and of.dtype.name not in WIDE


def restoring(called: str, variable: Variable) -> Tree:
    return assign(stored(called), call(f"np.{variable.type.dtype.name}", name(called)))
