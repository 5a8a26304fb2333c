"""What the specialiser computes with: ordinary Python objects where a value is known, these where it is not.

A number, string, list, function or object that is known while specialising is itself. A scalar known only
at run time is its core variable. An array is an `Array`: a cell, shared by all its aliases and views, and
the path of view operations that leads from the cell's contents to this view.
"""
from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import types
import weakref
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core import Variable
from ..registry import Primitive


class Cell:
    """The contents of one buffer: a core variable, replaced at each write.

    `contiguous` is True (C order), or None where it cannot be known. `ambiguous` names the reason why
    other names may or may not share this buffer: then it can be read but not written. `stale` says why the
    contents are no longer known at all. `sizes` would, if they were known, settle whether it is ambiguous.
    `origin` is the cell of which this is a copy that a derivative works on, which is then `copied`. `writes`
    holds where the first write is, to this or to its copy.
    """

    __slots__ = (
        "value", "contiguous", "ambiguous", "stale", "parameter", "depth", "sizes", "origin", "copied",
        "writes",
    )  # fmt: skip

    def __init__(self, value: Variable, contiguous: bool | None = True, depth: int = 0):
        self.value = value
        self.contiguous = contiguous
        self.ambiguous: str | None = None
        self.stale: str | None = None
        self.parameter = False
        self.depth = depth
        self.sizes: tuple = ()
        self.origin: Cell | None = None
        self.copied = False
        self.writes: list[Any] = []


@dataclass(frozen=True, slots=True, eq=False)
class ViewStep:
    """One view operation: `primitive(array, *operands, **static)`."""

    primitive: Primitive
    operands: tuple
    static: dict[str, Any] = field(default_factory=dict)
    writable: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Array:
    """An array known only at run time: a view, through `path`, of the buffer in `cell`."""

    cell: Cell
    path: tuple[ViewStep, ...] = ()


class Undefined:
    """The value of a local name that has not been assigned."""

    def __repr__(self) -> str:
        return "undefined"


UNDEFINED = Undefined()


@dataclass(frozen=True, slots=True, eq=False)
class Maybe:
    """A name that is assigned only where `defined` (a boolean operand) holds."""

    value: Any
    defined: Any


@dataclass(frozen=True, slots=True, eq=False)
class Conflict:
    """Two values, of which a condition known only at run time chooses, that no one value can stand for."""

    first: Any
    second: Any
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A function defined inside the function being specialised."""

    tree: Any
    frame: Any
    defaults: tuple
    keyword_defaults: dict[str, Any]
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A function bound to its first argument."""

    function: Any
    instance: Any


@dataclass(frozen=True, slots=True, eq=False)
class ArrayMethod:
    """A method of an array or scalar, such as `x.sum`."""

    name: str
    instance: Any


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """A string with parts known only at run time: strings and Shown. Good for print and for exceptions."""

    parts: tuple


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """A value in a text, with its conversion ("", "s", "r", "a") and format."""

    value: Any
    conversion: str
    form: str


@dataclass(frozen=True, slots=True, eq=False)
class Growing:
    """The contents of a list whose length is known only at run time: the first `count` rows of `buffer`."""

    buffer: Any
    count: Any
    weak: bool


class Iterator:
    """What iter() and a generator expression give: items known in number, and how many have been taken."""

    def __init__(self, items: Any):
        self.items = list(items)
        self.position = 0


@dataclass(frozen=True, slots=True, eq=False)
class External:
    """An object that exists outside of the function, and how to fetch it again at each call."""

    value: Any
    fetch: Any


def is_array(value: Any) -> bool:
    return isinstance(value, Array)


def is_dynamic(value: Any) -> bool:
    """Whether a value is an array or scalar that is known only at run time."""
    return isinstance(value, (Array, Variable))


