"""Pytrees: arguments, results and parameters as leaves in a structure, on optree.

Tuples, lists, dictionaries, namedtuples, dataclasses, OrderedDict, defaultdict, deque and registered classes
are nodes; None is a node without leaves; everything else is a leaf. What reads only the leaves and the
structure is plain Python here, which the specialiser reads too; what asks optree has a handler for it.
"""
from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import optree

from ..codegen.specialise.builtin_functions import BUILTINS
from ..codegen.specialise.iteration_tools import Bound
from ..codegen.specialise.merge import is_record, make_record
from ..codegen.specialise.nodes import NODE_KINDS, NodeKind, build_node, is_node, open_node, same_metadata
from ..codegen.specialise.values import is_dynamic

NAMESPACE = "chainrule"
LIBRARY = __name__.split(".")[0]
_registered: dict[type, None] = {}


class Metadata:
    """What a registered class keeps beside its children, compared by value, always hashable."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Metadata) and same_metadata(self.value, other.value)

    def __hash__(self) -> int:
        try:
            return hash(self.value)
        except TypeError:
            return hash(type(self.value))

    def __repr__(self) -> str:
        return repr(self.value)


def flatten(tree: Any, is_leaf: Callable | None = None) -> tuple[list[Any], Any]:
    """The leaves of a pytree, and its structure. A dataclass becomes a node when it is first seen."""
    leaves, structure = optree.tree_flatten(tree, is_leaf, namespace=NAMESPACE)
    for leaf in leaves:
        if is_record(leaf) and is_users_dataclass(type(leaf)) and not (is_leaf and is_leaf(leaf)):
            register_fields(type(leaf))
            return flatten(tree, is_leaf)
    return leaves, structure


def is_users_dataclass(kind: type) -> bool:
    """Whether a dataclass may become a node: the specialiser's own are values."""
    ours = kind.__module__.startswith(f"{LIBRARY}.codegen.")
    return not ours and kind not in _registered and kind not in NODE_KINDS


def register_fields(kind: type) -> None:
    """Let all fields of a dataclass be children."""
    names = [f.name for f in dataclasses.fields(kind)]
    optree.register_pytree_node(
        kind,
        lambda instance: ([getattr(instance, name) for name in names], None, names),
        lambda _, children: make_record(kind, dict(zip(names, children, strict=True))),
        namespace=NAMESPACE)
    _registered[kind] = None


def register_dataclass(kind: type, data_fields: Sequence[str] | None = None,
                       meta_fields: Sequence[str] | None = None) -> type:
    """Let a dataclass be a node whose children are the data fields, and whose metadata are the others."""
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        raise TypeError(f"register_dataclass needs a dataclass, and was given {kind!r}")
    fields = {f.name: f for f in dataclasses.fields(kind)}
    if meta_fields is None:
        meta_fields = [name for name, f in fields.items() if f.metadata.get("static", False)]
        if data_fields is not None:
            meta_fields = [name for name in fields if name not in data_fields]
    if data_fields is None:
        data_fields = [name for name in fields if name not in meta_fields]
    if sorted((*data_fields, *meta_fields)) != sorted(fields):
        raise ValueError(f"the data fields {list(data_fields)} and the meta fields {list(meta_fields)} of "
                         f"{kind.__name__} are not its fields, each once: {list(fields)}")
    if kind in _registered:
        optree.unregister_pytree_node(kind, namespace=NAMESPACE)
        del _registered[kind]
    if not meta_fields:
        register_fields(kind)
        return kind
    data, meta = tuple(data_fields), tuple(meta_fields)
    parts = lambda instance, names: tuple(getattr(instance, name) for name in names)
    names = (*data, *meta)
    join = lambda values, children: make_record(kind, dict(zip(names, (*children, *values), strict=True)))
    return register_node(kind, lambda instance: (parts(instance, data), parts(instance, meta)), join, data)


