"""Sorting and searching."""
import numpy as np

from tests.functions.table import booleans, integers, real, row

ROWS = [
    row("sort", lambda x: np.sort(x), real(3, 4)),
    row("sort of an axis", lambda x: np.sort(x, axis=0), real(3, 4)),
    row("sort of everything", lambda x: np.sort(x, axis=None), real(3, 4)),
    row("sort in place", lambda x: sorted_copy(x), real(3, 4)),
    row("argsort", lambda x: np.argsort(x), real(3, 4), order=0),
    row("argsort of an axis", lambda x: np.argsort(x, axis=0, kind="stable"), real(3, 4), order=0),
    row("x.argsort", lambda x: x[x.argsort()], real(5)),
    row("partition", lambda x: np.partition(x, 2)[2], real(6), resized=False),
    row("argpartition", lambda x: np.sort(x[np.argpartition(x, 2)[:2]]), real(6), resized=False),
    row("x.argpartition", lambda x: np.sort(x[x.argpartition(2)[:2]]), real(6), resized=False),
    row("lexsort", lambda x, y: np.lexsort((x, y)), real(5), real(5), order=0, resized=False),
    row("unique", lambda x: np.unique(x), real(5)),
    row("unique with counts", lambda x: np.unique(x, return_counts=True), integers(6), any_dtype=False),
    row("isin", lambda x: np.isin(x, [0, 2]), integers(5), any_dtype=False),
    row("searchsorted", lambda x, y: np.searchsorted(np.sort(x), y), real(6), real(3), order=0,
        resized=False),
    row("x.searchsorted", lambda x: np.sort(x).searchsorted(0.3, side="right"), real(6), order=0),
    row("digitize", lambda x: np.digitize(x, np.array([-1.0, 0.0, 1.0])), real(6), order=0),
    row("nonzero", lambda x: np.nonzero(x > 0), real(3, 4), order=0),
    row("x.nonzero", lambda x: (x > 0).nonzero()[0], real(5), order=0),
    row("flatnonzero", lambda x: np.flatnonzero(x > 0), real(3, 4), order=0),
    row("argwhere", lambda x: np.argwhere(x > 0), real(3, 4), order=0),
    row("where of a condition alone", lambda x: np.where(x > 0), real(3, 4), order=0),
    row("count_nonzero of truths", lambda c: np.count_nonzero(c, axis=0), booleans(3, 4), any_dtype=False),
]


def sorted_copy(x):
    y = x * 2
    y.sort()
    return y
