"""Which variables need a derivative: those that vary with the active parameters and matter to the results.

    def f(x, n):             x active
        y = x * 2            varied, useful
        i = n + 1            an integer
        z = cos(x)           varied, but no result depends on it
        return y
"""
from __future__ import annotations

from ..codegen.core import Assign, Block, For, If, Operand, Program, Statement, Variable, While, variables_in
from ..codegen.custom_calls import differentiated, is_custom_call


class Activity:
    """The active variables of a program."""

    def __init__(self, program: Program, active: tuple[bool, ...]):
        self.varied = {p for p, a in zip(program.parameters, active, strict=True) if a and p.type.inexact}
        self.useful: set[Variable] = set()
        self.vary(program.body)
        self.mark_useful(program.body.results)
        self.use(program.body)

    def __contains__(self, operand: Operand) -> bool:
        return isinstance(operand, Variable) and operand in self.varied and operand in self.useful

    def any(self, operand: Operand) -> bool:
        """Whether an operand, perhaps a nested tuple, holds an active variable."""
        return any(v in self for v in variables_in(operand))

    def mark_varied(self, pairs) -> bool:
        """Mark each target whose source varies; whether that is new."""
        fresh = {t for t, source in pairs
                 if t.type.inexact and t not in self.varied and self.is_varied(source)}
        self.varied |= fresh
        return bool(fresh)

    def is_varied(self, operand: Operand) -> bool:
        return any(v in self.varied for v in variables_in(operand))

    def vary(self, block: Block) -> None:
        for statement in block.statements:
            match statement:
                case Assign():
                    if not differentiable(statement):
                        continue
                    self.mark_varied((t, differentiated(statement)) for t in statement.targets)
                case If():
                    for branch in (statement.body, statement.orelse):
                        self.vary(branch)
                        self.mark_varied(zip(statement.targets, branch.results))
                case For() | While():
                    self.vary_loop(statement)

    def vary_loop(self, loop: For | While) -> None:
        self.mark_varied(zip(loop.carried, loop.initial))
        while True:
            if isinstance(loop, While):
                self.vary(loop.test)
            self.vary(loop.body)
            if not self.mark_varied(zip(loop.carried, loop.body.results)):
                break
        self.mark_varied(zip(loop.targets, loop.carried))

    def mark_useful(self, operand: Operand) -> None:
        self.useful.update(v for v in variables_in(operand) if v.type.inexact)

    def use(self, block: Block) -> None:
        for statement in reversed(block.statements):
            match statement:
                case Assign():
                    if differentiable(statement) and any(t in self.useful for t in statement.targets):
                        self.mark_useful(differentiated(statement))
                case If():
                    for branch in (statement.body, statement.orelse):
                        self.use_results(statement.targets, branch.results)
                        self.use(branch)
                case For() | While():
                    self.use_loop(statement)

    def use_results(self, targets: tuple[Variable, ...], results: tuple[Operand, ...]) -> None:
        for target, result in zip(targets, results):
            if target in self.useful:
                self.mark_useful(result)

    def use_loop(self, loop: For | While) -> None:
        self.use_results(loop.targets, loop.body.results)
        size = -1
        while size != len(self.useful):
            size = len(self.useful)
            self.use_results(loop.carried, loop.body.results)
            self.use(loop.body)
            if isinstance(loop, While):
                self.use(loop.test)
        self.use_results(loop.targets, loop.initial)
        self.use_results(loop.carried, loop.initial)

    def part(self, statement: Statement) -> bool:
        """Whether any target of a statement is active."""
        return any(t in self for t in statement.targets)


def differentiable(statement: Assign) -> bool:
    """Whether a derivative passes through an operation (one without rules counts: it must be refused)."""
    primitive = statement.primitive
    if None in primitive.jvp or None in primitive.vjp:
        return False
    if primitive.effect and not is_custom_call(statement):
        return False
    return any(t.type.inexact for t in statement.targets)
