"""How far a row of a table must be behind the row before, in loops over rows and over their elements.

    for i in range(n):
        for j in range(m):
            t[i + 1, j + 1] = t[i, j + 1] + t[i + 1, j]

An element waits for the one to its left, and for those above it. The second row may be one element behind
the first, since no element needs what the row before it does later than its own turn.

>>> from .build import Builder
>>> from .core import FLOAT, INT
>>> from .registry import PRIMITIVES
>>> i, j = Variable("i", INT), Variable("j", INT)
>>> t, b = Variable("t", FLOAT.with_shape((9, 9))), Builder()
>>> def rows(far):
...     inner, body = Builder(), Block()
...     with inner.inside(body):
...         below, right = inner.dimension_add(i, 1), inner.dimension_add(j, 1)
...         above = inner.emit(PRIMITIVES["getitem"], t, (i, inner.dimension_add(j, far)))
...         total = inner.emit(PRIMITIVES["add"], above, inner.emit(PRIMITIVES["getitem"], t, (below, j)))
...         body.results = (inner.emit(PRIMITIVES["setitem"], t, (below, right), total),)
...     u, v, w = (Variable("t", t.type) for _ in range(3))
...     loop = For((v,), j, 0, 8, 1, (t,), (u,), body)
...     return For((w,), i, 0, 8, 1, (u,), (Variable("t", t.type),), Block([loop], (v,)))
>>> [Lags(Block([loop])).one_behind(loop, loop.body.statements[0]) for loop in map(rows, (1, 2, 3))]
[True, True, False]
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from .access import is_array
from .arrays_over_time import Histories
from .core import Assign, Block, For, Statement, Variable, operands_of, variables_in, walk
from .inequalities import Form
from .parts import Facts

ELEMENTS = ("getitem", "setitem", "index_add")
FAR = float("inf")


@dataclass(frozen=True)
class Access:
    """An element of an array that is written somewhere in the loops: its indices, and whether it is here."""

    history: Variable
    places: tuple[Form, ...]
    written: bool


class Lags:
    """Compares the elements that loops over rows read and write."""

    def __init__(self, block: Block):
        self.histories, self.facts = Histories(block), Facts(block)

    def one_behind(self, rows: For, along: For) -> bool:
        """Whether a row waits from element to element, and the next one may be done an element behind it."""
        written = {self.histories.of(v) for v in (*rows.carried, *along.carried) if is_array(v)}
        holds = [*self.facts.of_loop(rows), *self.facts.of_loop(along)]
        beside = [s for s in rows.body.statements if s is not along]
        elements = self.accesses(walk(along.body), written, holds)
        others = self.accesses(beside, written, holds)
        if elements is None or others is None:
            return False
        compare = Comparison(rows, along)
        waits = any(-FAR < compare.lag(a, b, 0) < 0 for a, b in pairs(elements, elements) if a.written)
        return (
            waits
            and all(compare.lag(a, b, rows.step) <= 1 for a, b in pairs(elements, elements))
            and all(
                compare.are_apart(a, b, rows.step) and compare.are_apart(b, a, rows.step)
                for a, b in pairs(others, [*elements, *others])
            )
        )

    def accesses(
        self, statements: Iterable[Statement], written: set[Variable], holds: list[Form]
    ) -> list[Access] | None:
        """What statements do with elements of some arrays; None if they do anything else with these."""
        found = []
        for statement in statements:
            arrays = [v for v in variables_in(operands_of(statement)) if is_array(v)]
            if not any(self.histories.of(v) in written for v in arrays):
                continue
            if not isinstance(statement, Assign) or statement.primitive.name not in ELEMENTS:
                return None
            if len(arrays) > 1 or arrays[0] is not statement.operands[0]:
                return None
            places = self.places(arrays[0], statement.operands[1], holds)
            if places is None:
                return None
            found.append(Access(self.histories.of(arrays[0]), places, statement.primitive.destructive))
        return found

    def places(self, array: Variable, index: tuple, holds: list[Form]) -> tuple[Form, ...] | None:
        """The indices of one element, none of which counts from the end."""
        if self.histories.is_view(array) or len(index) != array.type.ndim:
            return None
        if any(entry is None or isinstance(entry, slice) for entry in index):
            return None
        found = [self.facts.place(entry, size, holds) for entry, size in zip(index, array.type.shape)]
        return None if None in found else tuple(found)


def pairs(some: list[Access], others: list[Access]) -> list[tuple[Access, Access]]:
    """The accesses of the same array, one of which writes."""
    return [(a, b) for a, b in product(some, others) if a.history is b.history and (a.written or b.written)]


class Comparison:
    """Where an element of one row is an element of another."""

    def __init__(self, rows: For, along: For):
        self.row, self.column, self.step = rows.index, along.index, along.step

    def lag(self, a: Access, b: Access, down: int) -> float:
        """How many turns after `b` in its row, which is `down` below, `a` means the same element in its own.

        Minus infinity where it never does, and infinity where that is not known.
        """
        if self.are_apart(a, b, down):
            return -FAR
        found = set()
        for one, other in zip(a.places, b.places, strict=True):
            shift = (other - one).plus(one.terms.get(self.row, 0) * down)
            along = one.terms.get(self.column, 0)
            if shift.terms:
                return FAR
            if along:
                if shift.constant % along:
                    return -FAR
                found.add(shift.constant // along * self.step)
        if len(found) > 1:
            return -FAR
        return found.pop() if found else FAR

    def are_apart(self, a: Access, b: Access, down: int) -> bool:
        """Whether two accesses never mean the same element, `b` being in the row that is `down` below."""
        for one, other in zip(a.places, b.places, strict=True):
            shift = (other - one).plus(one.terms.get(self.row, 0) * down)
            if not shift.terms and shift.constant and self.column not in one.terms:
                return True
        return False
