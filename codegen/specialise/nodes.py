"""Classes that the user registered as nodes of pytrees: how an instance is taken apart and made again.

>>> class Pair:
...     def __init__(self, items, label):
...         self.items, self.label = items, label
>>> NODE_KINDS[Pair] = NodeKind(lambda p: (p.items, p.label), lambda label, items: Pair(items, label))
>>> children, label = open_node(Pair([1, 2], "a"))
>>> build_node(Pair, label, [3, 4]).items
[3, 4]
>>> del NODE_KINDS[Pair]
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class NodeKind:
    """`flatten(instance)` gives (children, metadata); `unflatten(metadata, children)` gives an instance."""

    flatten: Callable[[Any], tuple]
    unflatten: Callable[[Any, list], Any]


NODE_KINDS: dict[type, NodeKind] = {}


@dataclass(frozen=True, slots=True)
class Node:
    """The template of an instance of a registered class."""

    kind: type
    metadata: Any
    children: list[Any]


def is_node(value: Any) -> bool:
    return type(value) in NODE_KINDS


def open_node(value: Any) -> tuple[list[Any], Any]:
    """The children of an instance of a registered class, and its metadata."""
    children, metadata = NODE_KINDS[type(value)].flatten(value)
    return list(children), metadata


def build_node(kind: type, metadata: Any, children: list[Any]) -> Any:
    """An instance of a registered class with these children, which may be anything."""
    try:
        return NODE_KINDS[kind].unflatten(metadata, children)
    except Exception as error:
        error.add_note(f"This is the unflatten function with which {kind.__name__} was registered. It is "
                       "also called with stand-ins for arrays, and must only put its children in place.")
        raise


def same_metadata(a: Any, b: Any) -> bool:
    """Whether two instances of one class differ in their children only."""
    if a is b:
        return True
    try:
        return type(a) is type(b) and bool(a == b)
    except Exception:
        return False
