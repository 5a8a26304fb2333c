"""Rewrites that need more than a line: views of views, writes over writes, sizes, casts.

Each is asked for what an operation may become: an operand or a `Call`, or None. Like an identity, it
holds where the type stays, which algebra.py checks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .alias import basic, is_view
from .build import fold, freeze
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


@rewrite("getitem")
def part_of_elementwise(r: Rewriter, of: ArrayType, x: Operand, index: tuple):
    """(2 * x)[1:] -> 2 * x[1:]"""
    made = r.definition(x)
    if made is None or not made.primitive.elementwise or r.uses[x] > 1 or not basic(index) or not of.shape:
        return None
    arrays = [o for o in made.operands if type_of(o).shape]
    if len(made.operands) > 2 or len(arrays) != 1 or not r.same_shape(arrays[0].type.shape, x.type.shape):
        return None
    part = r.builder.emit(PRIMITIVES["getitem"], arrays[0], index)
    return Call(made.primitive, tuple(part if o is arrays[0] else o for o in made.operands), made.static)


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


@rewrite("add", "subtract")
def offsets(r: Rewriter, of: ArrayType, a: Operand, b: Operand, **static: Any):
    """(n + 1) - 1 -> n, for Python integers."""
    if not (of.weak and of.dtype.kind == "i"):
        return None
    sign = 1 if r.primitive.name == "add" else -1
    (one, first), (other, second) = r.ranges.offset(a), r.ranges.offset(b)
    offset = first + sign * second
    if other is None:
        base = one
    elif one is None and sign > 0:
        base = other
    elif one is other and sign < 0:
        return offset
    else:
        return None
    if offset == 0 or base is None:
        return offset if base is None else base
    return Call(PRIMITIVES["add" if offset > 0 else "subtract"], (base, abs(offset)), {})


@rewrite("minimum", "maximum")
def known_order(r: Rewriter, of: ArrayType, a: Operand, b: Operand, **static: Any):
    """min(i, n) -> i, for Python integers, where i <= n is known"""
    if not (of.weak and of.dtype.kind == "i") or not all(isinstance(o, (int, Variable)) for o in (a, b)):
        return None
    small, large = (a, b) if r.primitive.name == "minimum" else (b, a)
    if r.ranges.at_most(small, large):
        return a
    return b if r.ranges.at_most(large, small) else None


# reading and writing


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


# elementwise operations


def drop_broadcast(r: Rewriter, of: ArrayType, *operands: Operand, **static: Any):
    """np.broadcast_to(a, b.shape) * b -> a * b; likewise arrays of one number, and scalars reshaped."""
    if not r.primitive.elementwise:
        return None
    if of.shape and (number := number_throughout(r, *operands, **static)) is not None:
        return Call(PRIMITIVES["broadcast_to"], (number, of.shape), {})
    for place, operand in enumerate(operands):
        source = narrower(r, operand)
        if source is None or type_of(source).weak or type_of(source).dtype != operand.type.dtype:
            continue
        others = [type_of(other) for k, other in enumerate(operands) if k != place]
        if any(r.same_shape(other.shape, of.shape) for other in others):
            return Call(r.primitive, (*operands[:place], source, *operands[place + 1 :]), static)
    return None


def number_throughout(r: Rewriter, *operands: Operand, **static: Any) -> Operand | None:
    """The number that an operation on arrays of one number each, and on numbers, has everywhere."""
    numbers = tuple(
        operand if array_scalar(operand) else filling_of(r.definition(operand)) for operand in operands
    )
    if not all(map(array_scalar, numbers)):
        return None
    typed = (
        type_of(operand).dtype.type(number) if isinstance(operand, Variable) else number
        for operand, number in zip(operands, numbers, strict=True)
    )
    return fold(r.primitive, tuple(typed), static)


def narrower(r: Rewriter, operand: Operand) -> Operand | None:
    """What an array is a broadcast of."""
    if not isinstance(operand, Variable) or not operand.type.shape:
        return None
    made = r.definition(operand)
    filling = filling_of(made)
    if filling is not None:
        return operand.type.dtype.type(filling)
    if r.made_by(operand, "broadcast_to"):
        return made.operands[0]
    if r.made_by(operand, "full"):
        return made.operands[1]
    if r.made_by(operand, "reshape", "getitem") and not type_of(made.operands[0]).shape:
        return made.operands[0]
    return None


@rewrite("multiply", "divide")
def negation_out(r: Rewriter, of: ArrayType, *operands: Operand, **static: Any):
    """-x * y -> -(x * y), where it meets another negation or is printed as it was."""
    if of.dtype.kind not in "if" or static:
        return None
    for place, operand in enumerate(operands):
        made = r.made_by(operand, "negative")
        if made is None or r.uses[operand] > 1 or not r.same_type(operand.type, of):
            continue
        inner = r.builder.emit(r.primitive, *operands[:place], made.operands[0], *operands[place + 1 :])
        return Call(PRIMITIVES["negative"], (inner,), {})
    return None


@rewrite("multiply")
def factor_of_factor(r: Rewriter, of: ArrayType, *operands: Operand, **static: Any):
    """100 * (2 * x) -> 200 * x, where one factor is a power of two, so that nothing is rounded otherwise."""
    outer, x = factor(operands)
    made = r.made_by(x, "multiply", "negative") if outer is not None else None
    if made is None or r.uses[x] > 1 or of.dtype.kind != "f" or not r.same_type(x.type, of):
        return None
    inner, rest = (-1, made.operands[0]) if made.primitive.name == "negative" else factor(made.operands)
    if inner is None or not (power_of_two(inner) or power_of_two(outer)):
        return None
    return Call(r.primitive, (outer * inner, rest), {})


def factor(operands: tuple) -> tuple[Any, Operand]:
    """A product as a constant, or None, and the other factor."""
    for constant, rest in (operands, operands[::-1]):
        if type(constant) in (int, float) and isinstance(rest, Variable):
            return constant, rest
    return None, operands[0]


def power_of_two(number: float) -> bool:
    return abs(math.frexp(number)[0]) == 0.5


@rewrite("multiply")
def factor_of_quotient(r: Rewriter, of: ArrayType, *operands: Operand, **static: Any):
    """1 / n * (2 * x) -> 2 / n * x"""
    for quotient, product in (operands, operands[::-1]):
        made, inner = r.made_by(quotient, "divide"), r.made_by(product, "multiply")
        if made is None or inner is None or r.uses[quotient] > 1 or r.uses[product] > 1:
            continue
        constant, x = factor(inner.operands)
        if constant is None or not power_of_two(constant) or not r.same_type(x.type, of):
            continue
        if type(made.operands[0]) is float and not type_of(quotient).shape and of.dtype.kind == "f":
            scaled = r.builder.emit(made.primitive, made.operands[0] * constant, made.operands[1])
            return Call(r.primitive, (scaled, x), {})
    return None


@rewrite("power")
def no_power(r: Rewriter, of: ArrayType, x: Operand, exponent: Operand, **static: Any):
    """x ** 0 -> 1"""
    if not is_number(exponent, 0) or of.weak:
        return None
    return (
        Call(PRIMITIVES["broadcast_to"], (of.dtype.type(1), of.shape), {}) if of.shape else of.dtype.type(1)
    )


@rewrite("add")
def sum_of_negated(r: Rewriter, of: ArrayType, *operands: Operand, **static: Any):
    """x + np.sum(-y) -> x - np.sum(y)"""
    for x, total in (operands, operands[::-1]):
        made = r.made_by(total, "sum")
        negated = r.made_by(made.operands[0], "negative") if made is not None else None
        if negated is not None and r.uses[total] == r.uses[made.operands[0]] == 1 and of.dtype.kind in "fc":
            positive = r.builder.emit(made.primitive, negated.operands[0], **made.static)
            return Call(PRIMITIVES["subtract"], (x, positive), {})
    return None


def plain_number(r: Rewriter, of: ArrayType, *operands: Operand, **static: Any):
    """x * np.float32(2.0) -> x * 2.0, where x has that dtype."""
    if len(operands) != 2 or not r.primitive.elementwise:
        return None
    for place, operand in enumerate(operands):
        other = operands[1 - place]
        if isinstance(operand, np.generic) and operand.dtype.kind in "iufc" and isinstance(other, Variable):
            number = operand.item()
            alike = other.type.dtype == operand.dtype and not other.type.weak
            if alike and isinstance(number, (int, float, complex)):
                return Call(r.primitive, (*operands[:place], number, *operands[place + 1 :]), static)
    return None


def same(a: Operand, b: Operand) -> bool:
    """Whether two indices are made of the same operands."""
    try:
        return freeze(a) == freeze(b)
    except TypeError:
        return False
