"""Collectives: what one example of a batch reads of the others, inside `vmap(..., axis_name=...)`.

`axis_name` is the name that an enclosing vmap gave, or a tuple of such names. Arrays may be in any structure.

>>> import numpy as np
>>> import chainrule as cr
>>> from chainrule import lax
>>> cr.vmap(lambda v: v / lax.psum(v, "i"), axis_name="i")(np.array([1.0, 2.0, 5.0]))
array([0.125, 0.25 , 0.625])
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..runtime import collectives
from ..runtime.collectives import about_axis, collective, unbound


def psum(x: Any, axis_name: Any) -> Any:
    """The sum over all examples.

    >>> import chainrule as cr
    >>> float(cr.vmap(lambda v: cr.lax.psum(v, "i"), axis_name="i", out_axes=None)(np.arange(4.0)))
    6.0
    """
    raise unbound(axis_name)


def pmean(x: Any, axis_name: Any) -> Any:
    """The mean over all examples.

    >>> import chainrule as cr
    >>> cr.vmap(lambda v: v - cr.lax.pmean(v, "i"), axis_name="i")(np.arange(4.0))
    array([-1.5, -0.5,  0.5,  1.5])
    """
    raise unbound(axis_name)


def pmax(x: Any, axis_name: Any) -> Any:
    """The largest over all examples, element by element."""
    raise unbound(axis_name)


def pmin(x: Any, axis_name: Any) -> Any:
    """The smallest over all examples, element by element."""
    raise unbound(axis_name)


def all_gather(x: Any, axis_name: Any, axis: int = 0, tiled: bool = False) -> Any:
    """The values of all examples, along a new axis, or joined along an existing one if `tiled`.

    >>> import chainrule as cr
    >>> cr.vmap(lambda v: cr.lax.all_gather(v, "i"), axis_name="i")(np.arange(2.0))
    array([[0., 1.],
           [0., 1.]])
    """
    raise unbound(axis_name)


def psum_scatter(x: Any, axis_name: Any, scatter_dimension: int = 0, tiled: bool = False) -> Any:
    """The sum over all examples, of which each keeps its own part.

    The axis `scatter_dimension` is as long as the batch and goes away; if `tiled`, it is a multiple of that
    and each example keeps as many elements of it.
    """
    raise unbound(axis_name)


def all_to_all(x: Any, axis_name: Any, split_axis: int, concat_axis: int) -> Any:
    """Each example gives part k of its axis `split_axis` to example k.

    That axis is as long as the batch; each sees what it is given along the new axis `concat_axis`.
    """
    raise unbound(axis_name)


def ppermute(x: Any, axis_name: Any, perm: Iterable[tuple[int, int]]) -> Any:
    """Values sent from example to example: `perm` holds pairs (source, destination); the others get zeros.

    >>> import chainrule as cr
    >>> cr.vmap(lambda v: cr.lax.ppermute(v, "i", [(0, 1)]), axis_name="i")(np.arange(4.0) + 5)
    array([0., 5., 0., 0.])
    """
    raise unbound(axis_name)


def axis_index(axis_name: Any) -> Any:
    """The number of this example in its batch."""
    raise unbound(axis_name)


def axis_size(axis_name: Any) -> Any:
    """The number of examples in the batch."""
    raise unbound(axis_name)


collective(psum)(collectives.psum)
collective(pmean)(collectives.pmean)
collective(pmax)(collectives.extreme(np.max))
collective(pmin)(collectives.extreme(np.min))
collective(all_gather)(collectives.gathered)
collective(psum_scatter)(collectives.scattered)
collective(all_to_all)(collectives.exchanged)
collective(ppermute)(collectives.permuted)
about_axis(axis_index)(lambda s, frame: s.emit("axis_index", axis=frame))
about_axis(axis_size)(lambda s, frame: frame.size)

__all__ = [
    "all_gather",
    "all_to_all",
    "axis_index",
    "axis_size",
    "pmax",
    "pmean",
    "pmin",
    "ppermute",
    "psum",
    "psum_scatter",
]
