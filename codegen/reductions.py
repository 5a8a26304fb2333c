"""What a loop reduces: numbers that it only adds to or compares with, and arrays that it only adds to.

The order of its turns makes no difference to them but for rounding. Only loops that stand for operations on
whole arrays are taken for such; one that the user wrote adds in the order that is written.

>>> import numpy as np
>>> from .build import Builder
>>> from .core import INT, ArrayType, Program
>>> from .fuse import fuse
>>> from .registry import PRIMITIVES
>>> x = Variable("x", ArrayType(np.dtype(float), (Variable("n", INT), 3)))
>>> def loop(name, axis):
...     builder = Builder()
...     builder.block.results = (builder.emit(PRIMITIVES[name], x, axis=axis, keepdims=False),)
...     return next(s for s in fuse(Program("f", (x,), builder.block)).body.statements if isinstance(s, For))
>>> reductions(loop("max", (0, 1))), reductions(loop("sum", (0,))), reductions(loop("sum", (1,)))
({0: 'maximum'}, {0: 'add'}, {})
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from .access import is_array
from .accumulated import only_adds, uses_within
from .arrays_over_time import Histories
from .core import Assign, Block, For, Variable, operands_of, variables_in, walk
from .reduce import highest, literal, lowest

FLOATS = ("add", "maximum", "minimum")
OTHERS = (*FLOATS, "logical_or", "logical_and")


def reductions(loop: For) -> dict[int, str]:
    """The places of what a loop carries only to reduce it, and the operation with which it does."""
    if not loop.fused or (loop.start, loop.step) != (0, 1):
        return {}
    uses, histories = uses_within(loop.body, list(walk(loop.body))), Histories(Block([loop]))
    found = {}
    for place, (carried, end) in enumerate(zip(loop.carried, loop.body.results)):
        if not is_array(carried):
            step = only_step(loop.body, carried, end, uses)
        else:
            step = "add" if is_summed(loop, carried, histories) else None
        if step is not None:
            found[place] = step
    return found


def is_summed(loop: For, array: Variable, histories: Histories) -> bool:
    """Whether a loop only adds to an array, and in each turn to all its elements, or to one of a few."""
    return only_adds(loop.body, histories.of(array), histories) and elements_for_one(loop, array) is not None


def elements_for_one(loop: For, array: Variable) -> int | None:
    """How many elements an array has for each of those that a turn adds to; None if that is not known."""
    histories = Histories(Block([loop]))
    inner = {statement.index for statement in walk(loop.body) if isinstance(statement, For)}
    most = 1
    for statement in walk(loop.body):
        if not isinstance(statement, Assign) or not statement.primitive.destructive:
            continue
        written, index = statement.operands[:2]
        if histories.of(written) is histories.of(array):
            rest = [size for size, entry in zip(array.type.shape, index, strict=True) if entry not in inner]
            if not all(isinstance(size, int) for size in rest):
                return None
            most = max(most, math.prod(rest))
    return most


def only_step(block: Block, first: Variable, last: Variable, uses: Mapping[Variable, int]) -> str | None:
    """The operation that leads from one number to another in a block, if nothing else reads those between."""
    steps: set[str | None] = set()
    while first is not last and uses[first] == 1:
        match next((s for s in block.statements if first in [*variables_in(operands_of(s))]), None):
            case Assign() as following if following.primitive.name in allowed(first):
                steps.add(following.primitive.name)
                (first,) = following.targets
            case For() as inner if inner.fused and first in inner.initial:
                place = inner.initial.index(first)
                steps.add(only_step(inner.body, inner.carried[place], inner.body.results[place], uses))
                first = inner.targets[place]
            case _:
                return None
    return steps.pop() if first is last and len(steps) == 1 else None


def allowed(number: Variable) -> tuple[str, ...]:
    """The operations whose order makes no difference but for rounding."""
    return FLOATS if number.type.inexact else OTHERS


def identity(step: str, dtype: np.dtype) -> Any:
    """What a reduction is where there is nothing yet."""
    if step == "maximum":
        return lowest(dtype)
    if step == "minimum":
        return highest(dtype)
    return literal(dtype, int(step == "logical_and"))
