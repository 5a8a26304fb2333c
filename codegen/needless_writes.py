"""Writes into arrays whose elements are not read again, and so need not be made.

    for i in range(n - 1, -1, -1):               for i in range(n - 1, -1, -1):
        part = getitem(y_bar, i)                     part = getitem(y_bar, i)
        y_bar = setitem(y_bar, i, 0.0)     ->        ...
        ...

A write can only be missed by a reading that comes later, in the same turns of the loops around both or in
later ones, and that may take an element which was written. Where each such case is impossible, by what is
known of the indices, the write goes. So do the zeros in cotangents that nobody looks at again, and what puts
arrays back on the way down where the backward sweep reads other elements only.

>>> import numpy as np
>>> from .core import ArrayType
>>> from .parse import parse_text
>>> from .printing import print_program
>>> from .simplify import simplify
>>> from .specialise import Parameter, specialise
>>> vector = ArrayType(np.dtype(float), (None,))
>>> text = "def f(x):\\n  y, s = 2 * x, 0.0\\n  for i in range(len(x)):\\n"
>>> text += "    s += y[i]\\n    y[i] = 0\\n  return s"
>>> program = simplify(specialise(parse_text(text), [Parameter(vector, "x")]).program)
>>> fewer = simplify(without_needless_writes(program))
>>> print("\\n".join(line for line in print_program(fewer).splitlines() if "#" not in line))
def f(x):
    y = 2 * x
    s = 0.0
    for i in range(x.shape[0]):
        s = s + y[i]
    return s
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from .core import (
    Assign,
    Block,
    For,
    If,
    Operand,
    Program,
    StackType,
    Statement,
    Variable,
    While,
    blocks_of,
    bound_in,
    map_variables,
    type_of,
    variables_in,
)
from .inequalities import Form
from .parts import Facts, Part
from .registry import PRIMITIVES
from .union import Union

WRITES = ("setitem", "index_add")
MOST = 2000  # pairs of a write and a reading that are looked at for one array

Loops = tuple[For | While, ...]


@dataclass(frozen=True, eq=False)
class Access:
    """A reading or writing of part of an array; `index` None: of all of it."""

    array: Variable
    index: Operand
    loops: Loops
    position: int
    statement: Statement | None = None


def without_needless_writes(program: Program) -> Program:
    """The program without writes that no reading can miss."""
    survey = Survey(program)
    needless = {write.statement for write in survey.writes if not survey.missed(write)}
    return program if not needless else remove(program, needless)


def remove(program: Program, needless: set[Statement], whole: Collection[Statement] = ()) -> Program:
    """The program without some of its writes, and with some additions as writes of the whole value."""
    became: dict[Variable, Operand] = {}

    def current(operand: Operand) -> Operand:
        return map_variables(lambda v: current(became[v]) if v in became else v, operand)

    def block(old: Block) -> Block:
        statements = []
        for statement in old.statements:
            if statement in needless:
                became[statement.targets[0]] = statement.operands[0]
            else:
                statements.append(changed(statement))
        return Block(statements, current(old.results))

    def changed(statement: Statement) -> Statement:
        match statement:
            case Assign() if statement in whole:
                setitem = PRIMITIVES["setitem"]
                return replace(statement, primitive=setitem, operands=current(statement.operands), static={})
            case Assign():
                return replace(statement, operands=current(statement.operands))
            case If():
                test = current(statement.test)
                return replace(
                    statement, test=test, body=block(statement.body), orelse=block(statement.orelse)
                )
            case For():
                bounds = {name: current(getattr(statement, name)) for name in ("start", "stop", "step")}
                return replace(
                    statement, **bounds, initial=current(statement.initial), body=block(statement.body)
                )
            case While():
                initial, test = current(statement.initial), block(statement.test)
                return replace(statement, initial=initial, test=test, body=block(statement.body))

    body = block(program.body)
    return Program(program.name, program.parameters, body)


class Survey:
    """Every access to the arrays of a program, by the array: all versions that writes and loops connect."""

    def __init__(self, program: Program):
        self.arrays = Union()
        self.facts = Facts(program.body)
        self.depths: dict[Variable, int] = {}
        self.carrying: defaultdict[For | While, list[Variable]] = defaultdict(list)
        self.readings: list[Access] = []
        self.writes: list[Access] = []
        self.position = 0
        self.block(program.body, ())
        self.read(program.results, ())
        self.by_array: defaultdict[Variable, list[Access]] = defaultdict(list)
        for reading in self.readings:
            self.by_array[self.arrays.find(reading.array)].append(reading)

    def join(self, *versions: Operand) -> None:
        """Versions of one array, those that are arrays at all."""
        found = [version for version in versions if is_array(version)]
        if found:
            self.arrays.join(*found)

    # collecting

    def block(self, block: Block, loops: Loops) -> None:
        for statement in block.statements:
            self.position += 1
            self.depths.update(dict.fromkeys(statement.targets, len(loops)))
            match statement:
                case Assign():
                    self.assign(statement, loops)
                case If():
                    for inner in blocks_of(statement):
                        self.block(inner, loops)
                    for versions in zip(statement.targets, statement.body.results, statement.orelse.results):
                        self.join(*versions)
                case _:
                    self.loop(statement, loops)

    def loop(self, loop: For | While, loops: Loops) -> None:
        inside = (*loops, loop)
        self.depths.update(dict.fromkeys(bound_in(loop), len(inside)))
        for versions in zip(loop.targets, loop.carried, loop.initial, loop.body.results):
            self.join(*versions)
        self.carrying[loop] += loop.carried
        if isinstance(loop, While):
            self.block(loop.test, inside)
        self.block(loop.body, inside)

    def assign(self, statement: Assign, loops: Loops) -> None:
        name, operands = statement.primitive.name, statement.operands
        if name in WRITES:
            array, index, value = operands
            self.join(statement.targets[0], array)
            self.read((index, value), loops)
            if is_array(array):
                self.writes.append(Access(array, index, loops, self.position, statement))
            if name == "index_add" and is_array(array):
                self.readings.append(Access(array, index, loops, self.position))
        elif name == "getitem" and is_array(operands[0]):
            self.readings.append(Access(operands[0], operands[1], loops, self.position))
            self.read(operands[1], loops)
        elif name != "size":
            self.read(operands, loops)

    def read(self, operand: Operand, loops: Loops) -> None:
        for variable in variables_in(operand):
            if is_array(variable):
                self.readings.append(Access(variable, None, loops, self.position + 1))

    # asking

    def missed(self, write: Access) -> bool:
        """Whether some reading may take an element that this write made."""
        readings = self.by_array[self.arrays.find(write.array)]
        if len(readings) > MOST or any(r.index is None and self.may_follow(write, r) for r in readings):
            return True
        holds = [*self.facts.sizes, *self.of_loops(write.loops)]
        written = self.facts.part(write.array, write.index, holds)
        if len(write.index) == 0:
            return True
        return any(self.meets(write, written, holds, reading) for reading in readings)

    def may_follow(self, write: Access, reading: Access) -> bool:
        """Whether a reading can come after a write at all."""
        if reading.position > write.position:
            return True
        return any(self.carries(loop, write) for loop in common(write.loops, reading.loops))

    def carries(self, loop: For | While, write: Access) -> bool:
        """Whether the array goes from turn to turn of a loop."""
        root = self.arrays.find(write.array)
        return any(self.arrays.find(carried) is root for carried in self.carrying[loop] if is_array(carried))

    def meets(self, write: Access, written: Part, holds: list[Form], reading: Access) -> bool:
        """Whether a reading may take, later, an element that was written."""
        shared = common(write.loops, reading.loops)
        here = self.of_loops(reading.loops)
        part = self.facts.part(reading.array, reading.index, [*self.facts.sizes, *here])
        if reading.position > write.position and not self.facts.apart(written, part, [*holds, *here]):
            return True
        for depth, loop in enumerate(shared):
            if not self.carries(loop, write):
                continue
            later = [self.later(form, depth) for form in here]
            moved = [(self.later(low, depth), self.later(high, depth)) for low, high in part]
            if not self.facts.apart(written, moved, [*holds, *later, *self.after(loop, depth)]):
                return True
        return False

    def of_loops(self, loops: Loops) -> list[Form]:
        return [form for loop in loops if isinstance(loop, For) for form in self.facts.of_loop(loop)]

    def later(self, form: Form, depth: int) -> Form:
        """A form as it is in a later turn of the loop at a depth: what is bound in that loop is another."""
        terms = {("later", v) if self.depths.get(v, 0) > depth else v: n for v, n in form.terms.items()}
        return Form(terms, form.constant)

    def after(self, loop: For | While, depth: int) -> Iterator[Form]:
        """What holds between the indices of a turn and a later one."""
        if isinstance(loop, For) and type(loop.step) is int and loop.step:
            now = Form({loop.index: 1})
            moved = self.later(now, depth) - now
            yield (moved if loop.step > 0 else moved.times(-1)) - abs(loop.step)


def common(one: Loops, other: Loops) -> Loops:
    """The loops around both of two places."""
    count = next((k for k, (a, b) in enumerate(zip(one, other)) if a is not b), min(len(one), len(other)))
    return one[:count]


def is_array(operand: Operand) -> bool:
    if not isinstance(operand, Variable):
        return False
    return not isinstance(operand.type, StackType) and bool(type_of(operand).shape)
