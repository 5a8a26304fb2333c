"""eval_shape: the shapes and dtypes of a function's results, without running it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..codegen.core import ArrayType, Variable, type_of
from ..codegen.errors import UnsupportedError
from ..codegen.simplify import simplify
from ..codegen.specialise import Parameter, put_together, specialise
from .arguments import as_nodes, flatten, is_dynamic_leaf, known_type


class ShapeDtype:
    """The shape and dtype of an array or number; equal to another of the same."""

    __slots__ = ("shape", "dtype")

    def __init__(self, shape: Any, dtype: Any):
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.dtype = np.dtype(dtype)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeDtype) and (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"ShapeDtype(shape={self.shape}, dtype={self.dtype})"


def shapes(transformation: Any, arguments: tuple, keywords: dict) -> Any:
    """The result of a call, with a ShapeDtype for each array and number in it."""
    transformation.check(arguments, keywords)
    static, arguments, keywords = transformation.take_static(arguments, keywords)
    leaves, structure = flatten((arguments, keywords))
    names = transformation.leaf_names(leaves, structure, static)
    items = []
    number = 0
    for leaf, name in zip(leaves, names, strict=True):
        given = described(leaf)
        if given is None:
            items.append(leaf)
            continue
        items.append(Parameter(given, name, True, leaf if type(leaf) is int else None, number))
        number += 1
    given, named = transformation.put_static(*as_nodes(structure, items), static)
    made = specialise(transformation, list(given), named, transformation.program_name(), exact=True)
    program = simplify(made.program)
    results = program.results[: len(program.results) - len(made.written)]
    return put_together(made.template, [shape_of(result, transformation) for result in results])


def described(leaf: Any) -> ArrayType | None:
    """The type of an argument that is an array or number, or that only says its shape and dtype."""
    if is_dynamic_leaf(leaf):
        return known_type(leaf)
    if hasattr(leaf, "shape") and hasattr(leaf, "dtype") and not isinstance(leaf, np.ndarray):
        return ArrayType(np.dtype(leaf.dtype), tuple(leaf.shape))
    return None


def shape_of(result: Any, transformation: Any) -> ShapeDtype:
    of = type_of(result)
    if any(isinstance(size, Variable) for size in of.shape):
        raise UnsupportedError(
            f"eval_shape of {transformation.program_name()}, the shape of whose result depends on the data",
            "run it, or give its result a size that does not depend on values",
        )
    return ShapeDtype(of.shape, of.dtype)
