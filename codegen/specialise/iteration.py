"""What a for loop runs over: ranges, arrays, and anything with items known while specialising."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core import Variable
from .machine import Specialiser
from .values import Array, has_dynamic, is_dynamic


class Range:
    """A range of which some bound is known only at run time, or that a loop may count through."""

    def __init__(self, start: Any, stop: Any, step: Any):
        self.start = start
        self.stop = stop
        self.step = step


class Counted:
    """enumerate, zip or reversed over things that can be counted through."""

    def __init__(self, parts: list[Any], combine: Any):
        self.parts = parts
        self.combine = combine

    def counted(self, s: Specialiser) -> tuple | None:
        from .indexing import get_item

        lengths, readers = [], []
        for part in self.parts:
            if isinstance(part, Array):
                lengths.append(s.shape(part)[0])
                readers.append(lambda i, p=part: get_item(s, p, i, None))
            elif isinstance(part, Range):
                if not (isinstance(part.start, int) and part.start == 0 and part.step == 1):
                    return None
                lengths.append(part.stop)
                readers.append(lambda i: i)
            elif isinstance(part, Counted):
                inner = part.counted(s)
                if inner is None:
                    return None
                lengths.append(inner[1])
                readers.append(inner[3])
            else:
                return None
        if not lengths:
            return None
        length = lengths[0]
        for other in lengths[1:]:
            if not s.builder.same(length, other):
                length = s.builder.emit_int("minimum", length, other) if isinstance(length, Variable) or isinstance(
                    other, Variable) else min(length, other)
        return 0, length, 1, lambda i: self.combine(i, [read(i) for read in readers], length)

    def items(self, s: Specialiser, node: Any) -> Iterable[Any]:
        lists = [list(elements(s, part, node)) for part in self.parts]
        length = min(map(len, lists), default=0)
        return [self.combine(k, [items[k] for items in lists], length) for k in range(length)]


def elements(s: Specialiser, iterable: Any, node: Any) -> Iterable[Any]:
    """The items of an iterable, one by one: how many there are must be known."""
    from .indexing import get_item

    if isinstance(iterable, Range):
        bounds = [s.static_int(b, "the number of iterations", node)
                  for b in (iterable.start, iterable.stop, iterable.step)]
        return range(*bounds)
    if isinstance(iterable, Counted):
        return iterable.items(s, node)
    if is_dynamic(iterable):
        shape = s.shape(iterable)
        if not shape:
            raise TypeError(f"iteration over a 0-d array\n{s.location(node)}")
        count = s.static_int(shape[0], "the length of an array that is iterated over", node)
        return (get_item(s, iterable, k, node) for k in range(count))
    if not has_dynamic(iterable) and not isinstance(iterable, (list, tuple, dict, set, frozenset)):
        try:
            return iter(iterable)
        except TypeError as error:
            raise TypeError(f"{error}\n{s.location(node)}") from None
    if isinstance(iterable, (list, tuple, dict, set, frozenset)):
        return list(iterable)
    try:
        return iter(iterable)
    except TypeError:
        raise TypeError(f"'{type(iterable).__name__}' object is not iterable\n{s.location(node)}") from None
