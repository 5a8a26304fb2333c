"""Batching: names, arguments and documentation. What it does is in runtime/ and codegen/batching/."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .runtime.batching import Vmap
from .runtime.nested import decorator, inside


def vmap(function: Callable | None = None, in_axes: Any = 0, out_axes: Any = 0, axis_name: Any = None,
         axis_size: int | None = None) -> Any:
    """The function that does for a batch of examples what `function` does for one.

    Args:
        function: a function of one example. Left out, the result is a decorator.
        in_axes: the axis of each argument along which its examples go: an int (negative counts from the
            end), None for an argument that is the same for all, or a tuple with one of these for each
            positional argument. For an argument with structure (a tuple, list, dict or dataclass of arrays)
            an entry may have that structure. Keyword arguments are mapped along axis 0.
        out_axes: the axis of each result along which its examples go; None for a result that is the same
            for all.
        axis_name: what `chainrule.lax.psum` and the other collectives call this batch.
        axis_size: the number of examples, where no argument tells it.

    Returns:
        A function of the same arguments, the mapped ones with one axis more, as its results have.

    Raises:
        ShapeMismatchError (a ValueError): an argument lacks the axis, or arguments differ in the number of
            examples. TypeMismatchError (a TypeError): in_axes or out_axes has another structure than what it
            is for. UnsupportedError: a result's shape differs between examples.

    Each operation is done once for the whole batch. Branches and loops that examples go through differently
    are done in a loop over the examples, each of which stops when it is done.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> a, b = np.arange(6.0).reshape(3, 2), np.array([1.0, 10.0])
    >>> cr.vmap(np.dot, in_axes=(0, None))(a, b)
    array([10., 32., 54.])
    """
    return decorator(Vmap, function, in_axes, out_axes, axis_name, axis_size)


inside(vmap, lambda f=None, in_axes=0, out_axes=0, axis_name=None, axis_size=None:
       decorator(Vmap, f, in_axes, out_axes, axis_name, axis_size, fresh=True))
