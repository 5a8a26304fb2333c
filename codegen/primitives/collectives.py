"""Collectives: what one example of a batch reads of the others, over the batch axis that `axis` stands for.

They exist between a function's specialisation and the batch pass, which replaces them by operations on the
whole batch. `axis` is any object with a `size`.

>>> from ..build import Builder
>>> from ..core import Variable
>>> class Five:
...     size = 5
>>> x = Variable("x", ArrayType(np.dtype("float32"), (5, 2)))
>>> [p.type_rule(Builder(), x, axis=Five) for p in (psum, all_gather, psum_scatter)]
[float32[5, 2], float32[5, 5, 2], float32[2]]
"""
from __future__ import annotations

from typing import Any

import numpy as np

from ..build import Builder
from ..core import INT, ArrayType, Operand, type_of
from ..errors import ShapeMismatchError
from ..registry import primitive
from .probing import result_dtype


def outside(*operands: Any, **static: Any) -> Any:
    raise NameError("a collective can only be used inside of a function that vmap maps")


def psum_type(builder: Builder, x: Operand, *, axis: Any) -> ArrayType:
    return ArrayType(result_dtype(np.sum, x, location=builder.location), type_of(x).shape)


def all_gather_type(builder: Builder, x: Operand, *, axis: Any) -> ArrayType:
    of = type_of(x)
    return ArrayType(of.dtype, (axis.size, *of.shape))


def require_batch_size(builder: Builder, x: Operand, position: int, axis: Any, what: str) -> ArrayType:
    of = type_of(x)
    if not position < of.ndim:
        raise ShapeMismatchError(f"{what}: the array has no axis {position}", location=builder.location)
    message = f"{what}: axis {position} of the array must be as long as the batch"
    builder.require_same(of.shape[position], axis.size, message)
    return of


def psum_scatter_type(builder: Builder, x: Operand, *, axis: Any) -> ArrayType:
    of = require_batch_size(builder, x, 0, axis, "psum_scatter")
    return ArrayType(result_dtype(np.sum, x, location=builder.location), of.shape[1:])


def all_to_all_type(builder: Builder, x: Operand, *, axis: Any, split: int, concat: int) -> ArrayType:
    of = require_batch_size(builder, x, split, axis, "all_to_all")
    shape = [size for position, size in enumerate(of.shape) if position != split]
    shape.insert(concat, axis.size)
    return ArrayType(of.dtype, tuple(shape))


def ppermute_type(builder: Builder, x: Operand, *, axis: Any, pairs: tuple) -> ArrayType:
    of = type_of(x)
    return ArrayType(of.dtype, of.shape)


psum = primitive("psum", outside, psum_type)
all_gather = primitive("all_gather", outside, all_gather_type)
psum_scatter = primitive("psum_scatter", outside, psum_scatter_type)
all_to_all = primitive("all_to_all", outside, all_to_all_type)
ppermute = primitive("ppermute", outside, ppermute_type)
axis_index = primitive("axis_index", outside, lambda builder, *, axis: INT)
