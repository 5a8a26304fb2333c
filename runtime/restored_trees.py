"""A pytree back from its JSON and named arrays; held against another one, if there is one to hold it against.

>>> from .saved_trees import describe
>>> restore(*describe({"w": 1.5, "steps": (1, None)}))
{'w': 1.5, 'steps': (1, None)}
>>> restore(*describe({"w": 1.5}), like={"w": 1}, guided=True)
Traceback (most recent call last):
    ...
chainrule.runtime.restored_trees.MismatchError: what was saved is not as `like` is:
  'w': saved is a float, and expected is an int
"""
from __future__ import annotations

import collections
import dataclasses
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..codegen.specialise.merge import make_record
from ..codegen.specialise.nodes import NODE_KINDS, build_node, is_node, open_node, same_metadata
from .saved_trees import a, metadata_to_json, name_of, shown
from .trees import registered_dataclasses


class MismatchError(ValueError):
    """What was saved is not what was expected."""


def restore(text: Any, arrays: dict[str, np.ndarray], like: Any = None, guided: bool = False,
            cast: bool = False) -> Any:
    """The tree with this JSON and these arrays; if guided, it must be as `like` is."""
    reader = Reader(arrays, guided, cast)
    tree = reader.node(text, like, ())
    if reader.differences:
        shown_first = "\n".join(f"  {line}" for line in reader.differences[:SHOWN])
        more = len(reader.differences) - SHOWN
        raise MismatchError("what was saved is not as `like` is:\n" + shown_first
                            + (f"\n  and {more} more" if more > 0 else ""))
    return tree


SHOWN = 20
ABSENT = object()


