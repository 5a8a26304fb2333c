"""Pytrees: nested containers of arrays, taken apart, mapped over, and put together again.

Tuples, lists, dictionaries (in the order of their keys), namedtuples, dataclasses and registered classes are
nodes; None is a node without leaves; everything else is a leaf. All of it works inside functions that are
differentiated or compiled, too.

>>> import chainrule as cr
>>> cr.tree.map(lambda p, g: p - 0.5 * g, {"w": 1.0, "b": 2.0}, {"w": 1.0, "b": 0.0})
{'w': 0.5, 'b': 2.0}
"""
from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .runtime import trees
from .runtime.trees import Partial

_NONE_GIVEN = object()


def flatten(tree: Any, is_leaf: Callable | None = None) -> tuple[list, Any]:
    """The leaves of a tree, and its structure.

    Args:
        tree: any nesting of nodes and leaves.
        is_leaf: a function of each part of the tree that says whether it is to be taken as a leaf.

    Returns:
        (leaves, structure). Structures compare equal where two trees differ in their leaves only.

    >>> import chainrule as cr
    >>> leaves, structure = cr.tree.flatten({"b": (1, None), "a": 2.0})
    >>> leaves
    [2.0, 1]
    >>> cr.tree.unflatten(structure, leaves)
    {'b': (1, None), 'a': 2.0}
    """
    return trees.flatten(tree, is_leaf)


def unflatten(structure: Any, leaves: Iterable) -> Any:
    """The tree with this structure and these leaves.

    Args:
        structure: what `flatten` or `structure` gave.
        leaves: as many as it has, in its order; they may be anything.

    Raises:
        ValueError: there are too few leaves, or too many.
    """
    return trees.unflatten(structure, leaves)


def leaves(tree: Any, is_leaf: Callable | None = None) -> list:
    """The leaves of a tree, in order.

    >>> import chainrule as cr
    >>> cr.tree.leaves([1, (2, None), {"k": 3}])
    [1, 2, 3]
    """
    return trees.flatten(tree, is_leaf)[0]


def structure(tree: Any, is_leaf: Callable | None = None) -> Any:
    """The structure of a tree."""
    return trees.flatten(tree, is_leaf)[1]


def map(function: Callable, tree: Any, *rest: Any, is_leaf: Callable | None = None) -> Any:
    """The tree of what a function gives for each leaf.

    Args:
        function: called with a leaf of `tree` and what stands at its place in each tree of `rest`.
        tree: gives the structure of the result.
        rest: trees in which `tree`'s structure is found, whole or with more below its leaves.
        is_leaf: a function of each part of the tree that says whether it is to be taken as a leaf.

    Raises:
        ValueError: a tree of `rest` has another structure.

    >>> import chainrule as cr
    >>> cr.tree.map(lambda x, y: x * y, (1, [2, 3]), (10, [20, 30]))
    (10, [40, 90])
    """
    return trees.map_leaves(function, tree, rest, is_leaf)


def map_with_path(function: Callable, tree: Any, *rest: Any, is_leaf: Callable | None = None) -> Any:
    """What `map` gives for a function whose first argument is the path to the leaf.

    A path is a tuple of indices, keys and names of fields.

    >>> import chainrule as cr
    >>> cr.tree.map_with_path(lambda path, leaf: (path, leaf), {"a": [5]})
    {'a': [(('a', 0), 5)]}
    """
    return trees.map_with_path(function, tree, rest, is_leaf)


def reduce(function: Callable, tree: Any, initial: Any = _NONE_GIVEN, is_leaf: Callable | None = None) -> Any:
    """The leaves put together by a function of two, from left to right, as functools.reduce does.

    >>> import chainrule as cr
    >>> cr.tree.reduce(lambda total, leaf: total + leaf, {"a": 1, "b": (2, 3)}, 0)
    6
    """
    start = () if initial is _NONE_GIVEN else (initial,)
    return functools.reduce(function, trees.flatten(tree, is_leaf)[0], *start)


def all(tree: Any, is_leaf: Callable | None = None) -> bool:
    """Whether every leaf is true.

    >>> import chainrule as cr
    >>> cr.tree.all([True, {"a": 1}]), cr.tree.all([True, {"a": 0}])
    (True, False)
    """
    return builtins.all(trees.flatten(tree, is_leaf)[0])


