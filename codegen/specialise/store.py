"""The specialiser's memory: every write is recorded, so that a branch can be tried and taken back.

A location is (holder, key): a frame and a name, a cell, a list, a dictionary and a key, an object and an
attribute.
"""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .values import UNDEFINED, Cell


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
            case "item":
                return self.holder.get(self.key, UNDEFINED)
        return self.holder.__dict__.get(self.key, UNDEFINED)

    def write(self, value: Any) -> None:
        match self.kind:
            case "name":
                put(self.holder.names, self.key, value)
            case "cell":
                self.holder.value = value
            case "list":
                self.holder[:] = value
            case "item":
                put(self.holder, self.key, value)
            case "attribute":
                put(self.holder.__dict__, self.key, value)


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
        self.alive: list[Any] = []

    @property
    def depth(self) -> int:
        return len(self.trials)

    def write(self, location: Location, value: Any) -> None:
        if self.trials:
            self.trials[-1].setdefault(location, location.read())
        location.write(value)

    def new(self, container: Any) -> Any:
        """Note a list, dictionary or object made while specialising: it may be written."""
        self.alive.append(container)
        if self.born:
            self.born[-1].add(id(container))
        return container

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
