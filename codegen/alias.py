"""What shares memory: views, and the buffers that variables stand for.

>>> from .core import Variable
>>> x = Variable("x", ArrayType(np.dtype(float), (3, 4)))
>>> basic((0, slice(None), None)), basic((Variable("i", ArrayType(np.dtype(int), (2,))),))
(True, False)
"""
from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .core import (
    ArrayType,
    Assign,
    For,
    Operand,
    StackType,
    Statement,
    Variable,
    While,
    type_of,
    variables_in,
)

Loop = For | While | None

# Views that NumPy makes although the primitive is not marked as one.
MAY_BE_VIEWS = {"real", "imag"}
# Views that are no larger than what they look at, so that copying them is the cheaper way out.
SMALL_VIEWS = {"getitem", "reshape", "transpose", "real", "imag"}


@dataclass(eq=False, slots=True)
class Buffer:
    """Some memory. `loop` is the innermost loop in which it is made; `owned`: we may write to it."""

    loop: Loop
    owned: bool = True
    root: Buffer | None = None
    kind: str = ""
    names: dict[str, Buffer] = field(default_factory=dict)

    def renamed(self, kind: str, loop: Loop, owned: bool) -> Buffer:
        if kind not in self.names:
            self.names[kind] = Buffer(loop, owned, self.root or self, kind)
        return self.names[kind]


Buffers = frozenset[Buffer]
NOTHING: Buffers = frozenset()


def basic(index: Operand) -> bool:
    """Whether an index gives a view: no arrays in it."""
    return not any(v.type.shape for v in variables_in(index) if isinstance(v.type, ArrayType)) and not any(
        isinstance(entry, (list, np.ndarray)) for entry in (index if isinstance(index, tuple) else (index,))
    )


def is_view(statement: Statement | None) -> bool:
    """Whether the statement's result may share memory with its first operand."""
    if not isinstance(statement, Assign) or not statement.targets:
        return False
    name, operands, target = statement.primitive.name, statement.operands, statement.targets[0]
    if not has_memory(target) and name != "reshape":
        return False
    if name == "getitem":
        return basic(operands[1])
    if name == "astype":
        return type_of(operands[0]).dtype == target.type.dtype
    if name == "einsum":
        return len(operands) == 1
    return statement.primitive.view or name in MAY_BE_VIEWS


def has_memory(variable: Variable) -> bool:
    """Whether a variable stands for memory that can be shared: an array or a stack, not a scalar."""
    return isinstance(variable.type, StackType) or bool(variable.type.shape)