def has_dynamic(value: Any, seen: frozenset[int] = frozenset()) -> bool:
    """Whether there is anything in a value that native Python code could not be given."""
    if isinstance(
        value,
        (
            Array,
            Variable,
            Closure,
            Method,
            ArrayMethod,
            Text,
            Shown,
            Maybe,
            Conflict,
            External,
            Iterator,
            Growing,
        ),
    ):
        return True
    if id(value) in seen:
        return False
    seen = seen | {id(value)}
    if isinstance(value, (list, tuple, set, frozenset, collections.deque)):
        return any(has_dynamic(item, seen) for item in value)
    if isinstance(value, dict):
        return any(has_dynamic(item, seen) for pair in value.items() for item in pair)
    if isinstance(value, slice):
        return any(has_dynamic(item, seen) for item in (value.start, value.stop, value.step))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return any(has_dynamic(getattr(value, f.name, None), seen) for f in dataclasses.fields(value))
    if isinstance(value, functools.partial):
        return has_dynamic((value.func, value.args, value.keywords), seen)
    if is_instance(value):
        return any(has_dynamic(item, seen) for item in vars(value).values())
    return False


def is_instance(value: Any) -> bool:
    """Whether a value is an object of a class defined in Python, with attributes of its own."""
    kind = type(value)
    return (bool(kind.__flags__ & HEAP_TYPE) and hasattr(value, "__dict__")
            and not isinstance(value, (type, types.FunctionType, types.ModuleType)))


HEAP_TYPE = 1 << 9


def collect_cells(value: Any, found: set[Cell], seen: set[int]) -> None:
    """Add the buffers of all arrays that can be reached from a value."""
    if isinstance(value, Array):
        found.add(value.cell)
        return
    if id(value) in seen or isinstance(value, (str, int, float, complex, type, types.ModuleType, Variable)):
        return
    seen.add(id(value))
    for part in parts_of(value):
        collect_cells(part, found, seen)


def parts_of(value: Any) -> Any:
    """What a value holds: the items of a container, the attributes of an object, the names of a closure."""
    match value:
        case list() | tuple() | set() | frozenset() | collections.deque():
            return list(value)
        case dict():
            return list(value.values())
        case Iterator():
            return value.items
        case Closure():
            return (*value.frame.names.values(), *value.defaults, *value.keyword_defaults.values())
        case Method():
            return value.function, value.instance
        case ArrayMethod():
            return (value.instance,)
        case Maybe():
            return (value.value,)
        case Growing():
            return (value.buffer,)
        case Conflict():
            return value.first, value.second
        case functools.partial():
            return value.func, value.args, value.keywords
    if dataclasses.is_dataclass(value):
        return [getattr(value, f.name, None) for f in dataclasses.fields(value)]
    return list(vars(value).values()) if is_instance(value) else ()


def mutable_parts(value: Any) -> list[Any]:
    """The lists, dictionaries, sets and objects in a value: what two names may share."""
    found: dict[int, Any] = {}
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, (Array, Variable, str, int, float, complex, type)) or id(one) in found:
            continue
        changeable = isinstance(one, (list, dict, set, collections.deque, Iterator)) or is_made(one)
        if changeable:
            found[id(one)] = one
        if changeable or isinstance(one, (tuple, Maybe)):
            waiting.extend(parts_of(one))
    return list(found.values())


# Objects of the user's classes that were made while specialising.
MADE: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


def note_made(value: Any) -> Any:
    with contextlib.suppress(TypeError):
        MADE[id(value)] = value
    return value


def is_made(value: Any) -> bool:
    return MADE.get(id(value)) is value


def keeps_order(step: ViewStep) -> bool:
    """Whether a view of a contiguous array is contiguous: integers, one slice, then whole axes."""
    if step.primitive.name == "reshape":
        return True
    if step.primitive.name != "getitem":
        return False
    parts = [part for part in step.operands[0] if part is not None]
    while (
        parts
        and not isinstance(parts[0], slice)
        and not (isinstance(parts[0], Variable) and parts[0].type.shape)
    ):
        parts.pop(0)
    return all(
        isinstance(part, slice)
        and part.step in (None, 1)
        and (k == 0 or part.start is None and part.stop is None)
        for k, part in enumerate(parts)
    )


def may_be_zero_dimensional(s: Any, value: Any) -> bool:
    """Whether a value is a number of NumPy's: there 0-d arrays and scalars are told apart, here not.

    What a composition makes of a Python number is an array of its own.
    """
    if not isinstance(value, Variable):
        return isinstance(value, np.generic)
    made = s.builder.definitions.get(value) if s.quiet else None
    if made is not None and made.primitive.name == "astype" and s.type(made.operands[0]).weak:
        return False
    return not s.type(value).shape and not s.type(value).weak