def register_node(kind: type, flatten_one: Callable, unflatten_one: Callable,
                  names: Sequence[str] | Callable | None = None) -> type:
    """Let instances of a class be nodes."""
    if not isinstance(kind, type):
        raise TypeError(f"register_node needs a class, and was given {kind!r}")
    if issubclass(kind, (np.ndarray, np.generic, int, float, complex, str, bytes)):
        raise TypeError(f"register_node cannot make nodes of {kind.__qualname__}, whose instances are leaves")
    for role, function in (("flatten", flatten_one), ("unflatten", unflatten_one)):
        if not callable(function):
            raise TypeError(f"register_node needs a function to {role} a {kind.__qualname__}, "
                            f"and was given {function!r}")
    if kind in NODE_KINDS or kind in _registered:
        raise ValueError(f"{kind.__qualname__} is registered already")

    def flat(instance: Any) -> tuple:
        children, metadata = open_node(instance)
        entries = names(instance) if callable(names) else names
        if entries is not None and len(tuple(entries)) != len(children):
            raise ValueError(f"{kind.__qualname__} was registered with {len(tuple(entries))} names, and has "
                             f"{len(children)} children")
        return children, Metadata(metadata), entries if entries is None else tuple(entries)

    build = lambda metadata, children: build_node(kind, metadata.value, list(children))
    optree.register_pytree_node(kind, flat, build, namespace=NAMESPACE)
    NODE_KINDS[kind] = NodeKind(flatten_one, unflatten_one)
    return kind


def know_node_kinds(structure: Any) -> None:
    """Let the specialiser know the classes in a structure that optree knows without us."""
    if structure.num_nodes == 1 and not structure.num_children:
        return
    kind = structure.type
    if structure.kind in FOREIGN_KINDS and kind not in NODE_KINDS and kind not in _registered:
        NODE_KINDS[kind] = NodeKind(open_foreign, build_foreign)
    for child in structure.children():
        know_node_kinds(child)


FOREIGN_KINDS = (optree.PyTreeKind.CUSTOM, optree.PyTreeKind.ORDEREDDICT, optree.PyTreeKind.DEFAULTDICT,
                 optree.PyTreeKind.DEQUE)


def open_foreign(instance: Any) -> tuple[list, Any]:
    structure = one_level(instance)
    return optree.tree_flatten_one_level(instance, namespace=NAMESPACE)[0], structure


def build_foreign(structure: Any, children: list) -> Any:
    return optree.tree_unflatten(structure, children)


def one_level(instance: Any) -> Any:
    """The structure of a node whose children are taken as leaves."""
    return optree.tree_structure(instance, lambda part: part is not instance, namespace=NAMESPACE)


# what the specialiser reads as it stands


def unflatten(structure: Any, leaves: Iterable) -> Any:
    return optree.tree_unflatten(structure, leaves)


def structure_of(tree: Any, is_leaf: Callable | None = None) -> Any:
    return flatten(tree, is_leaf)[1]


def up_to(structure: Any, tree: Any) -> list[Any]:
    """What of a tree stands where the structure has its leaves."""
    flatten(tree)
    return structure.flatten_up_to(tree)


def map_leaves(function: Callable, tree: Any, rest: tuple, is_leaf: Callable | None) -> Any:
    leaves, structure = flatten(tree, is_leaf)
    columns = [leaves] + [up_to(structure, other) for other in rest]
    return unflatten(structure, [function(*row) for row in zip(*columns, strict=True)])


def map_with_path(function: Callable, tree: Any, rest: tuple, is_leaf: Callable | None) -> Any:
    leaves, structure = flatten(tree, is_leaf)
    columns = [paths(structure), leaves] + [up_to(structure, other) for other in rest]
    return unflatten(structure, [function(*row) for row in zip(*columns, strict=True)])


def paths(structure: Any) -> list[tuple]:
    """For each leaf the indices, keys and field names that lead to it."""
    return structure.paths()


def transpose(outer: Any, inner: Any, tree: Any) -> Any:
    leaves, structure = flatten(tree)
    if structure != outer.compose(inner):
        raise ValueError(f"transpose needs a tree of structure {outer} with {inner} at each leaf, and was "
                         f"given one of structure {structure}")
    count = inner.num_leaves
    parts = [unflatten(outer, leaves[k::count]) for k in range(count)]
    return unflatten(inner, parts)


