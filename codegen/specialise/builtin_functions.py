"""Python's builtins, and the methods of its containers, on values of which parts are known only at run time."""
from __future__ import annotations

import builtins
import functools
import itertools
import operator
from typing import Any

import gast
import numpy as np

from ..core import BOOL, COMPLEX, FLOAT, INT, Variable
from ..registry import PRIMITIVES
from .iteration import Counted, Range, elements
from .machine import Specialiser
from .values import Array, ArrayMethod, Closure, Method, Text, has_dynamic, is_dynamic

NATIVE_MODULES = frozenset(
    ["builtins", "math", "cmath", "operator", "_operator", "itertools", "functools", "_functools", "collections",
     "_collections", "numpy", "re", "string", "enum", "types", "typing", "fractions", "decimal", "numbers", "copy",
     "dataclasses", "scipy", "abc", "_abc", "optree", "NoneType"])


def length(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    (value,) = arguments
    if is_dynamic(value):
        shape = s.shape(value)
        if not shape:
            raise TypeError(f"len() of unsized object\n{s.location(node)}")
        return shape[0]
    if isinstance(value, Range):
        return len(elements(s, value, node))
    return user_or_native(s, len, "__len__", value, node)


def user_or_native(s: Specialiser, native: Any, special: str, value: Any, node: Any) -> Any:
    from .calls import call, python_method

    method = python_method(value, special)
    return call(s, method, [value], {}, node) if method is not None else native(value)


def make_range(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    bounds = [a if is_dynamic(a) else operator.index(a) for a in arguments]
    for b in bounds:
        if is_dynamic(b) and s.type(b).dtype.kind not in "iu":
            raise TypeError(f"'{s.type(b)}' object cannot be interpreted as an integer\n{s.location(node)}")
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if isinstance(step, int) and step == 0:
        raise ValueError(f"range() arg 3 must not be zero\n{s.location(node)}")
    return Range(start, stop, step)


def make_enumerate(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    first = keywords.get("start", arguments[1] if len(arguments) > 1 else 0)
    return Counted([arguments[0]], lambda i, items, n: (s.builder.dimension_add(i, first), items[0]))


def make_zip(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    return Counted(list(arguments), lambda i, items, n: tuple(items))


def make_reversed(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    (value,) = arguments
    if isinstance(value, Array):
        from .indexing import get_item

        return get_item(s, value, slice(None, None, -1), node)
    if isinstance(value, Range) and value.step in (1, -1):
        step = value.step
        add = s.builder.dimension_add
        return Range(add(value.stop, -step), add(value.start, -step), -step)
    return list(reversed(list(elements(s, value, node))))


def make_map(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    from .calls import call

    function, *iterables = arguments
    columns = [list(elements(s, i, node)) for i in iterables]
    return [call(s, function, list(row), {}, node) for row in zip(*columns, strict=False)]


def make_filter(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    from .calls import call
    from .control import truth

    function, iterable = arguments
    kept = []
    for item in elements(s, iterable, node):
        test = truth(s, item if function is None else call(s, function, [item], {}, node), node)
        if not isinstance(test, bool):
            raise s.need_static(test, "the condition of filter", node)
        if test:
            kept.append(item)
    return kept


def total(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    from .expressions import binary

    iterable = arguments[0]
    start = keywords.get("start", arguments[1] if len(arguments) > 1 else 0)
    if isinstance(iterable, Array):
        from .calls import call

        summed = call(s, np.sum, [iterable], {"axis": 0}, node)
        return summed if isinstance(start, int) and start == 0 else binary(s, gast.Add(), start, summed, node)
    items = list(elements(s, iterable, node))
    result = start
    for item in items:
        # 0 + x is x: a sum begins with its first item.
        first = result is start and isinstance(start, int) and start == 0 and is_dynamic(item)
        result = item if first else binary(s, gast.Add(), result, item, node)
    return result


def extreme(kind: Any, primitive: str) -> Any:
    """min and max: of the items of one argument or of several; the first of equals, as Python has it."""

    def run(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
        from .calls import call
        from .control import branch, truth
        from .expressions import binary

        key = keywords.get("key")
        if len(arguments) == 1 and isinstance(arguments[0], Array) and key is None:
            return call(s, np.max if primitive == "maximum" else np.min, [arguments[0]], {}, node)
        items = list(elements(s, arguments[0], node)) if len(arguments) == 1 else list(arguments)
        if not items and "default" in keywords:
            return keywords["default"]
        if not items:
            raise ValueError(f"{kind.__name__}() arg is an empty sequence\n{s.location(node)}")
        value = lambda item: item if key is None else call(s, key, [item], {}, node)
        if not has_dynamic(items) and key is None:
            return kind(items)
        if key is None and all(map(is_size, items)):
            return functools.reduce(s.builder.dimension_max if primitive == "maximum" else s.builder.dimension_min, items)
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


NO_FRAME: Any = None


def is_size(value: Any) -> bool:
    """Whether a value is a Python int, known or not."""
    return type(value) is int or isinstance(value, Variable) and value.type == INT


def quantifier(conjunctive: bool) -> Any:
    def run(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
        from .control import truth

        (iterable,) = arguments
        if isinstance(iterable, Array):
            from .calls import call

            return call(s, np.all if conjunctive else np.any, [iterable], {}, node)
        result: Any = conjunctive
        for item in elements(s, iterable, node):
            test = truth(s, item, node)
            if isinstance(test, bool):
                if test != conjunctive:
                    return test
            elif isinstance(result, bool):
                result = test
            else:
                result = s.builder.emit(PRIMITIVES["logical_and" if conjunctive else "logical_or"], result, test)
        return result

    return run


def absolute(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    (value,) = arguments
    return s.emit("absolute", value) if is_dynamic(value) else user_or_native(s, abs, "__abs__", value, node)


def conversion(kind: Any, of: Any) -> Any:
    """float(x), int(x), bool(x), complex(x)."""

    def run(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
        value = arguments[0] if arguments else kind()
        if not is_dynamic(value):
            return user_or_native(s, kind, f"__{kind.__name__}__", value, node) if not has_dynamic(value) else kind(value)
        if s.type(value).shape:
            if not all(isinstance(n, int) and n == 1 for n in s.shape(value)):
                raise TypeError(f"only 0-dimensional arrays can be converted to Python scalars\n{s.location(node)}")
            value = s.emit("reshape", value, ())
        if s.type(value) == of:
            return value
        return s.emit("astype", value, dtype=of.dtype, weak=True)

    return run


def rounded(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    from .calls import call

    value, digits = arguments[0], keywords.get("ndigits", arguments[1] if len(arguments) > 1 else None)
    if not is_dynamic(value):
        return round(value, digits) if digits is not None else round(value)
    if digits is not None:
        return call(s, np.round, [value, digits], {}, node)
    return s.emit("astype", s.emit("rint", value), dtype=INT.dtype, weak=True)


def power(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    from .expressions import binary

    if len(arguments) == 3:
        return pow(*(s.static_int(a, "an argument of pow", node) for a in arguments))
    return binary(s, gast.Pow(), *arguments, node)


def quotient_and_remainder(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    from .expressions import binary

    return binary(s, gast.FloorDiv(), *arguments, node), binary(s, gast.Mod(), *arguments, node)


def make_list(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    return s.store.new(list(elements(s, arguments[0], node)) if arguments else [])


def make_tuple(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    return tuple(elements(s, arguments[0], node)) if arguments else ()


def make_set(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    items = elements(s, arguments[0], node) if arguments else ()
    return s.store.new({s.hashable(item, node) for item in items})


def make_dict(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    made: dict = {}
    if arguments:
        source = arguments[0]
        made.update(source if isinstance(source, dict) else list(elements(s, source, node)))
    made.update(keywords)
    return s.store.new(made)


def make_sorted(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    from .calls import call

    (iterable,) = arguments
    key, backwards = keywords.get("key"), keywords.get("reverse", False)
    if isinstance(iterable, Array) and key is None:
        in_order = call(s, np.sort, [iterable], {}, node)
        return make_reversed(s, [in_order], {}, node) if backwards else in_order
    items = list(elements(s, iterable, node))
    keys = [item if key is None else call(s, key, [item], {}, node) for item in items]
    if has_dynamic(keys):
        if key is None and all(s.number(k) for k in keys):
            in_order = call(s, np.sort, [call(s, np.array, [items], {}, node)], {}, node)
            found = list(elements(s, in_order, node))
            return s.store.new(found[::-1] if backwards else found)
        raise s.unsupported("sorted() by keys known only at run time", "use np.argsort", node)
    order = sorted(range(len(items)), key=keys.__getitem__, reverse=backwards)
    return s.store.new([items[k] for k in order])


def instance_check(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    value, kinds = arguments
    if not is_dynamic(value):
        return isinstance(value, kinds)
    return any(issubclass(k, e) for k in (kinds if isinstance(kinds, tuple) else (kinds,))
               if isinstance(k, type) for e in python_types(s, value) if issubclass(e, k)) or any(
        issubclass(e, k) for k in (kinds if isinstance(kinds, tuple) else (kinds,)) if isinstance(k, type)
        for e in python_types(s, value))


def python_types(s: Specialiser, value: Any) -> tuple[type, ...]:
    """The classes that a value known only at run time is an instance of."""
    of = s.type(value)
    if of.shape:
        return (np.ndarray,)
    if of.weak:
        return ({"b": bool, "i": int, "f": float, "c": complex}[of.dtype.kind],)
    return (of.dtype.type,)


def type_check(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    (value,) = arguments
    return python_types(s, value)[0] if is_dynamic(value) else type(value)


def get_attr(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    from .attributes import get_attribute

    instance, name, *default = arguments
    try:
        return get_attribute(s, instance, name, node)
    except AttributeError:
        if default:
            return default[0]
        raise


def has_attr(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    from .attributes import get_attribute

    try:
        get_attribute(s, arguments[0], arguments[1], node)
    except AttributeError:
        return False
    return True


def set_attr(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    from .statements import set_attribute

    set_attribute(s, arguments[0], arguments[1], arguments[2], node)


def is_callable(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    (value,) = arguments
    return isinstance(value, (Closure, Method, ArrayMethod)) or callable(value)


def show(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    """print: an operation of the program, carried out each time it runs."""
    parts: list[Any] = []
    for argument in arguments:
        argument = argument if has_dynamic(argument) else str(argument)
        parts.append(argument)
    options = {key: keywords[key] for key in ("sep", "end") if key in keywords}
    if set(keywords) - set(options):
        raise s.unsupported("print to a file", "print to standard output", node)
    s.builder.emit(PRIMITIVES["print"], *map(s.operand, parts), **options)


def text(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    return Text((arguments[0],)) if arguments and has_dynamic(arguments[0]) else str(*arguments)


def reduce(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    from .calls import call

    function, iterable, *initial = arguments
    items = list(elements(s, iterable, node))
    result = initial[0] if initial else items.pop(0)
    for item in items:
        result = call(s, function, [result, item], {}, node)
    return result


def chained(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    return [item for iterable in arguments for item in elements(s, iterable, node)]


def accumulate(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    from .calls import call
    from .expressions import binary

    items = list(elements(s, arguments[0], node))
    function = keywords.get("func", arguments[1] if len(arguments) > 1 else None)
    combine = (lambda a, b: binary(s, gast.Add(), a, b, node)) if function is None else (
        lambda a, b: call(s, function, [a, b], {}, node))
    return list(itertools.accumulate(items, combine, initial=keywords.get("initial")))


def products(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    columns = [list(elements(s, a, node)) for a in arguments]
    return list(itertools.product(*columns, repeat=keywords.get("repeat", 1)))


def combinations(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    return list(itertools.combinations(list(elements(s, arguments[0], node)), arguments[1]))


def iterator(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    raise s.unsupported("iter() and next()", "loop over the container itself", node)


def function_wrapper(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    """functools.wraps(f): a decorator that changes nothing that matters here."""
    return lambda function: function


def make_partial(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    made = functools.partial(_placeholder, *arguments[1:], **keywords)
    made.__setstate__((arguments[0] if callable(arguments[0]) else Bound(arguments[0]), tuple(arguments[1:]),
                       keywords, {}))
    return made


def _placeholder() -> None:
    """Stands for a function until functools.partial is given the real one."""


class Bound:
    """Makes a closure of the specialiser's look callable to functools.partial."""

    def __init__(self, function: Any):
        self.function = function

    def __call__(self) -> None:
        raise TypeError("only the specialiser calls this")

    def __specialise__(self, s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
        from .calls import call

        return call(s, self.function, arguments, keywords, node)


def dimensions(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    return s.type(arguments[0]).ndim if s.number(arguments[0]) else np.ndim(known_shape(s, arguments[0]))


def shape(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    from .expressions import as_array

    value = arguments[0] if s.number(arguments[0]) else as_array(s, arguments[0])
    return s.shape(value)


def known_shape(s: Specialiser, value: Any) -> Any:
    from .expressions import as_array

    return np.empty((1,) * len(s.shape(as_array(s, value))))


def number_of_elements(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    sizes = shape(s, arguments, keywords, node)
    axis = keywords.get("axis", arguments[1] if len(arguments) > 1 else None)
    return s.builder.product(sizes) if axis is None else sizes[axis]


def sample(s: Specialiser, value: Any) -> Any:
    """A known value that promotes as `value` does."""
    if not s.number(value):
        return value
    of = s.type(value)
    return np.zeros((), of.dtype)[()].item() if of.weak else np.zeros((1,) * of.ndim, of.dtype)


def about_types(function: Any) -> Any:
    """A NumPy function whose result depends only on the dtypes of its arguments."""

    def run(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
        return function(*(sample(s, a) for a in arguments), **keywords)

    return run


def is_scalar(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    (value,) = arguments
    return not s.type(value).shape if is_dynamic(value) else np.isscalar(value)


ABOUT_TYPES = {function: about_types(function) for function in (
    np.result_type, np.iscomplexobj, np.isrealobj, np.can_cast, np.common_type, np.min_scalar_type)}

BUILTINS = {
    **ABOUT_TYPES, np.ndim: dimensions, np.shape: shape, np.size: number_of_elements, np.isscalar: is_scalar,
    len: length, range: make_range, enumerate: make_enumerate, zip: make_zip, reversed: make_reversed, map: make_map,
    filter: make_filter, sum: total, min: extreme(min, "minimum"), max: extreme(max, "maximum"),
    any: quantifier(False), all: quantifier(True), abs: absolute, float: conversion(float, FLOAT),
    int: conversion(int, INT), bool: conversion(bool, BOOL), complex: conversion(complex, COMPLEX), round: rounded,
    pow: power, divmod: quotient_and_remainder, list: make_list, tuple: make_tuple, set: make_set, dict: make_dict,
    sorted: make_sorted, isinstance: instance_check, type: type_check, getattr: get_attr, hasattr: has_attr,
    setattr: set_attr, callable: is_callable, print: show, str: text, functools.reduce: reduce, iter: iterator,
    next: iterator, functools.wraps: function_wrapper, functools.partial: make_partial, itertools.chain: chained,
    itertools.accumulate: accumulate, itertools.product: products, itertools.combinations: combinations,
}


# methods of containers


def container_method(s: Specialiser, instance: Any, name: str, arguments: list, keywords: dict, node: Any) -> Any:
    """A method of a list, dict, set, tuple or string."""
    if isinstance(instance, list):
        changed = list_method(s, instance, name, arguments, keywords, node)
        if changed is not NotImplemented:
            return changed
    if isinstance(instance, dict):
        changed = dict_method(s, instance, name, arguments, node)
        if changed is not NotImplemented:
            return changed
    if isinstance(instance, set) and name in ("add", "discard", "remove", "update", "clear", "pop"):
        return set_method(s, instance, name, arguments, node)
    if name == "join" and has_dynamic(arguments):
        return Text(tuple(elements(s, arguments[0], node)))
    if has_dynamic(arguments) and name in ("index", "count"):
        raise s.need_static(arguments[0], f"the argument of .{name}()", node)
    try:
        result = getattr(instance, name)(*arguments, **keywords)
    except (ValueError, KeyError, IndexError) as error:
        raise type(error)(f"{error}\n{s.location(node)}") from None
    return s.store.new(result) if isinstance(result, (list, dict, set)) else result


def list_method(s: Specialiser, instance: list, name: str, arguments: list, keywords: dict, node: Any) -> Any:
    items = list(instance)
    result = None
    match name:
        case "append":
            items.append(arguments[0])
        case "extend":
            items.extend(elements(s, arguments[0], node))
        case "insert":
            items.insert(s.static_int(arguments[0], "the position in insert", node), arguments[1])
        case "pop":
            if not items:
                raise IndexError(f"pop from empty list\n{s.location(node)}")
            result = items.pop(s.static_int(arguments[0], "the position in pop", node) if arguments else -1)
        case "clear":
            items.clear()
        case "reverse":
            items.reverse()
        case "sort":
            items = make_sorted(s, [items], keywords, node)
        case "remove":
            items.remove(arguments[0])
        case _:
            return NotImplemented
    s.write_list(instance, items, node)
    return result


def dict_method(s: Specialiser, instance: dict, name: str, arguments: list, node: Any) -> Any:
    from .indexing import delete_item, set_item

    match name:
        case "update":
            for source in arguments:
                for key, value in (source.items() if isinstance(source, dict) else elements(s, source, node)):
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
            value = instance[key]
            delete_item(s, instance, key, node)
            return value
        case "clear" | "popitem":
            raise s.unsupported(f"dict.{name}()", "build a new dict", node)
        case "items" | "values" | "keys":
            return list(getattr(instance, name)())
    return NotImplemented


def set_method(s: Specialiser, instance: set, name: str, arguments: list, node: Any) -> Any:
    if s.store.depth or not s.is_internal(instance):
        raise s.unsupported(f"set.{name}() under a condition or in a loop known only at run time, or on a set that "
                            "exists outside of the function", "build a new set", node)
    return getattr(instance, name)(*arguments)


CONTAINER_METHODS = container_method

__all__ = ["BUILTINS", "CONTAINER_METHODS", "NATIVE_MODULES", "builtins"]
