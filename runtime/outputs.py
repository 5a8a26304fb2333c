"""What the steps of chainrule.lax.scan read and give: rows of its inputs, and of its outputs.

Outside of a program the outputs are kept one by one and stacked at the end. Inside one, arrays for all of
them are made before the loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..codegen.core import ArrayType, type_of
from ..codegen.errors import ShapeMismatchError, TypeMismatchError
from ..codegen.registry import PRIMITIVES
from ..codegen.specialise import Parameter, put_together, specialise
from ..codegen.specialise.builtin_functions import BUILTINS
from . import carries
from .carries import copied, described, fitted, known_type, name_of, path_text
from .trees import flatten, unflatten
from .tried_steps import Tried, leaves_of, number_type


class Outputs:
    """The outputs of the steps so far, by number, where a loop runs as ordinary Python."""

    def __init__(self, step: Callable, init: Any, count: int, who: str, whose: str):
        self.step, self.init, self.count, self.who, self.whose = step, init, count, who, whose
        self.rows: dict[int, list] = {}
        self.structure: Any = None
        self.types: list = []

    def put(self, k: int, y: Any) -> None:
        leaves, structure = flatten(copied(y))
        types = [known_type(leaf) for leaf in leaves]
        if not self.rows:
            self.structure, self.types = structure, types
        first = (self.structure, self.types)
        self.types = check_outputs(*first, structure, types, leaves, self.who, self.whose, None)
        self.rows[k] = leaves

    def stacked(self) -> Any:
        if not self.count:
            return no_outputs(self.step, self.init)
        columns = zip(*(self.rows[k] for k in range(self.count)), strict=True)
        return unflatten(
            self.structure,
            [
                np.stack([np.asarray(leaf, of.dtype) for leaf in column])
                for of, column in zip(self.types, columns, strict=True)
            ],
        )


def no_outputs(step: Callable, init: Any) -> Any:
    """The outputs of no steps: arrays with no rows, of the types that a step would give."""
    entered = carries.unflatten(
        flatten(init)[1],
        [leaf if known_type(leaf) is None else Parameter(known_type(leaf)) for leaf in flatten(init)[0]],
    )
    done = specialise(step, [Parameter(type_of(0)), entered], exact=True)
    types = map(type_of, done.program.body.results)
    return put_together(done.template, [np.zeros((0, *of.shape), of.dtype) for of in types])[1]


def check_outputs(
    structure: Any, types: list, found: Any, given: list, leaves: list, who: str, whose: str, where: Any
) -> list:
    """The types of outputs, which are arrays and numbers of one structure, shape and dtype in all steps."""
    remedy = f"let {whose} return a y of one structure, shape and dtype in every step"
    if found != structure:
        raise TypeMismatchError(
            f"{who} needs outputs of one structure: {whose} returned "
            f"{described(structure)} in one step, and {described(found)} in another",
            remedy,
            where,
        )
    fitting = []
    for path, of, new, leaf in zip(structure.paths(), types, given, leaves, strict=True):
        name = path_text("y", path)
        if new is None:
            raise TypeMismatchError(
                f"{who} needs outputs that are arrays and numbers, and {name} is {name_of(new, leaf)}",
                "return it beside the arrays, or None",
                where,
            )
        fitting.append(fitted(of, new))
        if fitting[-1] is None:
            raise ShapeMismatchError(
                f"{who} needs outputs of one shape and dtype: {name} is "
                f"{name_of(of, None)} in one step, and {name_of(new, None)} in another",
                remedy,
                where,
            )
    return fitting


def started(step: Callable, init: Any, count: int, who: str, whose: str) -> tuple[Any, Any]:
    """The first carry of a loop whose step is a function of (index, carry) to (carry, y); room for its ys."""
    return copied(init), Outputs(step, init, count, who, whose)


def put(outputs: Any, k: int, y: Any) -> None:
    """Note the output of step k."""
    outputs.put(k, y)


def stacked(outputs: Any) -> Any:
    """The outputs of all steps, along a new first axis."""
    return outputs.stacked()


def row(structure: Any, leaves: list, k: int) -> Any:
    """Row k of a tree of arrays: copies, which may be written to."""
    return copied(unflatten(structure, [leaf[k] for leaf in leaves]))


def in_program() -> bool:
    """Whether this is read into a program, rather than run by Python."""
    return False


def pair(result: Any, who: str, whose: str) -> tuple[Any, Any]:
    """What a step returned, which must be (carry, y)."""
    return checked_pair(result, who, whose, None)


def checked_pair(result: Any, who: str, whose: str, where: Any) -> tuple[Any, Any]:
    if isinstance(result, (tuple, list)) and len(result) == 2:
        return tuple(result)
    what = f"a {type(result).__name__} of {len(result)}" if isinstance(result, (tuple, list)) else "one value"
    raise TypeMismatchError(
        f"{who} needs {whose} to return (carry, y), and it returned {what}",
        f"let {whose} return a tuple of two; y may be None",
        where,
    )


# inside a function that is being specialised


class TriedPair(Tried):
    """What a step that gives (carry, y) gives."""

    def next_carry(self, result: Any) -> Any:
        after, y = checked_pair(result, self.who, self.whose, self.where)
        leaves, self.output_structure = leaves_of(self.s, y)
        self.output_types = [number_type(self.s, leaf) for leaf in leaves]
        kinds = (self.output_structure, self.output_types)
        check_outputs(*kinds, *kinds, leaves, self.who, self.whose, self.where)
        return after

    def room(self, count: Any) -> list:
        """An array for each output, with a row a step."""
        return [self.rows(of, count) for of in self.output_types]

    def rows(self, of: ArrayType, count: Any) -> Any:
        sizes = [self.size_outside(size) for size in of.shape]
        if None in sizes:
            raise ShapeMismatchError(
                f"{self.who} needs outputs of one shape, and {self.whose} returns one whose shape depends on "
                "values",
                "return an array of a fixed size, and how much of it is used",
                self.where,
            )
        empty = PRIMITIVES["empty"]
        return self.s.wrap(self.s.builder.emit(empty, (count, *sizes), name="ys", dtype=of.dtype))


class Room:
    """The arrays for the outputs of all steps."""

    def __init__(self, tried: TriedPair, count: Any):
        self.who, self.whose = tried.who, tried.whose
        self.types, self.structure = tried.output_types, tried.output_structure
        self.arrays = tried.room(count)


def values_started(s: Any, arguments: list, keywords: dict, node: Any) -> tuple[Any, Room]:
    step, init, count, who, whose = arguments
    tried = TriedPair(s, step, init, who, whose, node)
    if tried.ended:
        # Every step ends in an exception, and so does the loop.
        s.call(step, [0, tried.first_carry()], {}, node)
    return tried.first_carry(), Room(tried, s.operand(count))


def values_put(s: Any, arguments: list, keywords: dict, node: Any) -> None:
    room, k, y = arguments
    leaves, structure = leaves_of(s, y)
    check_outputs(
        room.structure,
        room.types,
        structure,
        [number_type(s, leaf) for leaf in leaves],
        leaves,
        room.who,
        room.whose,
        s.location(node),
    )
    for array, leaf in zip(room.arrays, leaves, strict=True):
        message = f"{room.who} needs outputs of one shape, and {room.whose} returned one of another shape"
        for size, found in zip(s.shape(array)[1:], s.shape(leaf), strict=True):
            s.builder.require_same(size, found, message, False)
        s.set_item(array, k, leaf, node)


BUILTINS[started] = values_started
BUILTINS[put] = values_put
BUILTINS[stacked] = lambda s, arguments, keywords, node: s.store.adopt(
    unflatten(arguments[0].structure, arguments[0].arrays)
)
BUILTINS[pair] = lambda s, arguments, keywords, node: checked_pair(*arguments, s.location(node))
BUILTINS[in_program] = lambda s, arguments, keywords, node: True
