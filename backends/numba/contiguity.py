"""Which arrays are known to lie in memory in the order of their elements, so that BLAS can read them.

>>> from ...codegen.registry import PRIMITIVES
>>> from ...codegen.core import ArrayType
>>> import numpy as np
>>> x, y, z = (Variable(name, ArrayType(np.dtype(float), (3, 3))) for name in "xyz")
>>> made = Assign((y,), PRIMITIVES["copy"], (x,))
>>> turned = Assign((z,), PRIMITIVES["transpose"], (y,), {"axes": (1, 0)})
>>> contiguous_in(Block([made, turned])) == {y}
True
"""

from __future__ import annotations

from ...codegen.core import Assign, Block, For, If, Operand, Variable, While, walk

FRESH = frozenset({"zeros", "ones", "empty", "full", "copy", "matmul", "row"})


def contiguous_in(body: Block) -> set[Variable]:
    """The arrays that are contiguous whatever the arguments are."""
    ways: dict[Variable, list[Operand]] = {}
    for statement in walk(body):
        match statement:
            case Assign():
                ways |= dict.fromkeys(statement.targets, needed(statement))
            case If():
                ends = zip(statement.body.results, statement.orelse.results)
                ways |= zip(statement.targets, map(list, ends))
            case For() | While():
                ends = list(map(list, zip(statement.initial, statement.body.results)))
                ways |= zip(statement.carried, ends)
                ways |= zip(statement.targets, ends)
    found = {v for v in ways if getattr(v.type, "shape", ())}
    while True:
        doubtful = {v for v in found if not all(operand in found for operand in ways[v])}
        if not doubtful:
            return found
        found -= doubtful


def needed(statement: Assign) -> list[Operand]:
    """What must be contiguous for a result to be so."""
    name, operands = statement.primitive.name, statement.operands
    if name in FRESH:
        return []
    leading = name == "getitem" and takes_rows(operands[1])
    return [operands[0] if statement.primitive.destructive or leading else None]


def takes_rows(index: tuple) -> bool:
    """Whether an index has numbers first, then perhaps a part of an axis, then whole axes."""
    numbers = [
        isinstance(entry, int) or isinstance(entry, Variable) and not entry.type.shape for entry in index
    ]
    rest = index[numbers.index(False) if False in numbers else len(numbers) :]
    in_order = isinstance(rest[0], slice) and rest[0].step in (None, 1) if rest else True
    return in_order and all(entry == slice(None) for entry in rest[1:])
