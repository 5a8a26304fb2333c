"""Arguments taken apart: the leaves that a program gets, and the signature that says which program.

A leaf is an array, a NumPy scalar, or a Python int, float or complex. Anything else (strings, bools,
objects) is static: part of the signature.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import optree

from ..codegen.core import COMPLEX, FLOAT, INT, ArrayType
from ..codegen.specialise import Parameter
from .trees import flatten, know_node_kinds


def is_dynamic_leaf(leaf: Any) -> bool:
    """Whether a leaf is data, rather than part of the signature."""
    kind = type(leaf)
    if kind in (float, int, complex):
        return True
    return isinstance(leaf, (np.ndarray, np.generic)) and leaf.dtype.kind in "biufc"


def leaf_key(leaf: Any) -> Any:
    """What of a leaf the program depends on."""
    kind = type(leaf)
    if kind is np.ndarray:
        return (leaf.dtype, tuple([size if size < 2 else 2 for size in leaf.shape]), leaf.flags.c_contiguous)
    if kind in (float, int, complex):
        return kind
    if isinstance(leaf, np.generic) and leaf.dtype.kind in "biufc":
        return (leaf.dtype, "scalar")
    if isinstance(leaf, np.ndarray):
        return leaf_key(np.asarray(leaf))
    return StaticKey(leaf)


class StaticKey:
    """A static leaf in a signature: by value where it has one, else by identity."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __hash__(self) -> int:
        try:
            return hash((type(self.value), self.value))
        except TypeError:
            return id(self.value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StaticKey):
            return False
        if self.value is other.value:
            return True
        try:
            return (
                type(self.value) is type(other.value)
                and bool(self.value == other.value)
                and hash(self.value) == hash(other.value)
            )
        except Exception:
            return False


def leaf_type(leaf: Any, known: dict[int | None, int], key: Any = None) -> ArrayType:
    """The core type of a leaf; it has the sizes of the axes in `known`, and those that the key has."""
    scalar = {float: FLOAT, int: INT, complex: COMPLEX}.get(type(leaf))
    if scalar is not None:
        return scalar
    marks = leaf.shape if key is None or not leaf.shape else key[1]
    pairs = enumerate(zip(leaf.shape, marks, strict=True))
    shape = tuple(size if mark < 2 or axis in known else None for axis, (size, mark) in pairs)
    return ArrayType(leaf.dtype, shape)


def known_type(leaf: Any) -> ArrayType:
    """The core type of an array or number as it is."""
    return leaf_type(leaf, dict.fromkeys(range(np.ndim(leaf)), 0))


def placeholders(
    leaves: list[Any], keys: tuple, names: list[str | None], pins: frozenset
) -> tuple[list[Any], list[int]]:
    """For each leaf a Parameter, or the leaf itself if it is static; and the positions of the former."""
    items: list[Any] = []
    dynamic: list[int] = []
    for position, (leaf, key, name) in enumerate(zip(leaves, keys, names, strict=True)):
        if not is_dynamic_leaf(leaf):
            items.append(leaf)
            continue
        number = len(dynamic)
        dynamic.append(position)
        known = {axis: 0 for where, axis in pins if where == number}
        contiguous = leaf.flags.c_contiguous if isinstance(leaf, np.ndarray) else True
        value = leaf if None in known else None
        items.append(Parameter(leaf_type(leaf, known, key), name, contiguous, value, number, np.shape(leaf)))
    return items, dynamic


def pinned_values(leaves: list[Any], pins: frozenset) -> tuple:
    """The sizes and integers of this call that its program was specialised on."""
    return tuple(
        leaves[where] if axis is None else leaves[where].shape[axis]
        for where, axis in sorted(pins, key=lambda pin: (pin[0], -1 if pin[1] is None else pin[1]))
    )


def as_nodes(structure: Any, items: list[Any]) -> Any:
    """The arguments with these leaves, in a form that the specialiser can enter."""
    know_node_kinds(structure)
    return optree.tree_unflatten(structure, items)


__all__ = ["as_nodes", "flatten", "is_dynamic_leaf", "leaf_key", "pinned_values", "placeholders"]
