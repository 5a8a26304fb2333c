"""Elementwise primitives: operands of a lower rank get axes after the batch, Python scalars a dtype."""
from __future__ import annotations

import numpy as np

from .. import primitives
from ..core import Operand, type_of
from ..primitives.promotion import COMPARISONS, common_dtype
from ..registry import PRIMITIVES
from .rules import Batching, batching, rank_of

assert primitives


@batching(*(p for p in PRIMITIVES.values() if p.elementwise))
def elementwise(call: Batching) -> Operand:
    rank = max(map(rank_of, call.given))
    operands = [as_in_one(call, k, call.padded(k, rank)) for k in range(len(call.operands))]
    static = {key: value for key, value in call.static.items() if key != "weak"}
    return call.emit(call.primitive, *operands, **static)


def as_in_one(call: Batching, position: int, operand: Operand) -> Operand:
    """A batched Python scalar is an array: it is given the dtype that it takes on in one example."""
    own = type_of(call.given[position])
    if not own.weak or not call.batched(position) or (call.primitive.name == "where" and position == 0):
        return operand
    if call.primitive.name == "astype":
        return operand
    others = [type_of(o) for o in call.given]
    if call.primitive.name == "where":
        others = others[1:]
    dtype = own.dtype
    if not all(of.weak for of in others):
        dtype = common_dtype(others)
    elif own.dtype.kind == "b" and call.types[0].dtype.kind != "b" and call.primitive.name not in COMPARISONS:
        dtype = np.dtype(np.int64)
    return operand if dtype == own.dtype else call.emit("astype", operand, dtype=dtype)


@batching("stop_gradient", "copy")
def same_on_arrays(call: Batching) -> Operand:
    return call.again(*call.operands)


