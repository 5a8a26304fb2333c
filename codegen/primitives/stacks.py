"""Last-in first-out stacks, which keep values of a loop of unknown length for the backward sweep.

>>> s = push(push(stack(element=None), 1.0), 2.0)
>>> pop(s)
([1.0], 2.0)
>>> s
[1.0, 2.0]
"""
from __future__ import annotations

import numpy as np

from ..core import StackType
from ..registry import primitive


def stack_type(builder, element, mirrored=False):
    """`mirrored`: what each turn of a loop puts on it, the same turn of its backward sweep takes."""
    return StackType(element)


def push_type(builder, stack, value):
    return stack.type


def pop_type(builder, stack):
    return stack.type, stack.type.element


def longer(array):
    """An array twice as long that begins with the elements of this one."""
    made = np.empty(2 * array.shape[0], array.dtype)
    made[: array.shape[0]] = array
    return made


def longer_type(builder, array):
    return array.type.with_shape((builder.dimension_add(array.type.shape[0], array.type.shape[0]),))


def row(array, start, size, shape):
    """Room in an array of one axis for another array, which from there on nothing else reads or writes."""
    return array[start : start + size].reshape(shape)


def row_type(builder, array, start, size, shape):
    return array.type.with_shape(shape)


stack = primitive("stack", lambda element=None, mirrored=False: [], stack_type, allocates=True)
push = primitive("push", lambda stack, value: [*stack, value], push_type, destructive=True)
pop = primitive("pop", lambda stack: (stack[:-1], stack[-1]), pop_type, destructive=True)
longer = primitive("longer", longer, longer_type, printed="longer")
row = primitive("row", row, row_type, allocates=True)
