"""Reading and writing parts: `x[i]` becomes `x[:, i]`, or `x[lanes, i]` where the index differs."""
from __future__ import annotations

from collections.abc import Callable

from .. import primitives
from ..core import Assign, Operand, type_of
from ..primitives.indexing import is_array
from .rules import ALL, Batching, batching, pad, rank_of

assert primitives


def bounds_differ(statement: Assign, differs: Callable) -> bool:
    """Whether a slice starts or ends elsewhere in one example than in another."""
    return any(isinstance(item, slice) and differs(item) for item in statement.operands[1])


class Layout:
    """Where the axes of a selection stand: in one example, and in what the batched index selects.

    An index of integer arrays gives a block of axes, as many as the arrays have; its place among the other
    axes follows NumPy's rules. `order[k]` is the axis of the batched selection that is axis k of what is
    wanted: the batch, then the selection of one example.
    """

    def __init__(self, call: Batching, array_batched: bool):
        given, index = call.given[1], call.operands[1]
        self.array_batched, self.call = array_batched, call
        self.index_differs = call.differs(given)
        scalar = [item is not None and not isinstance(item, slice) for item in given]
        self.pointed = any(map(is_array, given)) or self.index_differs
        self.block = max((rank_of(item) for item, one in zip(given, scalar) if one), default=0)
        rank = rank_of(call.given[0])
        plain = sum(not one for one in scalar) + rank - sum(item is not None for item in given)
        self.rank = plain + (self.block if self.pointed else 0)
        self.index = self.batched_index(index, scalar)
        self.order = self.axes(given, scalar, plain)

    def batched_index(self, index: tuple, scalar: list[bool]) -> tuple:
        call, made = self.call, []
        for item, new, one in zip(call.given[1], index, scalar, strict=True):
            made.append(pad(call.builder, new, self.block) if one and call.differs(item) else new)
        if not self.array_batched:
            return tuple(made)
        if not self.index_differs:
            return (ALL, *made)
        lanes = call.emit("arange", 0, call.size, 1, dtype=int)
        return (pad(call.builder, lanes, self.block), *made)

    def axes(self, given: tuple, scalar: list[bool], plain: int) -> tuple[int, ...]:
        """The order in which the axes of the batched selection are wanted."""
        names = [("plain", k) for k in range(plain)]
        if not self.pointed:
            return tuple(range(plain + 1))
        block = [("block", k) for k in range(self.block)]
        arrays = any(map(is_array, given))
        wanted = place(names, block, scalar, 0) if arrays else names
        wanted = [("batch", 0), *wanted]
        if not self.array_batched:
            have = place(names, [("batch", 0), *block], scalar, 0)
        elif self.index_differs:
            have = place(names, [("batch", 0), *block], [True, *scalar], 0)
        else:
            have = place([("batch", 0), *names], block, scalar, 1)
        return tuple(have.index(axis) for axis in wanted)


def place(plain: list, block: list, scalar: list[bool], before: int) -> list:
    """The axes of a selection: the block where its arrays stand if they stand together, else in front."""
    places = [k for k, one in enumerate(scalar) if one]
    together = places[-1] - places[0] == len(places) - 1
    where = places[0] + before if together else 0
    return [*plain[:where], *block, *plain[where:]]


def ordered(call: Batching, value: Operand, order: tuple[int, ...]) -> Operand:
    if order == tuple(range(len(order))):
        return value
    return call.emit("transpose", value, axes=order)


@batching("getitem", lanes=bounds_differ)
def getitem(call: Batching) -> Operand:
    layout = Layout(call, call.batched(0))
    return ordered(call, call.again(call.operands[0], layout.index), layout.order)


@batching("setitem", "index_add", lanes=bounds_differ)
def write(call: Batching) -> Operand:
    layout = Layout(call, True)
    static = dict(call.static)
    if call.primitive.name == "index_add" and layout.index_differs and not any(map(is_array, call.given[1])):
        static["unique"] = True
    return call.emit(call.primitive, call.full(0), layout.index, written(call, layout), **static)


def written(call: Batching, layout: Layout) -> Operand:
    """The value, its axes in the order of the batched selection."""
    value, differs = call.operands[2], call.batched(2)
    rank = rank_of(call.given[2])
    if rank > layout.rank:
        # Axes of size 1 that NumPy lets a written value have in front.
        shape = type_of(value).shape
        lead = (call.size,) if differs else ()
        kept = shape[len(lead) + rank - layout.rank:]
        value, rank = call.emit("reshape", value, (*lead, *kept)), layout.rank
    straight = layout.order == tuple(range(len(layout.order)))
    if differs:
        value = pad(call.builder, value, layout.rank)
    elif not straight:
        value = call.emit("getitem", value, (None,) * (layout.rank + 1 - rank)) if rank_of(value) else value
    if straight or not rank_of(value):
        return value
    inverse = tuple(layout.order.index(axis) for axis in range(len(layout.order)))
    return ordered(call, value, inverse)
