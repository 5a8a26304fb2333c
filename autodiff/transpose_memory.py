"""Reading and writing, backwards: getitem, setitem, index_add, and the stacks' push and pop.

A read adds to the part that was read, in place: `x_bar = index_add(x_bar, i, y_bar)`, whatever the size of x.
"""
from __future__ import annotations

import numpy as np

from ..codegen.build import Builder, freeze
from ..codegen.core import Assign, Operand, Variable, type_of, variables_in
from ..codegen.primitives.indexing import is_array, is_basic
from .adjoints import Adjoints
from .calls import conform, emit, pop, unbroadcast, zeros


def transpose_getitem(adjoints: Adjoints, statement: Assign) -> None:
    array, index = statement.operands
    cotangent = adjoints.take(statement.targets[0])
    if only_reshapes(index):
        adjoints.add(array, emit(adjoints.builder, "reshape", cotangent, array.type.shape))
        return
    have, builder = adjoints.get(array), adjoints.builder
    name = "setitem" if have is None and is_basic(index) else "index_add"
    into = zeros(builder, array.type) if have is None else have
    adjoints.set(array, emit(builder, name, into, index, cotangent, **unique(builder, index)))


def only_reshapes(index: tuple) -> bool:
    """Whether an index reads all, with new axes."""
    return None in index and all(item is None or item == slice(None) for item in index)


def transpose_setitem(adjoints: Adjoints, statement: Assign) -> None:
    array, index, value = statement.operands
    cotangent = adjoints.take(statement.targets[0])
    builder = adjoints.builder
    if value in adjoints.activity and not known_zero(builder, cotangent, index):
        part = emit(builder, "getitem", cotangent, index)
        if not (is_basic(index) or is_unique(builder, index) or statement.static.get("unique")):
            part = last_written(adjoints, statement, part)
        add_part(adjoints, value, part)
    if array in adjoints.activity:
        zero = array.type.dtype.type(0).item()
        adjoints.add(array, emit(builder, "setitem", cotangent, index, zero))


def known_zero(builder: Builder, cotangent: Operand, index: tuple) -> bool:
    """Whether this part of a cotangent was set to zero: what was written there was overwritten unread."""
    while isinstance(cotangent, Variable) and cotangent in builder.definitions:
        made = builder.definitions[cotangent]
        if made.primitive.name == "zeros":
            return True
        if made.primitive.name != "setitem":
            return False
        before, place, value = made.operands
        if isinstance(value, Variable) or value != 0:
            return False
        if freeze(place) == freeze(index):
            return True
        cotangent = before
    return False


def add_part(adjoints: Adjoints, value: Variable, part: Operand) -> None:
    """Give a written value the cotangent of the part it was written to."""
    shape = value.type.shape
    extra = len(shape) - len(type_of(part).shape)
    if extra > 0:  # a value of shape (1, 1, n) fits where (n,) does
        part = unbroadcast(adjoints.builder, part, shape[extra:])
        part = emit(adjoints.builder, "reshape", part, shape)
    adjoints.add(value, unbroadcast(adjoints.builder, part, shape))


def last_written(adjoints: Adjoints, statement: Assign, part: Operand) -> Operand:
    """The cotangent of a value written to positions some of which coincide: the last one written stays.

    Each element writes its own number in the same places; those that can be read back were the last.
    """
    builder = adjoints.builder
    array, index, _ = statement.operands
    shape = type_of(part).shape
    count = builder.product(shape)
    numbers = emit(builder, "reshape", emit(builder, "arange", 0, count, 1, dtype="int64"), shape)
    places = emit(builder, "empty", array.type.shape, dtype="int64")
    written = emit(builder, "setitem", places, index, numbers)
    left = emit(builder, "equal", emit(builder, "getitem", written, index), numbers)
    return emit(builder, "where", left, part, array.type.dtype.type(0).item())


def transpose_index_add(adjoints: Adjoints, statement: Assign) -> None:
    array, index, value = statement.operands
    cotangent = adjoints.take(statement.targets[0])
    if value in adjoints.activity:
        add_part(adjoints, value, emit(adjoints.builder, "getitem", cotangent, index))
    adjoints.add(array, cotangent)


def transpose_push(adjoints: Adjoints, statement: Assign) -> None:
    stack, value = statement.operands
    left, top = pop(adjoints.builder, adjoints.take(statement.targets[0]), value)
    adjoints.add(value, top)
    adjoints.set(stack, left)


def transpose_pop(adjoints: Adjoints, statement: Assign) -> None:
    left, value = statement.targets
    builder = adjoints.builder
    bar = adjoints.take(value)
    below = adjoints.take(left)
    below = zeros(builder, left.type) if below is None else below
    bar = zeros(builder, value.type) if bar is None else conform(builder, bar, value.type)
    adjoints.set(statement.operands[0], emit(builder, "push", below, bar))


def is_unique(builder, index: tuple) -> bool:
    """Whether an index of arrays is known to hold no position twice: its numbers, or nonzero whole."""
    arrays = [item for item in index if is_array(item)]
    numbers = [known_numbers(builder, item) for item in arrays]
    if not any(number is None for number in numbers):
        return distinct(numbers)
    if not all(isinstance(item, Variable) for item in arrays):
        return False
    made = [builder.definitions.get(item) for item in arrays]
    first = made[0] if made else None
    return bool(first and first.primitive.name == "nonzero" and all(m is first for m in made)
                and len(set(arrays)) == len(first.targets))


def known_numbers(builder, item: Operand) -> np.ndarray | None:
    """The positions in an index array that is written out in the program."""
    made = builder.definitions.get(item) if isinstance(item, Variable) else None
    if made is None:
        return item if isinstance(item, np.ndarray) else None
    if made.primitive.name == "constant":
        return np.asarray(made.static["value"])
    known = made.primitive.name == "array" and not any(True for _ in variables_in(made.operands))
    return np.array(made.operands[0]) if known else None


def distinct(numbers: list[np.ndarray]) -> bool:
    """Whether positions differ, whatever the size of the array they are in."""
    if any((positions < 0).any() and (positions >= 0).any() for positions in numbers):
        return False  # -1 may be the place of another number
    rows = np.stack(np.broadcast_arrays(*numbers)).reshape(len(numbers), -1)
    return np.unique(rows, axis=1).shape == rows.shape


def unique(builder, index: tuple) -> dict[str, bool]:
    return {"unique": True} if not is_basic(index) and is_unique(builder, index) else {}


MEMORY = {
    "getitem": transpose_getitem,
    "setitem": transpose_setitem,
    "index_add": transpose_index_add,
    "push": transpose_push,
    "pop": transpose_pop,
}
