"""The methods of lists, dicts, sets, tuples and strings."""
from __future__ import annotations

import collections
import functools
from typing import Any

import gast

from .control import truth
from .growing import growing_of, refuse
from .growing import list_method as grown
from .indexing import delete_item, get_item, set_item
from .iteration import elements
from .machine import Specialiser
from .operators import binary, compare_two
from .ordering import make_sorted
from .texts import formatted, joined
from .values import Iterator, has_dynamic


def container_method(
    s: Specialiser, instance: Any, name: str, arguments: list, keywords: dict, node: Any
) -> Any:
    """A method of a list, dict, set, tuple or string."""
    for kind, method in METHODS.items():
        if isinstance(instance, kind):
            changed = method(s, instance, name, arguments, keywords, node)
            if changed is not NotImplemented:
                return changed
    if name == "join" and has_dynamic(arguments):
        return joined(s, instance, list(elements(s, arguments[0], node)))
    if name == "format" and has_dynamic((arguments, keywords)):
        return formatted(s, instance, arguments, keywords, node)
    given = [list(elements(s, a, node)) if isinstance(a, Iterator) else a for a in arguments]
    try:
        result = getattr(instance, name)(*given, **keywords)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise s.located(error, node) from None
    return s.store.new(result) if isinstance(result, (list, dict, set)) else result


def search(s: Specialiser, items: Any, name: str, arguments: list, keywords: dict, node: Any) -> Any:
    """count and index: by identity or equality, as Python has it."""
    if name not in ("count", "index") or not has_dynamic((items, arguments)):
        return NotImplemented
    tests = [item is arguments[0] or truth(s, compare_two(s, gast.Eq(), item, arguments[0], node), node)
             for item in items]
    if name == "count":
        return functools.reduce(lambda a, b: binary(s, gast.Add(), a, b, node), tests, 0)
    for position, test in enumerate(tests):
        if not isinstance(test, bool):
            raise s.need_static(test, "what .index() finds", node)
        if test:
            return position
    raise s.located(ValueError("the value is not in the list"), node)


def tuple_method(
    s: Specialiser, instance: tuple, name: str, arguments: list, keywords: dict, node: Any
) -> Any:
    if name == "_replace":
        return type(instance)(**{**dict(zip(instance._fields, instance, strict=True)), **keywords})
    if name == "_asdict":
        return s.store.new(dict(zip(instance._fields, instance, strict=True)))
    return search(s, instance, name, arguments, keywords, node)


def list_method(s: Specialiser, instance: list, name: str, arguments: list, keywords: dict, node: Any) -> Any:
    growing = growing_of(instance)
    if growing is not None:
        if getattr(instance, "maxlen", None) is not None:
            raise refuse(s, "maxlen", node)
        result, contents = grown(s, growing, name, arguments, node)
        if contents is not None:
            s.write_list(instance, contents, node)
        return result
    items = list(instance)
    result = None
    match name:
        case "append":
            items.append(arguments[0])
        case "appendleft":
            items.insert(0, arguments[0])
        case "extendleft":
            items[:0] = reversed(list(elements(s, arguments[0], node)))
        case "popleft":
            result = items.pop(0) if items else raise_empty(s, node)
        case "rotate":
            turns = collections.deque(items)
            turns.rotate(*arguments)
            items = list(turns)
        case "extend":
            items.extend(elements(s, arguments[0], node))
        case "insert":
            items.insert(s.static_int(arguments[0], "the position in insert", node), arguments[1])
        case "pop":
            position = s.static_int(arguments[0], "the position in pop", node) if arguments else -1
            if not -len(items) <= position < len(items):
                raise s.located(
                    IndexError("pop index out of range" if items else "pop from empty list"), node
                )
            result = items.pop(position)
        case "clear":
            items.clear()
        case "reverse":
            items.reverse()
        case "sort":
            items = make_sorted(s, [items], keywords, node)
        case "remove":
            position = search(s, instance, "index", arguments, keywords, node)
            del items[instance.index(arguments[0]) if position is NotImplemented else position]
        case _:
            return search(s, instance, name, arguments, keywords, node)
    limit = getattr(instance, "maxlen", None)
    if limit is not None:
        items = (
            items[:limit]
            if name.endswith("left")
            else items[len(items) - limit :]
            if len(items) > limit
            else items
        )
    s.write_list(instance, items, node)
    return result


def raise_empty(s: Specialiser, node: Any) -> Any:
    raise s.located(IndexError("pop from an empty deque"), node)


def dict_method(s: Specialiser, instance: dict, name: str, arguments: list, keywords: dict, node: Any) -> Any:
    match name:
        case "update":
            entries = [entry for source in arguments for entry in entries_of(s, source, node)]
            for key, value in (*entries, *keywords.items()):
                set_item(s, instance, key, value, node)
            return None
        case "setdefault":
            key = s.hashable(arguments[0], node)
            if key not in instance:
                set_item(s, instance, key, arguments[1] if len(arguments) > 1 else None, node)
            return instance[key]
        case "pop":
            key = s.hashable(arguments[0], node)
            if key not in instance and len(arguments) > 1:
                return arguments[1]
            value = get_item(s, instance, key, node)
            delete_item(s, instance, key, node)
            return value
        case "popitem":
            if not instance:
                raise s.located(KeyError("popitem(): dictionary is empty"), node)
            key = next(reversed(instance))
            value = instance[key]
            delete_item(s, instance, key, node)
            return key, value
        case "clear":
            s.write_container(instance, {}, node)
            return None
        case "get":
            s.hashable(arguments[0], node)
        case "items" | "values" | "keys":
            return list(getattr(instance, name)())
    return NotImplemented


def entries_of(s: Specialiser, source: Any, node: Any) -> Any:
    return source.items() if isinstance(source, dict) else [tuple(elements(s, pair, node))
                                                            for pair in elements(s, source, node)]


def set_method(s: Specialiser, instance: set, name: str, arguments: list, keywords: dict, node: Any) -> Any:
    given = [list(elements(s, a, node)) if isinstance(a, Iterator) else a for a in arguments]
    for one in given:
        s.hashable(one, node)
    if name not in CHANGING:
        return NotImplemented
    copy = set(instance)
    try:
        result = getattr(copy, name)(*given)
    except KeyError as error:
        raise s.located(error, node) from None
    s.write_container(instance, copy, node)
    return result


CHANGING = ("add", "discard", "remove", "update", "clear", "pop", "difference_update", "intersection_update",
            "symmetric_difference_update")
METHODS = {(list, collections.deque): list_method, dict: dict_method, set: set_method, tuple: tuple_method}
