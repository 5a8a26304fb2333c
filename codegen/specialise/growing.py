"""Lists that grow in a loop of unknown length: their items are the first rows of a buffer.

Such a list holds one `Growing`, and whatever asks for the items of a list asks `growing_of` first. All items
are of one type. What such a list cannot do raises `NotGrowing`: the function is then specialised again with
its loops unrolled, where that can be.
"""
from __future__ import annotations

from collections import deque
from typing import Any

from ..core import ArrayType, Block, If
from ..registry import PRIMITIVES
from .control import cast, emit_sizes
from .machine import NotGrowing, Specialiser
from .merge import join_types
from .values import Array, Growing, is_dynamic

FIRST_CAPACITY = 8


def growing_of(value: Any) -> Growing | None:
    """What a list of unknown length holds; None for all other values."""
    return (
        value[0]
        if type(value) in (list, tuple, deque) and len(value) == 1 and isinstance(value[0], Growing)
        else None
    )


def refuse(s: Specialiser, what: str, node: Any = None) -> Exception:
    return NotGrowing(s.unsupported(
        f"{what} of a list whose length is known only at run time",
        "make an array of the list with np.array, or an array in place of the list", node))


# types


def element_type(s: Specialiser, items: Any, inner: Any = ()) -> ArrayType | None:
    """The one type of all items, if they have one; sizes that only variables in `inner` tell are None."""
    joined = None
    for item in items:
        if not s.number(item):
            return None
        of = s.type(item)
        sizes = map(s.builder.representative, of.shape)
        of = of.with_shape(tuple(None if size in inner else size for size in sizes))
        if joined is not None and any(isinstance(a, int) and isinstance(b, int) and a != b
                                      for a, b in zip(joined.shape, of.shape, strict=False)):
            return None
        joined = of if joined is None else join_types(joined, of)
        if joined is None:
            return None
    return joined


def buffer_type(element: ArrayType) -> ArrayType:
    return ArrayType(element.dtype, (None, *element.shape))


def start(s: Specialiser, items: Any, element: ArrayType) -> Growing:
    """A growing list of these items."""
    shape = (max(FIRST_CAPACITY, len(items)), *(0 if size is None else size for size in element.shape))
    buffer = s.builder.emit(PRIMITIVES["zeros"], shape, dtype=element.dtype)
    for k, item in enumerate(items):
        buffer = s.builder.emit(PRIMITIVES["setitem"], buffer, (k,), cast(s, s.operand(item), element))
    return Growing(s.wrap(buffer), len(items), element.weak)


# what the list can do


def rows(s: Specialiser, growing: Growing) -> Any:
    """The items as an array."""
    count = s.operand(growing.count)
    return s.wrap(s.builder.emit(PRIMITIVES["getitem"], s.operand(growing.buffer), (slice(None, count),)))


def item_of(s: Specialiser, growing: Growing, index: Any) -> Any:
    """Item number `index`, which is in range."""
    found = s.emit("getitem", growing.buffer, (s.operand(index),))
    return s.emit("astype", found, dtype=s.type(found).dtype, weak=True) if growing.weak else found


def position(s: Specialiser, growing: Growing, index: Any, node: Any, message: str) -> Any:
    """An index from the front, checked."""
    if not (isinstance(index, int) or is_dynamic(index) and not s.type(index).shape):
        raise refuse(s, f"an index that is a {type(index).__name__}", node)
    builder, count = s.builder, s.operand(growing.count)
    where = s.operand(index)
    if isinstance(where, int):
        where = builder.dimension_add(count, where) if where < 0 else where
    elif not (builder.lower_bound(where) or -1) >= 0:
        negative = builder.emit(PRIMITIVES["less"], where, 0)
        where = builder.emit(PRIMITIVES["where"], negative, builder.dimension_add(where, count), where)
        where = builder.emit(PRIMITIVES["astype"], where, dtype=where.type.dtype, weak=True)
    for test in (("greater_equal", where, 0), ("less", where, count)):
        inside = builder.emit(PRIMITIVES[test[0]], *test[1:])
        if inside is not True:
            builder.emit(PRIMITIVES["check"], inside, exception="IndexError", message=message)
    return where


def get(s: Specialiser, growing: Growing, index: Any, node: Any) -> Any:
    """An item, or a list of some items."""
    if isinstance(index, slice):
        chosen = s.get_item(rows(s, growing), index, node)
        return s.store.new([Growing(s.wrap(s.operand(chosen)), s.shape(chosen)[0], growing.weak)])
    return item_of(s, growing, position(s, growing, index, node, "list index out of range"))


def replaced(s: Specialiser, growing: Growing, index: Any, value: Any, node: Any) -> Growing:
    """The list with another item."""
    growing, value = fitted(s, growing, value, node)
    where = position(s, growing, index, node, "list assignment index out of range")
    return Growing(written(s, growing.buffer, where, value), growing.count, growing.weak)


def appended(s: Specialiser, growing: Growing, value: Any, node: Any) -> Growing:
    """The list with one more item."""
    growing, value = fitted(s, growing, value, node)
    buffer, count = s.operand(growing.buffer), s.operand(growing.count)
    grown = with_room(s, buffer, count, node)
    return Growing(written(s, grown, count, value), s.builder.dimension_add(count, 1), growing.weak)


