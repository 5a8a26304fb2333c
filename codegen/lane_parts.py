"""The parts of a lane: a turn of an independent loop that has one loop of its own, with numbers only.

What is found here, lanes_in_step.py does several at a time:

    for lane in range(n):
        a = x[lane]                 before
        while a > 1:                the loop
            a = a / 2
        y[lane] = a                 after
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from .core import (
    BOOL,
    ArrayType,
    Assign,
    Block,
    For,
    If,
    Operand,
    Statement,
    Variable,
    While,
    blocks_of,
    free_variables,
    variables_in,
    walk,
)
from .python_arithmetic import is_check, is_int_of_float, may_refuse
from .reductions import reductions
from .registry import PRIMITIVES
from .renaming import Renaming
from .wishes import noun

Vectorises = Callable[[Assign], bool]


@dataclass
class Lane:
    """What a turn of `around` does before its loop, the loop, and what it does after."""

    around: For
    before: list[Statement]
    loop: While
    after: list[Statement]

    def lasting(self) -> list[Variable]:
        """What is known before the loop, and read in it or after it."""
        known = {t for statement in self.before for t in statement.targets}
        known.update(v for v in self.read_inside() if v is self.around.index)
        return [variable for variable in self.read() if variable in known]

    def kept(self) -> list[Variable]:
        """The numbers that a lane keeps from turn to turn, and for what comes after its loop."""
        return list(dict.fromkeys([*self.loop.carried, *self.lasting(), *self.tested()]))

    def tested(self) -> list[Variable]:
        """What the loop's test computes, and its body reads."""
        known = {target for statement in self.loop.test.statements for target in statement.targets}
        return [variable for variable in free_variables(self.loop.body) if variable in known]

    def name(self, variable: Variable) -> str:
        """What a number that is kept is called."""
        known = (s for s in (*self.before, *self.loop.test.statements) if isinstance(s, Assign))
        made = next((statement for statement in known if variable in statement.targets), None)
        return variable.name or (noun(made, variable, lambda other: other.name) if made else "value")

    def read(self) -> dict[Variable, None]:
        """What is read by the loop's blocks and after them."""
        return self.read_inside() | free_variables(Block(self.after, self.around.body.results))

    def read_inside(self) -> dict[Variable, None]:
        return free_variables(self.loop.test) | free_variables(self.loop.body)

    def can_be_repeated(self) -> bool:
        """Whether a lane may be done again: it reads nothing that it has written before it may be refused."""
        statements = self.writing()
        places = [place for place, statement in enumerate(statements) if is_written(statement)]
        later = statements[places[0] + 1 :] if places else []
        return not any(map(may_refuse, walk(Block(later)))) or not self.reads_what_it_writes()

    def writing(self) -> list[Statement]:
        """What a lane does from where it may write."""
        return self.after

    def reads_what_it_writes(self) -> bool:
        statements = [s for s in walk(self.around.body) if isinstance(s, Assign)]
        written = {*self.around.carried, *(s.targets[0] for s in statements if is_written(s))}
        reads = ("getitem", "index_add")
        return any(s.primitive.name in reads and s.operands[0] in written for s in statements)

    def may_be_in_step(self) -> bool:
        """Whether a lane can be done again alone, where that may have to be."""
        return self.can_be_repeated() or not self.checked()

    def checked(self) -> bool:
        """Whether a lane may raise an exception."""
        blocks = Block(self.before), self.loop.test, self.loop.body, Block(self.after)
        return any(may_refuse(statement) for block in blocks for statement in walk(block))


def lane_of(loop: For, vectorises: Vectorises) -> Lane | None:
    """The parts of a turn, if it is such a lane. `vectorises`: whether an operation is done on vectors."""
    if not goes_over_lanes(loop):
        return None
    body = flat(loop.body)
    around, statements = replace(loop, body=body), body.statements
    places = [place for place, statement in enumerate(statements) if isinstance(statement, (For, While))]
    if len(places) != 1 or not fits_around(statements[: places[0]], statements[places[0] + 1 :]):
        return None
    (place,) = places
    inner = statements[place]
    if isinstance(inner, For):
        if not isinstance(inner.step, int):
            return None
        inner = as_while(inner)
    lane = Lane(around, statements[:place], inner, statements[place + 1 :])
    return lane if fits_inside(inner, vectorises) and lane.may_be_in_step() else None


