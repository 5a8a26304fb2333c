"""Collectives, over this batch or, batched themselves, over another.

A collective over this batch is an operation on its first axis. Over another, it is done for all examples at
once.
"""
from __future__ import annotations

import numpy as np

from .. import primitives
from ..core import Operand, type_of
from .rules import COLLECTIVES, Batching, batching, moved

assert primitives

# Whether the result differs among the examples.
COLLECTIVES.update(psum=False, all_gather=False, psum_scatter=True, all_to_all=True, ppermute=True,
                   axis_index=True)


@batching("psum")
def psum(call: Batching) -> Operand:
    (x,) = call.operands
    if not call.here:
        return call.again(x)
    if not call.batched(0):
        of = np.empty(0, type_of(x).dtype).sum().dtype
        wide = x if type_of(x).dtype == of else call.emit("astype", x, dtype=of)
        return call.emit("multiply", wide, call.size)
    return call.emit("sum", x, axis=(0,), keepdims=False)


@batching("all_gather")
def all_gather(call: Batching) -> Operand:
    if not call.here:
        return moved(call.builder, call.again(call.operands[0]), 1, 0)
    return call.full(0)


@batching("psum_scatter")
def psum_scatter(call: Batching) -> Operand:
    (x,) = call.operands
    if not call.here:
        return call.again(moved(call.builder, x, 1, 0))
    return psum(call)


@batching("all_to_all")
def all_to_all(call: Batching) -> Operand:
    split, concat = call.static["split"] + 1, call.static["concat"] + 1
    if not call.here:
        return call.again(call.operands[0], split=split, concat=concat)
    split_first = moved(call.builder, call.full(0), split, 0)
    return moved(call.builder, split_first, 1, concat)


@batching("ppermute")
def ppermute(call: Batching) -> Operand:
    if not call.here:
        return call.again(call.operands[0])
    pairs = sorted(call.static["pairs"], key=lambda pair: pair[1])
    columns = np.array(pairs, np.int64).reshape(-1, 2).T
    sources, targets = (call.emit("constant", value=column.copy()) for column in columns)
    x = call.full(0)
    sent = call.emit("getitem", x, (sources,))
    if isinstance(call.size, int) and len(pairs) == call.size:
        return sent
    nothing = call.emit("zeros", type_of(x).shape, dtype=type_of(x).dtype)
    return call.emit("setitem", nothing, (targets,), sent)


@batching("axis_index")
def axis_index(call: Batching) -> Operand:
    return call.emit("arange", 0, call.size, 1, dtype=np.int64)