class Reader:
    """One tree on its way back from JSON. With a guide, whatever differs from it is noted."""

    def __init__(self, arrays: dict[str, np.ndarray], guided: bool, cast: bool):
        self.arrays = arrays
        self.guided = guided
        self.cast = cast
        self.differences: list[str] = []

    def node(self, text: Any, like: Any, path: tuple) -> Any:
        """One part of the tree."""
        if type(text) is list:
            return self.items(text, self.parts(like, list, len(text), path), path)
        if type(text) is not dict:
            return self.plain(text, like, path)
        word = next(iter(text), None)
        if word not in READERS:
            raise unknown(shown(path), word)
        return READERS[word](self, text, like, path)

    def differ(self, path: tuple, saved: str, expected: Any) -> None:
        self.differences.append(f"{shown(path)}: saved is {saved}, and expected is "
                                f"{expected if isinstance(expected, str) else a(type(expected))}")

    def parts(self, like: Any, kind: type, count: int, path: tuple) -> list:
        """What of the guide stands beside each of `count` items."""
        if not self.guided or like is ABSENT:
            return [ABSENT] * count
        if type(like) is kind and len(like) == count:
            return list(like)
        size = f"{a(kind)} of {len(like)}" if type(like) is kind else like
        self.differ(path, f"{a(kind)} of {count}", size)
        return [ABSENT] * count

    def items(self, texts: list, likes: list, path: tuple) -> list:
        pairs = enumerate(zip(texts, likes, strict=True))
        return [self.node(text, like, (*path, k)) for k, (text, like) in pairs]

    def plain(self, value: Any, like: Any, path: tuple) -> Any:
        """A string, bool, None or number: the saved value, of the guide's type."""
        if not self.guided or like is ABSENT or type(value) is type(like):
            return value
        if self.cast and type(value) in (int, float) and type(like) in (float, complex):
            return type(like)(value)
        self.differ(path, a(type(value)), like)
        return value

    def number(self, text: dict, like: Any, path: tuple) -> Any:
        return self.plain(key_from_json(text), like, path)

    def tuple(self, text: dict, like: Any, path: tuple) -> tuple:
        return tuple(self.items(text["tuple"], self.parts(like, tuple, len(text["tuple"]), path), path))

    def deque(self, text: dict, like: Any, path: tuple) -> collections.deque:
        items = self.items(text["deque"], self.parts(like, collections.deque, len(text["deque"]), path), path)
        return collections.deque(items, text["maxlen"])

    def mapping(self, text: dict, like: Any, path: tuple) -> dict:
        """A dictionary; its order is the guide's, if there is one."""
        word, entries = next(iter(text.items()))
        kind = dict if word == "dict" else collections.OrderedDict
        saved = entries if type(entries) is dict else {key_from_json(key): part for key, part in entries}
        guide = self.same_keys(saved, like, kind, path)
        made = {key: self.node(part, guide.get(key, ABSENT), (*path, key)) for key, part in saved.items()}
        order = [key for key in guide if key in made] + [key for key in made if key not in guide]
        return kind((key, made[key]) for key in order)

    def same_keys(self, saved: dict, like: Any, kind: type, path: tuple) -> dict:
        """The guide's entries, once it is clear that the keys are the same."""
        if not self.guided or like is ABSENT:
            return {}
        if type(like) is not kind:
            self.differ(path, a(kind), like)
            return {}
        for key in like:
            if key not in saved:
                self.differences.append(f"{shown((*path, key))}: expected, and not saved")
        for key in saved:
            if key not in like:
                self.differences.append(f"{shown((*path, key))}: saved, and not expected")
        return like

    def array(self, text: dict, like: Any, path: tuple) -> Any:
        """An array or NumPy scalar, of the guide's shape and dtype."""
        scalar = "scalar" in text
        found = self.arrays[text["scalar" if scalar else "array"]]
        if self.guided and like is not ABSENT:
            scalar = isinstance(like, np.generic)
            found = self.as_expected(found, like, path)
        return found[()] if scalar else found

    def as_expected(self, found: np.ndarray, like: Any, path: tuple) -> np.ndarray:
        shape, dtype = getattr(like, "shape", None), getattr(like, "dtype", None)
        saved = f"an array of shape {found.shape} and dtype {found.dtype}"
        if shape is None or dtype is None:
            self.differ(path, saved, like)
        elif tuple(shape) != found.shape:
            self.differ(path, saved, f"one of shape {tuple(shape)}")
        elif np.dtype(dtype).newbyteorder("=") != found.dtype:
            possible = np.can_cast(found.dtype, dtype, "same_kind")
            if self.cast and possible:
                return found.astype(np.dtype(dtype).newbyteorder("="))
            hint = " (cast=True would convert it)" if possible else ""
            self.differ(path, saved, f"one of dtype {np.dtype(dtype)}{hint}")
        return found

    def fields(self, text: dict, like: Any, path: tuple) -> Any:
        """An instance of a dataclass or a namedtuple."""
        word = next(iter(text))
        guided = self.guided and like is not ABSENT
        kind = type(like) if guided else find_class(text[word], word)
        names = kind_fields(kind, word)
        if names is None or guided and name_of(kind) != text[word]:
            self.differ(path, f"the {word} {text[word]}", f"a {name_of(kind)}")
            kind, names, guided = None, list(text["fields"]), False
        if set(names) != set(text["fields"]):
            raise MismatchError(f"{shown(path)} was saved as a {text[word]} with the fields "
                                f"{', '.join(text['fields'])}, and its fields are now {', '.join(names)}")
        guide = {name: getattr(like, name) if guided else ABSENT for name in names}
        values = {name: self.node(text["fields"][name], guide[name], (*path, name)) for name in names}
        if kind is None:
            return values
        return make_record(kind, values) if word == "dataclass" else kind(**values)

    def instance(self, text: dict, like: Any, path: tuple) -> Any:
        """An instance of a registered class."""
        guided = self.guided and like is not ABSENT
        if guided and (not is_node(like) or name_of(type(like)) != text["class"]):
            self.differ(path, f"a {text['class']}", f"a {name_of(type(like))}")
            return None
        if guided:
            kind, (likes, metadata) = type(like), open_node(like)
            self.same_metadata(text, metadata, path)
            if len(likes) != len(text["children"]):
                self.differ(path, f"a {text['class']} of {len(text['children'])}", f"one of {len(likes)}")
                return None
        else:
            kind, likes = find_class(text["class"], "class"), [ABSENT] * len(text["children"])
            metadata = metadata_from_json(text["metadata"], text["class"], path)
        children = self.items(text["children"], likes, path)
        return None if self.differences else build_node(kind, metadata, children)

    def same_metadata(self, text: dict, expected: Any, path: tuple) -> None:
        if metadata_to_json(expected) == text["metadata"]:
            return
        try:
            saved = metadata_from_json(text["metadata"], text["class"], path)
        except MismatchError:
            saved = ABSENT
        if not same_metadata(saved, expected):
            of = text["metadata"] if saved is ABSENT else repr(saved)
            self.differ(path, f"a {text['class']} with the metadata {of}", f"one with {expected!r}")


