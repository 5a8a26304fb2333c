"""Control flow as functions, and collectives: names and arguments of jax.lax.

Inside a function that is differentiated, compiled or batched, `if`, `for` and `while` do all of this too:
these functions are written with them. Outside of one they are ordinary Python on NumPy arrays.

>>> import numpy as np
>>> from chainrule import lax
>>> carry, ys = lax.scan(lambda total, x: (total + x, total), 0.0, np.array([1.0, 2.0, 3.0]))
>>> float(carry), ys
(6.0, array([0., 1., 3.]))
"""

from ..programs import stop_gradient
from .collectives import (
    all_gather,
    all_to_all,
    axis_index,
    axis_size,
    pmax,
    pmean,
    pmin,
    ppermute,
    psum,
    psum_scatter,
)
from .control import cond, fori_loop, select, switch, while_loop
from .scans import associative_scan, map, scan
from .solves import custom_linear_solve, custom_root

__all__ = [
    "all_gather",
    "all_to_all",
    "associative_scan",
    "axis_index",
    "axis_size",
    "cond",
    "custom_linear_solve",
    "custom_root",
    "fori_loop",
    "map",
    "pmax",
    "pmean",
    "pmin",
    "ppermute",
    "psum",
    "psum_scatter",
    "scan",
    "select",
    "stop_gradient",
    "switch",
    "while_loop",
]
