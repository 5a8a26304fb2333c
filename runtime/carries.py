"""What the loops of chainrule.lax carry from step to step: one structure, and one shape and dtype a leaf.

These are the questions as they are answered where a loop runs as ordinary Python; tried_steps.py answers them
inside a program.

>>> continued((1.0, np.zeros(2)), (2.5, np.ones(2)), "scan", "f")
(2.5, array([1., 1.]))
>>> continued(np.float32(1.0), 2.0, "scan", "f")
np.float32(2.0)
>>> fitted(type_of(0), type_of(np.float64(1.0))), fitted(type_of(np.float32(0)), type_of(np.float64(1.0)))
(float64[], None)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..codegen.core import ArrayType, type_of
from ..codegen.errors import ShapeMismatchError, TypeMismatchError
from ..codegen.registry import array_scalar
from ..codegen.specialise.merge import join_types, same_static
from .opened import shown
from .trees import flatten, unflatten


def started(step: Callable, init: Any, who: str, whose: str) -> Any:
    """The first carry of a loop whose step is a function of (index, carry): a copy, which may be written to.

    Inside a program, a Python number in it is of the type that the steps will give it.
    """
    return copied(init)


def continued(before: Any, after: Any, who: str, whose: str) -> Any:
    """What a step gave as the next carry, refused if it is not like the carry before it."""
    (old, structure), (leaves, found) = flatten(before), flatten(after)
    paths = likened(structure, found, who, whose, None)
    kept = []
    for path, a, b in zip(paths, old, leaves, strict=True):
        of = fit(known_type(a), known_type(b), (a, b), complaint(who, whose, path, None))
        kept.append(b if of is None or of.shape else cast_number(b, of))
    return unflatten(structure, kept)


def copied(value: Any) -> Any:
    """A tree whose arrays are its own: they may be written to, and nobody else sees it."""
    leaves, structure = flatten(value)
    return unflatten(structure, [np.array(leaf) if np.ndim(leaf) else leaf for leaf in leaves])


def known_count(count: Any) -> int:
    """A number of steps, which inside a program must be known before it runs."""
    return int(count)


def known_type(leaf: Any) -> ArrayType | None:
    """The type of an array or number; None for anything else."""
    number = isinstance(leaf, np.ndarray) and leaf.dtype.kind in "biufc" or array_scalar(leaf)
    return type_of(leaf) if number else None


def cast_number(value: Any, of: ArrayType) -> Any:
    """A number in the type in which it goes on."""
    return type(of.dtype.type().item())(value) if of.weak else of.dtype.type(value)


# what both ways ask


def likened(structure: Any, found: Any, who: str, whose: str, where: Any) -> list[str]:
    """What the leaves of the carry are called, if its structure is the same after a step."""
    if found != structure:
        raise TypeMismatchError(
            f"{who} needs a carry of one structure: {whose} was given {described(structure)}, and returned "
            f"{described(found)}",
            f"let {whose} return what it was given, with other values",
            where,
        )
    return [path_text("carry", path) for path in structure.paths()]


def described(structure: Any) -> str:
    """A structure as nested containers, with a star for each leaf."""
    return str(structure).removeprefix("PyTreeSpec(").removesuffix(")").rsplit(", namespace", 1)[0]


def path_text(root: str, path: tuple) -> str:
    """How the user would write the way to a leaf.

    >>> path_text("carry", (0, "w"))
    "carry[0]['w']"
    """
    return root + "".join(f"[{part!r}]" for part in path)


def fit(old: ArrayType | None, new: ArrayType | None, values: tuple, error: Callable) -> ArrayType | None:
    """The type in which a leaf goes on; None for one that is no number, and must stay what it is."""
    if old is None and new is None and same_static(*values):
        return None
    of = None if old is None or new is None else fitted(old, new)
    if of is None:
        shapes_differ = None not in (old, new) and not same_rank_and_sizes(old, new)
        kind = ShapeMismatchError if shapes_differ else TypeMismatchError
        raise error(kind, *(name_of(t, v) for t, v in zip((old, new), values, strict=True)))
    return of


def fitted(before: ArrayType, after: ArrayType) -> ArrayType | None:
    """The type of a leaf from step to step: its own, or for a Python number that of what follows it."""
    joined = join_types(before, after) if same_rank_and_sizes(before, after) else None
    if joined is None or before.weak:
        return joined
    return before if joined.dtype == before.dtype and (after.weak or after.dtype == before.dtype) else None


def same_rank_and_sizes(a: ArrayType, b: ArrayType) -> bool:
    """Whether two shapes may be equal."""
    pairs = zip(a.shape, b.shape, strict=False)
    return a.ndim == b.ndim and all(m == n for m, n in pairs if isinstance(m, int) and isinstance(n, int))


def complaint(who: str, whose: str, path: str, where: Any) -> Callable:
    """The error for a leaf that changes."""
    return lambda kind, before, after: kind(
        f"{who} needs a carry of one shape and dtype: {path} is {before} where {whose} is called, and "
        f"{after} where it returns",
        f"let {whose} return {path} as {before}, or start with {after}",
        where,
    )


def name_of(of: ArrayType | None, value: Any) -> str:
    """A leaf in the words of an error."""
    if of is None:
        return repr(value) if isinstance(value, str) else f"a {type(value).__name__}"
    if of.weak:
        return f"a Python {type(of.dtype.type().item()).__name__}"
    return f"{of.dtype} of shape {shown(of.shape)}" if of.shape else str(of.dtype)
