"""Interpolation."""
import numpy as np

from tests.functions.table import fraction, real, row

GRID = np.array([0.0, 0.2, 0.55, 1.0])

ROWS = [
    row("interp", lambda x, y: np.interp(x, GRID, y), fraction(5), real(4), any_dtype=False, resized=False),
    row("interp of a number", lambda x, y: np.interp(x, GRID, y), fraction(), real(4), any_dtype=False,
        resized=False),
    row("interp by its places", lambda x, xp, y: np.interp(x, np.cumsum(xp), y), fraction(5), fraction(4),
        real(4),
        any_dtype=False, resized=False),
    row("interp outside", lambda x: np.interp(x, GRID, GRID ** 2), real(6), any_dtype=False, resized=False),
    row("interp with ends", lambda x: np.interp(x, GRID, GRID ** 2, left=-1.0, right=7.0), real(6),
        any_dtype=False,
        resized=False),
    row("interp with a period", lambda x, y: np.interp(x, GRID[:-1], y, period=1.0), real(6), real(3),
        any_dtype=False,
        resized=False),
]
