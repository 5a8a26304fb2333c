"""Rewrites that need more than a line: here of shapes, sizes and casts.

Each is asked for what an operation may become: an operand or a `Call`, or None. Like an identity, it
holds where the type stays, which algebra.py checks. Those of reading and writing are in
rewrites_of_memory.py, those of arithmetic in rewrites_of_arithmetic.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .core import ArrayType, Operand, Variable, type_of
from .identities import Call, filling_of, is_number
from .registry import PRIMITIVES, array_scalar

if TYPE_CHECKING:
    from .algebra import Rewriter

Rewrite = Callable[..., Operand | Call | None]
REWRITES: dict[str, list[Rewrite]] = {}


def rewrite(*names: str) -> Callable[[Rewrite], Rewrite]:
    """Enter a function as a rewrite of the primitives of these names."""

    def enter(function: Rewrite) -> Rewrite:
        for name in names:
            REWRITES.setdefault(name, []).append(function)
        return function

    return enter


@rewrite("reshape", "broadcast_to", "astype")
def no_change(r: Rewriter, of: ArrayType, x: Operand, *operands: Operand, **static: Any):
    """x.reshape(x.shape) -> x, astype to the type that x has -> x."""
    return x


@rewrite("transpose")
def transpose_of_transpose(r: Rewriter, of: ArrayType, x: Operand, axes: tuple):
    """x.T.T -> x"""
    if list(axes) == sorted(axes):
        return x
    made = r.made_by(x, "transpose")
    if made is None:
        return None
    inner = made.static["axes"] if "axes" in made.static else made.operands[1]
    return Call(PRIMITIVES["transpose"], made.operands[:1], {"axes": tuple(inner[axis] for axis in axes)})


@rewrite("reshape", "broadcast_to")
def last_of_two(r: Rewriter, of: ArrayType, x: Operand, shape: tuple):
    """x.reshape(a).reshape(b) -> x.reshape(b)"""
    made = r.made_by(x, r.primitive.name)
    return Call(r.primitive, (made.operands[0], shape), {}) if made is not None else None


@rewrite("full")
def full_of_zeros(r: Rewriter, of: ArrayType, shape: tuple, value: Operand, **static: Any):
    """np.full(n, 0.0) -> np.zeros(n)"""
    for name, number in (("zeros", 0), ("ones", 1)):
        if of.dtype.kind in "iufc" and is_number(value, number):
            return Call(PRIMITIVES[name], (shape,), {"dtype": of.dtype})
    return None


@rewrite("reshape")
def reshape_of_filled(r: Rewriter, of: ArrayType, x: Operand, shape: tuple):
    """np.zeros(a).reshape(b) -> np.zeros(b)"""
    made = r.made_by(x, "zeros", "ones", "full", "empty")
    if made is None or r.uses[x] > 1:
        return None
    return Call(made.primitive, (shape, *made.operands[1:]), made.static)


@rewrite("reshape")
def reshape_of_reduction(r: Rewriter, of: ArrayType, x: Operand, shape: tuple):
    """np.sum(x, axis=1, keepdims=True).reshape(n) -> np.sum(x, axis=1)"""
    made = r.made_by(x, "sum", "prod", "max", "min", "any", "all")
    if made is None or r.uses[x] > 1 or not made.static.get("keepdims"):
        return None
    axes = made.static["axis"]
    left = tuple(size for axis, size in enumerate(type_of(x).shape) if axis not in axes)
    if not r.same_shape(left, of.shape) or not left:
        return None
    return Call(made.primitive, made.operands, {**made.static, "keepdims": False})


@rewrite("broadcast_to")
def broadcast_of_reshaped(r: Rewriter, of: ArrayType, x: Operand, shape: tuple):
    """np.broadcast_to(np.reshape(number, (1,)), n) -> np.broadcast_to(number, n)"""
    made = r.made_by(x, "reshape")
    if made is None or type_of(made.operands[0]).shape or type_of(made.operands[0]).weak:
        return None
    return Call(r.primitive, (made.operands[0], shape), {})


@rewrite("broadcast_to")
def broadcast_of_filled(r: Rewriter, of: ArrayType, x: Operand, shape: tuple):
    """np.broadcast_to(np.ones(1), n) -> np.broadcast_to(1.0, n)"""
    filling = filling_of(r.definition(x)) if isinstance(x, Variable) else None
    return Call(r.primitive, (of.dtype.type(filling), shape), {}) if array_scalar(filling) else None


@rewrite("broadcast_to")
def broadcast_constant(r: Rewriter, of: ArrayType, x: Operand, shape: tuple):
    """np.broadcast_to(1.0, shape) -> np.ones(shape)"""
    if isinstance(x, (Variable, np.ndarray)):
        return None
    for name, number in (("zeros", 0), ("ones", 1)):
        if is_number(x, number) or is_number(x, bool(number)):
            return Call(PRIMITIVES[name], (shape,), {"dtype": of.dtype})
    return Call(PRIMITIVES["full"], (shape, x), {"dtype": of.dtype})


@rewrite("astype")
def cast_of_cast(r: Rewriter, of: ArrayType, x: Operand, **static: Any):
    """Two casts are one, if the first loses nothing."""
    made = r.made_by(x, "astype")
    if made is None or not np.can_cast(type_of(made.operands[0]).dtype, type_of(x).dtype, "safe"):
        return None
    return Call(r.primitive, made.operands[:1], static)


@rewrite("sum", "prod", "max", "min")
def reduce_one(r: Rewriter, of: ArrayType, x: Operand, axis: tuple = (), **static: Any):
    """A sum over axes of size 1, or over none, is the array itself."""
    if not isinstance(axis, tuple) or not isinstance(x, Variable) or type_of(x).dtype != of.dtype:
        return None
    shape = type_of(x).shape
    if not all(r.builder.same(shape[k], 1) for k in axis):
        return None
    return x if len(shape) == len(of.shape) else Call(PRIMITIVES["reshape"], (x, of.shape), {})


@rewrite("size")
def known_size(r: Rewriter, of: ArrayType, x: Operand, axis: int):
    """The size that the type of an array names."""
    size = r.builder.representative(type_of(x).shape[axis])
    return size if not isinstance(size, Variable) or r.visible(size) else None
