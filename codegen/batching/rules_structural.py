"""Shapes, joining, creation and counting, with the batch as one more axis in front."""
from __future__ import annotations

from collections.abc import Callable, Iterator

from .. import primitives
from ..core import Assign, Operand, type_of
from .rules import ALL, Batching, batching, rank_of

assert primitives


@batching("reshape")
def reshape(call: Batching) -> Operand:
    return call.again(call.operands[0], (call.size, *shape_tuple(call.operands[1])))


def shape_tuple(shape: Operand) -> tuple:
    return tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)


@batching("transpose")
def transpose(call: Batching) -> Operand:
    return call.again(call.operands[0], axes=(0, *(axis + 1 for axis in call.static["axes"])))


@batching("broadcast_to")
def broadcast_to(call: Batching) -> Operand:
    shape = shape_tuple(call.operands[1])
    return call.again(call.padded(0, len(shape)), (call.size, *shape))


@batching("concatenate")
def concatenate(call: Batching) -> Operand:
    given, arrays = call.given[0], call.operands[0]
    pairs = zip(given, arrays, strict=True)
    wide = tuple(array if call.differs(one) else call.repeat(array) for one, array in pairs)
    return call.again(wide, axis=call.static["axis"] + 1)


@batching("full")
def full(call: Batching) -> Operand:
    shape, value = shape_tuple(call.operands[0]), call.operands[1]
    dtype = call.types[0].dtype
    if type_of(value).dtype != dtype:
        value = call.emit("astype", value, dtype=dtype)
    column = call.emit("getitem", value, (ALL, *(None,) * len(shape)))
    return call.emit("copy", call.emit("broadcast_to", column, (call.size, *shape)))


@batching("array")
def array(call: Batching) -> Operand:
    """Numbers written one by one into an array of arrays."""
    of = call.types[0]
    made = call.emit("empty", (call.size, *of.shape), dtype=of.dtype)
    for place, item in places(call.operands[0], ()):
        made = call.emit("setitem", made, (ALL, *place), item)
    return made


def places(items: Operand, before: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Operand]]:
    """Each number in nested tuples, with its index."""
    if not isinstance(items, (tuple, list)):
        yield before, items
        return
    for k, item in enumerate(items):
        yield from places(item, (*before, k))


def uneven(statement: Assign, differs: Callable) -> bool:
    """Whether more differs than where a range of integers starts."""
    step = statement.operands[2] if len(statement.operands) > 2 else 1
    return differs(step) or statement.targets[0].type.dtype.kind not in "iu"


@batching("arange", lanes=uneven)
def arange(call: Batching) -> Operand:
    """Ranges that are equally long."""
    start, step = call.operands[0], call.operands[2] if len(call.operands) > 2 else 1
    steps = call.emit("arange", 0, call.types[0].shape[0], 1, dtype=call.types[0].dtype)
    if type_of(step).shape == () and not (isinstance(step, int) and step == 1):
        steps = call.emit("multiply", steps, step)
    if not call.batched(0):
        return call.emit("add", call.repeat(start), steps)
    return call.emit("add", call.emit("getitem", start, (ALL, None)), steps)


@batching("count_nonzero")
def count_nonzero(call: Batching) -> Operand:
    x = call.operands[0]
    held = call.emit("not_equal", x, 0) if type_of(x).dtype.kind != "b" else x
    return call.emit("sum", held, axis=tuple(range(1, rank_of(x))), keepdims=False)


@batching("stack")
def stack(call: Batching) -> Operand:
    from .rules import batched_type

    return call.again(element=batched_type(call.types[0].element, call.size))


@batching("push")
def push(call: Batching) -> Operand:
    value = call.full(1)
    of = type_of(call.operands[0]).element
    if type_of(value).dtype != of.dtype:
        value = call.emit("astype", value, dtype=of.dtype)
    return call.again(call.operands[0], value)


@batching("pop")
def pop(call: Batching) -> tuple:
    stack, value = call.again(call.operands[0])
    of = call.types[1]
    value.type = type(of)(of.dtype, (call.size, *of.shape))
    return stack, value


def different_sizes(statement: Assign, differs: Callable) -> bool:
    return True


@batching("check_same", "slice_size", "print", "callback", lanes=different_sizes)
def never(call: Batching) -> Operand:
    raise AssertionError("done in lanes")


@batching("check", lanes=lambda statement, differs: len(statement.operands) > 1)
def check(call: Batching) -> tuple:
    """What must hold in one example must hold in all; a message that shows values is one example's."""
    test = call.operands[0]
    call.again(call.emit("all", test, axis=tuple(range(rank_of(test))), keepdims=False))
    return ()


@batching("check_index", lanes=lambda statement, differs: differs(statement.operands[1]))
def check_index(call: Batching) -> tuple:
    call.again(*call.operands, of_example=True)
    return ()