def ravel(tree: Any) -> tuple[Any, Callable]:
    leaves, structure = flatten(tree)
    kinds = [kind_of_number(leaf) for leaf in leaves]
    if not leaves:
        return np.zeros(0), lambda vector: unflatten(structure, [])
    vector = np.concatenate([np.ravel(np.asarray(leaf)) for leaf in leaves])
    shapes = [np.shape(leaf) for leaf in leaves]
    total = vector.shape[0]

    def unravel(vector):
        if np.shape(vector) != (total,):
            raise ValueError(f"unravel needs a vector of {total} elements, and was given an array of shape "
                             f"{np.shape(vector)}")
        start = 0
        parts = []
        for shape, kind in zip(shapes, kinds, strict=True):
            size = 1
            for one in shape:
                size = size * one
            if kind is None:
                parts.append(vector[start])
            elif shape == ():
                parts.append(kind(vector[start]))
            else:
                parts.append(np.reshape(vector[start:start + size], shape).astype(kind))
            start = start + size
        return unflatten(structure, parts)

    return vector, unravel


def kind_of_number(leaf: Any) -> Any:
    """What makes a number of a leaf's own type again: its type, or its dtype for an array."""
    if type(leaf) in (float, int, complex):
        return type(leaf)
    dtype = getattr(leaf, "dtype", None)
    if dtype is None or dtype.kind not in "biufc":
        raise TypeError(f"ravel needs arrays and numbers, and was given a {type(leaf).__name__}")
    return dtype.type if np.ndim(leaf) == 0 else dtype


class Partial(functools.partial):
    """functools.partial as a node: what is bound are its children, the function is its metadata."""

    __slots__ = ()


register_node(Partial, lambda partial: ((partial.args, partial.keywords), partial.func),
              lambda function, children: Partial(function, *children[0], **children[1]), ("args", "keywords"))


# inside a function that is being specialised


def values_flatten(s: Any, arguments: list, keywords: dict, node: Any) -> tuple[list, Any]:
    tree, is_leaf = (*arguments, keywords.get("is_leaf"))[:2] if len(arguments) < 2 else arguments
    test = None if is_leaf is None else lambda part: bool(s.call(is_leaf, [part], {}, node))
    leaves, structure = flatten(brought_in(s, tree), test)
    know_node_kinds(structure)
    return s.store.new(leaves), structure


def values_up_to(s: Any, arguments: list, keywords: dict, node: Any) -> list:
    structure, tree = arguments
    tree = brought_in(s, tree)
    flatten(tree)
    return s.store.new(structure.flatten_up_to(tree))


def values_unflatten(s: Any, arguments: list, keywords: dict, node: Any) -> Any:
    structure, leaves = arguments
    know_node_kinds(structure)
    return s.store.adopt(structure.unflatten(s.elements(leaves, node)))


def values_partial(s: Any, arguments: list, keywords: dict, node: Any) -> Partial:
    function, *bound = arguments
    return s.store.new(Partial(function if callable(function) else Bound(function), *bound, **keywords))


def brought_in(s: Any, tree: Any) -> Any:
    """A tree in which the arrays of objects from outside of the function are parameters of the program."""
    if is_dynamic(tree):
        return tree
    if type(tree) in (tuple, list):
        return type(tree)([brought_in(s, part) for part in tree])
    if type(tree) is dict:
        return {key: brought_in(s, part) for key, part in tree.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*[brought_in(s, part) for part in tree])
    if not s.is_internal(tree) and (is_node(tree) or is_record(tree) and is_users_dataclass(type(tree))):
        children, structure = optree.tree_flatten(tree, lambda part: part is not tree, namespace=NAMESPACE)
        if structure.is_leaf():
            flatten(tree)
            return brought_in(s, tree)
        fetch = lambda k: optree.tree_leaves(tree, lambda part: part is not tree, namespace=NAMESPACE)[k]
        found = [s.outside(lambda k=k: fetch(k), name_of(entry), False)
                 for k, entry in enumerate(structure.entries())]
        return structure.unflatten([brought_in(s, part) for part in found])
    return tree


def name_of(entry: Any) -> str | None:
    return entry if isinstance(entry, str) and entry.isidentifier() else None


BUILTINS[flatten] = values_flatten
BUILTINS[up_to] = values_up_to
BUILTINS[unflatten] = values_unflatten
BUILTINS[paths] = lambda s, arguments, keywords, node: arguments[0].paths()
BUILTINS[Partial] = values_partial


def registered_dataclasses() -> list[type]:
    """The dataclasses that are nodes with all their fields."""
    return list(_registered)
