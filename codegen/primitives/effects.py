"""Effects: checks at run time, and print. They stay, and stay in order."""
from __future__ import annotations

import numpy as np

from ..exceptions import named
from ..registry import primitive


def check_same_implementation(a, b, message="sizes differ", enforced=False):
    if a != b:
        raise ValueError(message.format(a, b))


def check_index_implementation(index, size, axis=0, of_example=False):
    """`of_example`: the axis is that of one example of a batch, which NumPy would not name."""
    index = np.asarray(index)
    outside = index[(index < -size) | (index >= size)]
    if outside.size:
        raise IndexError(f"index {outside.flat[0]} is out of bounds for axis {axis} with size {size}")


def check_implementation(test, *values, exception="ValueError", message=""):
    """With values the message is a template for str.format."""
    if not test:
        raise named(exception)(message.format(*values) if values else message)


def print_implementation(*operands, sep=" ", end="\n", template=None):
    if template is None:
        print(*operands, sep=sep, end=end)
    else:
        print(template.format(*operands), end=end)


def no_result(builder, *operands, **static):
    """An effect has no result."""
    return ()


check_same = primitive("check_same", check_same_implementation, no_result, effect=True)
check_index = primitive("check_index", check_index_implementation, no_result, effect=True)
check = primitive("check", check_implementation, no_result, effect=True)
print_ = primitive("print", print_implementation, no_result, functions=(print,), printed="print", effect=True)
