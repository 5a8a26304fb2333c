"""A derivative in two programs: one keeps what the other needs, which takes cotangents or tangents.

    def f(x, y):                       def f(x, y):             def f_pullback(x, y, t, z_bar):
        t = exp(x)                         t = exp(x)               t_bar = multiply(z_bar, y)
        z = multiply(t, y)       ->        z = multiply(t, y)       ...
        return z                           return z, x, y, t        return x_bar, y_bar
"""
from __future__ import annotations

from ..codegen.build import Builder
from ..codegen.core import Assign, Block, Program, StackType, Statement, Variable, free_variables
from ..codegen.visible import silent
from .forward import forward_sweep
from .levels import Level
from .residuals import UNKNOWN_SIZE, Restorer, cost
from .reverse import reverse_sweeps


def split(program: Program, active: tuple[bool, ...]) -> tuple[Program, Program]:
    """Two programs: parameters to (*results, *residuals), and (*residuals, *cotangents) to cotangents."""
    sweeps = reverse_sweeps(program, active)
    second = Block(sweeps.backward, tuple(sweeps.bars))
    return halves(sweeps.program, sweeps.forward, second, sweeps.given, "pullback", sweeps.lower_bounds)


def linear_split(program: Program, active: tuple[bool, ...]) -> tuple[Program, Program]:
    """Two programs: parameters to (*results, *residuals), and (*residuals, *tangents) to tangents.

    A loop or branch that has tangents runs in both.
    """
    sweep = forward_sweep(program, active)
    own = {t: s for s in sweep.program.body.statements if not isinstance(s, Assign) for t in s.targets}
    first: list[Statement] = []
    second: list[Statement] = []
    linear = set(sweep.given)
    for statement in sweep.statements:
        if linear.isdisjoint(free_variables(Block([statement]))):
            first.append(statement)
            continue
        second.append(silent(statement))
        linear.update(t for t in statement.targets if t not in own)
        first += dict.fromkeys(own[t] for t in statement.targets if t in own)
    dots = Block(second, tuple(sweep.dots))
    return halves(sweep.program, first, dots, sweep.given, "linear", sweep.builder.lower_bounds)


def halves(program: Program, first: list[Statement], second: Block, given: list[Variable], word: str,
           lower_bounds: dict[Variable, int]) -> tuple[Program, Program]:
    """Two programs, of which the second gets what it needs of the first as residuals."""
    body = Block(first, program.results)
    level = Level(None, None, body, parameters=program.parameters)
    needs = Residuals(level, second, given, lower_bounds)
    block = needs.block()
    body.results = (*program.results, *needs.residuals)
    taken = tuple(needs.residuals.values())
    return (Program(program.name, program.parameters, body),
            Program(f"{program.name}_{word}", (*taken, *given), block))


class Residuals(Restorer):
    """Gives the second half what it reads of the first as parameters."""

    def __init__(self, level: Level, draft: Block, given: list[Variable], lower_bounds: dict[Variable, int]):
        self.residuals: dict[Variable, Variable] = {}
        self.builder = Builder()
        self.builder.lower_bounds.update(lower_bounds)
        super().__init__(self, level, draft, {}, given)

    @staticmethod
    def cost(variable: Variable) -> int:
        return UNKNOWN_SIZE * 8 if isinstance(variable.type, StackType) else cost(variable)

    def restore(self, variable: Variable) -> None:
        with self.read(variable) as read:
            self.residuals[variable] = read
