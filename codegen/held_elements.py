"""Elements of arrays that a loop only reads, or only adds to, held in a number.

    for k in range(j):                               part = getitem(x, (i, j))
        part = getitem(x, (i, j))                    for k in range(j):
        x = index_add(x, (i, k), part * ...)   ->        x = index_add(x, (i, k), part * ...)

    for k in range(j):                               total = getitem(x, (i, j))
        x = index_add(x, (i, j), ...)          ->    for k in range(j):
        ... getitem(x, (i, k)) ...                       total = total + ...
                                                         ... getitem(x, (i, k)) ...
                                                     x = setitem(x, (i, j), total)

The loop's other accesses to the array must be to other elements, and the element inside the array even where
the loop has no turn, both by what is known of the indices (parts.py). Processors keep numbers in registers,
and a loop that carries no element through memory can be vectorised.

>>> import numpy as np
>>> from .core import ArrayType
>>> from .additions import add_in_place
>>> from .parse import parse_text
>>> from .printing import print_program
>>> from .simplify import simplify
>>> from .specialise import Parameter, specialise
>>> vector = ArrayType(np.dtype(float), (None,))
>>> text = "def f(x):\\n  for i in range(len(x)):\\n"
>>> text += "    for k in range(i):\\n      x[i] -= x[k]\\n  return x[0]"
>>> program = simplify(specialise(parse_text(text), [Parameter(vector, "x")]).program)
>>> held = simplify(hold_elements(simplify(add_in_place(program))))
>>> print("\\n".join(line for line in print_program(held).splitlines() if "#" not in line))
def f(x):
    for i in range(x.shape[0]):
        total = x[i]
        for k in range(i):
            total = total - x[k]
        x[i] = total
    return x[0], x
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .core import (
    ArrayType,
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
    blocks_of,
    type_of,
    variables_in,
    walk,
)
from .inequalities import Form, impossible
from .needless_writes import WRITES, is_array
from .parts import Facts
from .registry import PRIMITIVES
from .renaming import Renaming


def hold_elements(program: Program) -> Program:
    """The program with elements that stay or add up through a loop held in numbers."""
    return Program(program.name, program.parameters, Holding(program).block(program.body, []))


@dataclass
class Access:
    """A reading or writing of part of an array in a loop; `inner`: what holds of the loops between."""

    statement: Assign
    index: Operand
    inner: list[Form]


class Holding:
    def __init__(self, program: Program):
        self.facts = Facts(program.body)

    def block(self, block: Block, holds: list[Form]) -> Block:
        holds = list(holds)
        statements: list[Statement] = []
        for statement in block.statements:
            match statement:
                case For():
                    body = self.block(statement.body, [*holds, *self.facts.of_loop(statement)])
                    statements += self.loop(replace(statement, body=body), holds)
                    continue
                case While() | If():
                    names = ("test", "body") if isinstance(statement, While) else ("body", "orelse")
                    parts = {name: self.block(getattr(statement, name), holds) for name in names}
                    statement = replace(statement, **parts)
                case Assign():
                    holds += self.facts.of_check(statement)
            statements.append(statement)
        return Block(statements, block.results)

    def loop(self, loop: For, holds: list[Form]) -> list[Statement]:
        """A loop with what can be held before and after it."""
        before: list[Statement] = []
        after: list[Statement] = []
        for place, carried in enumerate(loop.carried):
            accesses = self.accesses(loop, place) if is_array(carried) else None
            for access in accesses or ():
                others = [other for other in accesses if other is not access]
                if not self.fixed(loop, access, carried, holds):
                    continue
                kind = access.statement.primitive.name
                if kind == "getitem":
                    others = [other for other in others if other.statement.primitive.name in WRITES]
                elif kind != "index_add" or not added_directly(loop, access.statement):
                    continue
                if not all(self.apart(access, other, carried, holds) for other in others):
                    continue
                if kind == "getitem":
                    before.append(hold_reading(loop, place, access.statement))
                    loop = without(loop, access.statement)
                else:
                    loop = hold_addition(loop, place, access.statement, before, after)
                    break
        return [*before, loop, *after]

    def accesses(self, loop: For, place: int) -> list[Access] | None:
        """Every access to a carried array in a loop; None if it is not one array, changed by writes only."""
        found: list[Access] = []
        versions = {loop.carried[place]}
        if not self.follow(loop.body, versions, [*self.facts.of_loop(loop)], found):
            return None
        return found if loop.body.results[place] in versions else None

    def follow(self, block: Block, versions: set[Variable], inner: list[Form], found: list[Access]) -> bool:
        for statement in block.statements:
            match statement:
                case Assign():
                    name, operands = statement.primitive.name, statement.operands
                    used = [v for v in variables_in(operands) if v in versions]
                    if not used or name == "size":
                        continue
                    known = name in ("getitem", *WRITES) and operands[0] in versions and len(used) == 1
                    if not known:
                        return False
                    found.append(Access(statement, operands[1], inner))
                    if name in WRITES:
                        versions.add(statement.targets[0])
                case For():
                    places = [k for k, v in enumerate(statement.initial) if v in versions]
                    inside = versions | {statement.carried[k] for k in places}
                    more = [*inner, *self.facts.of_loop(statement)]
                    if not self.follow(statement.body, inside, more, found):
                        return False
                    if any(statement.body.results[k] not in inside for k in places):
                        return False
                    versions.update(statement.targets[k] for k in places)
                case _:
                    inner_blocks = blocks_of(statement)
                    if any(v in versions for s in walk(Block([statement])) for v in mentioned(s)):
                        return False
                    if any(v in versions for b in inner_blocks for v in variables_in(b.results)):
                        return False
        return True

    def fixed(self, loop: For, access: Access, array: Variable, holds: list[Form]) -> bool:
        """Whether an access is to one element, the same in each turn, that is surely in the array."""
        if not isinstance(access.index, tuple) or len(access.index) != len(array.type.shape):
            return False
        if any(not isinstance(entry, (int, Variable)) or isinstance(entry, bool) for entry in access.index):
            return False
        if any(isinstance(entry, Variable) and entry.type.shape for entry in access.index):
            return False
        inside = assigned_in(loop)
        if any(v in inside for v in variables_in(access.index)):
            return False
        for entry, size in zip(access.index, array.type.shape):
            position, end = self.facts.form(entry), self.facts.form(size)
            if position is None or end is None:
                return False
            known = [*holds, *self.facts.sizes]
            if not impossible([*known, position.times(-1) - 1]) or not impossible([*known, position - end]):
                return False
        return True

    def apart(self, one: Access, other: Access, array: Variable, holds: list[Form]) -> bool:
        known = [*holds, *self.facts.sizes, *other.inner]
        parts = (self.facts.part(array, access.index, known) for access in (one, other))
        return self.facts.apart(*parts, known)


def added_directly(loop: For, addition: Assign) -> bool:
    """Whether an addition is made in each turn of a loop, of a number of the array's own dtype."""
    array, _, value = addition.operands
    of = type_of(value)
    return addition in loop.body.statements and (of.weak or of.dtype == array.type.dtype)


