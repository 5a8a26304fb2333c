"""min, max, sorted, any and all."""
from __future__ import annotations

import functools
import itertools
from typing import Any

import gast
import numpy as np

from ..core import BOOL, INT, Variable
from ..registry import PRIMITIVES
from .branches import branch
from .control import truth
from .growing import as_rows
from .iteration import elements, make_reversed
from .machine import Specialiser
from .operators import binary
from .values import Array, Growing, has_dynamic


def extreme(kind: Any, primitive: str) -> Any:
    """min and max: of the items of one argument or of several; the first of equals, as Python has it."""

    def run(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
        key = keywords.get("key")
        arguments = [as_rows(s, a) for a in arguments]
        if len(arguments) == 1 and isinstance(arguments[0], Array) and key is None:
            return extreme_of_array(s, kind, arguments[0], keywords, node)
        items = list(elements(s, arguments[0], node)) if len(arguments) == 1 else list(arguments)
        if not items and "default" in keywords:
            return keywords["default"]
        if not items:
            raise s.located(ValueError(f"{kind.__name__}() arg is an empty sequence"), node)
        value = lambda item: item if key is None else s.call(key, [item], {}, node)
        if not has_dynamic(items) and key is None:
            return kind(items)
        if key is None and all(map(is_size, items)):
            return functools.reduce(
                s.builder.dimension_max if primitive == "maximum" else s.builder.dimension_min, items
            )
        best = items[0]
        compare = gast.Gt() if primitive == "maximum" else gast.Lt()
        for item in items[1:]:
            better = truth(s, binary(s, compare, value(item), value(best), node), node)
            if isinstance(better, bool):
                best = item if better else best
            else:
                best = branch(s, better, lambda i=item: i, lambda b=best: b, NO_FRAME, None, node)
        return best

    return run


def extreme_of_array(s: Specialiser, kind: Any, array: Array, keywords: dict, node: Any) -> Any:
    """min or max of the numbers in an array. Python passes over NaN, but for one at the beginning."""
    length = flat_length(s, array, node)
    if not isinstance(length, int) and not s.builder.lower_bound(length):
        if "default" in keywords:
            raise s.need_static(length, "the length of an array with a default", node)
        filled = s.builder.emit(PRIMITIVES["greater"], length, 0)
        message = f"{kind.__name__}() arg is an empty sequence"
        s.builder.emit(PRIMITIVES["check"], filled, exception="ValueError", message=message)
    if length == 0:
        if "default" in keywords:
            return keywords["default"]
        raise s.located(ValueError(f"{kind.__name__}() arg is an empty sequence"), node)
    numbers: Any = array
    if s.type(array).dtype.kind == "f":
        passed = s.call(np.isnan, [array], {}, node)
        numbers = s.call(np.where, [passed, s.get_item(array, 0, node), array], {}, node)
    return s.call(np.max if kind is max else np.min, [numbers], {}, node)


def flat_length(s: Specialiser, array: Array, node: Any) -> Any:
    """The length of an array of numbers; the truth of rows would be ambiguous."""
    length, *rest = s.shape(array)
    if rest:
        raise s.unsupported("the truth value of an array with more than one element is ambiguous",
                            "use np.max, np.min, np.any, np.all or np.sort with an axis", node)
    return length


NO_FRAME: Any = None


def is_size(value: Any) -> bool:
    """Whether a value is a Python int, known or not."""
    return type(value) is int or isinstance(value, Variable) and value.type == INT


def quantifier(conjunctive: bool) -> Any:
    def run(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
        iterable = as_rows(s, *arguments)
        if isinstance(iterable, Array):
            flat_length(s, iterable, node)
            test = s.call(np.all if conjunctive else np.any, [iterable], {}, node)
            return s.emit("astype", test, dtype=BOOL.dtype, weak=True)
        result: Any = conjunctive
        for item in elements(s, iterable, node):
            test = truth(s, item, node)
            if isinstance(test, bool):
                if test != conjunctive:
                    return test
            elif isinstance(result, bool):
                result = test
            else:
                result = s.builder.emit(
                    PRIMITIVES["logical_and" if conjunctive else "logical_or"], result, test
                )
        return result

    return run


def known_beginning(key: Any) -> tuple:
    """The parts of a tuple before the first that is known only at run time."""
    known = itertools.takewhile(lambda part: not has_dynamic(part), key if isinstance(key, tuple) else ())
    return tuple(known)


def make_sorted(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    (iterable,) = arguments
    key, backwards = keywords.get("key"), keywords.get("reverse", False)
    if isinstance(iterable, Array) and key is None and s.growing:
        length = flat_length(s, iterable, node)
        in_order = s.call(np.sort, [iterable], {}, node)
        if backwards:
            in_order = make_reversed(s, [in_order], {}, node)
        known = isinstance(length, int)
        return s.store.new(list(elements(s, in_order, node)) if known else [Growing(in_order, length, False)])
    items = list(elements(s, iterable, node))
    keys = [item if key is None else s.call(key, [item], {}, node) for item in items]
    if has_dynamic(keys):
        known = [known_beginning(k) for k in keys]
        if all(known) and len(set(known)) == len(known):
            keys = known
    if has_dynamic(keys):
        if key is None and all(s.number(k) for k in keys):
            in_order = s.call(np.sort, [s.call(np.array, [items], {}, node)], {}, node)
            found = list(elements(s, in_order, node))
            return s.store.new(found[::-1] if backwards else found)
        raise s.unsupported("sorted() by keys known only at run time", "use np.argsort", node)
    order = sorted(range(len(items)), key=keys.__getitem__, reverse=backwards)
    return s.store.new([items[k] for k in order])
