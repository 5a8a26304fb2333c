"""Loops over the first axis of arrays: scan, map, associative_scan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..batching import vmap
from ..codegen.compositions.known import require_equal
from ..codegen.errors import ShapeMismatchError
from ..runtime import carries, outputs, trees
from ..runtime.agreement import refuse
from .control import repeated


def scan(
    f: Callable, init: Any, xs: Any = None, length: Any = None, reverse: bool = False, unroll: int | bool = 1
) -> tuple[Any, Any]:
    """A loop over the rows of arrays that carries a value, and stacks what each step gives.

    Args:
        f: gives (next carry, y) for (carry, row of xs). The carry keeps its structure, shapes and dtypes; so
            does y from step to step.
        init: the first carry: any tree of arrays and numbers.
        xs: any tree of arrays of one length, or None.
        length: the number of steps, which need not be known before the loop runs; needed where there is no
            array in xs.
        reverse: whether to go from the last row to the first; y number k still belongs to row k.
        unroll: how many steps one iteration of the program's loop takes; True: all of them, if their number
            is known.

    Returns:
        (last carry, ys): ys has the structure of y, with a first axis more in each array.

    Raises:
        TypeMismatchError (a TypeError), ShapeMismatchError (a ValueError): f does not return a pair, or the
            carry or y changes its structure, shape or dtype. ValueError: the lengths differ, or there is
            none.

    In reverse mode what each step needs is kept; see `checkpoint` for less.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> def decay(rate):
    ...     _, levels = cr.lax.scan(lambda level, x: (rate * level + x, level), 1.0, np.ones(3))
    ...     return np.sum(levels)
    >>> decay(0.5), cr.grad(decay)(0.5)
    (np.float64(4.25), 3.0)
    """
    leaves, structure = trees.flatten(xs)
    count = _length(leaves, length)
    step = lambda k, carry: outputs.pair(f(carry, outputs.row(structure, leaves, k)), "scan", "f")
    carry, ys = outputs.started(step, init, count, "scan", "f")

    def advance(k, carry):
        after, y = step(k, carry)
        outputs.put(ys, k, y)
        return carries.continued(carry, after, "scan", "f")

    if reverse:
        carry = repeated(advance, carry, count - 1, -1, -1, unroll)
    else:
        carry = repeated(advance, carry, 0, count, 1, unroll)
    return carry, outputs.stacked(ys)


def _length(leaves: list, length: Any) -> Any:
    """The number of rows of all arrays."""
    sizes = []
    for leaf in leaves:
        if np.ndim(leaf) == 0:
            refuse(
                "scan needs arrays in xs, and there is a single number in it",
                "give it a first axis, or use it inside f without passing it",
                ShapeMismatchError,
            )
        sizes.append(np.shape(leaf)[0])
    if length is None and len(sizes) == 0:
        refuse("scan got no arrays to scan over, and no length", "give xs or length", ShapeMismatchError)
    count = sizes[0] if length is None else length
    if length is not None and count < 0:
        raise ValueError("scan got a negative length")
    for size in sizes:
        require_equal(
            count,
            size,
            "scan got arrays of different lengths in xs"
            if length is None
            else "scan got a length other than that of the arrays in xs",
        )
    return count


def map(f: Callable, xs: Any, *, batch_size: int | None = None) -> Any:
    """What f gives for each row of arrays, stacked.

    Args:
        f: a function of a row of xs.
        xs: any tree of arrays of one length.
        batch_size: how many rows to take at once, with `vmap`; by default one.

    Returns:
        The results along a new first axis.

    Raises:
        What `scan` raises.

    >>> import numpy as np
    >>> from chainrule import lax
    >>> lax.map(lambda x: x @ x, np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([ 5., 25.])
    """
    if batch_size is None:
        return scan(lambda _, x: (None, f(x)), None, xs)[1]
    leaves, structure = trees.flatten(xs)
    count = _length(leaves, None)
    number = count // batch_size
    whole = number * batch_size
    blocks = [np.reshape(leaf[:whole], (number, batch_size, *leaf.shape[1:])) for leaf in leaves]
    together = scan(lambda _, x: (None, vmap(f)(x)), None, trees.unflatten(structure, blocks))[1]
    rest = vmap(f)(trees.unflatten(structure, [leaf[whole:] for leaf in leaves]))
    join = lambda a, b: np.concatenate([np.reshape(a, (whole, *a.shape[2:])), b])
    return trees.map_leaves(join, together, (rest,), None)


def associative_scan(fn: Callable, elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """All results of combining neighbours: element k of the result combines the elements 0 to k.

    Args:
        fn: an associative function of two trees like `elems`, whose arrays may be of any one length along
            `axis`: it combines them element by element.
        elems: any tree of arrays of one length along `axis`.
        reverse: whether element k combines the elements k to the last.
        axis: the axis that the elements lie along.

    Returns:
        A tree like `elems`.

    Raises:
        ShapeMismatchError (a ValueError): the arrays have different lengths along the axis.

    Inside a program this is a loop from element to element. Outside of one, where NumPy works on whole
    arrays, pairs are combined, then pairs of pairs, in log2(length) rounds (G. E. Blelloch, Prefix Sums and
    Their Applications, 1990); the results differ by rounding only.

    >>> import numpy as np
    >>> from chainrule import lax
    >>> lax.associative_scan(np.multiply, np.array([1.0, 2.0, 3.0, 4.0]))
    array([ 1.,  2.,  6., 24.])
    """
    leaves, structure = trees.flatten(elems)
    if len(leaves) == 0:
        return elems
    axis = axis + np.ndim(leaves[0]) if axis < 0 else axis
    for leaf in leaves:
        if not 0 <= axis < np.ndim(leaf):
            refuse(
                f"associative_scan was asked for axis {axis} of an array of {np.ndim(leaf)} axes",
                "give an axis that every array has",
                ShapeMismatchError,
            )
    before = (slice(None),) * axis
    count = leaves[0].shape[axis]
    for leaf in leaves[1:]:
        require_equal(count, leaf.shape[axis], "associative_scan got arrays of different lengths")
    if reverse:
        leaves = [np.flip(leaf, axis) for leaf in leaves]
    if outputs.in_program():
        found = _one_by_one(fn, leaves, structure, before, count)
    else:
        found = _in_pairs(fn, leaves, structure, before, count)
    if reverse:
        found = [np.flip(leaf, axis) for leaf in found]
    return trees.unflatten(structure, found)


def _one_by_one(fn: Callable, leaves: list, structure: Any, before: tuple, count: Any) -> list:
    """The results of combining each element with what the elements before it gave."""
    part = lambda k: carries.copied(trees.unflatten(structure, [leaf[(*before, k, None)] for leaf in leaves]))
    found = [np.array(leaf) for leaf in leaves]
    if count == 0:
        return found
    carry = carries.started(lambda k, carry: fn(carry, part(k)), part(0), "associative_scan", "fn")
    for k in range(1, count):
        carry = carries.continued(carry, fn(carry, part(k)), "associative_scan", "fn")
        for result, leaf in zip(found, trees.flatten(carry)[0], strict=True):
            result[(*before, k)] = leaf[(*before, 0)]
    return found


def _in_pairs(fn: Callable, leaves: list, structure: Any, before: tuple, count: int) -> list:
    """The results at odd places are those of the pairs; one more element each gives those between."""
    if count < 2:
        return leaves
    take = lambda arrays, start, stop, step: trees.unflatten(
        structure, [array[(*before, slice(start, stop, step))] for array in arrays]
    )
    leaves_of = lambda tree: trees.flatten(tree)[0]
    pairs = leaves_of(fn(take(leaves, 0, count - 1, 2), take(leaves, 1, count, 2)))
    odd = _in_pairs(fn, pairs, structure, before, count // 2)
    found = [np.array(leaf, dtype=pair.dtype) for leaf, pair in zip(leaves, pairs, strict=True)]
    for result, part in zip(found, odd, strict=True):
        result[(*before, slice(1, None, 2))] = part
    if count > 2:
        even = leaves_of(fn(take(odd, 0, (count - 1) // 2, 1), take(leaves, 2, count, 2)))
        for result, part in zip(found, even, strict=True):
            result[(*before, slice(2, None, 2))] = part
    return found


__all__ = ["associative_scan", "map", "scan"]
