"""Simplify: what is left must be what a careful person would have written.

>>> from .build import Builder
>>> from .core import ArrayType, Program, Variable
>>> from .printing import print_program
>>> from .primitives import elementwise as e
>>> from .primitives import structural
>>> import numpy as np
>>> x, y = (Variable(name, ArrayType(np.dtype(float), (3,))) for name in "xy")
>>> b = Builder()
>>> ones = b.emit(structural.broadcast_to, np.float64(1.0), (3,))
>>> unused = b.emit(e.exp, x)
>>> total = b.emit(e.add, b.emit(e.multiply, ones, y), b.emit(e.negative, b.emit(e.multiply, x, 2.0)))
>>> b.block.results = (total,)
>>> print(print_program(Program("f", (x, y), b.block)).partition("def")[2], end="")
 f(x, y):
    return np.broadcast_to(np.float64(1.0), 3) * y + -(x * 2.0)
>>> print(print_program(simplify(Program("f", (x, y), b.block))).partition("def")[2], end="")
 f(x, y):
    return y - x * 2.0
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from .algebra import apply_algebra
from .core import Block, Program, blocks_of
from .dead_code import remove_dead_code
from .invariants import hoist_invariants

PASSES: tuple[Callable[[Program], Program], ...] = (
    remove_dead_code,
    apply_algebra,
    remove_dead_code,
    hoist_invariants,
)
LAST_PASSES: tuple[Callable[[Program], Program], ...] = (partial(remove_dead_code, keep_sizes=False),)
MOST_ROUNDS = 4


# Before derivatives are taken: what only these tell from something simpler stays.
EARLY_PASSES: tuple[Callable[[Program], Program], ...] = (
    remove_dead_code,
    partial(apply_algebra, differentiated=False),
    remove_dead_code,
)


def simplify(program: Program, keep_sizes: bool = True) -> Program:
    """The program after all passes, again until they change nothing.

    Passes to come read the sizes in the types of arrays; once none does, `keep_sizes=False` removes them.
    """
    program = in_rounds(program, PASSES)
    if not keep_sizes:
        for step in LAST_PASSES:
            program = step(program)
    return program


def simplify_to_differentiate(program: Program) -> Program:
    """A program simplified whose derivatives may be taken, such as that of a derivative."""
    return in_rounds(program, EARLY_PASSES)


def in_rounds(program: Program, passes: tuple[Callable[[Program], Program], ...]) -> Program:
    for _ in range(MOST_ROUNDS):
        before = shape_of(program.body)
        for step in passes:
            program = step(program)
        if shape_of(program.body) == before:
            break
    return program


def shape_of(block: Block) -> tuple:
    """What a pass may change in a block, to see whether one did."""
    statements = tuple(
        (type(s), getattr(s, "primitive", None), len(s.targets), tuple(map(shape_of, blocks_of(s))))
        for s in block.statements
    )
    return statements, len(block.results)
