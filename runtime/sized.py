"""A compiled program as two functions: one for small arguments, and one whose loops the cores share.

Which of them a call takes depends on the sizes of its arguments alone. A loop over arrays is worth sharing
from some ten thousands of elements on; turns with products of matrices, from some thousands on; turns that
have loops of their own, from a few dozen on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np

from ..codegen.core import ArrayType, Assign, For, Program, While, walk
from ..codegen.independent import is_independent

LARGE = 2**15  # elements: about 20 microseconds of the least work there is on each
LARGE_OF_PRODUCTS = 2**12
LARGE_OF_LOOPS = 64
PRODUCTS = ("matmul", "einsum", "solve", "convolve")


class Sized:
    """The functions of a program, each made when it is first needed: `build(shared)` makes one.

    `least`: the size of an argument from which a call takes the second (least_large).
    """

    def __init__(self, least: int, build: Callable[[bool], Callable]):
        self.build = build
        self.least = least

    @cached_property
    def small(self) -> Callable:
        return self.build(False)

    @cached_property
    def large(self) -> Callable:
        return self.build(True)

    def __call__(self, *operands: Any) -> Any:
        return (self.large if is_large(self.least, operands) else self.small)(*operands)

    def called_by(self, names: dict[str, Any], which: str) -> Callable:
        """The function, or what makes it at the first call and takes its place among the names."""
        if which in vars(self):
            return getattr(self, which)

        def first(*operands: Any) -> Any:
            names[which] = getattr(self, which)
            return names[which](*operands)

        return first


def is_large(least: int, operands: Iterable[Any]) -> bool:
    """Whether a call with these operands takes the function whose loops are shared."""
    return least == 0 or any(elements(operand) >= least for operand in operands)


def elements(operand: Any) -> int:
    """How much work an argument may be: an array's elements, or an integer, which may be a size."""
    if isinstance(operand, np.ndarray):
        return operand.size
    return operand if type(operand) is int else 1


def least_large(program: Program) -> int:
    """The size of an argument from which a program's loops are shared; 0 if they always are."""
    if any(known_elements(t.type) >= LARGE for s in walk(program.body) for t in s.targets):
        return 0
    loops = (s for s in program.body.statements if isinstance(s, For) and is_independent(s))
    if any(isinstance(inner, (For, While)) for loop in loops for inner in walk(loop.body)):
        return LARGE_OF_LOOPS
    products = any(isinstance(s, Assign) and s.primitive.name in PRODUCTS for s in walk(program.body))
    return LARGE_OF_PRODUCTS if products else LARGE


def known_elements(of: Any) -> int:
    """The number of an array's elements, of which only the known sizes count."""
    if not isinstance(of, ArrayType) or not of.shape:
        return 0
    return math.prod(size for size in of.shape if isinstance(size, int))
