"""Which elements of an array an index takes, as bounds on each axis: linear in sizes and loop indices.

>>> from .build import Builder
>>> from .core import FLOAT, INT, Block
>>> from .primitives import elementwise as e
>>> b, n, k = Builder(), Variable("n", INT), Variable("k", INT)
>>> x = Variable("x", FLOAT.with_shape((n, n)))
>>> facts = Facts(Block([For((), k, 0, n, 1, (), (), b.block)]))
>>> row, rest = facts.part(x, (k,), ()), facts.part(x, (slice(None), slice(1, None)), ())
>>> [(low.terms, low.constant) for low, high in rest]
[({}, 0), ({}, 1)]
>>> facts.apart(row, rest, [])
False
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence

from .core import Assign, Block, For, Operand, StackType, Variable, type_of, walk
from .inequalities import Form, impossible
from .linear import linear_form
from .primitives.indexing import is_basic

Bounds = tuple[Form, Form]
Part = list[Bounds]


class Facts:
    """The definitions in a block, and what its loops say of their indices."""

    def __init__(self, block: Block):
        self.definitions: dict[Variable, Assign] = {}
        for statement in walk(block):
            if isinstance(statement, Assign):
                self.definitions.update(dict.fromkeys(statement.targets, statement))
        sizes = (v for v, made in self.definitions.items() if made.primitive.name == "size")
        self.sizes = [Form({size: 1}) for size in sizes]

    def representative(self, size: Operand) -> Operand:
        return size

    def form(self, operand: Operand) -> Form | None:
        """An integer operand as a linear form."""
        if not isinstance(operand, Variable) and type(operand) is not int:
            return None
        if isinstance(operand, Variable) and (isinstance(operand.type, StackType) or operand.type.shape):
            return None
        return Form(*linear_form(self, operand))

    def of_loop(self, loop: For) -> list[Form]:
        """What holds of the index of a loop in each of its turns."""
        index, start, stop = Form({loop.index: 1}), self.form(loop.start), self.form(loop.stop)
        if type(loop.step) is not int or start is None or stop is None:
            return []
        if loop.step > 0:
            return [index - start, stop - index - 1]
        return [start - index, index - stop - 1]

    def of_check(self, check: Assign) -> list[Form]:
        """What holds after a check of sizes or of an index."""
        name, operands = check.primitive.name, check.operands
        if name == "check" and (made := self.definitions.get(operands[0])) and made.primitive.name == "less":
            less, more = map(self.form, made.operands)
            return [more - less - 1] if less is not None and more is not None else []
        if name not in ("check_same", "check_index"):
            return []
        one, other = map(self.form, operands)
        if one is None or other is None:
            return []
        if name == "check_same":
            return [one - other, other - one]
        return [other - one - 1, one + other]

    def part(self, array: Operand, index: Operand, holds: Sequence[Form]) -> Part:
        """Bounds of the elements taken by an index, given what holds there; whole axes where unclear."""
        shape = type_of(array).shape
        if not isinstance(index, tuple) or not is_basic(index):
            return [self.whole(size) for size in shape]
        entries = [entry for entry in index if entry is not None]
        entries += [slice(None)] * (len(shape) - len(entries))
        return [self.bounds(entry, size, holds) or self.whole(size) for entry, size in zip(entries, shape)]

    def whole(self, size: Operand) -> Bounds:
        end = self.form(size)
        return Form(), (Form({size: 1}) if end is None else end) - 1

    def bounds(self, entry: Operand, size: Operand, holds: Sequence[Form]) -> Bounds | None:
        if not isinstance(entry, slice):
            place = self.place(entry, size, holds)
            return None if place is None else (place, place)
        if entry.step not in (None, 1):
            return None
        low = Form() if entry.start is None else self.place(entry.start, size, holds)
        high = self.whole(size)[1] if entry.stop is None else self.place(entry.stop, size, holds, -1)
        return None if low is None or high is None else (low, high)

    def place(self, entry: Operand, size: Operand, holds: Sequence[Form], more: int = 0) -> Form | None:
        """A position counted from the start of an axis, plus `more`; None if it may count from the end."""
        form = self.form(entry)
        if form is None:
            return None
        if not form.terms and form.constant < 0:
            return self.whole(size)[1] + (form.constant + 1 + more)
        return form + more if impossible([*holds, form.times(-1) - 1]) else None

    def apart(self, one: Part, other: Part, holds: Iterable[Form]) -> bool:
        """Whether two parts of an array have no element in common, given what holds."""
        overlap = [
            distance
            for (low, high), (least, most) in zip(one, other, strict=True)
            for distance in (most - low, high - least)
        ]
        return impossible([*holds, *overlap])
