"""The specialiser's memory: every write is recorded, so that a branch can be tried and taken back.

A location is (holder, key): a frame and a name, a cell, a list, a dictionary and a key, an object and an
attribute.
"""
from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator
from typing import Any

from .values import UNDEFINED, Cell, mutable_parts


class Frame:
    """The local names of one call, and where its other names are looked up."""

    def __init__(self, scope: Any, parent: Frame | None = None, depth: int = 0):
        self.scope = scope
        self.parent = parent
        self.depth = depth
        self.names: dict[str, Any] = {}


class Location:
    """A place that holds a value: compared by the identity of its holder."""

    __slots__ = ("holder", "key", "kind")

    def __init__(self, kind: str, holder: Any, key: Any = None):
        self.kind = kind
        self.holder = holder
        self.key = key

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Location) and self.holder is other.holder and self.kind == other.kind
                and self.key == other.key)

    def __hash__(self) -> int:
        return hash((id(self.holder), self.kind, self.key))

    @property
    def depth(self) -> int:
        return self.holder.depth if isinstance(self.holder, (Frame, Cell)) else 0

    def read(self) -> Any:
        match self.kind:
            case "name":
                return self.holder.names.get(self.key, UNDEFINED)
            case "cell":
                return self.holder.value
            case "list":
                return tuple(self.holder)
            case "set":
                return frozenset(self.holder)
            case "item":
                return self.holder.get(self.key, UNDEFINED)
        return read_attribute(self.holder, self.key)

    def write(self, value: Any) -> None:
        match self.kind:
            case "name":
                put(self.holder.names, self.key, value)
            case "cell":
                self.holder.value = value
            case "list" | "set":
                self.holder.clear()
                (self.holder.extend if self.kind == "list" else self.holder.update)(value)
            case "item":
                put(self.holder, self.key, value)
            case "attribute":
                write_attribute(self.holder, self.key, value)


def read_attribute(holder: Any, name: str) -> Any:
    """An attribute that an object holds itself, in its dictionary or in a slot."""
    state = getattr(holder, "__dict__", {})
    if name in state:
        return state[name]
    slot = slot_of(holder, name)
    return getattr(holder, name, UNDEFINED) if slot is not None else UNDEFINED


def write_attribute(holder: Any, name: str, value: Any) -> None:
    slot = slot_of(holder, name)
    if slot is None:
        put(holder.__dict__, name, value)
    elif value is not UNDEFINED:
        slot.__set__(holder, value)
    elif hasattr(holder, name):
        slot.__delete__(holder)


def slot_of(holder: Any, name: str) -> Any:
    found = (base.__dict__.get(name) for base in type(holder).__mro__)
    return next((slot for slot in found if isinstance(slot, types.MemberDescriptorType)), None)


def put(mapping: dict, key: Any, value: Any) -> None:
    if value is UNDEFINED:
        mapping.pop(key, None)
    else:
        mapping[key] = value


class Store:
    """Writes to locations, with the old values kept for as long as a trial is open."""

    def __init__(self):
        self.trials: list[dict[Location, Any]] = []
        self.born: list[set[int]] = []
        self.alive: dict[int, Any] = {}
        self.ambiguous: dict[int, Any] = {}

    @property
    def depth(self) -> int:
        return len(self.trials)

    def write(self, location: Location, value: Any) -> None:
        if self.trials:
            self.trials[-1].setdefault(location, location.read())
        location.write(value)

    def new(self, container: Any) -> Any:
        """Note a list, dictionary or object made while specialising: it may be written."""
        self.alive[id(container)] = container
        if self.born:
            self.born[-1].add(id(container))
        return container

    def adopt(self, value: Any) -> Any:
        """Note every list, dictionary and object in a value that was put together anew."""
        for container in mutable_parts(value):
            self.new(container)
        return value

    def open(self) -> None:
        """Begin a trial."""
        self.trials.append({})
        self.born.append(set())

    def close(self, keep: bool = False) -> Trial:
        """End the trial and return what it wrote. Unless kept, all is again as it was before it."""
        old = self.trials.pop()
        born = self.born.pop()
        writes = {location: location.read() for location in old}
        if not keep:
            for location, value in old.items():
                if id(location.holder) not in born:
                    location.write(value)
        elif self.trials:
            for location, value in old.items():
                self.trials[-1].setdefault(location, value)
            self.born[-1] |= born
        return Trial(writes, born, self.depth)

    @contextlib.contextmanager
    def again(self, trial: Trial) -> Iterator[None]:
        """The state that a trial ended in, for a while."""
        self.open()
        for location, value in trial.writes.items():
            self.write(location, value)
        try:
            yield
        finally:
            self.close()


class Trial:
    """What a trial wrote, by location."""

    def __init__(self, writes: dict[Location, Any], born: set[int], depth: int):
        self.writes = writes
        self.born = born
        self.depth = depth

    def outer(self) -> dict[Location, Any]:
        """The writes to places that exist outside of the trial."""
        return {location: value for location, value in self.writes.items()
                if id(location.holder) not in self.born and location.depth <= self.depth}
