"""A reverse-mode program in two: one that keeps what the cotangents need, and one that takes cotangents.

    def f(x, y):                       def f(x, y):             def f_pullback(x, y, t, z_bar):
        t = exp(x)                         t = exp(x)               t_bar = multiply(z_bar, y)
        z = multiply(t, y)       ->        z = multiply(t, y)       ...
        return z                           return z, x, y, t        return x_bar, y_bar
"""
from __future__ import annotations

from ..codegen.build import Builder
from ..codegen.core import Block, Program, StackType, Variable
from .levels import Level
from .residuals import UNKNOWN_SIZE, Restorer, cost
from .reverse import Sweeps, reverse_sweeps


def split(program: Program, active: tuple[bool, ...]) -> tuple[Program, Program]:
    """Two programs: parameters to (*results, *residuals), and (*residuals, *cotangents) to cotangents."""
    sweeps = reverse_sweeps(program, active)
    parameters, results = sweeps.program.parameters, sweeps.program.results
    body = Block(sweeps.forward, results)
    level = Level(None, None, body, parameters=parameters)
    pullback = Pullback(level, Block(sweeps.backward, tuple(sweeps.bars)), sweeps)
    block = pullback.block()
    body.results = (*results, *pullback.residuals)
    forward = Program(program.name, parameters, body)
    taken = tuple(pullback.residuals.values())
    return forward, Program(f"{program.name}_pullback", (*taken, *sweeps.given), block)


class Pullback(Restorer):
    """Gives the backward sweep what it reads as parameters."""

    def __init__(self, level: Level, draft: Block, sweeps: Sweeps):
        self.residuals: dict[Variable, Variable] = {}
        self.builder = Builder()
        self.builder.lower_bounds.update(sweeps.lower_bounds)
        super().__init__(self, level, draft, {}, sweeps.given)

    @staticmethod
    def cost(variable: Variable) -> int:
        return UNKNOWN_SIZE * 8 if isinstance(variable.type, StackType) else cost(variable)

    def restore(self, variable: Variable) -> None:
        with self.read(variable) as read:
            self.residuals[variable] = read
