"""How another process finds what a program was made from: a way to each object, in place of the object.

A way starts at what every process has (the transformed function, an argument, a module, a dtype) and
goes on in steps, such as attributes and items. Objects are entered as they are met, with what hangs on them.

>>> def scaled(x, by=(1.0, 2.0)):
...     return x * by[1]
>>> addresses = Addresses()
>>> addresses.enter(scaled, (("start", "function"),))
>>> addresses.way(scaled.__defaults__)
(('start', 'function'), ('attribute', '__defaults__'))
>>> follow(addresses.way(scaled.__defaults__), {"function": scaled})
((1.0, 2.0),)
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..codegen.specialise.places import (
    Place,
    attribute_or_undefined,
    class_attribute,
    get_item,
    item_or_undefined,
)

Way = tuple[tuple[str, Any], ...]
FEW = 100  # items of a container that are entered with it
PLAIN = (bool, int, float, complex, str, bytes, type(None))
WRAPPED = {
    property: ("fget", "fset"),
    classmethod: ("__func__",),
    staticmethod: ("__func__",),
    functools.cached_property: ("func",),
    types.MethodType: ("__func__", "__self__"),
    functools.partial: ("func", "args", "keywords"),
}


class Unkept(Exception):
    """What means something to this process only, so that a program made from it is not kept."""


STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "attribute": getattr,
    "item": get_item,
    "attribute_or_undefined": attribute_or_undefined,
    "class_attribute": class_attribute,
    "item_or_undefined": item_or_undefined,
    "member": lambda kind, name: vars(kind)[name],
    "base": lambda kind, k: kind.__mro__[k],
    "cell": lambda function, k: function.__closure__[k],
    "type": lambda value, key: type(value),
}
NAMES = {step: name for name, step in STEPS.items()}


def follow(way: Way, starts: dict[Any, Any]) -> Any:
    """What a way leads to in this process."""
    (kind, name), *steps = way
    value = name if kind == "value" else sys.modules[name] if kind == "module" else starts[name]
    for step, key in steps:
        value = STEPS[step](value, key)
    return value


class Addresses:
    """The ways to the objects that were met so far."""

    def __init__(self) -> None:
        self.ways: dict[int, Way] = {}
        self.met: list[Any] = []

    def enter(self, value: Any, way: Way) -> None:
        """Note a way to an object, and to what hangs on it, unless there is one already."""
        pending = [(value, way)]
        while pending:
            value, way = pending.pop()
            if type(value) in PLAIN or id(value) in self.ways:
                continue
            self.ways[id(value)] = way
            self.met.append(value)
            pending.extend((part, (*way, step)) for step, part in parts(value))

    def way(self, value: Any) -> Way:
        """The way to an object; Unkept if there is none."""
        if type(value) in PLAIN or isinstance(value, np.dtype):
            return (("value", value),)
        known = self.ways.get(id(value)) or imported(value)
        if known is None:
            raise Unkept(f"there is no way to {value!r:.100}")
        self.enter(value, known)
        return known

    def place(self, fetch: Any) -> tuple[Way, Way]:
        """Where something is read: the way to the place's object, and the steps from there."""
        if not isinstance(fetch, Place):
            raise Unkept("it is read by a function")
        steps = []
        for step, key in fetch.steps:
            if step not in NAMES or not is_plain(key):
                raise Unkept(f"it is read by {step} of {key!r:.100}")
            steps.append((NAMES[step], key))
        return self.way(fetch.root), tuple(steps)


def is_plain(key: Any) -> bool:
    return all(map(is_plain, key)) if type(key) is tuple else type(key) in PLAIN


def place_of(way: Way, steps: Way, starts: dict[Any, Any]) -> Place:
    """The place of this process where the same is read."""
    return Place(follow(way, starts), tuple((STEPS[step], key) for step, key in steps))


def parts(value: Any) -> Iterator[tuple[tuple[str, Any], Any]]:
    """What hangs on an object, and the step to it."""
    kind = type(value)
    if kind in WRAPPED:
        yield from (
            (("attribute", name), getattr(value, name)) for name in WRAPPED[kind] if hasattr(value, name)
        )
    elif isinstance(value, types.FunctionType):
        yield from ((("cell", k), cell) for k, cell in enumerate(value.__closure__ or ()))
        names = ("__globals__", "__defaults__", "__kwdefaults__")
        yield from ((("attribute", name), getattr(value, name)) for name in names)
    elif kind is types.CellType:
        if value != types.CellType():
            yield ("attribute", "cell_contents"), value.cell_contents
    elif kind in (tuple, list) and len(value) <= FEW:
        yield from ((("item", k), item) for k, item in enumerate(value))
    elif kind is dict and len(value) <= FEW and "__name__" not in value:
        yield from ((("item", key), item) for key, item in value.items() if is_plain(key))
    elif isinstance(value, type):
        yield from parts_of_class(value)
    elif not isinstance(value, types.ModuleType):
        yield ("type", None), kind
        if hasattr(kind, "__specialise__"):
            yield from ((("attribute", name), part) for name, part in vars(value).items() if callable(part))


def parts_of_class(kind: type) -> Iterator[tuple[tuple[str, Any], Any]]:
    """The classes that a class is derived from, and the functions in it."""
    if kind.__flags__ & (1 << 9):  # made by a class statement
        yield from ((("base", k), base) for k, base in enumerate(kind.__mro__) if k)
        kinds = (types.FunctionType, *WRAPPED)
        yield from ((("member", n), part) for n, part in vars(kind).items() if isinstance(part, kinds))


def imported(value: Any) -> Way | None:
    """The way to a module, to its names, or to a function or class that stands in it under its own name."""
    if isinstance(value, types.ModuleType):
        return (("module", value.__name__),) if sys.modules.get(value.__name__) is value else None
    if type(value) is dict:
        module = sys.modules.get(value.get("__name__"))
        known = module is not None and module.__dict__ is value
        return (("module", module.__name__), ("attribute", "__dict__")) if known else None
    name, module = getattr(value, "__qualname__", None), getattr(value, "__module__", None)
    if type(name) is not str or type(module) is not str or module not in sys.modules:
        return None
    way = (("module", module), *(("attribute", part) for part in name.split(".")))
    try:
        return way if follow(way, {}) is value else None
    except AttributeError:
        return None
