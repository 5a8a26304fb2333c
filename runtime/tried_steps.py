"""The carries of chainrule.lax inside a program: a step is tried first, for the types that it gives."""

from __future__ import annotations

from typing import Any

from ..codegen.core import INT, ArrayType, Assign, Dimension, Variable
from ..codegen.specialise.builtin_functions import BUILTINS
from ..codegen.specialise.control import attempt, cast, defined_in
from . import carries
from .carries import complaint, fit, likened
from .opened import own
from .trees import unflatten, values_flatten


def leaves_of(s: Any, value: Any) -> tuple[list, Any]:
    return values_flatten(s, [value], {}, None)


def number_type(s: Any, leaf: Any) -> ArrayType | None:
    """The type of an array or number; None for anything else."""
    return s.type(leaf) if s.number(leaf) else None


class Tried:
    """What a step of a loop, a function of (index, carry), gives: known by its types only.

    It is tried with a carry of unknown numbers. Where it gives another type for a Python number of the first
    carry, it is tried again with a number of that type.
    """

    def __init__(self, s: Any, step: Any, init: Any, who: str, whose: str, node: Any):
        self.s, self.step, self.who, self.whose, self.node = s, step, who, whose, node
        self.where = s.location(node)
        self.leaves, self.structure = leaves_of(s, init)
        self.types = [number_type(s, leaf) for leaf in self.leaves]
        self.ended = False
        while self.changes_types():
            pass

    def changes_types(self) -> bool:
        """Try the step; whether its carry is of other types than it was given."""
        s = self.s
        carry = [
            leaf if of is None else s.wrap(Variable(None, of), contiguous=False)
            for leaf, of in zip(self.leaves, self.types, strict=True)
        ]
        index = Variable(None, INT)
        s.builder.lower_bounds[index] = 0
        block, trial, _ = attempt(s, lambda: self.take(index, carry))
        self.ended = trial is None
        if self.ended:
            return False
        self.inner = set(defined_in(block))
        before = self.types
        leaves = zip(self.paths, before, self.given, carry, self.after, strict=True)
        self.types = [self.type_after(*leaf) for leaf in leaves]
        return self.types != before

    def take(self, index: Variable, carry: list) -> None:
        """One step, of which the types are noted."""
        s = self.s
        result = s.call(self.step, [index, s.store.adopt(unflatten(self.structure, carry))], {}, self.node)
        self.after, structure = leaves_of(s, self.next_carry(result))
        self.paths = likened(self.structure, structure, self.who, self.whose, self.where)
        self.given = [number_type(s, leaf) for leaf in self.after]

    def next_carry(self, result: Any) -> Any:
        return result

    def type_after(self, path: str, old: Any, new: Any, before: Any, after: Any) -> ArrayType | None:
        of = fit(old, new, (before, after), complaint(self.who, self.whose, path, self.where))
        if of is None or not of.shape:
            return of
        for m, n in zip(old.shape, new.shape, strict=True):
            size = self.size_outside(n)
            if size is not None:
                require_size(self.s, m, size, self.who, self.whose, path)
        return old

    def size_outside(self, size: Dimension) -> Dimension | None:
        """A size in terms of what there is before the loop; None where only a step can tell it."""
        builder = self.s.builder
        size = builder.representative(size)
        if size not in self.inner:
            return size
        made = builder.definitions.get(size)
        if not isinstance(made, Assign) or not made.primitive.elementwise:
            return None
        operands = [self.size_outside(operand) for operand in made.operands]
        return None if None in operands else builder.emit(made.primitive, *operands, **made.static)

    def first_carry(self) -> Any:
        """What the loop starts with, in the types that its steps keep."""
        s = self.s
        leaves = [
            leaf if of is None or of.shape else s.wrap(cast(s, s.operand(leaf), of))
            for leaf, of in zip(self.leaves, self.types, strict=True)
        ]
        return owned(s, leaves, self.structure)


def owned(s: Any, leaves: list, structure: Any) -> Any:
    """A tree whose arrays may be written to without anybody else seeing it."""
    return s.store.adopt(unflatten(structure, [own(s, leaf) for leaf in leaves]))


def require_size(s: Any, before: Dimension, after: Dimension, who: str, whose: str, path: str) -> None:
    message = f"{who} needs a carry of one shape, and {whose} returned {path} of another shape"
    s.builder.require_same(before, after, message, False)


def started(s: Any, arguments: list, keywords: dict, node: Any) -> Any:
    step, init, who, whose = arguments
    return Tried(s, step, init, who, whose, node).first_carry()


def continued(s: Any, arguments: list, keywords: dict, node: Any) -> Any:
    before, after, who, whose = arguments
    where = s.location(node)
    (old, structure), (leaves, found) = leaves_of(s, before), leaves_of(s, after)
    kept = []
    for path, a, b in zip(likened(structure, found, who, whose, where), old, leaves, strict=True):
        of = fit(number_type(s, a), number_type(s, b), (a, b), complaint(who, whose, path, where))
        if of is not None and of.shape:
            for m, n in zip(s.shape(a), s.shape(b), strict=True):
                require_size(s, m, n, who, whose, path)
        kept.append(b if of is None or of.shape else s.wrap(cast(s, s.operand(b), of)))
    return s.store.adopt(unflatten(structure, kept))


BUILTINS[carries.copied] = lambda s, arguments, keywords, node: owned(s, *leaves_of(s, *arguments))
BUILTINS[carries.started] = started
BUILTINS[carries.continued] = continued
BUILTINS[carries.known_count] = lambda s, arguments, keywords, node: s.static_int(
    *arguments, "the number of steps of a loop with unroll=True", node
)
