"""What makes an array, of zeros, of nothing yet, or a product; and the same in memory that is there.

>>> from .build import Builder
>>> from .core import FLOAT
>>> builder, old = Builder(), Variable("old", FLOAT.with_shape((3,)))
>>> zeros = builder.emit(PRIMITIVES["zeros"], (3,), dtype="float64")
>>> (made,) = builder.block.statements
>>> makes_array(made), made_in(made, old).primitive, made_in(made, old).targets[0] is zeros
(True, setitem, True)
"""

from __future__ import annotations

from .core import Assign, Statement, Variable, type_of
from .expand import matmul_into
from .independent import is_fresh
from .reduce import literal
from .registry import PRIMITIVES


def makes_array(statement: Statement) -> bool:
    return is_fresh(statement) or is_product(statement)


def is_product(statement: Statement) -> bool:
    """Whether a statement is a product that BLAS makes, of matrices or of one and a vector."""
    if not isinstance(statement, Assign) or statement.primitive is not PRIMITIVES["matmul"]:
        return False
    a, b = map(type_of, statement.operands)
    alike = a.dtype == b.dtype and a.dtype.char in "fdFD"
    return alike and {a.ndim, b.ndim} in ({2}, {1, 2})


def made_in(making: Assign, array: Variable) -> Assign | None:
    """What gives an array's memory the same elements; None where it is to be written only later."""
    everything = (slice(None),) * array.type.ndim
    if making.primitive.name == "empty":
        return None
    if making.primitive.name == "zeros":
        operands = (array, everything, literal(array.type.dtype, 0))
        return Assign(making.targets, PRIMITIVES["setitem"], operands, {}, making.location)
    return Assign(making.targets, matmul_into, (array, everything, *making.operands), {}, making.location)


def memory_for(making: Assign, array: Variable) -> Assign:
    """What makes an array of nothing yet, for the elements of another."""
    of = making.targets[0].type
    made = (of.shape,), {"dtype": of.dtype}
    operands, static = made if is_product(making) else (making.operands, making.static)
    return Assign((array,), PRIMITIVES["empty"], operands, static, making.location)
