"""Loops over the rows of arrays: what they write, and along which axes they keep to their own row.

>>> import numpy as np
>>> from .build import Builder
>>> from .core import INT, ArrayType, Block
>>> from .registry import PRIMITIVES
>>> x = Variable("x", ArrayType(np.dtype(float), (Variable("n", INT), 3)))
>>> i, y, builder = Variable("i", INT), Variable("y", x.type), Builder()
>>> with builder.inside(Block()) as body:
...     body.results = (builder.emit(PRIMITIVES["setitem"], y, (i, 0), 1.0),)
>>> loop = For((Variable("z", x.type),), i, 0, x.type.shape[0], 1, (y,), (x,), body, None, True)
>>> histories = Histories(Block([loop]))
>>> may_be_joined(loop), nested(loop), axes_of(loop, histories.of(x), histories)
(True, False, {0})
"""

from __future__ import annotations

from .access import is_array
from .arrays_over_time import Histories
from .core import (
    Assign,
    Block,
    For,
    If,
    Operand,
    Statement,
    Variable,
    While,
    blocks_of,
    operands_of,
    variables_in,
    walk,
)

# Primitives whose operands begin with an array and an index.
INDEXED = ("getitem", "setitem", "index_add", "matmul_into")


def axes_of(loop: For, history: Variable, histories: Histories) -> set[int]:
    """The axes along which everything that a loop does with an array is at the loop's own index."""
    found = set(range(history.type.ndim))
    blocks = [loop.body]
    for statement in walk(loop.body):
        found &= axes_in(statement, history, loop.index, histories)
        blocks += blocks_of(statement)
    results = [v for block in blocks for v in variables_in(block.results)]
    return (
        set() if any(is_part_of(v, history, histories) and histories.is_view(v) for v in results) else found
    )


def axes_in(statement: Statement, history: Variable, index: Variable, histories: Histories) -> set[int]:
    everything, none = set(range(history.type.ndim)), set()
    touched = [v for v in variables_in(operands_of(statement)) if is_part_of(v, history, histories)]
    if not isinstance(statement, Assign):
        return none if any(map(histories.is_view, touched)) else everything
    first = touched and touched[0] is statement.operands[0]
    if all(map(histories.is_view, touched)):
        return none if first and statement.primitive.destructive else everything
    if len(touched) > 1 or not first or statement.primitive.name not in INDEXED:
        return none
    return places_of(index, statement.operands[1])


def is_part_of(variable: Variable, history: Variable, histories: Histories) -> bool:
    return is_array(variable) and histories.of(variable) is history


def places_of(variable: Variable, index: tuple) -> set[int]:
    """The axes at which an index has a variable; none behind a new axis or an array."""
    found = set()
    for place, entry in enumerate(index):
        if entry is None or is_array(entry):
            break
        if entry is variable:
            found.add(place)
    return found


def may_be_joined(statement: Statement) -> bool:
    plain = isinstance(statement, For) and statement.fused
    return plain and isinstance(statement.step, int) and (statement.start, statement.step) == (0, 1)


def nested(loop: For) -> bool:
    """Whether there is a loop in a loop, or work on whole arrays."""
    return any(
        isinstance(statement, (For, While)) or statement.primitive.name == "matmul_into"
        for statement in walk(loop.body)
        if not isinstance(statement, If)
    )


def written(statement: Statement) -> list[Variable]:
    """The arrays that a statement writes into, as they are before."""
    found: list[Operand] = []
    for inner in (statement, *(s for block in blocks_of(statement) for s in walk(block))):
        if isinstance(inner, Assign):
            found += inner.operands[:1] if inner.primitive.destructive else ()
        else:
            found += getattr(inner, "initial", ())
    return [operand for operand in found if is_array(operand)]


def dependent(loops: list[For], variables: set[Variable]) -> set[Variable]:
    """The numbers in some loops that depend on some variables, and these."""
    found = set(variables)
    for statement in walk(Block([loops[0]])):
        if isinstance(statement, Assign) and found.intersection(variables_in(operands_of(statement))):
            found.update(target for target in statement.targets if not is_array(target))
    return found
