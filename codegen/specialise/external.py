"""What a function reads from outside of itself: globals, closure variables, attributes of objects.

Arrays and floats become further parameters, fetched afresh at each call. Everything else is used as it is
and guarded: the program is specialised again when it has changed.
"""
from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import ArrayType, Variable, type_of
from .places import Place

FEW = 32


@dataclass(frozen=True, slots=True)
class Capture:
    """A value from outside, passed to the program as a further argument."""

    fetch: Callable[[], Any]
    variable: Variable


@dataclass(frozen=True, slots=True)
class Guard:
    """Something from outside on which the program was specialised."""

    fetch: Callable[[], Any]
    expected: Any
    kind: str

    def holds(self) -> bool:
        try:
            found = self.fetch()
        except Exception:
            return False
        match self.kind:
            case "identity":
                return found is self.expected
            case "keys":
                return type(found) is self.expected[0] and tuple(found) == self.expected[1]
            case "length":
                return type(found) is self.expected[0] and len(found) == self.expected[1]
        return found is self.expected or (type(found) is type(self.expected) and bool(found == self.expected))


class Externals:
    """Captures, guards, and which sizes and integers can be pinned, of one specialisation.

    `modules`: where modules are read, which are taken to stay what they are for as long as the process runs.
    `lasting`: whether another process would read the same, if all of these are there as they are here.
    """

    def __init__(self, new_parameter: Callable[[Any, str | None], Any]):
        self.new_parameter = new_parameter
        self.captures: list[Capture] = []
        self.guards: list[Guard] = []
        self.modules: list[tuple[Callable[[], Any], types.ModuleType]] = []
        self.lasting = True
        self.pins: dict[Variable, tuple[int, int | None]] = {}
        self.sizes: dict[tuple[int, int | None], int] = {}
        self.known: dict[Any, tuple[Any, Any]] = {}
        self.watched: dict[Any, tuple[Any, Any]] = {}

    def bring_in(
        self, value: Any, fetch: Callable[[], Any] | None, name: str | None, few: bool = True
    ) -> Any:
        """A value from outside, as the specialiser may use it; read at each place, since one may change."""
        key = (id(value), place_key(fetch, name if isinstance(value, (float, complex, np.generic)) else None))
        if key in self.known and self.known[key][0] is value:
            return self.known[key][1]
        made = self.made(value, fetch, name, few)
        self.known[key] = (value, made)
        return made

    def made(self, value: Any, fetch: Callable[[], Any] | None, name: str | None, few: bool) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.kind in "biufc" and value.ndim:
            return self.capture(value, fetch or Place(value), name)
        inexact = isinstance(value, (float, complex, np.inexact)) or (
            isinstance(value, np.ndarray) and value.dtype.kind in "fc")
        if inexact and few and fetch is not None:
            return self.capture(value, fetch, name)
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if type(value) in (tuple, list) or (isinstance(value, tuple) and hasattr(value, "_fields")):
            return self.sequence(value, fetch)
        if type(value) is dict:
            self.guard(fetch, (dict, tuple(value)), "keys")
            return {key: self.bring_in(item, item_of(fetch, key), str(key), len(value) <= FEW)
                    for key, item in value.items()}
        simple = isinstance(value, (bool, int, str, bytes, float, complex, np.generic, np.dtype, frozenset))
        self.guard(fetch, value, "equal" if simple else "identity")
        return value

    def sequence(self, value: Any, fetch: Callable[[], Any] | None) -> Any:
        self.guard(fetch, (type(value), len(value)), "length")
        items = [
            self.bring_in(item, item_of(fetch, k), None, len(value) <= FEW) for k, item in enumerate(value)
        ]
        if type(value) is list:
            return items
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)

    def watch(self, key: Any, fetch: Callable[[], Any], expected: Any) -> None:
        """Guard the identity of something, once."""
        key = tuple(map(id, key))
        if key not in self.watched:
            self.watched[key] = (fetch, expected)
            self.guards.append(Guard(fetch, expected, "identity"))

    def guard(self, fetch: Callable[[], Any] | None, expected: Any, kind: str) -> None:
        if fetch is None:
            return
        if isinstance(expected, types.ModuleType):
            self.modules.append((fetch, expected))
        else:
            self.guards.append(Guard(fetch, expected, kind))

    def capture(self, value: Any, fetch: Callable[[], Any], name: str | None) -> Any:
        variable, made = self.new_parameter(value, name)
        self.captures.append(Capture(fetch, variable))
        return made


def place_key(fetch: Callable[[], Any] | None, name: str | None) -> Any:
    """The same for two readings of one place."""
    if not isinstance(fetch, Place):
        return name
    try:
        hash(fetch.steps)
    except TypeError:
        return name
    return id(fetch.root), fetch.steps


def item_of(fetch: Callable[[], Any] | None, key: Any) -> Callable[[], Any] | None:
    if isinstance(fetch, Place):
        return fetch.item(key)
    return None if fetch is None else lambda: fetch()[key]


def known_sizes(value: Any) -> ArrayType:
    """The type of a value as part of a signature: sizes 0 and 1 are known, others None."""
    of = type_of(value)
    return of.with_shape(tuple(size if size in (0, 1) else None for size in of.shape))
