"""Products and linear algebra: NumPy's own batches, with operands aligned to them.

A product with a vector becomes one with a matrix wherever the other operand is the same for all examples.
"""
from __future__ import annotations

import string

from .. import primitives
from ..core import Operand, type_of
from .rules import ALL, Batching, batching, moved, moved_first, rank_of

assert primitives


@batching("inv", "det", "slogdet", "cholesky", "qr", "svd", "svdvals", "eigh", "eigvalsh")
def batched_by_numpy(call: Batching) -> Operand:
    return call.again(*call.operands)


@batching("pinv", lanes=lambda statement, differs: differs(statement.operands[1]))
def pinv(call: Batching) -> Operand:
    return call.again(*call.operands)


@batching("cofactor", "cofactor_along")
def aligned(call: Batching) -> Operand:
    """Operands that are all matrices, or stacks of them."""
    rank = max(map(rank_of, call.given))
    return call.again(*(call.padded(k, rank) for k in range(len(call.operands))))


@batching("matmul")
def matmul(call: Batching) -> Operand:
    ranks = call.rank(0), call.rank(1)
    if ranks == (2, 2) and call.batched(0) != call.batched(1) and is_vector(call):
        return with_one_column(call) if call.batched(1) else with_one_row(call)
    if min(ranks) >= 2:
        return aligned(call)
    if ranks == (1, 1):
        return inner_product(call)
    return with_vector_first(call) if ranks[0] == 1 else with_vector_last(call)


def is_vector(call: Batching) -> bool:
    """Whether the factor that differs has one row, or one column, beside the one that does not."""
    size = type_of(call.given[1]).shape[1] if call.batched(1) else type_of(call.given[0]).shape[0]
    return isinstance(size, int) and size == 1


def with_one_column(call: Batching) -> Operand:
    a, b = call.operands
    product = call.again(call.emit("getitem", b, (ALL, ALL, 0)), call.emit("transpose", a, axes=(1, 0)))
    return call.emit("getitem", product, (ALL, ALL, None))


def with_one_row(call: Batching) -> Operand:
    a, b = call.operands
    return call.emit("getitem", call.again(call.emit("getitem", a, (ALL, 0)), b), (ALL, None))


def inner_product(call: Batching) -> Operand:
    a, b = call.operands
    if not call.batched(1):
        return call.again(a, b)
    if not call.batched(0):
        return call.again(b, a)
    if call.types[0].dtype.kind == "b":
        return call.emit("einsum", a, b, subscripts="ij,ij->i")
    return call.emit("sum", call.emit("multiply", a, b), axis=(1,), keepdims=False)


def with_vector_first(call: Batching) -> Operand:
    """vector @ matrices."""
    (a, b), rank = call.operands, call.rank(1)
    if not call.batched(1) and rank == 2:
        return call.again(a, b)
    if not call.batched(0):
        return call.again(a, b)
    row = call.emit("getitem", a, (ALL, *(None,) * (rank - 1)))
    product = call.again(row, b)
    return call.emit("getitem", product, (*(ALL,) * (rank - 1), 0))


def with_vector_last(call: Batching) -> Operand:
    """matrices @ vector."""
    (a, b), rank = call.operands, call.rank(0)
    if not call.batched(1):
        return call.again(a, b)
    if not call.batched(0):
        # All vectors at once: the columns of a matrix, or beside a matrix the rows of one.
        if rank == 2:
            return call.again(b, call.emit("transpose", a, axes=(1, 0)))
        product = call.again(a, call.emit("transpose", b, axes=(1, 0)))
        return moved_first(call.builder, product, rank_of(product) - 1)
    column = call.emit("getitem", b, (ALL, *(None,) * (rank - 2), ALL, None))
    product = call.again(a, column)
    return call.emit("getitem", product, (*(ALL,) * (rank_of(product) - 1), 0))


@batching("solve")
def solve(call: Batching) -> Operand:
    (a, b), rank = call.operands, call.rank(0)
    if call.rank(1) > 1:
        return aligned(call)
    if not call.batched(0):
        solved = call.again(a, call.emit("transpose", b, axes=(1, 0)))
        return moved(call.builder, solved, rank_of(solved) - 1, 0)
    axes = (ALL, *(None,) * (rank - 2), ALL, None) if call.batched(1) else (ALL, None)
    solved = call.again(a, call.emit("getitem", b, axes))
    return call.emit("getitem", solved, (*(ALL,) * (rank_of(solved) - 1), 0))


@batching("einsum")
def einsum(call: Batching) -> Operand:
    inputs, output = call.static["subscripts"].split("->")
    letter = next(one for one in string.ascii_letters if one not in inputs)
    parts = [letter + part if call.batched(k) else part for k, part in enumerate(inputs.split(","))]
    return call.again(*call.operands, subscripts=f"{','.join(parts)}->{letter}{output}")