def goes_over_lanes(loop: For) -> bool:
    """Whether the turns of a loop do not depend on each other, nor add to the same."""
    return loop.independent and loop.step == 1 and not reductions(loop)


def fits_around(before: list[Statement], *after: list[Statement]) -> bool:
    """Whether what is not in a loop of the lane's own can be done at another time."""
    writes = any(map(is_written, walk(Block(before))))
    return not writes and all(is_plain(s) for part in (before, *after) for s in walk(Block(part)))


def fits_inside(loop: For | While, vectorises: Vectorises) -> bool:
    """Whether a loop of the lane's own carries numbers, and computes floats on vectors.

    Integers take a cycle each one after the other: done in step, their loops are slower.
    """
    inside = [statement for block in blocks_of(loop) for statement in walk(block)]
    numbers = all(map(is_number, loop.carried)) and any(map(gives_float, inside))
    return numbers and all(steps(block, vectorises) for block in blocks_of(loop))


def gives_float(statement: Statement) -> bool:
    if not isinstance(statement, Assign) or not statement.targets:
        return False
    of = statement.targets[0].type
    return isinstance(of, ArrayType) and of.dtype.kind == "f"


def flat(block: Block) -> Block:
    """A block without the marks of what is computed again."""
    statements, ends = [], {}
    for statement in block.statements:
        if isinstance(statement, If) and statement.recompute is not None:
            inner = flat(statement.body)
            statements += inner.statements
            ends.update(zip(statement.targets, inner.results))
        else:
            statements.append(statement)
    return Renaming(ends).block(Block(statements, block.results)) if ends else block


def as_while(loop: For) -> While:
    """A loop over a range that counts for itself."""
    goes, following = Variable(None, BOOL), Variable(loop.index.name, loop.index.type)
    compare = PRIMITIVES["less" if loop.step > 0 else "greater"]
    test = Block([Assign((goes,), compare, (loop.index, loop.stop), {}, loop.location)], (goes,))
    count = Assign((following,), PRIMITIVES["add"], (loop.index, loop.step), {}, loop.location)
    body = Block([*loop.body.statements, count], (following, *loop.body.results))
    last = Variable(loop.index.name, loop.index.type)
    carried, initial = (loop.index, *loop.carried), (loop.start, *loop.initial)
    return While((last, *loop.targets), carried, initial, test, body, loop.location)


def is_number(operand: Operand) -> bool:
    of = operand.type if isinstance(operand, Variable) else None
    return of is None or (isinstance(of, ArrayType) and not of.shape and of.dtype.kind in "biuf")


def is_written(statement: Statement) -> bool:
    """Whether a statement writes to an array."""
    return isinstance(statement, Assign) and statement.primitive.destructive


def is_plain(statement: Statement) -> bool:
    """Whether a statement outside of the inner loop has to do with numbers and elements of arrays only."""
    if isinstance(statement, If):
        return all(map(is_number, statement.targets))
    if not isinstance(statement, Assign):
        return False
    if statement.primitive.name in ("getitem", "setitem", "index_add"):
        return all(isinstance(entry, (Variable, int)) for entry in statement.operands[1]) and (
            statement.primitive.destructive or all(map(is_number, statement.targets))
        )
    return is_check(statement) or is_computation(statement) and not is_int_of_float(statement)


def is_computation(statement: Assign) -> bool:
    """Whether a statement computes a number of numbers."""
    primitive = statement.primitive
    if not primitive.elementwise or primitive.effect or PRIMITIVES.get(primitive.name) is not primitive:
        return False
    return all(map(is_number, (*statement.targets, *variables_in(statement.operands))))


def steps(block: Block, vectorises: Vectorises) -> bool:
    """Whether a block only computes numbers, with operations that are done on vectors."""
    return all(stands(statement, vectorises) for statement in block.statements)


def stands(statement: Statement, vectorises: Vectorises) -> bool:
    if isinstance(statement, Assign):
        return is_check(statement) or is_computation(statement) and vectorises(statement)
    if not isinstance(statement, If) or not all(map(is_number, statement.targets)):
        return False
    return all(steps(block, vectorises) for block in blocks_of(statement))
