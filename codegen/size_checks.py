"""Checks that sizes are equal, made once before a loop that has a turn.

    for i in range(n):                     check_same(a, b)
        check_same(a, b)          ->       for i in range(n):
        ...                                    ...

Only checks that nothing visible comes before, so that the first error is the same.

>>> from .build import Builder
>>> from .core import FLOAT, INT, Block
>>> from .registry import PRIMITIVES
>>> n, a, b = (Variable(name, INT) for name in "nab")
>>> x, builder, body = Variable("x", FLOAT.with_shape((n,))), Builder(), Block()
>>> with builder.inside(body):
...     _ = builder.emit(PRIMITIVES["check_same"], a, b, message="sizes differ")
>>> builder.append(For((), Variable("i", INT), 0, n, 1, (), (), body))
>>> made = hoist_size_checks(Program("f", (x, a, b), builder.block))
>>> [getattr(s, "primitive", "loop") for s in made.body.statements]
[check_same, 'loop']
"""

from __future__ import annotations

from dataclasses import replace

from .adopt import adopt
from .core import Assign, For, Program, Variable, assigned_in, variables_in
from .loop_rewriter import LoopRewriter, is_operation
from .roles import has_effect


def hoist_size_checks(program: Program) -> Program:
    """The program with checks of sizes before the loops that surely make them."""
    return Hoisting(program).run()


class Hoisting(LoopRewriter):
    """Moves checks out of one loop after the other."""

    def loop(self, loop: For) -> None:
        if self.has_a_turn(loop):
            checks = leading_checks(loop)
            for check in checks:
                if not self.builder.same(*check.operands):
                    adopt(self.builder, check)
            rest = [statement for statement in loop.body.statements if statement not in checks]
            loop = replace(loop, body=replace(loop.body, statements=rest))
        adopt(self.builder, loop)


def leading_checks(loop: For) -> list[Assign]:
    """The checks in a loop that can be made before it."""
    inside: set[Variable] = assigned_in(loop)
    checks: list[Assign] = []
    for statement in filter(has_effect, loop.body.statements):
        if not is_operation(statement, "check_same"):
            break
        if any(variable in inside for variable in variables_in(statement.operands)):
            break
        checks.append(statement)
    return checks
