"""What becomes of the elements of small arrays in one operation.

The elements are kept in NumPy arrays of objects, so that NumPy itself slices, reshapes and broadcasts them.

>>> from .core import FLOAT
>>> a, b = Variable("a", FLOAT), Variable("b", FLOAT)
>>> swap = Assign((Variable(None, ArrayType(np.dtype(float), (2,))),), PRIMITIVES["array"], ((b, a),))
>>> is_split_operation(swap)
True
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .build import Builder, constant_int
from .core import ArrayType, Assign, Operand, Type, Variable, type_of
from .registry import PRIMITIVES

FEW = 6
SMALL = 24  # of arrays whose parts are read or written one by one
FILLS = {"zeros": 0, "ones": 1, "empty": 0}
FOLDS = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum", "any": "logical_or",
         "all": "logical_and"}  # fmt: skip
VIEWS = frozenset({"reshape", "transpose", "broadcast_to", "copy", "stop_gradient", "concatenate"})
Elements = Callable[[Operand], np.ndarray]


def known_shape(of: Type) -> bool:
    return isinstance(of, ArrayType) and all(isinstance(size, int) for size in of.shape)


def is_few(of: Type, most: int = FEW) -> bool:
    """Whether a type is that of an array of few elements, which may be numbers."""
    return known_shape(of) and of.ndim > 0 and of.dtype.kind in "biufc" and 0 < math.prod(of.shape) <= most


def is_small(operand: Operand) -> bool:
    """Whether an operand is a number or an array of few elements."""
    return not type_of(operand).shape or is_few(type_of(operand), SMALL)


def is_split_operation(statement: Assign) -> bool:
    """Whether an operation can be done element by element, by its kind and the types of its operands."""
    if len(statement.targets) != 1:
        return False
    name, operands, of = statement.primitive.name, statement.operands, statement.targets[0].type
    if PRIMITIVES.get(name) is not statement.primitive or not isinstance(of, ArrayType):
        return False
    if name == "getitem":
        return is_split_reading(statement)
    if name in FOLDS:
        return is_few(type_of(operands[0]), SMALL) and set(statement.static) <= {"axis", "keepdims"}
    if name == "matmul":
        return all(is_few(type_of(operand)) for operand in operands) and of.dtype.kind in "fc"
    if not is_few(of, SMALL):
        return False
    if name == "array":
        return all(not type_of(item).shape for item in leaves(operands[0]))
    if name in ("setitem", "index_add"):
        return is_fixed(operands[1]) and is_small(operands[0]) and is_small(operands[2])
    if name == "concatenate":
        return all(map(is_small, operands[0]))
    if name in VIEWS:
        return is_small(operands[0])
    return name in (*FILLS, "full") or (statement.primitive.elementwise and all(map(is_small, operands)))


def leaves(items: Any) -> Iterator[Operand]:
    if isinstance(items, (tuple, list)):
        for item in items:
            yield from leaves(item)
    else:
        yield items


def is_fixed(index: tuple) -> bool:
    """Whether an index is known, and of integers and slices only."""
    parts = [(i.start, i.stop, i.step) if isinstance(i, slice) else (i,) for i in index]
    return all(part is None or constant_int(part) for part in itertools.chain(*parts))


def is_split_reading(statement: Assign) -> bool:
    array, index = statement.operands
    of = statement.targets[0].type
    if is_few(type_of(array), SMALL) and is_fixed(index):
        return is_few(of, SMALL) or not of.shape
    return is_few(of, SMALL) and places(index, type_of(array).ndim) is not None


def is_split_write(statement: Assign) -> bool:
    """Whether a statement writes a small array into another, in places that can be written one by one."""
    if statement.primitive.name not in ("setitem", "index_add") or statement.static:
        return False
    array, index, value = statement.operands
    if not (isinstance(value, Variable) and is_few(value.type, SMALL) and None not in index):
        return False
    found = places(index, type_of(array).ndim)
    return found is not None and found.count(None) == value.type.ndim


def places(index: tuple, ndim: int) -> list | None:
    """For each axis the integer that an index has, or None for the whole axis; None for any other index."""
    found: list = []
    for part in index:
        if isinstance(part, slice):
            if part != slice(None):
                return None
            found.append(None)
        elif part is not None:
            if not constant_int(part) and not (isinstance(part, Variable) and not part.type.shape):
                return None
            found.append(part)
    return [*found, *(None,) * (ndim - len(found))]


def filled(found: list, at: tuple) -> tuple:
    """The index of one element, where an index has whole axes."""
    remaining = iter(at)
    return tuple(next(remaining) if part is None else part for part in found)


def table(shape: tuple, function: Callable[[tuple], Operand]) -> np.ndarray:
    """An array of objects, one for each index."""
    made = np.empty(shape, object)
    for at in np.ndindex(*shape):
        made[at] = function(at)
    return made


def elements_of_operation(builder: Builder, statement: Assign, elements: Elements) -> np.ndarray:
    """The elements of the result; `elements` gives those of an operand, as an array of objects."""
    name, operands, static = statement.primitive.name, statement.operands, statement.static
    shape = statement.targets[0].type.shape
    if name in FILLS:
        return table(shape, lambda at: FILLS[name])
    if name == "full":
        return table(shape, lambda at: operands[1])
    if name == "array":
        flat = list(leaves(operands[0]))
        return table(shape, lambda at: flat[int(np.ravel_multi_index(at, shape))])
    if name == "getitem":
        return reading(builder, statement, elements)
    if name in ("setitem", "index_add"):
        return written(builder, statement, elements)
    if name in FOLDS:
        numbers = elements(operands[0])
        dtype = statement.targets[0].type.dtype
        if name in ("sum", "prod") and type_of(operands[0]).dtype != dtype:
            widened = lambda at: builder.emit(PRIMITIVES["astype"], numbers[at], dtype=dtype)
            return folded(builder, PRIMITIVES[FOLDS[name]], table(numbers.shape, widened), **static)
        return folded(builder, PRIMITIVES[FOLDS[name]], numbers, **static)
    if name == "matmul":
        return product(builder, *map(elements, operands))
    if name == "concatenate":
        return np.concatenate([elements(operand) for operand in operands[0]], **static)
    if name in VIEWS:
        given = elements(operands[0])
        return (
            np.transpose(given, static["axes"])
            if name == "transpose"
            else (np.broadcast_to(given, shape) if name == "broadcast_to" else given.reshape(shape))
        )
    wide = [np.broadcast_to(elements(operand), shape) for operand in operands]
    return table(shape, lambda at: builder.emit(statement.primitive, *(w[at] for w in wide), **static))


def reading(builder: Builder, statement: Assign, elements: Elements) -> np.ndarray:
    array, index = statement.operands
    shape = statement.targets[0].type.shape
    if is_few(type_of(array), SMALL) and is_fixed(index):
        return as_table(elements(array)[tuple(index)])
    found = places(index, type_of(array).ndim)
    kept = [part for part in index if part is None or isinstance(part, slice)]
    axes = [k for k, part in enumerate(kept) if part is None]
    inner = tuple(size for k, size in enumerate(shape) if k not in axes)
    read = table(inner, lambda at: builder.emit(PRIMITIVES["getitem"], array, filled(found, at)))
    return read.reshape(shape)


def as_table(value: Any) -> np.ndarray:
    if isinstance(value, np.ndarray):
        return value
    return table((), lambda at: value)


def written(builder: Builder, statement: Assign, elements: Elements) -> np.ndarray:
    array, index, value = statement.operands
    made = elements(array).copy()
    chosen = np.arange(made.size).reshape(made.shape)[tuple(index)]
    numbers = np.broadcast_to(elements(value), np.shape(chosen))
    for place, number in zip(np.ravel(chosen), numbers.flat, strict=True):
        adds = statement.primitive.name == "index_add"
        made.flat[place] = builder.emit(PRIMITIVES["add"], made.flat[place], number) if adds else number
    return made


def folded(builder: Builder, primitive: Any, given: np.ndarray, axis: tuple, keepdims: bool = False
           ) -> np.ndarray:  # fmt: skip
    kept = [k for k in range(given.ndim) if k not in axis]
    lines = np.transpose(given, [*kept, *axis]).reshape(*(given.shape[k] for k in kept), -1)
    combine = lambda a, b: builder.emit(primitive, a, b)
    made = table(lines.shape[:-1], lambda at: functools.reduce(combine, lines[at]))
    shape = [1 if k in axis else size for k, size in enumerate(given.shape)]
    return made.reshape(shape) if keepdims else made


def product(builder: Builder, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b of one or two axes each."""
    left, right = np.atleast_2d(a), b[:, None] if b.ndim == 1 else b
    add, multiply = PRIMITIVES["add"], PRIMITIVES["multiply"]

    def element(at: tuple) -> Operand:
        terms = [builder.emit(multiply, x, y) for x, y in zip(left[at[0]], right[:, at[1]], strict=True)]
        return functools.reduce(lambda x, y: builder.emit(add, x, y), terms)

    made = table((len(left), right.shape[1]), element)
    shape = (*a.shape[:-1], *b.shape[1:])
    return made.reshape(shape)