READERS: dict[str, Callable] = {
    "int": Reader.number, "float": Reader.number, "complex": Reader.number, "tuple": Reader.tuple,
    "deque": Reader.deque, "dict": Reader.mapping, "OrderedDict": Reader.mapping, "array": Reader.array,
    "scalar": Reader.array, "dataclass": Reader.fields, "namedtuple": Reader.fields, "class": Reader.instance,
}


def key_from_json(text: Any) -> Any:
    """A number, or a dictionary's key."""
    if type(text) is not dict:
        return text
    word, held = next(iter(text.items()))
    match word:
        case "int":
            return int(held, 16)
        case "float":
            return float(held)
        case "complex":
            return complex(*map(key_from_json, held))
        case "tuple":
            return tuple(map(key_from_json, held))
    raise unknown("a number or key", word)


def unknown(what: str, word: Any) -> MismatchError:
    return MismatchError(f"{what} was saved as {word!r}, which this version of chainrule doesn't know")


def metadata_from_json(text: Any, kind: str, path: tuple) -> Any:
    again = lambda part: metadata_from_json(part, kind, path)
    if type(text) is list:
        return list(map(again, text))
    if type(text) is not dict:
        return text
    word, held = next(iter(text.items()))
    if word == "unsaved":
        raise MismatchError(f"{shown(path)} is a {kind} whose metadata holds {held}, which isn't in the "
                            "file: load it with like=...")
    if word == "tuple":
        return tuple(map(again, held))
    return {again(key): again(item) for key, item in held} if word == "dict" else key_from_json(text)


def find_class(name: str, word: str) -> type:
    """A class by its name: a registered one, or a dataclass or namedtuple of a module that is imported."""
    registered = NODE_KINDS if word == "class" else registered_dataclasses() if word == "dataclass" else ()
    found = [kind for kind in registered if name_of(kind) == name]
    if found:
        return found[-1]
    if word == "class":
        raise MismatchError(f"the class {name} isn't registered: register it with tree.register_node before "
                            "loading, or load with like=...")
    kind = imported(name)
    if kind is None or kind_fields(kind, word) is None:
        raise MismatchError(f"there is no {word} {name} in the modules that are imported: import it before "
                            "loading, or load with like=...")
    return kind


def imported(name: str) -> Any:
    """What has this name in a module that is imported already, if anything has."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        found = sys.modules.get(".".join(parts[:cut]))
        if found is not None:
            for part in parts[cut:]:
                found = vars(found).get(part) if hasattr(found, "__dict__") else None
            return found
    return None


def kind_fields(kind: Any, word: str) -> list[str] | None:
    """The fields of a dataclass or namedtuple; None for anything else."""
    if not isinstance(kind, type):
        return None
    if word == "dataclass":
        return [f.name for f in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else None
    return list(kind._fields) if issubclass(kind, tuple) and hasattr(kind, "_fields") else None
