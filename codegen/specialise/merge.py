"""Joining the values that two paths leave in one place, and carrying values around a loop.

A value is taken apart into a template (its containers, and everything static) and leaves (numbers and
arrays); paths are joined leaf by leaf.
"""
from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import ArrayType, StackType, Variable
from ..errors import UnsupportedError
from ..registry import array_scalar
from .nodes import Node, build_node, is_node, open_node, same_metadata
from .values import UNDEFINED, Array, Conflict, Growing, Maybe, has_dynamic, is_made, note_made


@dataclass(frozen=True, slots=True)
class Leaf:
    """Stands in a template for leaf number `index`."""

    index: int


def take_apart(value: Any, leaves: list[Any]) -> Any:
    """The template of a value; its leaves are appended to `leaves`."""
    if isinstance(value, (Array, Variable, np.ndarray)) or array_scalar(value):
        leaves.append(value)
        return Leaf(len(leaves) - 1)
    if isinstance(value, Maybe):
        return Maybe(take_apart(value.value, leaves), take_apart(value.defined, leaves))
    if is_node(value):
        return take_node_apart(value, leaves)
    if isinstance(value, Growing):
        return Growing(take_apart(value.buffer, leaves), take_apart(value.count, leaves), value.weak)
    if isinstance(value, tuple):
        return rebuild_tuple(value, [take_apart(item, leaves) for item in value])
    if isinstance(value, list):
        return [take_apart(item, leaves) for item in value]
    if isinstance(value, dict):
        return {key: take_apart(item, leaves) for key, item in value.items()}
    if is_record(value):
        return Record(type(value), {f.name: take_apart(getattr(value, f.name), leaves)
                                    for f in dataclasses.fields(value)})
    if is_made(value) and hasattr(value, "__dict__"):
        return Record(type(value), {name: take_apart(part, leaves) for name, part in vars(value).items()})
    return value


def take_node_apart(value: Any, leaves: list[Any]) -> Node:
    """The template of an instance of a registered class."""
    children, metadata = open_node(value)
    if has_dynamic(metadata):
        raise UnsupportedError(f"the metadata of a {type(value).__name__} depends on values known only at "
                               "run time", "make them children, where the class is registered")
    return Node(type(value), metadata, [take_apart(child, leaves) for child in children])


def put_together(template: Any, leaves: list[Any]) -> Any:
    """The value with this template and these leaves."""
    build = lambda part: put_together(part, leaves)
    if isinstance(template, Leaf):
        return leaves[template.index]
    if isinstance(template, Maybe):
        return Maybe(build(template.value), build(template.defined))
    if isinstance(template, Growing):
        return Growing(build(template.buffer), build(template.count), template.weak)
    if isinstance(template, tuple):
        return rebuild_tuple(template, list(map(build, template)))
    if isinstance(template, list):
        return list(map(build, template))
    if isinstance(template, dict):
        return {key: build(item) for key, item in template.items()}
    if isinstance(template, Record):
        return make_record(template.kind, {name: build(item) for name, item in template.fields.items()})
    if isinstance(template, Node):
        return build_node(template.kind, template.metadata, list(map(build, template.children)))
    return template


@dataclass(frozen=True, slots=True)
class Record:
    """The template of an object: a dataclass instance, or one that was made while specialising."""

    kind: type
    fields: dict[str, Any]


def is_record(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type) and not hasattr(value, "cell")


def make_record(kind: type, fields: dict[str, Any]) -> Any:
    """An instance of a class with these attributes, made without running its __init__."""
    made = note_made(object.__new__(kind))
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


def rebuild_tuple(like: tuple, items: list[Any]) -> tuple:
    """A tuple of the same kind (a namedtuple stays one)."""
    return type(like)(*items) if hasattr(like, "_fields") else tuple(items)


def same_template(a: Any, b: Any) -> bool:
    """Whether two values differ in their leaves only."""
    if isinstance(a, Leaf) or isinstance(b, Leaf):
        return isinstance(a, Leaf) and isinstance(b, Leaf)
    if type(a) is not type(b):
        return False
    if isinstance(a, Growing):
        return a.weak == b.weak
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same_template, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same_template(a[key], b[key]) for key in a)
    if isinstance(a, Record):
        return a.kind is b.kind and same_template(a.fields, b.fields)
    if isinstance(a, Node):
        return (a.kind is b.kind and same_metadata(a.metadata, b.metadata)
                and same_template(a.children, b.children))
    if isinstance(a, Maybe):
        return same_template(a.value, b.value)
    return same_static(a, b)


def same_static(a: Any, b: Any) -> bool:
    """Whether two known values are the same for every purpose."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if array_scalar(a):
        return a == b and np.signbit(np.real(a)) == np.signbit(np.real(b)) if a == a else b != b
    if isinstance(a, Array):
        return a.cell is b.cell and a.path == b.path
    return isinstance(a, (str, bytes, np.dtype, slice)) and a == b


def join_types(a: ArrayType, b: ArrayType) -> ArrayType | None:
    """The type that holds values of both; sizes that differ become None. None where there is no such type."""
    if isinstance(a, StackType) or isinstance(b, StackType):
        return a if isinstance(a, StackType) and isinstance(b, StackType) else None
    if a.ndim != b.ndim:
        return None
    shape = tuple(x if same_size(x, y) else None for x, y in zip(a.shape, b.shape, strict=True))
    if a.weak and b.weak:
        dtype = max(a.dtype, b.dtype, key=lambda d: "bifc".index(d.kind))
        return ArrayType(dtype, shape, True)
    kinds = {"b": bool, "i": int, "f": float, "c": complex}
    sample = lambda t: np.zeros((), t.dtype)[()].item() if t.weak and t.dtype.kind in kinds else t.dtype
    return ArrayType(np.result_type(sample(a), sample(b)), shape)


def same_size(a: Any, b: Any) -> bool:
    return a is b or (isinstance(a, int) and isinstance(b, int) and a == b)


def conflict(a: Any, b: Any, where: str) -> Conflict:
    """The value of a place that two paths leave with values that nothing can stand for."""
    if isinstance(a, (Variable, Array)) and isinstance(b, (Variable, Array)):
        return Conflict(a, b, f"is an array or scalar of another rank {where}")
    return Conflict(a, b, f"is {shown(a)} or {shown(b)} {where}")


def shown(value: Any) -> str:
    """A value in the words of an error."""
    if value is UNDEFINED:
        return "unassigned"
    if isinstance(value, (str, type(None))):
        return repr(value)
    return "an array or number" if isinstance(value, (Array, Variable)) else f"a {type(value).__name__}"
