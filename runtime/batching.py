"""vmap: what it emits where it is called, and the axes of arguments and results.

>>> axes_of((0, {"w": 1, "b": None}), (1.0, {"w": 2.0, "b": 3.0}), "in_axes")
[0, 1, None]
"""
from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..autodiff import paste
from ..codegen.batching import batch
from ..codegen.batching.rules import moved, repeat
from ..codegen.core import ArrayType, Block, Dimension, Program, Variable, type_of
from ..codegen.errors import ShapeMismatchError, TypeMismatchError
from ..codegen.specialise import put_together
from ..codegen.specialise.calls import call
from ..codegen.specialise.merge import is_record, take_apart
from ..codegen.specialise.nodes import is_node, open_node
from .entry import OTHER
from .examples import Concrete, checked_axis, one_by_one
from .keys import without_keys
from .opened import own, shown, take_leaves
from .transformation import Transformation, innermost


@dataclasses.dataclass(frozen=True, eq=False)
class AxisFrame:
    """The batch of one vmap, as collectives inside it name it."""

    name: Any
    size: Dimension


class Vmap(Transformation):
    """A function of one example as a function of a whole batch."""

    fresh_results = True

    def __init__(self, function: Any, in_axes: Any = 0, out_axes: Any = 0, axis_name: Any = None,
                 axis_size: int | None = None):
        super().__init__(function)
        if isinstance(in_axes, list):
            in_axes = tuple(in_axes)
        if not (in_axes is None or type(in_axes) is int or isinstance(in_axes, tuple)):
            raise TypeError("vmap in_axes must be an int, None, or a tuple of entries corresponding to the "
                            f"positional arguments passed to the function, but got {in_axes!r}")
        self.in_axes, self.out_axes = in_axes, out_axes
        self.axis_name, self.axis_size = axis_name, checked_size(axis_size)

    def expand(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        where = s.location(node)
        axes = self.axes_of_arguments(arguments, keywords, where)
        leaves: list[Any] = []
        templates = [take_apart(value, leaves) for value in (tuple(arguments), keywords)]
        names = leaf_names(innermost(self), arguments, keywords)
        axes = [normal_axis(s, leaf, axis, name, where)
                for leaf, axis, name in zip(leaves, axes, names, strict=True)]
        size = self.batch_size(s, leaves, axes, names, where)
        frame = AxisFrame(self.axis_name, size)
        opened = Example(s, self, leaves, axes, templates, frame, node)
        # nothing will batch or differentiate what is emitted here
        last = s.compiled and not s.axes and not s.differentiating
        axes_of_all = (True,) * len(opened.operands)
        program, differ = batch(opened.program, axes_of_all, size, frame, s.builder, last)
        results = paste(s.builder, program, tuple(opened.operands))
        return self.answer(s, opened, results, differ, size, where)

    def as_python(self, arguments: tuple, keywords: dict) -> Any:
        """A loop over the examples: a debugger that stops in the function stops at the user's own line."""
        if self.axis_name is not None:
            return OTHER
        axes = self.axes_of_arguments(arguments, keywords, None)
        concrete = Concrete()
        leaves = take_leaves((arguments, keywords))
        names = leaf_names(innermost(self), arguments, keywords)
        axes = [normal_axis(concrete, leaf, axis, name, None)
                for leaf, axis, name in zip(leaves, axes, names, strict=True)]
        size = self.batch_size(concrete, leaves, axes, names, None)
        return one_by_one(self, arguments, keywords, size, axes) if size else OTHER

    def axes_of_arguments(self, arguments: tuple | list, keywords: dict, where: Any) -> list[int | None]:
        """The axis that in_axes gives each leaf, before it is counted from 0."""
        in_axes = self.in_axes
        if isinstance(in_axes, tuple) and len(in_axes) != len(arguments):
            raise mismatch(f"vmap in_axes must have one entry for each positional argument, but got "
                           f"len(in_axes)={len(in_axes)}, len(args)={len(arguments)}", where)
        return axes_of(in_axes, tuple(arguments), "in_axes", where) + axes_of(0, keywords, "in_axes", where)

    def batch_size(self, s: Any, leaves: list, axes: list, names: list, where: Any) -> Dimension:
        """The number of examples, on which all mapped arguments agree."""
        mapped = [(s.shape(leaf)[axis], name, axis, s.shape(leaf))
                  for leaf, axis, name in zip(leaves, axes, names, strict=True) if axis is not None]
        if self.axis_size is not None:
            mapped.insert(0, (self.axis_size, "axis_size", None, ()))
        if not mapped:
            raise ShapeMismatchError("vmap must have at least one non-None value in in_axes, or an axis_size",
                                     "say which argument holds the examples, and along which axis", where)
        size = next((size for size, *_ in mapped if isinstance(size, int)), mapped[0][0])
        lines = [f"axis_size is {size}" if axis is None else
                 f"{name} has shape {shown(shape)}, mapped along axis {axis}"
                 for size, name, axis, shape in mapped]
        message = "vmap got inconsistent sizes for the axes to be mapped: " + "; ".join(lines)
        for other, *_ in mapped:
            if isinstance(other, int) and isinstance(size, int) and other != size:
                raise ShapeMismatchError(message, "give every mapped argument as many examples", where)
            s.builder.require_same(size, other, message, enforced=False)
        return s.builder.representative(size)

    def answer(self, s: Any, opened: Example, results: tuple, differ: tuple, size: Dimension,
               where: Any) -> Any:
        """The results with their batch axes where out_axes wants them."""
        axes = axes_of(self.out_axes, opened.value, "out_axes", where)
        finished = []
        for result, batched, axis in zip(results, differ, axes, strict=True):
            if axis is None:
                if batched:
                    raise ShapeMismatchError("vmap has mapped output, but out_axes is None for it",
                                             "give out_axes the axis that its examples go along", where)
                finished.append(s.wrap(result))
                continue
            if not batched:
                result = repeat(s.builder, s.operand(result), size)
            axis = checked_axis(axis, len(type_of(result).shape), where)
            finished.append(s.wrap(moved(s.builder, result, 0, axis), contiguous=axis == 0))
        return put_together(opened.template, finished)


class Example:
    """A call of the function for one example, specialised as a program of its own within the enclosing one.

    The program's parameters are the mapped leaves; all else that it reads are the enclosing one's variables.
    """

    def __init__(self, s: Any, vmap: Vmap, leaves: list, axes: list, templates: list, frame: AxisFrame,
                 node: Any):
        self.operands = [moved(s.builder, s.operand(leaf), axis, 0)
                         for leaf, axis in zip(leaves, axes, strict=True) if axis is not None]
        names = [getattr(s.operand(leaf), "name", None)
                 for leaf, axis in zip(leaves, axes, strict=True) if axis is not None]
        parameters = [Variable(name, row_type(type_of(operand)))
                      for name, operand in zip(names, self.operands, strict=True)]
        block = Block()
        s.store.open()
        s.axes.append(frame)
        try:
            with s.builder.inside(block):
                given = iter(parameters)
                inside = [own(s, leaf) if axis is None else s.wrap(next(given), axis == 0)
                          for leaf, axis in zip(leaves, axes, strict=True)]
                arguments, keywords = (put_together(template, inside) for template in templates)
                self.value = call(s, vmap.function, list(arguments), keywords, node)
                results: list[Any] = []
                self.template = take_apart(self.value, results)
                block.results = tuple(s.operand(leaf) for leaf in results)
        finally:
            s.axes.pop()
            trial = s.store.close()
        if trial.outer():
            raise s.unsupported("vmap of a function that changes something outside of itself",
                                "return the new value instead", node)
        self.program = without_keys(s, Program("example", tuple(parameters), block))


def checked_size(size: Any) -> Any:
    """The axis_size, if it may be one; a size that is known only at run time may be."""
    if isinstance(size, (bool, float, str, tuple, list)):
        raise TypeError(f"vmap axis_size must be an int, and was given {size!r}")
    if isinstance(size, (int, np.integer)) and size < 0:
        raise ValueError(f"vmap axis_size must not be negative, and is {size}")
    return int(size) if isinstance(size, np.integer) else size


def row_type(of: ArrayType) -> ArrayType:
    """The type of one example of a batch."""
    return ArrayType(of.dtype, of.shape[1:])


def mismatch(text: str, where: Any) -> ShapeMismatchError:
    return ShapeMismatchError(text, "write in_axes=(...) with an int or None for each argument", where)


def axes_of(axes: Any, value: Any, what: str, where: Any = None) -> list[int | None]:
    """For each leaf of a value its axis; `axes` is a tree that may end before the value's does."""
    if axes is None or type(axes) is int:
        return [axes] * len(take_leaves(value))
    pairs = None
    if isinstance(axes, (tuple, list)) and isinstance(value, (tuple, list)) and len(axes) == len(value):
        pairs = list(zip(axes, value, strict=True))
    elif isinstance(axes, dict) and isinstance(value, dict) and set(axes) == set(value):
        pairs = [(axes[key], value[key]) for key in value]
    elif is_node(axes) and type(axes) is type(value):
        pairs = list(zip(open_node(axes)[0], open_node(value)[0], strict=True))
    elif is_record(axes) and type(axes) is type(value):
        pairs = [(getattr(axes, f.name), getattr(value, f.name)) for f in dataclasses.fields(value)]
    if pairs is None:
        if not isinstance(axes, (tuple, list, dict)) and not is_node(axes) and not is_record(axes):
            raise TypeMismatchError(f"vmap {what} has {axes!r}, which is no axis",
                                    "give an int for each axis, or None", where)
        raise TypeMismatchError(f"vmap {what} has {axes!r} where there is {kind_of(value)}",
                                "let it have the structure of what it is for, or end before it", where)
    return [axis for pair in pairs for axis in axes_of(*pair, what, where)]


def kind_of(value: Any) -> str:
    """What a value is, in the words of an error."""
    if isinstance(value, (tuple, list, dict)):
        return f"a {type(value).__name__} with {len(value)} part{'' if len(value) == 1 else 's'}"
    leaves = take_leaves(value)
    return "an array or number" if len(leaves) == 1 and leaves[0] is value else f"a {type(value).__name__}"


def normal_axis(s: Any, leaf: Any, axis: int | None, name: str, where: Any) -> int | None:
    """The axis counted from 0; one that the argument doesn't have is refused."""
    if axis is None:
        return None
    shape = s.shape(leaf)
    rank = len(shape)
    if not -rank <= axis < rank:
        least = axis + 1 if axis >= 0 else -axis
        raise ShapeMismatchError(
            f"vmap was asked to map {name} along axis {axis}, which takes an array of at least {least} "
            f"ax{'i' if least == 1 else 'e'}s, and its shape is {shown(shape)}",
            "give an array of examples, or None in in_axes to pass the same value to all", where)
    return axis % rank


def leaf_names(function: Callable, arguments: list, keywords: dict) -> list[str]:
    """What error messages call each leaf of the arguments."""
    try:
        parameters = [p.name for p in inspect.signature(function).parameters.values()
                      if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        parameters = []
    names: list[str] = []
    for k, argument in enumerate(arguments):
        names += paths(parameters[k] if k < len(parameters) else f"argument {k}", argument)
    for key, argument in keywords.items():
        names += paths(key, argument)
    return names


def paths(name: str, value: Any) -> list[str]:
    """How each leaf of a value is written in Python, the value itself by its name."""
    parts: list[tuple[str, Any]] | None = None
    if isinstance(value, dict):
        parts = [(f"{name}[{key!r}]", item) for key, item in value.items()]
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        parts = [(f"{name}.{field}", item) for field, item in zip(value._fields, value, strict=True)]
    elif isinstance(value, (tuple, list)):
        parts = [(f"{name}[{k}]", item) for k, item in enumerate(value)]
    elif is_record(value) and not is_node(value):
        parts = [(f"{name}.{f.name}", getattr(value, f.name)) for f in dataclasses.fields(value)]
    if parts is None:
        return [name] * len(take_leaves(value))
    return [path for part in parts for path in paths(*part)]