def mentioned(statement: Statement) -> list[Variable]:
    operands = [statement.operands] if isinstance(statement, Assign) else [getattr(statement, "initial", ())]
    return list(variables_in(operands))


def hold_reading(loop: For, place: int, reading: Assign) -> Assign:
    """The reading of an element, from the array as it is before a loop."""
    return replace(reading, operands=(loop.initial[place], reading.operands[1]))


def without(loop: For, removed: Assign) -> For:
    """A loop without a statement somewhere in it."""

    def block(old: Block) -> Block:
        statements = []
        for statement in old.statements:
            if statement is removed:
                continue
            if isinstance(statement, For):
                statement = replace(statement, body=block(statement.body))
            statements.append(statement)
        return Block(statements, old.results)

    return replace(loop, body=block(loop.body))


def hold_addition(
    loop: For, place: int, addition: Assign, before: list[Statement], after: list[Statement]
) -> For:
    """A loop that adds to a number instead of an element, which is read before and written after."""
    array, index, value = addition.operands
    of = ArrayType(loop.carried[place].type.dtype)
    first, carried, total, last = (Variable(name, of) for name in (None, "total", None, "total"))
    filled = Variable(loop.targets[place].name, loop.targets[place].type)
    read = (loop.initial[place], index)
    before.append(Assign((first,), PRIMITIVES["getitem"], read, {}, addition.location))
    adding = Assign((total,), PRIMITIVES["add"], (carried, value), {}, addition.location)
    put = (filled, index, last)
    after.append(Assign((loop.targets[place],), PRIMITIVES["setitem"], put, {}, addition.location))
    current = Renaming({addition.targets[0]: array})
    statements = [adding if s is addition else current.statement(s) for s in loop.body.statements]
    body = Block(statements, (*current(loop.body.results), total))
    targets = tuple(filled if k == place else target for k, target in enumerate(loop.targets))
    return replace(
        loop,
        targets=(*targets, last),
        carried=(*loop.carried, carried),
        initial=(*loop.initial, first),
        body=body,
    )
