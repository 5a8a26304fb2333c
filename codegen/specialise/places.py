"""Where a value outside of the function is read: an object, and the steps that lead from it to the value.

A place is data, so that it can be read again at each call, and be written into a program that reads it.

>>> weights = {"w": [1.0, 2.0]}
>>> place = Place(weights).item("w").item(1)
>>> place()
2.0
>>> place.written("weights", repr)
"weights['w'][1]"
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .values import UNDEFINED


def class_attribute(kind: type, name: str) -> Any:
    """What a class holds under a name, its descriptors not called."""
    for base in getattr(kind, "__mro__", ()):
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def item_or_undefined(container: dict, key: Any) -> Any:
    return container.get(key, UNDEFINED)


def attribute_or_undefined(instance: Any, name: str) -> Any:
    return getattr(instance, name, UNDEFINED)


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """An object, and steps from it: (function of an object and a key, key)."""

    root: Any
    steps: tuple[tuple[Callable[[Any, Any], Any], Any], ...] = ()

    def attribute(self, name: str) -> Place:
        return self.then(getattr, name)

    def item(self, key: Any) -> Place:
        return self.then(get_item, key)

    def then(self, step: Callable[[Any, Any], Any], key: Any) -> Place:
        return Place(self.root, (*self.steps, (step, key)))

    def __call__(self) -> Any:
        value = self.root
        for step, key in self.steps:
            value = step(value, key)
        return value

    def written(self, root: str, constant: Callable[[Any], str]) -> str:
        """An expression that reads the place; `constant` gives a name to an object."""
        text = root
        for step, key in self.steps:
            if step is getattr and key.isidentifier():
                text = f"{text}.{key}"
            elif step is get_item:
                text = f"{text}[{constant(key)}]"
            else:
                text = f"{constant(step)}({text}, {constant(key)})"
        return text


def get_item(container: Any, key: Any) -> Any:
    return container[key]
