"""What the collectives of chainrule.lax emit inside a function that vmap maps over a named axis."""
from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..codegen.compositions.arguments import axis_index
from ..codegen.registry import PRIMITIVES
from ..codegen.specialise import put_together
from ..codegen.specialise.builtin_functions import BUILTINS
from ..codegen.specialise.calls import call
from ..codegen.specialise.merge import take_apart


def unbound(name: Any) -> NameError:
    return NameError(f"unbound axis name: {name!r}. A collective can only be used inside of a function that "
                     f"vmap(..., axis_name={name!r}) maps")


def collective(face: Callable) -> Callable:
    """Let the decorated function be what `face` does to each leaf of its first argument, for each axis named.

    It takes (specialiser, node, frame, leaf, **options).
    """

    def enter(emit: Callable) -> Callable:
        signature = inspect.signature(face)

        def handler(s: Any, arguments: list, keywords: dict, node: Any) -> Any:
            bound = signature.bind(*arguments, **keywords)
            bound.apply_defaults()
            options = dict(bound.arguments)
            value, names = options.pop("x", None), options.pop("axis_name")
            leaves: list[Any] = []
            template = take_apart(value, leaves)
            for frame in frames(s, names, node):
                leaves = [emit(s, node, frame, leaf, **options) for leaf in leaves]
            return put_together(template, leaves)

        BUILTINS[face] = handler
        return emit

    return enter


def frames(s: Any, names: Any, node: Any) -> list[Any]:
    """The innermost batch of each name."""
    found = []
    for name in names if isinstance(names, (tuple, list)) else (names,):
        frame = next((f for f in reversed(s.axes) if f.name is not None and f.name == name), None)
        if frame is None:
            error = unbound(name)
            error.add_note(str(s.location(node)))
            raise error
        found.append(frame)
    return found


def about_axis(face: Callable) -> Callable:
    """Let the decorated function of (specialiser, frame) be what `face` says about an axis."""

    def enter(emit: Callable) -> Callable:
        def handler(s: Any, arguments: list, keywords: dict, node: Any) -> Any:
            (name,) = (*arguments, *keywords.values())
            return emit(s, *frames(s, name, node))

        BUILTINS[face] = handler
        return emit

    return enter


def psum(s: Any, node: Any, frame: Any, leaf: Any) -> Any:
    return s.emit("psum", leaf, axis=frame)


def pmean(s: Any, node: Any, frame: Any, leaf: Any) -> Any:
    return call(s, operator.truediv, [psum(s, node, frame, leaf), frame.size], {}, node)


def gathered(s: Any, node: Any, frame: Any, leaf: Any, axis: int = 0, tiled: bool = False) -> Any:
    rank = len(s.shape(leaf))
    together = s.emit("all_gather", leaf, axis=frame)
    axis = axis_index(axis, rank if tiled else rank + 1)
    together = call(s, np.moveaxis, [together, 0, axis], {}, node)
    if not tiled:
        return together
    shape = s.shape(leaf)
    joined = (*shape[:axis], s.builder.dimension_multiply(frame.size, shape[axis]), *shape[axis + 1:])
    return call(s, np.reshape, [together, joined], {}, node)


def extreme(function: Callable) -> Callable:
    """The largest or smallest among the examples."""
    return lambda s, node, frame, leaf: call(s, function, [gathered(s, node, frame, leaf)], {"axis": 0}, node)


def scattered(s: Any, node: Any, frame: Any, leaf: Any, scatter_dimension: int = 0,
              tiled: bool = False) -> Any:
    shape = s.shape(leaf)
    scatter_dimension = axis_index(scatter_dimension, len(shape))
    if tiled:
        part = s.builder.emit(PRIMITIVES["floor_divide"], shape[scatter_dimension], frame.size)
        message = (f"psum_scatter: axis {scatter_dimension} of the array must be a multiple of the batch, "
                   "to be scattered as tiles")
        whole = s.builder.dimension_multiply(part, frame.size)
        s.builder.require_same(shape[scatter_dimension], whole, message, enforced=False)
        split = (*shape[:scatter_dimension], frame.size, part, *shape[scatter_dimension + 1:])
        leaf = call(s, np.reshape, [leaf, split], {}, node)
    first = call(s, np.moveaxis, [leaf, scatter_dimension, 0], {}, node)
    return s.emit("psum_scatter", first, axis=frame)


def exchanged(s: Any, node: Any, frame: Any, leaf: Any, split_axis: int, concat_axis: int) -> Any:
    rank = len(s.shape(leaf))
    split, concat = axis_index(split_axis, rank), axis_index(concat_axis, rank)
    return s.emit("all_to_all", leaf, axis=frame, split=split, concat=concat)


def permuted(s: Any, node: Any, frame: Any, leaf: Any, perm: Any) -> Any:
    pairs = tuple((operator.index(source), operator.index(target)) for source, target in perm)
    for side in zip(*pairs, strict=True):
        if len(set(side)) < len(side):
            raise ValueError(f"ppermute sources and destinations must be unique, got {pairs}")
        if min(side) < 0:
            raise ValueError(f"ppermute sources and destinations are counted from 0, got {pairs}")
    last = max((number for pair in pairs for number in pair), default=-1)
    message = f"ppermute sends to or from example {last}, and the batch has {{}} examples"
    inside = s.builder.emit(PRIMITIVES["less"], last, frame.size)
    s.builder.emit(PRIMITIVES["check"], inside, frame.size, exception="IndexError", message=message)
    return s.emit("ppermute", leaf, axis=frame, pairs=pairs)
