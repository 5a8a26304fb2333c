"""Lists and tuples of numbers as tables: of those alone can an item be chosen whose place the data tell.

Loops are unrolled where an index into a list must be known, so that its items may be of any kind. Only where
that cannot be is the function specialised again with `tables`, and its lists of numbers, or of arrays of one
shape, are arrays where an index is not known.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnsupportedError
from ..registry import PRIMITIVES
from .growing import element_type, item_of, replaced, start
from .machine import Specialiser, Unroll
from .values import Growing, has_dynamic, is_dynamic


def known_index(s: Specialiser, items: Any, index: Any, node: Any, others: tuple = ()) -> int | None:
    """An index into a list, or None where it is not known, and the list with `others` is a table.

    Where it could be one, the refusal says so: loops are unrolled before.
    """
    kind = type(items).__name__
    try:
        return s.static_int(index, f"an index into a {kind}", node)
    except (UnsupportedError, Unroll) as need:
        fits = isinstance(items, (list, tuple)) and items and is_dynamic(index)
        if not fits or element_type(s, [*items, *others]) is None:
            raise
        if s.tables is not None:
            return None
        refusal = need.error if isinstance(need, Unroll) else need
        refusal.could_be_table = True
        raise


def chosen_item(s: Specialiser, items: Any, index: Any, node: Any) -> Any:
    """`items[index]`, of a list or tuple that can be a table."""
    element, place, count = element_type(s, items), s.operand(index), len(items)
    message = f"{'list' if isinstance(items, list) else 'tuple'} index out of range"
    for test in (("less_equal", -count, place), ("less", place, count)):
        if test[1] is place or (s.builder.lower_bound(place) or -1) < 0:
            inside = s.builder.emit(PRIMITIVES[test[0]], *test[1:])
            s.emit("check", inside, exception="IndexError", message=message)
    table = s.as_array(list(items)) if has_dynamic(items) else constant(s, np.array(items))
    if s.type(table).dtype != element.dtype:
        table = s.emit("astype", table, dtype=element.dtype)
    return item_of(s, Growing(table, count, element.weak), place)


def constant(s: Specialiser, table: np.ndarray) -> Any:
    """A table that does not change, made once: before all loops."""
    key = table.dtype, table.shape, table.tobytes()
    if key not in s.tables:
        with s.builder.outermost():
            s.tables[key] = s.operand(s.constant(table))
    return s.wrap(s.tables[key])


def with_item(s: Specialiser, items: list, index: Any, value: Any, node: Any) -> list:
    """The list after `items[index] = value`."""
    table = start(s, items, element_type(s, [*items, value]))
    return [replaced(s, table, index, value, node)]
