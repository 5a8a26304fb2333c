"""Rewrites of reading, writing and copying: what is read where it was written, writes over writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .alias import basic, is_view
from .build import freeze
from .core import ArrayType, Operand, Variable, type_of, variables_in
from .identities import Call, filling_of, is_number
from .registry import PRIMITIVES, array_scalar
from .rewrites import rewrite

if TYPE_CHECKING:
    from .algebra import Rewriter


@rewrite("getitem")
def part_of_elementwise(r: Rewriter, of: ArrayType, x: Operand, index: tuple):
    """(2 * x)[1:] -> 2 * x[1:]"""
    made = r.definition(x)
    if made is None or not made.primitive.elementwise or r.uses[x] > 1 or not basic(index) or not of.shape:
        return None
    if all(entry is None or entry == slice(None) for entry in index):
        return None
    arrays = [o for o in made.operands if type_of(o).shape]
    if len(made.operands) > 2 or len(arrays) != 1 or not r.same_shape(arrays[0].type.shape, x.type.shape):
        return None
    part = r.builder.emit(PRIMITIVES["getitem"], arrays[0], index)
    return Call(made.primitive, tuple(part if o is arrays[0] else o for o in made.operands), made.static)


@rewrite("reshape")
def reshape_of_part(r: Rewriter, of: ArrayType, x: Operand, shape: tuple):
    """x[1:2].reshape(n) -> x[1]"""
    made = r.made_by(x, "getitem")
    if made is None or r.uses[x] > 1 or not basic(made.operands[1]) or None in made.operands[1]:
        return None
    index = tuple(position(entry) for entry in made.operands[1])
    kept = [size for size, entry in zip(type_of(x).shape, index) if type(entry) is not int]
    rest = type_of(x).shape[len(index) :]
    if index == made.operands[1] or not r.same_shape((*kept, *rest), of.shape):
        return None
    return Call(made.primitive, (made.operands[0], index), {})


def position(entry: Operand) -> Operand:
    """The place of a slice of one element, as a number; any other part of an index as it is."""
    one = isinstance(entry, slice) and type(entry.stop) is int and entry.step in (None, 1)
    return entry.start or 0 if one and entry.stop - (entry.start or 0) == 1 else entry


def whole(r: Rewriter, x: Operand, index: tuple) -> bool:
    """Whether an index selects all of an array, as it is."""
    return not any(entry is None or isinstance(entry, int) for entry in index) and everything(r, x, index)


def everything(r: Rewriter, x: Operand, index: tuple) -> bool:
    """Whether an index selects every element, in order; the 0 of an axis of size 1 also drops the axis."""
    return all(
        (type(entry) is int and r.builder.same(size, 1))
        or (
            isinstance(entry, slice)
            and (entry.start is None or r.builder.same(entry.start, 0))
            and (entry.stop is None or r.builder.same(entry.stop, size))
            and (entry.step is None or r.builder.same(entry.step, 1))
        )
        for entry, size in zip(index, type_of(x).shape, strict=False)
    )


@rewrite("getitem")
def read_all(r: Rewriter, of: ArrayType, x: Operand, index: tuple):
    """x[:] -> x"""
    return x if whole(r, x, index) else None


@rewrite("getitem")
def read_all_of_reshaped(r: Rewriter, of: ArrayType, x: Operand, index: tuple):
    """x.reshape(n, 1)[:, 0] -> x, x[:, None][:, 0] -> x"""
    made = r.made_by(x, "reshape", "getitem")
    if made is None or None in index or not everything(r, x, index):
        return None
    if made.primitive.name == "getitem" and not all(e is None or e == slice(None) for e in made.operands[1]):
        return None
    return made.operands[0] if r.same_type(type_of(made.operands[0]), of) else None


@rewrite("getitem")
def read_what_was_written(r: Rewriter, of: ArrayType, x: Operand, index: tuple):
    """After x[i] = v, x[i] -> v"""
    made = r.made_by(x, "setitem")
    if made is None or not basic(index) or not same(made.operands[1], index):
        return None
    value = made.operands[2]
    return value if isinstance(value, (Variable, np.ndarray)) or of.shape else of.dtype.type(value)


@rewrite("getitem")
def read_constant(r: Rewriter, of: ArrayType, x: Operand, index: tuple):
    """np.zeros(n)[i] -> 0.0"""
    filling = filling_of(r.definition(x))
    return of.dtype.type(filling) if filling is not None and not of.shape else None


@rewrite("getitem")
def read_item(r: Rewriter, of: ArrayType, x: Operand, index: tuple):
    """np.array([a, b])[1] -> b, of the array's dtype"""
    made = r.made_by(x, "array")
    if made is None or of.shape or not all(type(entry) is int for entry in index):
        return None
    found = made.operands[0]
    for entry in index:
        found = found[entry]
    if isinstance(found, Variable):
        return Call(PRIMITIVES["astype"], (found,), {"dtype": of.dtype})
    return of.dtype.type(found) if array_scalar(found) else None


