"""Loops each of whose turns has a row of an array for its own.

    y = zeros(n)                                 y = empty(n)
    for i in range(n - 1, -1, -1):       ->      for i in range(n):
        y = index_add(y, i, v)                       y = setitem(y, i, v)

The first time that anything is added to a row of zeros, it may as well be written; and where no turn needs
anything of another, they are done in the order in which one counts.

>>> import numpy as np
>>> from .core import ArrayType
>>> from .additions import add_in_place
>>> from .parse import parse_text
>>> from .printing import print_program
>>> from .simplify import simplify
>>> from .specialise import Parameter, specialise
>>> vector = ArrayType(np.dtype(float), (None,))
>>> text = "def f(x):\\n  y, n = np.zeros(len(x)), len(x)\\n  for i in range(n - 1, -1, -1):\\n"
>>> text += "    y[i] += x[i] + 1\\n  return y"
>>> program = specialise(parse_text(text, {"np": np}), [Parameter(vector, "x")]).program
>>> program = simplify(write_own_rows(simplify(add_in_place(simplify(program)))))
>>> print("\\n".join(line for line in print_program(program).splitlines()[3:] if "#" not in line))
def f(x):
    n = x.shape[0]
    y = np.empty(n)
    for i in range(n):
        y[i] = x[i] + 1
    return y
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from .core import Assign, Block, For, If, Operand, Program, Statement, Variable, While, blocks_of, uses_in
from .independent import is_independent
from .linear import linear_form
from .parts import Facts
from .registry import PRIMITIVES


def write_own_rows(program: Program) -> Program:
    """The program with rows of their own written, not added to, by loops that count up."""
    rows = Rows(program)
    body = rows.block(program.body)
    return Program(program.name, program.parameters, rows.with_empty(body))


class Rows:
    """Goes through the loops of a program; `covered` are the zeros of which no element is read."""

    def __init__(self, program: Program):
        self.uses: Counter[Variable] = uses_in(program)
        self.facts = Facts(program.body)
        self.covered: set[Variable] = set()

    def block(self, block: Block) -> Block:
        return Block([self.statement(statement) for statement in block.statements], block.results)

    def statement(self, statement: Statement) -> Statement:
        match statement:
            case If():
                body, orelse = map(self.block, blocks_of(statement))
                return replace(statement, body=body, orelse=orelse)
            case While():
                return replace(statement, body=self.block(statement.body))
            case For():
                return self.upward(self.written(replace(statement, body=self.block(statement.body))))
        return statement

    def written(self, loop: For) -> For:
        """The loop with its additions to rows of zeros as writes."""
        if not isinstance(loop.step, int) or abs(loop.step) != 1:
            return loop
        statements = list(loop.body.statements)
        for carried, initial, result in zip(loop.carried, loop.initial, loop.body.results):
            added = next((s for s in statements if is_addition(s, carried, loop.index)), None)
            if added is None or self.uses[carried] != 1 or added.targets[0] is not result:
                continue
            if self.uses[result] != 1 or not self.is_zeros(initial):
                continue
            place = statements.index(added)
            statements[place] = replace(added, primitive=PRIMITIVES["setitem"], static={})
            if self.whole(loop, initial):
                self.covered.add(initial)
        return replace(loop, body=Block(statements, loop.body.results))

    def is_zeros(self, array: Operand) -> bool:
        made = self.facts.definitions.get(array) if isinstance(array, Variable) else None
        return made is not None and made.primitive.name == "zeros" and self.uses[array] == 1

    def whole(self, loop: For, array: Variable) -> bool:
        """Whether a loop's index goes over the whole first axis of an array."""
        first, end = self.bounds(loop)
        return isinstance(first, int) and first == 0 and end is array.type.shape[0]

    def bounds(self, loop: For) -> tuple[Operand, Operand]:
        """The lowest index of a loop and the end of its indices; None where there is no name for one."""
        if loop.step == 1:
            return loop.start, loop.stop
        return self.next(loop.stop), self.next(loop.start)

    def next(self, operand: Operand) -> Operand:
        terms, constant = linear_form(self.facts, operand)
        if not terms:
            return constant + 1
        ((variable, factor),) = terms.items() if len(terms) == 1 else ((None, 0),)
        return variable if factor == 1 and constant == -1 else None

    def upward(self, loop: For) -> For:
        """The loop with its index going up, if its order does not matter."""
        if loop.step != -1 or not is_independent(loop):
            return loop
        first, end = self.bounds(loop)
        return loop if first is None or end is None else replace(loop, start=first, stop=end, step=1)

    def with_empty(self, block: Block) -> Block:
        """The block with arrays that are written whole not filled before."""
        statements = []
        for statement in block.statements:
            if isinstance(statement, Assign):
                if self.covered.intersection(statement.targets):
                    statement = replace(statement, primitive=PRIMITIVES["empty"])
            else:
                names = ("body", "orelse") if isinstance(statement, If) else ("body",)
                statement = replace(statement, **{n: self.with_empty(getattr(statement, n)) for n in names})
            statements.append(statement)
        return Block(statements, block.results)


def is_addition(statement: Statement, array: Variable, index: Variable) -> bool:
    """Whether a statement adds to the row of an array that a loop's index says."""
    if not isinstance(statement, Assign) or statement.primitive.name != "index_add":
        return False
    base, at, _ = statement.operands
    return base is array and len(at) == 1 and at[0] is index
