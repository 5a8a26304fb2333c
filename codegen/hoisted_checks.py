"""Checks of indices in loops, made once before the loops.

    for i in range(n):                            if n - 1 >= m:
        check_index(i, m)             ->              raise IndexError(...)
        ...                                       for i in range(n):
                                                      ...

An index that grows or falls with the indices of loops is outside at some turn if it is so at the first or
the last. What a check would find wrong is a set of linear inequalities (inequalities.py): that each loop has
a turn, and that the index is outside at the worst of them. They lose the loop's index by setting it to the
worst value; sets that are impossible need no check. Checks stay where they are in loops that do anything
visible, and where the inequalities are not linear.

>>> import numpy as np
>>> from .core import ArrayType
>>> from .parse import parse_text
>>> from .printing import print_program
>>> from .simplify import simplify
>>> from .specialise import Parameter, specialise
>>> vector = ArrayType(np.dtype(float), (None,))
>>> text = "def f(x, y):\\n  for i in range(len(x)):\\n    y[i] = x[i]\\n  return y[0]"
>>> arguments = [Parameter(vector, "x"), Parameter(vector, "y")]
>>> program = simplify(hoist_checks(simplify(specialise(parse_text(text), arguments).program)))
>>> print("\\n".join(line for line in print_program(program).splitlines() if "#" not in line))
def f(x, y):
    n = x.shape[0]
    n_2 = y.shape[0]
    if n >= n_2 + 1:
        raise IndexError(f"index {n_2} is out of bounds for axis 0 with size {n_2}")
    for i in range(n):
        y[i] = x[i]
    return y[0], y
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from .build import Builder
from .core import (
    Assign,
    Block,
    For,
    If,
    Operand,
    Program,
    Statement,
    Variable,
    While,
    assigned_in,
    walk,
)
from .errors import Location
from .inequalities import Form, impossible
from .parts import Facts
from .registry import PRIMITIVES

CHECKS = ("check_index", "check_same")


@dataclass(frozen=True)
class Violation:
    """What is wrong if all of some forms are at least 0, and the exception that says so, showing `values`.

    Of turns of a loop the first is shown; an index that is too large is at least the `least` of the values.
    """

    forms: tuple[Form, ...]
    exception: str
    message: str
    values: tuple[Form, ...]
    least: Form | None
    location: Location | None
    lifted: bool = False


def hoist_checks(program: Program) -> Program:
    """The program with the checks of indices before the loops that they are in."""
    return Program(program.name, program.parameters, Hoisting(program).block(program.body, [], None)[0])


class Hoisting:
    """Goes through a program; `bound` says in which loop a variable gets its values."""

    def __init__(self, program: Program):
        self.facts = Facts(program.body)

    def block(self, block: Block, holds: list[Form], loop: For | None) -> tuple[Block, list[Violation]]:
        """The block with its checks hoisted, and the violations that are to be looked for before `loop`."""
        statements: list[Statement] = []
        leaving: list[Violation] = []
        holds = list(holds)
        movable = loop is not None and not any(map(visible, walk(loop.body)))
        inside = assigned_in(loop) - {loop.index} if movable else set()
        for statement in block.statements:
            own = self.violations(statement)
            if own is None:
                statement, found = self.compound(statement, holds)
            else:
                found = own
            left: list[Violation] = []
            for violation in found:
                known = [*holds, *self.facts.sizes]
                if impossible([*known, *violation.forms]):
                    continue
                violation = replace(violation, forms=least_forms(violation.forms, known))
                lifted = lift(self.facts, violation, loop, inside) if movable else None
                if lifted is None:
                    left.append(violation)
                else:
                    leaving.append(lifted)
                if len(violation.forms) == 1:
                    holds.append(violation.forms[0].times(-1) - 1)
            if own is None:
                for violation in left:
                    self.emit(statements, violation)
            if own is None or left:
                statements.append(statement)
            if isinstance(statement, Assign):
                holds += self.facts.of_check(statement)
        return Block(statements, block.results), leaving

    def compound(self, statement: Statement, holds: list[Form]) -> tuple[Statement, list[Violation]]:
        """A statement with the checks in it hoisted, and the violations to be looked for before it."""
        match statement:
            case For():
                within = [*holds, *self.facts.of_loop(statement)]
                body, found = self.block(statement.body, within, statement)
                return replace(statement, body=body), found
            case While():
                test, body = (self.block(b, holds, None)[0] for b in (statement.test, statement.body))
                return replace(statement, test=test, body=body), []
            case If():
                body, orelse = (self.block(b, holds, None)[0] for b in (statement.body, statement.orelse))
                return replace(statement, body=body, orelse=orelse), []
        return statement, []

    def violations(self, statement: Statement) -> list[Violation] | None:
        """What a check of an index looks for; None if the statement is no such check."""
        if not isinstance(statement, Assign) or statement.primitive.name not in CHECKS:
            return None
        one, other = (self.facts.form(operand) for operand in statement.operands)
        if one is None or other is None:
            return None
        if statement.primitive.name == "check_same":
            return self.of_sizes(statement, one, other)
        message = f"index {{}} is out of bounds for axis {statement.static.get('axis', 0)} with size {{}}"
        below, values = one.times(-1) - other - 1, (one, other)
        low = Violation((below,), "IndexError", message, values, None, statement.location)
        return [low, replace(low, forms=(one - other,), least=other)]

    def of_sizes(self, statement: Assign, one: Form, other: Form) -> list[Violation] | None:
        """What a check that min(i, n) is i looks for: i above n."""
        for operand, size in ((statement.operands[0], other), (statement.operands[1], one)):
            made = self.facts.definitions.get(operand)
            floor = made is not None and made.primitive.name == "maximum" and made.operands[1] == 0
            if floor:
                made = self.facts.definitions.get(made.operands[0])
            if made is None or made.primitive.name != "minimum":
                continue
            parts = [self.facts.form(part) for part in made.operands]
            if None in parts or size not in parts:
                continue
            limit = parts[1 - parts.index(size)]
            pieces = re.split(r"\{([01])\}", statement.static.get("message", "sizes differ"))
            message = "{}".join(pieces[::2])
            values = tuple((one, other)[int(number)] for number in pieces[1::2])
            high = Violation((size - limit - 1,), "ValueError", message, values, None, statement.location)
            return [high, replace(high, forms=(size.times(-1) - 1,))] if floor else [high]
        return None

    def emit(self, statements: list[Statement], violation: Violation) -> None:
        """Append a check that not all of a violation's forms hold."""
        builder = Builder(Block())
        builder.location = violation.location
        tests = [builder.emit(PRIMITIVES["less"], *sides(builder, form)) for form in violation.forms]
        test = tests[0]
        for other in tests[1:]:
            test = builder.emit(PRIMITIVES["logical_or"], test, other)
        values = [integer(builder, value) for value in violation.values]
        if violation.least is not None and violation.lifted:
            values[0] = builder.emit(
                PRIMITIVES["maximum"], values[0], integer(builder, violation.least), weak=True
            )
        static = {"exception": violation.exception, "message": violation.message}
        builder.append(Assign((), PRIMITIVES["check"], (test, *values), static, violation.location))
        statements += builder.block.statements