@rewrite("getitem")
def read_scalar_broadcast(r: Rewriter, of: ArrayType, x: Operand, index: tuple):
    """np.broadcast_to(s, n)[i] -> s"""
    made = r.made_by(x, "broadcast_to")
    return made.operands[0] if made is not None and not type_of(made.operands[0]).shape else None


@rewrite("setitem")
def write_over(r: Rewriter, of: ArrayType, x: Operand, index: tuple, value: Operand, **static: Any):
    """x[i] = a; x[i] = b -> x[i] = b"""
    made = r.made_by(x, "setitem")
    if made is None or r.uses[x] > 1 or not same(made.operands[1], index):
        return None
    return Call(r.primitive, (made.operands[0], index, value), static)


@rewrite("setitem")
def write_all(r: Rewriter, of: ArrayType, x: Operand, index: tuple, value: Operand, **static: Any):
    """x[:] = v -> v, and with axes of size 1 x[0] = v -> v.reshape(x.shape)"""
    if whole(r, x, index):
        return value
    if None in index or not everything(r, x, index):
        return None
    left = (
        size for size, entry in zip(of.shape, (*index, *(slice(None),) * of.ndim)) if type(entry) is not int
    )
    same = r.same_type(type_of(value), of.with_shape(tuple(left)))
    return Call(PRIMITIVES["reshape"], (value, of.shape), {}) if same else None


@rewrite("setitem")
def write_all_backwards(r: Rewriter, of: ArrayType, x: Operand, index: tuple, value: Operand, **static: Any):
    """x[::-1] = v -> v[::-1]"""
    backwards = slice(None, None, -1)
    if not any(is_slice(entry, backwards) for entry in index) or not r.same_type(type_of(value), of):
        return None
    forwards = tuple(slice(None) if is_slice(entry, backwards) else entry for entry in index)
    return Call(PRIMITIVES["getitem"], (value, index), {}) if whole(r, x, forwards) else None


def is_slice(entry: Operand, known: slice) -> bool:
    """Whether an entry of an index is a slice that no variable is part of."""
    return isinstance(entry, slice) and not any(variables_in(entry)) and entry == known


@rewrite("setitem")
def write_back(r: Rewriter, of: ArrayType, x: Operand, index: tuple, value: Operand, **static: Any):
    """x[i] = x[i] -> x"""
    made = r.made_by(value, "getitem")
    return x if made is not None and made.operands[0] is x and same(made.operands[1], index) else None


@rewrite("index_add")
def add_to_zero(r: Rewriter, of: ArrayType, x: Operand, index: tuple, value: Operand, **static: Any):
    """x[i] = 0; x[i] += v -> x[i] = v"""
    made = r.made_by(x, "setitem")
    if made is None or r.uses[x] > 1 or not basic(index) or not same(made.operands[1], index):
        return None
    if not is_number(made.operands[2], 0):
        return None
    return Call(PRIMITIVES["setitem"], (made.operands[0], index, value), static)


@rewrite("index_add")
def add_to_zeros(r: Rewriter, of: ArrayType, x: Operand, index: tuple, value: Operand, **static: Any):
    """zeros[:] += v -> v; zeros[i] += v -> zeros[i] = v"""
    made = r.made_by(x, "zeros")
    if made is None or not basic(index):
        return None
    if whole(r, x, index) and r.same_type(type_of(value), of):
        return value
    if None in index and whole(r, x, tuple(entry for entry in index if entry is not None)):
        return value_of_every_element(r, of, index, value)
    return Call(PRIMITIVES["setitem"], (x, index, value), static) if r.uses[x] == 1 else None


def value_of_every_element(r: Rewriter, of: ArrayType, index: tuple, value: Operand) -> Call | None:
    """zeros[:, None] += v -> v.reshape(zeros.shape), where v has all elements of the array."""
    sizes = iter(of.shape)
    shape = [1 if entry is None else next(sizes) for entry in index]
    fits = r.same_type(type_of(value), of.with_shape((*shape, *sizes)))
    return Call(PRIMITIVES["reshape"], (value, of.shape), {}) if fits else None


@rewrite("copy")
def copy_of_new(r: Rewriter, of: ArrayType, x: Operand):
    """A copy of what was just made for it alone is that itself."""
    if isinstance(x, Variable) and not of.shape:
        return x
    made = r.definition(x)
    fresh = made is not None and not is_view(made) and made.primitive.name != "constant"
    fresh = fresh and not made.primitive.destructive
    return x if fresh and r.uses[x] == 1 else None


def same(a: Operand, b: Operand) -> bool:
    """Whether two indices are made of the same operands."""
    try:
        return freeze(a) == freeze(b)
    except TypeError:
        return False
