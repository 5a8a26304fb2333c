"""One program for batches of every size, those of one example included.

A size of 1 is part of a signature, for a 1 broadcasts. Along the axis of a batch it does not: what is
compared with its size is the size of another array of the same batch. So where arrays have a first axis of
size 1, the program for batches of any size from 1 on is tried first. It will do if it takes these axes, and
no others, to be of one size, and if the sizes of this call are as it takes them to be. Of several batches,
the arrays of the highest rank are the one: a bias of one number is none.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..codegen.core import Assign, Program, Variable, walk
from ..codegen.union import Union
from .arguments import StaticKey


class Unsuitable(Exception):
    """A program made for all sizes that is not for a call with a size of 1.

    `batch`: the leaves whose axes a narrower program may be made for.
    """

    def __init__(self, batch: tuple[int, ...] = ()):
        self.batch = batch


def first_axes_of_one(key: tuple) -> tuple[int, ...]:
    """The leaves, by their numbers among those that are data, that have a first axis of size 1."""
    data = [leaf for leaf in key[1] if not isinstance(leaf, StaticKey)]
    return tuple(number for number, leaf in enumerate(data) if is_array(leaf) and leaf[1][:1] == (1,))


def for_any_size(key: tuple, opened: tuple[int, ...]) -> tuple:
    """A signature with a first axis of any size in these leaves."""
    numbers = itertools.count()
    leaves = tuple(
        (leaf[0], (2, *leaf[1][1:]), leaf[2])
        if not isinstance(leaf, StaticKey) and next(numbers) in opened
        else leaf
        for leaf in key[1]
    )
    return (key[0], leaves, *key[2:])


def is_array(leaf: Any) -> bool:
    return type(leaf) is tuple and len(leaf) == 3


def check_suitable(program: Program, values: Iterable[Any], opened: tuple[int, ...]) -> None:
    """Raise Unsuitable unless a program is for arguments of these sizes, the opened axes one batch."""
    sizes: dict[Any, int] = {}
    for parameter, value in zip(program.parameters, values, strict=True):
        sizes.update(zip(getattr(parameter.type, "shape", ()), np.shape(value), strict=False))
    classes = Union()
    for statement in walk(program.body):
        if isinstance(statement, Assign) and statement.primitive.name == "check_same":
            a, b = statement.operands
            if known_size(a, sizes) != known_size(b, sizes):
                raise Unsuitable
            classes.join(a, b)
    types = {number: program.parameters[number].type for number in opened}
    together: dict[Any, list[int]] = {}
    for number, of in types.items():
        if isinstance(of.shape[0], Variable):
            together.setdefault(classes.find(of.shape[0]), []).append(number)
    if len(together) != 1:
        rank = lambda numbers: max(types[number].ndim for number in numbers)
        raise Unsuitable(tuple(max(together.values(), key=rank, default=())))


def known_size(size: Any, sizes: dict[Any, int]) -> int | None:
    return size if isinstance(size, int) else sizes.get(size)
