"""Python's builtins on values of which parts are known only at run time."""
from __future__ import annotations

import functools
import inspect
import math
import operator
from typing import Any

import gast
import numpy as np

from ..core import BOOL, COMPLEX, FLOAT, INT, Variable
from .assignment import set_attribute, set_raw_attribute
from .attributes import get_attribute, python_method
from .classes import CLASS_FUNCTIONS
from .complaints import complaint
from .growing import as_rows, growing_of
from .iteration import (
    Range,
    elements,
    make_enumerate,
    make_filter,
    make_iterator,
    make_map,
    make_range,
    make_reversed,
    make_zip,
    next_item,
)
from .iteration_tools import TOOLS
from .machine import Specialiser
from .numpy_queries import QUERIES
from .operators import OPERATOR_FUNCTIONS, binary
from .ordering import extreme, make_sorted, quantifier
from .places import Place, attribute_or_undefined
from .texts import show, to_format, to_repr, to_string
from .values import UNDEFINED, Array, ArrayMethod, Closure, Method, Text, has_dynamic, is_dynamic


def length(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    (value,) = arguments
    if is_dynamic(value):
        shape = s.shape(value)
        if not shape:
            raise complaint(s, len, [value], node)
        return shape[0]
    if growing_of(value) is not None:
        return growing_of(value).count
    if isinstance(value, Text):
        raise s.unsupported("len() of a string that depends on values known only at run time",
                            "use the numbers themselves", node)
    if isinstance(value, Range):
        if value.start == 0 and value.step == 1 and is_dynamic(value.stop):
            return s.builder.dimension_max(value.stop, 0)
        return len(elements(s, value, node))
    return user_or_native(s, len, "__len__", value, node)


def user_or_native(s: Specialiser, native: Any, special: str, value: Any, node: Any) -> Any:
    method = python_method(value, special)
    return s.call(method, [value], {}, node) if method is not None else native(value)


def total(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    iterable = as_rows(s, arguments[0])
    start = keywords.get("start", arguments[1] if len(arguments) > 1 else 0)
    if isinstance(iterable, Array):
        summed = s.call(np.sum, [iterable], {"axis": 0}, node)
        if growing_of(arguments[0]) is not None and growing_of(arguments[0]).weak:
            summed = s.emit("astype", summed, dtype=s.type(summed).dtype, weak=True)
        return summed if isinstance(start, int) and start == 0 else binary(s, gast.Add(), start, summed, node)
    items = list(elements(s, iterable, node))
    result = start
    for item in items:
        # 0 + x is x, but for a bool, which becomes an int.
        first = result is start and type(start) is int and start == 0 and keeps_zero(s, item)
        result = item if first else binary(s, gast.Add(), result, item, node)
    return result


def keeps_zero(s: Specialiser, item: Any) -> bool:
    """Whether 0 + item is the item itself."""
    return is_dynamic(item) and s.type(item).dtype.kind != "b"


def absolute(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    (value,) = arguments
    return s.emit("absolute", value) if is_dynamic(value) else user_or_native(s, abs, "__abs__", value, node)


def conversion(kind: Any, of: Any) -> Any:
    """float(x), int(x), bool(x), complex(x)."""

    def run(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
        if keywords or len(arguments) > 1:
            return of_two(s, kind, arguments, keywords, node)
        value = arguments[0] if arguments else kind()
        if not is_dynamic(value):
            return (
                user_or_native(s, kind, f"__{kind.__name__}__", value, node)
                if not has_dynamic(value)
                else kind(value)
            )
        if s.type(value).shape:
            if not all(isinstance(n, int) and n == 1 for n in s.shape(value)):
                raise s.located(TypeError(
                    "only 0-dimensional arrays can be converted to Python scalars"
                ), node)
            value = s.emit("reshape", value, ())
        if s.type(value) == of:
            return value
        return s.emit("astype", value, dtype=of.dtype, weak=True)

    return run


def of_two(s: Specialiser, kind: Any, arguments: list, keywords: dict, node: Any) -> Any:
    """complex(real, imag), int(text, base)."""
    given = [*arguments, *keywords.values()]
    if not has_dynamic(given):
        return kind(*arguments, **keywords)
    try:
        bound = inspect.signature(complex).bind(*arguments, **keywords) if kind is complex else None
    except TypeError as error:
        raise s.located(error, node) from None
    if bound is None or not all(isinstance(part, Variable | Array | int | float | complex) for part in given):
        raise complaint(s, lambda *values: kind(*values[:-1], **values[-1]), [*arguments, keywords], node)
    turned = binary(s, gast.Mult(), 1j, bound.arguments.get("imag", 0), node)
    return s.call(complex, [binary(s, gast.Add(), bound.arguments.get("real", 0), turned, node)], {}, node)


def rounded(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    value, digits = arguments[0], keywords.get("ndigits", arguments[1] if len(arguments) > 1 else None)
    if not is_dynamic(value):
        return round(value, digits) if digits is not None else round(value)
    if digits is not None:
        return s.call(np.round, [value, digits], {}, node)
    return s.emit("astype", s.emit("rint", value), dtype=INT.dtype, weak=True)


def power(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    if len(arguments) == 3:
        return pow(*(s.static_int(a, "an argument of pow", node) for a in arguments))
    return binary(s, gast.Pow(), *arguments, node)


def quotient_and_remainder(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    return binary(s, gast.FloorDiv(), *arguments, node), binary(s, gast.Mod(), *arguments, node)


def make_list(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    if arguments and growing_of(arguments[0]) is not None:
        return s.store.new([growing_of(arguments[0])])
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
        made.update(source if isinstance(source, dict) else [tuple(elements(s, pair, node))
                                                             for pair in elements(s, source, node)])
    made.update(keywords)
    return s.store.new(made)


def from_keys(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    keys, *value = arguments
    return s.store.new(
        {s.hashable(key, node): value[0] if value else None for key in elements(s, keys, node)}
    )


def set_raw(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    set_raw_attribute(s, *arguments, node)


def nothing(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    """What every object's own __init__ does."""


def multiplied(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    """math.prod."""
    items = list(elements(s, arguments[0], node))
    return functools.reduce(lambda a, b: binary(s, gast.Mult(), a, b, node), items, keywords.get("start", 1))


def distance(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    """math.dist."""
    p, q = (list(elements(s, point, node)) for point in arguments)
    if len(p) != len(q):
        raise s.located(ValueError("both points must have the same number of dimensions"), node)
    return s.call(
        math.hypot, [binary(s, gast.Sub(), a, b, node) for a, b in zip(p, q, strict=True)], {}, node
    )


def exact_sum(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    """math.fsum."""
    return total(s, arguments, {"start": 0.0}, node)


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
    instance, name, *default = arguments
    try:
        return get_attribute(s, instance, name, node)
    except AttributeError:
        if default:
            watch_absence(s, instance, name)
            return default[0]
        raise


def has_attr(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    instance, name = arguments
    try:
        get_attribute(s, instance, name, node)
    except AttributeError:
        watch_absence(s, instance, name)
        return False
    return True


def watch_absence(s: Specialiser, instance: Any, name: str) -> None:
    """The program holds for as long as an object from outside has no such attribute."""
    if not (is_dynamic(instance) or isinstance(instance, Closure) or s.is_internal(instance)):
        s.guard((instance, name), Place(instance).then(attribute_or_undefined, name), UNDEFINED)


def own_names(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    raise s.unsupported("the names that a function or module has, as a dict or list",
                        "name what is meant, as an attribute or in a dict of your own", node)  # fmt: skip


def attributes(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    if not arguments:
        return own_names(s, arguments, keywords, node)
    return get_attribute(s, arguments[0], "__dict__", node)


def set_attr(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    set_attribute(s, arguments[0], arguments[1], arguments[2], node)


def is_callable(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    (value,) = arguments
    return isinstance(value, (Closure, Method, ArrayMethod)) or callable(value)


def as_index(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    """operator.index, which NumPy's functions ask for axes and shapes by: these must be known."""
    (value,) = arguments
    if not is_dynamic(value):
        return operator.index(value)
    of = s.type(value)
    if of.shape or of.dtype.kind not in "iu":
        kind = "numpy.ndarray" if of.shape else of.dtype.name
        raise s.located(TypeError(f"'{kind}' object cannot be interpreted as an integer"), node)
    return s.static_int(value, "an axis, or a number of axes,", node)


BUILTINS = {
    **QUERIES,
    **TOOLS,
    **OPERATOR_FUNCTIONS,
    len: length,
    range: make_range,
    enumerate: make_enumerate,
    zip: make_zip,
    reversed: make_reversed,
    map: make_map,
    filter: make_filter,
    sum: total,
    min: extreme(min, "minimum"),
    max: extreme(max, "maximum"),
    any: quantifier(False),
    all: quantifier(True),
    abs: absolute,
    float: conversion(float, FLOAT),
    int: conversion(int, INT),
    bool: conversion(bool, BOOL),
    complex: conversion(complex, COMPLEX),
    round: rounded,
    pow: power,
    operator.index: as_index,
    divmod: quotient_and_remainder,
    list: make_list,
    tuple: make_tuple,
    set: make_set,
    dict: make_dict,
    sorted: make_sorted,
    math.fsum: exact_sum,
    math.prod: multiplied,
    math.dist: distance,
    iter: make_iterator,
    next: next_item,
    dict.fromkeys: from_keys,
    object.__setattr__: set_raw,
    object.__init__: nothing,
    **CLASS_FUNCTIONS,
    isinstance: instance_check,
    type: type_check,
    getattr: get_attr,
    hasattr: has_attr,
    setattr: set_attr,
    vars: attributes,
    **dict.fromkeys((globals, locals, dir), own_names),
    callable: is_callable,
    print: show,
    str: to_string,
    repr: to_repr,
    format: to_format,
}
