"""The part that each statement can take in a loop nest."""

from __future__ import annotations

from collections.abc import Callable

from .access import FILLS, REDUCTIONS, VIEWS, is_array, parts_of_axes
from .core import (
    ArrayType,
    Assign,
    Operand,
    Statement,
    Variable,
    blocks_of,
    free_variables,
    operands_of,
    type_of,
    variables_in,
)
from .primitives.indexing import is_basic
from .registry import PRIMITIVES

WRITES = ("setitem", "index_add")
ELEMENTWISE = ("pure", "copy")


def kind_of(statement: Statement, library: Callable[[Assign], bool] | None = None) -> str:
    """How a statement takes part: "view", "fill", "pure", "copy", "reduce", "write", or "opaque"."""
    if not isinstance(statement, Assign) or len(statement.targets) != 1:
        return "opaque"
    name, target = statement.primitive.name, statement.targets[0]
    if library is not None and library(statement):
        return "opaque"
    if PRIMITIVES.get(name) is not statement.primitive or not isinstance(target.type, ArrayType):
        return "opaque"
    if name in REDUCTIONS:
        operand = statement.operands[0]
        ordered = name in ("max", "min", "argmax", "argmin")
        return (
            "reduce" if is_array(operand) and not (ordered and operand.type.dtype.kind == "c") else "opaque"
        )
    if not target.type.shape:
        return "opaque"
    if name in WRITES:
        return "write" if len(statement.operands) > 2 and not is_single(statement) else "opaque"
    if name == "getitem":
        return "view" if is_basic(statement.operands[1]) else "pure"
    if name == "reshape":
        shapes = type_of(statement.operands[0]).shape, target.type.shape
        return "opaque" if parts_of_axes(*shapes) is None else "view"
    if name in VIEWS:
        return "view"
    if name in FILLS or name == "arange":
        return "fill"
    if statement.primitive.elementwise or name == "moved":
        return "pure"
    return "copy" if name == "copy" else "opaque"


def is_single(statement: Assign) -> bool:
    """Whether a write is of one element."""
    array, index = statement.operands[:2]
    return len(index) == array.type.ndim and not any(
        entry is None or isinstance(entry, slice) or is_array(entry) for entry in index
    )


def reads_of(statement: Statement) -> list[Variable]:
    """Every variable that a statement needs: what it reads, and the sizes in the types involved."""
    found = list(variables_in(operands_of(statement)))
    for inner in blocks_of(statement):
        found.extend(free_variables(inner))
    for variable in (*found, *statement.targets):
        of = getattr(variable.type, "element", variable.type)
        found.extend(size for size in of.shape if isinstance(size, Variable))
    return found


def elements_read(statement: Assign, kind: str) -> tuple[Operand, ...]:
    """The operands of which a nest reads elements."""
    if kind == "write":
        index = [entry for entry in statement.operands[1] if is_array(entry)]
        return (statement.operands[2], *index)
    if kind == "pure" and statement.primitive.name == "getitem":
        return (statement.operands[0], *filter(is_array, statement.operands[1]))
    if kind in ("fill", "opaque"):
        return ()
    return (statement.operands[0],) if kind in ("view", "reduce") else statement.operands


def is_view(statement: Statement) -> bool:
    """Whether the result may share memory with the first operand."""
    if not isinstance(statement, Assign) or not statement.primitive.view:
        return False
    return statement.primitive.name != "getitem" or is_basic(statement.operands[1])


def has_effect(statement: Statement) -> bool:
    if isinstance(statement, Assign):
        return statement.primitive.effect
    return any(has_effect(inner) for block in blocks_of(statement) for inner in block.statements)
