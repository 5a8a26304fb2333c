"""A pytree as JSON and named arrays.

Lists, strings, bools, None, ints and finite floats stand in the JSON as they are; everything else is an
object whose first key says what it is. An array is its name: the path to it, with / between.

>>> import json
>>> import numpy as np
>>> text, arrays = describe({"w": np.zeros(2), "steps": (1, 2.5)})
>>> json.dumps(text)
'{"dict": {"w": {"array": "w", "dtype": "float64"}, "steps": {"tuple": [1, 2.5]}}}'
>>> list(arrays)
['w']
"""
from __future__ import annotations

import collections
import dataclasses
import math
from typing import Any

import numpy as np

from ..codegen.specialise.merge import is_record
from ..codegen.specialise.nodes import is_node, open_node

KINDS = "biufc"
WIDEST = 1 << 63


class SaveError(TypeError):
    """A tree holds something that cannot be saved."""


def describe(tree: Any, copy: bool = False) -> tuple[Any, dict[str, np.ndarray]]:
    """The JSON of a tree, and its arrays by name: contiguous, little-endian, and copies if asked for."""
    writer = Describer(copy)
    return writer.node(tree, ()), writer.arrays


class Describer:
    """One tree on its way to JSON."""

    def __init__(self, copy: bool):
        self.copy = copy
        self.arrays: dict[str, np.ndarray] = {}

    def node(self, value: Any, path: tuple) -> Any:
        """The JSON of one part of the tree."""
        kind = type(value)
        if value is None or kind in (bool, str):
            return value
        if kind in (int, float, complex):
            return number_to_json(value)
        if isinstance(value, (np.ndarray, np.generic)):
            return self.array(value, path)
        if kind is list:
            return self.items(value, path)
        if kind is tuple:
            return {"tuple": self.items(value, path)}
        if kind in (dict, collections.OrderedDict):
            return self.mapping(value, path)
        if kind is collections.deque:
            return {"deque": self.items(value, path), "maxlen": value.maxlen}
        if is_node(value):
            children, metadata = open_node(value)
            return {"class": name_of(kind), "children": self.items(children, path),
                    "metadata": metadata_to_json(metadata)}
        if is_record(value):
            fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
            return {"dataclass": name_of(kind), "fields": self.fields(fields, path)}
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return {"namedtuple": name_of(kind), "fields": self.fields(value._asdict(), path)}
        raise SaveError(f"{shown(path)} is {a(kind)}, which cannot be saved: register its class with "
                        "tree.register_node, or save what it consists of")

    def items(self, values: Any, path: tuple) -> list:
        return [self.node(item, (*path, k)) for k, item in enumerate(values)]

    def fields(self, values: dict, path: tuple) -> dict:
        return {name: self.node(item, (*path, name)) for name, item in values.items()}

    def mapping(self, value: dict, path: tuple) -> Any:
        word = "dict" if type(value) is dict else "OrderedDict"
        if all(type(key) is str for key in value):
            return {word: self.fields(value, path)}
        return {word: [[key_to_json(key, path), self.node(item, (*path, key))]
                       for key, item in value.items()]}

    def array(self, value: Any, path: tuple) -> dict:
        """Note an array or NumPy scalar under its name."""
        if isinstance(value, np.ndarray) and type(value) not in (np.ndarray, np.memmap):
            raise SaveError(f"{shown(path)} is {a(type(value))}, of which saving would keep the numbers "
                            "only: convert it with np.asarray")
        dtype = value.dtype.newbyteorder("<")
        if dtype.kind not in KINDS or dtype.itemsize > (16 if dtype.kind == "c" else 8):
            raise SaveError(f"{shown(path)} has dtype {value.dtype}, which cannot be saved: arrays hold "
                            "bools, ints, floats or complex numbers, with parts of up to 64 bits")
        name = self.unused(name_of_path(path))
        whole = np.array(value, dtype, order="C", copy=True if self.copy else None)
        self.arrays[name] = whole.reshape(np.shape(value))
        return {"array" if isinstance(value, np.ndarray) else "scalar": name, "dtype": value.dtype.name}

    def unused(self, name: str) -> str:
        """The name, with a number where another path gave the same (as 1 and "1" do)."""
        number, found = 2, name
        while found in self.arrays or found == "__metadata__":
            found, number = f"{name}~{number}", number + 1
        return found


def name_of_path(path: tuple) -> str:
    """A path as text that no other path of strings has."""
    parts = [str(part).replace("~", "~0").replace("/", "~1") for part in path]
    return "/".join(parts).encode(errors="backslashreplace").decode()


def shown(path: tuple) -> str:
    """A path in an error message."""
    return f"{name_of_path(path)!r}" if path else "the tree"


def name_of(kind: type) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def a(kind: type) -> str:
    """The name of a type with its article."""
    name = "None" if kind is type(None) else name_of(kind)
    return name if name == "None" else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def number_to_json(value: Any) -> Any:
    if type(value) is int:
        return value if -WIDEST <= value < WIDEST else {"int": hex(value)}
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    return {"complex": [number_to_json(value.real), number_to_json(value.imag)]}


def key_to_json(key: Any, path: tuple) -> Any:
    """The JSON of a dictionary's key."""
    if key is None or type(key) in (bool, str):
        return key
    if type(key) in (int, float, complex):
        return number_to_json(key)
    if type(key) is tuple:
        return {"tuple": [key_to_json(part, path) for part in key]}
    raise SaveError(f"{shown(path)} has the key {key!r}, {a(type(key))}: keys that can be saved are strings, "
                    "numbers, bools, None, and tuples of these")


def metadata_to_json(value: Any) -> Any:
    """The JSON of a registered class's metadata; what has none is named, and comes from `like` at loading."""
    if value is None or type(value) in (bool, str):
        return value
    if type(value) in (int, float, complex):
        return number_to_json(value)
    if type(value) is list:
        return list(map(metadata_to_json, value))
    if type(value) is tuple:
        return {"tuple": list(map(metadata_to_json, value))}
    if type(value) is dict:
        return {"dict": [[metadata_to_json(key), metadata_to_json(item)] for key, item in value.items()]}
    named = value if isinstance(value, type) or hasattr(value, "__qualname__") else type(value)
    return {"unsaved": f"{getattr(named, '__module__', '')}.{named.__qualname__}"}