def popped(s: Specialiser, growing: Growing, arguments: list, node: Any) -> tuple[Any, Growing]:
    """The last item, and the list without it."""
    if arguments and not (isinstance(arguments[0], int) and arguments[0] == -1):
        raise refuse(s, "pop() from within", node)
    where = position(s, growing, -1, node, "pop from empty list")
    return item_of(s, growing, where), Growing(growing.buffer, where, growing.weak)


def written(s: Specialiser, buffer: Any, where: Any, value: Any) -> Any:
    return s.wrap(s.builder.emit(PRIMITIVES["setitem"], s.operand(buffer), (where,), value))


def fitted(s: Specialiser, growing: Growing, value: Any, node: Any) -> tuple[Growing, Any]:
    """The list and an item brought to one type."""
    if not s.number(value):
        raise refuse(s, f"an item that is a {type(value).__name__}", node)
    of = s.type(growing.buffer)
    have = ArrayType(of.dtype, of.shape[1:], growing.weak)
    joined = join_types(have, s.type(value))
    if joined is None:
        raise refuse(s, "an item of another rank", node)
    buffer = growing.buffer
    if not all(map(s.builder.same, have.shape, s.shape(value))):
        buffer = s.wrap(shaped(s, s.operand(buffer), s.operand(growing.count), s.shape(value), node))
    for a, b in zip(s.shape(buffer)[1:], s.shape(value), strict=True):
        s.builder.require_same(a, b, "the items of a list that grows have different shapes", enforced=True)
    if joined.dtype != of.dtype:
        buffer = s.emit("astype", buffer, dtype=joined.dtype)
    return Growing(buffer, growing.count, joined.weak), cast(s, s.operand(value), joined)


def shaped(s: Specialiser, buffer: Any, count: Any, shape: tuple, node: Any) -> Any:
    """The buffer; one for items of this shape while there are none."""
    empty = s.builder.emit(PRIMITIVES["equal"], count, 0)
    make = lambda: s.builder.emit(PRIMITIVES["zeros"], (FIRST_CAPACITY, *shape), dtype=buffer.type.dtype)
    if isinstance(empty, bool):
        return make() if empty else buffer
    return chosen(s, empty, make, buffer, [None] * len(buffer.type.shape), node)


def chosen(s: Specialiser, test: Any, make: Any, buffer: Any, shape: Any, node: Any) -> Any:
    """`make()` where the test holds, else the buffer."""
    made, same = Block(), Block(results=(buffer,))
    with s.builder.inside(made):
        made.results = (make(),)
    unknown: list = []
    target = s.builder.target(buffer.type.with_shape(tuple(shape)), unknown)
    target.name = buffer.name
    s.builder.append(If((target,), test, made, same, s.location(node)))
    emit_sizes(s, unknown)
    return target


def with_room(s: Specialiser, buffer: Any, count: Any, node: Any) -> Any:
    """The buffer, twice as long if it is full."""
    builder = s.builder
    capacity = builder.size(buffer, 0)
    full = builder.emit(PRIMITIVES["equal"], count, capacity)
    if isinstance(full, bool):
        return extended(s, buffer, capacity) if full else buffer
    return chosen(
        s, full, lambda: extended(s, buffer, capacity), buffer, [None, *buffer.type.shape[1:]], node
    )


def extended(s: Specialiser, buffer: Any, capacity: Any) -> Any:
    more = s.builder.dimension_max(capacity, FIRST_CAPACITY)
    space = s.builder.emit(PRIMITIVES["zeros"], (more, *buffer.type.shape[1:]), dtype=buffer.type.dtype)
    return s.builder.emit(PRIMITIVES["concatenate"], (buffer, space), axis=0)


def list_method(s: Specialiser, growing: Growing, name: str, arguments: list, node: Any) -> tuple[Any, Any]:
    """What a method gives, and the new contents of the list (None: unchanged)."""
    match name:
        case "append":
            return None, [appended(s, growing, arguments[0], node)]
        case "extend":
            for value in s.elements(arguments[0], node):
                growing = appended(s, growing, value, node)
            return None, [growing]
        case "pop":
            result, left = popped(s, growing, arguments, node)
            return result, [left]
        case "copy":
            return s.store.new([growing]), None
        case "clear":
            return None, []
    raise refuse(s, f".{name}()", node)


def joined_length(s: Specialiser, items: Any) -> Any:
    """The length of a list."""
    growing = growing_of(items)
    return len(items) if growing is None else growing.count


def as_rows(s: Specialiser, value: Any) -> Any:
    """A list that grows as the array of its items; all else as it is."""
    growing = growing_of(value)
    return value if growing is None else rows(s, growing)


def contains_growing(value: Any) -> bool:
    """Whether there is a growing list anywhere in a value made of containers."""
    if isinstance(value, Growing):
        return True
    if isinstance(value, dict):
        value = list(value.values())
    return isinstance(value, (list, tuple)) and any(map(contains_growing, value))


__all__ = ["Array", "Growing", "appended", "as_rows", "growing_of", "rows", "start"]
