"""What a for loop runs over: ranges, arrays, and anything with items known while specialising."""
from __future__ import annotations

import collections
import itertools
import operator
from collections.abc import Iterable
from typing import Any

from ..core import Variable
from .attributes import python_method
from .complaints import complaint
from .growing import as_rows, growing_of, item_of, refuse
from .indexing import get_item
from .machine import Specialiser
from .store import Location
from .values import Array, Iterator, is_dynamic


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
            elif growing_of(part) is not None:
                growing = growing_of(part)
                lengths.append(growing.count)
                readers.append(lambda i, g=growing: item_of(s, g, i))
            elif isinstance(part, Endless):
                readers.append(part.item)
            else:
                return None
        if not lengths:
            return None
        length = lengths[0]
        for other in lengths[1:]:
            if not s.builder.same(length, other):
                length = (
                    s.builder.emit_int("minimum", length, other)
                    if isinstance(length, Variable) or isinstance(other, Variable)
                    else min(length, other)
                )
        return 0, length, 1, lambda i: self.combine(i, [read(i) for read in readers], length)

    def items(self, s: Specialiser, node: Any) -> Iterable[Any]:
        together = zip(*(elements(s, part, node) for part in self.parts), strict=False)
        return [self.combine(k, list(items), None) for k, items in enumerate(together)]


class Endless:
    """itertools.count and repeat: item number k is `item(k)`."""

    def __init__(self, item: Any):
        self.item = item


def elements(s: Specialiser, iterable: Any, node: Any) -> Iterable[Any]:
    """The items of an iterable, one by one: how many there are must be known."""
    if isinstance(iterable, Range):
        return known_range(s, iterable, node)
    if isinstance(iterable, Counted):
        return iterable.items(s, node)
    if isinstance(iterable, Iterator):
        return remaining(s, iterable)
    if isinstance(iterable, Endless):
        return map(iterable.item, itertools.count())
    if is_dynamic(iterable):
        return elements_of_array(s, iterable, node)
    if growing_of(iterable) is not None:
        raise refuse(s, "the items one by one", node)
    if isinstance(iterable, (list, tuple, dict, set, frozenset, collections.deque)):
        return list(iterable)
    method = python_method(iterable, "__iter__")
    if method is not None:
        return elements(s, s.call(method, [iterable], {}, node), node)
    if python_method(iterable, "__getitem__") is not None and python_method(iterable, "__len__") is not None:
        count = s.static_int(
            s.call(len, [iterable], {}, node), "the length of an object that is iterated over", node
        )
        return [get_item(s, iterable, k, node) for k in range(count)]
    try:
        return iter(iterable)
    except TypeError:
        raise s.located(TypeError(f"'{type(iterable).__name__}' object is not iterable"), node) from None


def known_range(s: Specialiser, of: Range, node: Any) -> range:
    return range(*(s.static_int(b, "the number of iterations", node) for b in (of.start, of.stop, of.step)))


def elements_of_array(s: Specialiser, array: Any, node: Any) -> Iterable[Any]:
    shape = s.shape(array)
    if not shape:
        raise complaint(s, iter, [array], node)
    count = s.static_int(shape[0], "the length of an array that is iterated over", node)
    return (get_item(s, array, k, node) for k in range(count))


def remaining(s: Specialiser, iterator: Iterator) -> Iterable[Any]:
    """Take what is left of an iterator, item by item."""
    while iterator.position < len(iterator.items):
        item = iterator.items[iterator.position]
        s.store.write(Location("attribute", iterator, "position"), iterator.position + 1)
        yield item


def make_iterator(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    (iterable,) = arguments
    if isinstance(iterable, (Iterator, Endless)):
        return iterable
    return s.store.new(Iterator(elements(s, iterable, node)))


def next_item(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    iterator, *default = arguments
    if not isinstance(iterator, Iterator):
        raise s.unsupported(f"next() of a {type(iterator).__name__}", "use next() on what iter() gives", node)
    for item in remaining(s, iterator):
        return item
    if default:
        return default[0]
    raise s.located(StopIteration(), node)


def make_range(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    bounds = [a if is_dynamic(a) else operator.index(a) for a in arguments]
    for b in bounds:
        if is_dynamic(b) and s.type(b).dtype.kind not in "iu":
            raise s.located(TypeError(f"'{s.type(b)}' object cannot be interpreted as an integer"), node)
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if isinstance(step, int) and step == 0:
        raise s.located(ValueError("range() arg 3 must not be zero"), node)
    return Range(start, stop, step)


def make_enumerate(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    first = keywords.get("start", arguments[1] if len(arguments) > 1 else 0)
    return Counted([arguments[0]], lambda i, items, n: (s.builder.dimension_add(i, first), items[0]))


def make_zip(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    return Counted(list(arguments), lambda i, items, n: tuple(items))


def make_reversed(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    (value,) = arguments
    value = as_rows(s, value)
    if isinstance(value, Array):
        return get_item(s, value, slice(None, None, -1), node)
    if isinstance(value, Range) and value.step in (1, -1):
        step = value.step
        add = s.builder.dimension_add
        return Range(add(value.stop, -step), add(value.start, -step), -step)
    return list(reversed(list(elements(s, value, node))))


def make_map(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    function, *iterables = arguments
    columns = [list(elements(s, i, node)) for i in iterables]
    return [s.call(function, list(row), {}, node) for row in zip(*columns, strict=False)]


def make_filter(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    function, iterable = arguments
    kept = []
    for item in elements(s, iterable, node):
        test = s.truth(item if function is None else s.call(function, [item], {}, node), node)
        if not isinstance(test, bool):
            remedy = "choose items of an array with a mask, as in x[x > 0]"
            raise s.need_static(test, "the condition of filter", node, remedy)
        if test:
            kept.append(item)
    return kept
