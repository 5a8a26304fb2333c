"""Checks of numbers that cannot fail: left out.

    r = x * x + y * y                       r = x * x + y * y
    check(not r < 0)              ->        s = sqrt(r)
    s = sqrt(r)

What Python does not compute of its own numbers, division by zero and some powers, compiled code checks for
before it. Where that cannot be, or has been checked before, an operation is marked as one of NumPy's.

>>> from .build import Builder
>>> from .core import FLOAT
>>> from .primitives import elementwise as e
>>> builder, x, y = Builder(), Variable("x", FLOAT), Variable("y", FLOAT)
>>> for divisor in (builder.emit(e.add, builder.emit(e.square, x), 1.0), y, y):
...     builder.append(Assign((Variable("z", FLOAT),), e.divide, (x, divisor)))
>>> program = without_needless_refusals(Program("f", (x, y), builder.block))
>>> [is_python(statement) for statement in program.body.statements if statement.primitive is e.divide]
[False, True, False]
"""

from __future__ import annotations

from dataclasses import replace

from .core import Assign, Block, For, If, Operand, Program, Statement, Variable, While
from .float_signs import FloatSigns, is_float
from .python_arithmetic import DIVISIONS, is_python


def without_needless_checks(program: Program) -> Program:
    """The program without checks of signs that cannot fail."""
    return Program(program.name, program.parameters, Checks(program.body).block(program.body))


def without_needless_refusals(program: Program) -> Program:
    """The program without those, its operations marked that Python never refuses."""
    return Program(program.name, program.parameters, Refusals(program.body).block(program.body))


class Checks:
    """Goes through a program with what the checks before have established."""

    def __init__(self, body: Block):
        self.signs = FloatSigns(body)
        self.established = self.signs.established

    def block(self, block: Block) -> Block:
        """A block; what is established in it does not hold after it."""
        outer = set(self.established)
        made = self.statements(block.statements)
        self.established &= outer
        return Block(made, block.results)

    def statements(self, statements: list[Statement]) -> list[Statement]:
        made = []
        for statement in statements:
            match statement:
                case If():
                    body, orelse = self.block(statement.body), self.block(statement.orelse)
                    made.append(replace(statement, body=body, orelse=orelse))
                case For():
                    made.append(replace(statement, body=self.block(statement.body)))
                case While():
                    made.append(self.loop(statement))
                case Assign() if not self.cannot_fail(statement):
                    made.append(self.assign(statement))
        return made

    def loop(self, loop: While) -> While:
        """What the test establishes holds in the body."""
        outer = set(self.established)
        test = Block(self.statements(loop.test.statements), loop.test.results)
        made = replace(loop, test=test, body=self.block(loop.body))
        self.established &= outer
        return made

    def assign(self, statement: Assign) -> Assign:
        if statement.primitive.name == "check":
            of, never = self.checked(statement.operands[0])
            self.established.update((of, sign) for sign in never)
        return statement

    def cannot_fail(self, statement: Assign) -> bool:
        if statement.primitive.name != "check":
            return False
        of, never = self.checked(statement.operands[0])
        return bool(never) and self.signs.never(of, never)

    def checked(self, truth: Operand) -> tuple[Operand, tuple[str, ...]]:
        """What a truth says that a number never is."""
        made = self.signs.made.get(truth) if isinstance(truth, Variable) else None
        if not isinstance(made, Assign):
            return None, ()
        if made.primitive.name == "not_equal":
            return self.compared(made, {"not_equal": ("zero",)})
        inner = self.signs.made.get(made.operands[0]) if made.primitive.name == "logical_not" else None
        signs = {"less": ("negative",), "less_equal": ("negative", "zero"), "equal": ("zero",)}
        return self.compared(inner, signs) if isinstance(inner, Assign) else (None, ())

    def compared(self, made: Assign, signs: dict[str, tuple[str, ...]]) -> tuple[Operand, tuple[str, ...]]:
        never = signs.get(made.primitive.name, ())
        if not never or not isinstance(made.operands[0], Variable) or not is_float(made.operands[0]):
            return None, ()
        zero = not isinstance(made.operands[1], Variable) and made.operands[1] == 0
        return (made.operands[0], never) if zero else (None, ())


class Refusals(Checks):
    """Also marks operations that Python does not refuse, and knows what those before have not refused."""

    def assign(self, statement: Assign) -> Assign:
        statement = super().assign(statement)
        never = self.not_refused(statement)
        if not never:
            return statement
        of = statement.operands[0 if statement.primitive.name == "power" else 1]
        if self.signs.never(of, never):
            return replace(statement, static={**statement.static, "weak": True})
        self.established.update((of, sign) for sign in never)
        return statement

    def not_refused(self, statement: Assign) -> tuple[str, ...]:
        """What the base of a power, or a divisor, never is where Python has computed with it."""
        name, operands = statement.primitive.name, statement.operands
        if name in DIVISIONS and is_python(statement):
            return ("zero",) if isinstance(operands[1], Variable) else ()
        if name != "power" or not is_python(statement) or not is_float(statement.targets[0]):
            return ()
        base, exponent = operands
        if not isinstance(base, Variable) or isinstance(exponent, Variable):
            return ()
        fractional = type(exponent) is float and not exponent.is_integer()
        return (("zero",) if exponent < 0 else ()) + (("negative",) if fractional else ())
