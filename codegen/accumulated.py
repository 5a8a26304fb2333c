"""Arrays of which a loop reads nothing, and only adds to elements: in whichever order, they end the same.

>>> import numpy as np
>>> from .build import Builder
>>> from .core import INT, ArrayType
>>> x = Variable("x", ArrayType(np.dtype(float), (Variable("n", INT),)))
>>> def total(factor):
...     y, builder = Variable("y", x.type), Builder()
...     with builder.inside(Block()) as body:
...         part = builder.emit(PRIMITIVES["getitem"], y, (0,))
...         added = builder.emit(PRIMITIVES["multiply" if factor else "add"], part, 2.0)
...         body.results = (builder.emit(PRIMITIVES["setitem"], y, (0,), added),)
...     return body, y
>>> [only_adds(body, Histories(body).of(y), Histories(body)) for body, y in map(total, (False, True))]
[True, False]
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from .access import is_array
from .arrays_over_time import Histories
from .core import (
    Assign,
    Block,
    For,
    Operand,
    Statement,
    Variable,
    blocks_of,
    operands_of,
    variables_in,
    walk,
)
from .registry import PRIMITIVES


def only_adds(body: Block, history: Variable, histories: Histories) -> bool:
    """Whether all that is done with an array in a block is to add to its elements, one at a time."""
    statements = list(walk(body))
    made = {target: one for one in statements if isinstance(one, Assign) for target in one.targets}
    uses = uses_within(body, statements)
    added = additions_to(history, statements, made, uses, histories)
    return all(
        statement in added
        or not isinstance(statement, Assign)
        or not any(histories.of(v) is history for v in variables_in(statement.operands) if is_array(v))
        for statement in statements
    )


def additions_to(
    history: Variable,
    statements: list[Statement],
    made: dict[Variable, Assign],
    uses: Counter[Variable],
    histories: Histories,
) -> set[Statement]:
    """The reads and writes that are additions: `t = x[i]; s = t + v; x[i] = s`, t and s used nowhere else."""
    found: set[Statement] = set()
    for statement in statements:
        if not isinstance(statement, Assign) or statement.primitive.name not in ("setitem", "index_add"):
            continue
        array, index, value = statement.operands[:3]
        if histories.of(array) is not history or not is_single_element(array, index):
            continue
        if statement.primitive.name == "index_add":
            found.add(statement)
        elif (read := read_before(array, index, value, made, uses)) is not None:
            found |= {read, statement}
    return found


def read_before(
    array: Variable, index: tuple, value: Operand, made: dict[Variable, Assign], uses: Counter[Variable]
) -> Assign | None:
    """Where the element was read to which a value that is written there adds something."""
    total = made.get(value) if isinstance(value, Variable) else None
    if total is None or uses[value] != 1 or total.primitive.name not in ("add", "subtract"):
        return None
    terms = total.operands if total.primitive.name == "add" else total.operands[:1]
    for term in terms:
        read = made.get(term) if isinstance(term, Variable) else None
        if read is None or uses[term] != 1 or read.primitive is not PRIMITIVES["getitem"]:
            continue
        if read.operands[0] is array and same_index(read.operands[1], index):
            return read
    return None


def uses_within(body: Block, statements: list[Statement]) -> Counter[Variable]:
    """How often each variable is used in a block."""
    uses = Counter(variables_in(body.results))
    for statement in statements:
        uses.update(variables_in(operands_of(statement)))
        for block in blocks_of(statement):
            uses.update(variables_in(block.results))
    return uses


def is_single_element(array: Variable, index: tuple) -> bool:
    return len(index) == array.type.ndim and not any(
        entry is None or isinstance(entry, slice) or is_array(entry) for entry in index
    )


def same_index(one: tuple, other: tuple) -> bool:
    return len(one) == len(other) and all(
        a is b or (not isinstance(a, Variable) and not isinstance(b, Variable) and a == b)
        for a, b in zip(one, other)
    )


def writes_as_additions(loop: For, place: int, histories: Histories) -> For | None:
    """A loop that adds to the elements of an array of zeros which it writes; None if it is not that simple.

    `place` is that of the array among those which the loop carries.
    """
    history = histories.of(loop.carried[place])
    write = only_write(loop.body, history, histories, (loop.index,))
    if write is None:
        return None
    array, index, value = write.operands
    part, total = (Variable(None, array.type.with_shape(())) for _ in range(2))
    added = [
        Assign((part,), PRIMITIVES["getitem"], (array, index), {}, write.location),
        Assign((total,), PRIMITIVES["add"], (part, value), {}, write.location),
        replace(write, operands=(array, index, total)),
    ]
    return replace(loop, body=instead(loop.body, write, added))


def only_write(
    block: Block, history: Variable, histories: Histories, indices: tuple[Variable, ...]
) -> Assign | None:
    """All that is done with an array in loops of `indices`: one write, of another element each turn."""
    touches = lambda operands: any(histories.of(v) is history for v in variables_in(operands) if is_array(v))
    for statement in block.statements:
        if isinstance(statement, Assign) and touches(statement.operands):
            if statement.primitive.name != "setitem" or statement.static or touches(statement.operands[2]):
                return None
            array, index, _ = statement.operands
            rest = [one for one in walk(block) if isinstance(one, Assign) and one is not statement]
            alone = not any(touches(one.operands) for one in rest)
            own = is_single_element(array, index) and all(any(i is one for one in index) for i in indices)
            return statement if alone and own else None
        if isinstance(statement, For) and touches(statement.initial):
            return only_write(statement.body, history, histories, (*indices, statement.index))
    return None


def instead(block: Block, one: Statement, others: list[Statement]) -> Block:
    """A block with other statements in place of one, which may be in a loop in it."""
    made: list[Statement] = []
    for statement in block.statements:
        if statement is one:
            made += others
        elif isinstance(statement, For):
            made.append(replace(statement, body=instead(statement.body, one, others)))
        else:
            made.append(statement)
    return Block(made, block.results)