def transpose(outer: Any, inner: Any, tree: Any) -> Any:
    """A tree of trees turned inside out.

    Args:
        outer: the structure of the tree.
        inner: the structure at each of its leaves.
        tree: has the structure `outer` with `inner` at each leaf.

    Returns:
        A tree of structure `inner` with `outer` at each leaf.

    Raises:
        ValueError: `tree` has another structure.

    >>> import chainrule as cr
    >>> pairs = {"a": (1, 2), "b": (3, 4)}
    >>> cr.tree.transpose(cr.tree.structure({"a": 0, "b": 0}), cr.tree.structure((0, 0)), pairs)
    ({'a': 1, 'b': 3}, {'a': 2, 'b': 4})
    """
    return trees.transpose(outer, inner, tree)


def register_node(kind: type, flatten: Callable, unflatten: Callable,
                  names: Sequence[str] | Callable | None = None) -> type:
    """Let instances of a class be nodes, in every function of chainrule.

    Args:
        kind: the class.
        flatten: gives (children, metadata) for an instance. Metadata is part of the structure, and of the
            program that is made for it: it must be comparable by ==.
        unflatten: gives an instance for (metadata, children). It is also called with stand-ins in place of
            arrays, so it must only put its children in place.
        names: the children's names, used in paths and in generated source; or a function of the instance that
            gives them. Left out, they are numbered.

    Returns:
        The class.

    Raises:
        ValueError: the class is registered already. TypeError: its instances are leaves (arrays, numbers,
            strings), or `flatten` or `unflatten` is no function.

    >>> import chainrule as cr
    >>> class Line:
    ...     def __init__(self, slope, offset):
    ...         self.slope, self.offset = slope, offset
    ...     def __call__(self, x):
    ...         return self.slope * x + self.offset
    >>> _ = cr.tree.register_node(Line, lambda line: ((line.slope, line.offset), None),
    ...                           lambda _, children: Line(*children), ("slope", "offset"))
    >>> cr.grad(lambda line: line(2.0) ** 2)(Line(3.0, 1.0)).slope
    28.0
    """
    return trees.register_node(kind, flatten, unflatten, names)


def register_dataclass(kind: type | None = None, data_fields: Sequence[str] | None = None,
                       meta_fields: Sequence[str] | None = None) -> Any:
    """Say which fields of a dataclass are children, and which are metadata. All are children otherwise.

    Args:
        kind: the dataclass. Left out, the result is a decorator.
        data_fields: the names of the children; by default all that are not metadata.
        meta_fields: the names of what is part of the structure; by default the fields made with
            `dataclasses.field(metadata={"static": True})`.

    Returns:
        The class.

    Raises:
        ValueError: the names are not those of the fields, each once.

    >>> import dataclasses
    >>> import chainrule as cr
    >>> @cr.tree.register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     w: float
    ...     power: int = dataclasses.field(metadata={"static": True})
    >>> cr.grad(lambda layer: layer.w ** layer.power)(Layer(3.0, 2))
    Layer(w=6.0, power=2)
    """
    if kind is None:
        return lambda later: trees.register_dataclass(later, data_fields, meta_fields)
    return trees.register_dataclass(kind, data_fields, meta_fields)


def ravel(tree: Any) -> tuple[Any, Callable]:
    """All leaves in one vector, and the function that makes the tree of such a vector again.

    Args:
        tree: a tree of arrays and numbers.

    Returns:
        (vector, unravel). The vector has the dtype that NumPy gives when it joins them; `unravel` gives each
        leaf its own dtype again.

    Raises:
        TypeError: a leaf is not an array or number. ValueError, from `unravel`: a vector of another length.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> vector, unravel = cr.tree.ravel({"a": np.array([[1.0, 2.0]]), "b": 3.0})
    >>> vector
    array([1., 2., 3.])
    >>> unravel(2 * vector)
    {'a': array([[2., 4.]]), 'b': 6.0}
    """
    return trees.ravel(tree)


__all__ = [
    "Partial",
    "all",
    "flatten",
    "leaves",
    "map",
    "map_with_path",
    "ravel",
    "reduce",
    "register_dataclass",
    "register_node",
    "structure",
    "transpose",
    "unflatten",
]
