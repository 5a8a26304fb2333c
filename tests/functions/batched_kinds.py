"""How vmap does each library function, found by batching every row of the table that calls it."""

import re

import numpy as np

import chainrule as cr
from chainrule.codegen.errors import UnsupportedError
from chainrule.codegen.registry import Primitive
from chainrule.codegen.specialise import library
from tests.functions.every_row import TABLE

SIZE = 3


class Called:
    """Within the block: what the program itself calls, without what that is written in terms of."""

    def __enter__(self):
        self.found, self.depth, self.emit = set(), 0, library.emit_library
        library.emit_library = self.seen
        return self

    def __exit__(self, *_):
        library.emit_library = self.emit

    def seen(self, s, function, known, *rest):
        if self.depth == 0:
            self.found.add(known)
        self.depth += 1
        try:
            return self.emit(s, function, known, *rest)
        finally:
            self.depth -= 1


def kind_of(row):
    """How a batch of the row is done, and what it calls."""
    arguments = [np.stack([a] * SIZE) for a in row.arguments()]
    with Called() as called:
        try:
            text = cr.source(cr.vmap(row.function), stage="core")(*arguments)
        except UnsupportedError:
            return "refused", called.found
    return ("lanes" if re.search(r"^\s*for lane", text, re.MULTILINE) else "rule"), called.found


def batched_kinds():
    """For each function with a row: "rule", "lanes", "rule, lanes" or "refused".

    A function is judged by rows without loops: those named after it, or those that call the fewest others.
    """
    subjects = (rows for subject, rows in TABLE.items() if subject != "loops")
    rows = [(row.name, *kind_of(row)) for subject in subjects for row in subject if row.operands]
    kinds = {}
    for known in set().union(*(called for *_, called in rows)):
        word = known.name if isinstance(known, Primitive) else known.__name__
        calling = [((word not in name, len(called)), kind) for name, kind, called in rows if known in called]
        found = {kind for rank, kind in calling if rank == min(calling)[0]}
        if found > {"refused"}:
            found.discard("refused")
        kinds[known] = "rule, lanes" if len(found) > 1 else found.pop()
    return kinds
