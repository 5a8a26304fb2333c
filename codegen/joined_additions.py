"""Two additions to one part of an array, between which only other elements of it are read: one write.

    y = index_add(x, (slice(0, n), k), a)          r = getitem(x, (n + k, j))
    r = getitem(y, (n + k, j))              ->     s = getitem(x, (slice(0, n), k))
    z = index_add(y, (slice(0, n), k), b)          z = setitem(x, (slice(0, n), k), s + a + b)

What is read between keeps the two from sharing a nest, though it is the same before the first as after it.

>>> from .build import Builder
>>> from .core import FLOAT
>>> x, v, builder = Variable("x", FLOAT.with_shape((5,))), Variable("v", FLOAT.with_shape((3,))), Builder()
>>> y = builder.emit(PRIMITIVES["index_add"], x, (slice(1, 4),), v)
>>> w = builder.emit(PRIMITIVES["multiply"], v, builder.emit(PRIMITIVES["getitem"], y, (0,)))
>>> builder.block.results = (builder.emit(PRIMITIVES["index_add"], y, (slice(1, 4),), w),)
>>> [s.primitive for s in join_additions(Program("f", (x, v), builder.block)).body.statements]
[getitem, multiply, getitem, add, add, setitem]
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from .access import is_one
from .build import freeze
from .core import Assign, Block, For, If, Program, Statement, Variable, While, type_of, uses_in, variables_in
from .inequalities import Form
from .outputs import part_rank
from .parts import Facts
from .primitives.indexing import is_basic
from .registry import PRIMITIVES


def join_additions(program: Program) -> Program:
    """The program with such additions joined."""
    joining = Joining(Facts(program.body), uses_in(program))
    return Program(program.name, program.parameters, joining.block(program.body, joining.facts.sizes))


class Joining:
    def __init__(self, facts: Facts, uses: Counter[Variable]):
        self.facts = facts
        self.uses = uses

    def block(self, block: Block, holds: list[Form]) -> Block:
        """A block, given what holds in it of sizes and of the indices of loops."""
        statements = [self.inside(statement, holds) for statement in block.statements]
        for first in [s for s in statements if is_addition(s)]:
            again = self.again(first, statements, holds)
            if again is not None:
                statements = list(joined(statements, first, again))
        return Block(statements, block.results)

    def inside(self, statement: Statement, holds: list[Form]) -> Statement:
        match statement:
            case For():
                within = [*holds, *self.facts.of_loop(statement)]
                return replace(statement, body=self.block(statement.body, within))
            case While():
                return replace(statement, body=self.block(statement.body, holds))
            case If():
                body, orelse = (self.block(side, holds) for side in (statement.body, statement.orelse))
                return replace(statement, body=body, orelse=orelse)
        return statement

    def again(self, first: Assign, statements: list[Statement], holds: list[Form]) -> Assign | None:
        """The addition to the same part, if all else that is done with the sum is to read other elements."""
        array, index, value = first.operands
        (total,) = first.targets
        users = [s for s in statements if isinstance(s, Assign) and total in variables_in(s.operands)]
        additions = [s for s in users if is_addition(s) and s.operands[0] is total]
        if len(users) != self.uses[total] or len(additions) != 1 or len(users) == 1:
            return None
        (again,) = additions
        other = again.operands[2]
        alike = freeze(again.operands[1]) == freeze(index) and type_of(other) == type_of(value)
        whole = value.type.ndim == part_rank(array, index) and not any(map(is_one, value.type.shape))
        if not alike or not whole or value.type.dtype != array.type.dtype:
            return None
        part = self.facts.part(array, index, holds)
        for reading in users:
            if reading is again:
                continue
            if reading.primitive is not PRIMITIVES["getitem"] or not is_basic(reading.operands[1]):
                return None
            if not self.facts.apart(part, self.facts.part(array, reading.operands[1], holds), holds):
                return None
        return again


def is_addition(statement: Statement) -> bool:
    """Whether a statement adds an array to a part of another."""
    if not isinstance(statement, Assign) or statement.primitive is not PRIMITIVES["index_add"]:
        return False
    index, value = statement.operands[1:]
    basic = isinstance(index, tuple) and is_basic(index) and None not in index
    return basic and isinstance(value, Variable) and bool(value.type.shape)


def joined(statements: list[Statement], first: Assign, again: Assign):
    """The statements with the second addition made together with the first."""
    array, index, value = first.operands
    for statement in statements:
        if statement is again:
            old, sum_of_two, all_three = (Variable(None, value.type) for _ in range(3))
            steps = (
                (old, "getitem", (array, index)),
                (sum_of_two, "add", (old, value)),
                (all_three, "add", (sum_of_two, again.operands[2])),
                (again.targets[0], "setitem", (array, index, all_three)),
            )
            for target, name, operands in steps:
                yield Assign((target,), PRIMITIVES[name], operands, {}, again.location)
        elif isinstance(statement, Assign) and first.targets[0] in variables_in(statement.operands):
            yield replace(statement, operands=(array, *statement.operands[1:]))
        elif statement is not first:
            yield statement
