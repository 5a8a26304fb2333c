"""What a loop carries from one iteration to the next."""
from __future__ import annotations

from typing import Any

from ..core import ArrayType, StackType
from .merge import same_size, take_apart
from .values import UNDEFINED, mutable_parts


class Carried:
    """What is known at the head of a loop of a place that the loop changes: a template, and a type a leaf.

    A leaf is either unchanged (its value) or carried (its type, as `Varying`).
    """

    def __init__(self, value: Any, generated: bool):
        self.initial: list[Any] = []
        self.generated = generated
        self.objects = mutable_parts(value)
        self.undefined = value is UNDEFINED
        self.template = UNDEFINED if self.undefined else take_apart(value, self.initial)
        self.leaves: list[Any] = list(self.initial)
        self.heads: list[Any] = []


class Varying:
    """The type of a leaf that changes from one iteration to the next; sizes that change are None."""

    def __init__(self, of: ArrayType):
        self.type = of


class Rows:
    """Items that are to be the first of a list that grows."""

    def __init__(self, items: list[Any], element: ArrayType):
        self.items = items
        self.element = element


def same_types(a: Any, b: Any) -> bool:
    if isinstance(a, StackType) or isinstance(b, StackType):
        return isinstance(a, StackType) and isinstance(b, StackType)
    return (a.dtype == b.dtype and a.weak == b.weak and a.ndim == b.ndim
            and all(x is y or same_size(x, y) for x, y in zip(a.shape, b.shape, strict=True)))