def least_forms(forms: tuple[Form, ...], known: list[Form]) -> tuple[Form, ...]:
    """The forms without those that follow from the others."""
    for form in forms[:-1]:
        others = tuple(other for other in forms if other is not form)
        if impossible([*known, *others, form.times(-1) - 1]):
            forms = others
    return forms


def lift(facts: Facts, violation: Violation, loop: For, inside: set[Variable]) -> Violation | None:
    """A violation in some turn of a loop, as one that can be looked for before the loop."""
    if type(loop.step) is not int or abs(loop.step) != 1:
        return None
    if any(v in inside for form in (*violation.forms, *violation.values) for v in form.terms):
        return None
    start, stop = facts.form(loop.start), facts.form(loop.stop)
    numbers = {form.terms.get(loop.index, 0) for form in violation.forms}
    grows = all(number >= 0 for number in numbers)
    if start is None or stop is None or not (grows or all(number <= 0 for number in numbers)):
        return None
    last = stop - loop.step
    worst = last if grows == (loop.step > 0) else start
    some_turn = (stop - start).times(loop.step) - 1
    forms = (some_turn, *(at(form, loop.index, worst) for form in violation.forms))
    values = tuple(at(form, loop.index, start) for form in violation.values)
    return replace(violation, forms=forms, values=values, lifted=True)


def at(form: Form, variable: Variable, value: Form) -> Form:
    """A form with a value for one of its variables."""
    number = form.terms.get(variable, 0)
    rest = Form({v: n for v, n in form.terms.items() if v is not variable}, form.constant)
    return rest.plus(value, number)


def visible(statement: Statement) -> bool:
    """Whether a statement has an effect other than a check of an index."""
    if not isinstance(statement, Assign):
        return isinstance(statement, While)
    return statement.primitive.effect and statement.primitive.name not in CHECKS


def sides(builder: Builder, form: Form) -> tuple[Operand, Operand]:
    """Two integers of which the first is less exactly if the form is below 0."""
    positive = Form({v: n for v, n in form.terms.items() if n > 0}, max(form.constant, 0))
    negative = Form({v: -n for v, n in form.terms.items() if n < 0}, max(-form.constant, 0))
    return integer(builder, positive), integer(builder, negative)


def integer(builder: Builder, form: Form) -> Operand:
    """Statements that compute a form."""
    total: Operand = form.constant
    for variable, number in form.terms.items():
        factor = abs(number)
        term = variable if factor == 1 else builder.emit(PRIMITIVES["multiply"], factor, variable)
        if number > 0:
            nothing = type(total) is int and total == 0
            total = term if nothing else builder.emit(PRIMITIVES["add"], term, total)
        else:
            total = builder.emit(PRIMITIVES["subtract"], total, term)
    return total
