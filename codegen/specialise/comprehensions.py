"""Comprehensions: worked out at once, item by item."""
from __future__ import annotations

import copy
from typing import Any

import gast

from ..unparse import unparse
from .control import truth
from .iteration import elements
from .machine import Specialiser
from .store import Frame
from .values import Iterator


def comprehension(s: Specialiser, node: Any, frame: Frame) -> Any:
    """A list, set, dict or generator comprehension, worked out at once."""
    inner = Frame(inner_scope_of(node, frame), frame, s.store.depth)
    inner.comprehension = True
    items: list[Any] = []

    def produce() -> None:
        if isinstance(node, gast.DictComp):
            items.append((s.evaluate(node.key, inner), s.evaluate(node.value, inner)))
        else:
            items.append(s.evaluate(node.elt, inner))

    generate(s, node.generators, 0, inner, produce)
    if isinstance(node, gast.DictComp):
        return s.store.new({s.hashable(key, node): value for key, value in items})
    if isinstance(node, gast.SetComp):
        return s.store.new({s.hashable(item, node) for item in items})
    return s.store.new(Iterator(items)) if isinstance(node, gast.GeneratorExp) else s.store.new(items)


class ComprehensionScope:
    """The names of a comprehension: its targets are its own, all else is the function's."""

    def __init__(self, outer: Any, names: set[str]):
        self.locals = names
        self.generated = frozenset()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.live: dict = {}
        self.module = outer.module
        self.quiet = outer.quiet
        self.source = outer.source


def inner_scope_of(node: Any, frame: Frame) -> ComprehensionScope:
    names = {part.id for generator in node.generators for part in gast.walk(generator.target)
             if isinstance(part, gast.Name)}
    return ComprehensionScope(frame.scope, names)


def generate(s: Specialiser, generators: list[Any], position: int, frame: Frame, produce: Any) -> None:
    if position == len(generators):
        produce()
        return
    generator = generators[position]
    outer = frame.parent if position == 0 else frame
    for item in elements(s, s.evaluate(generator.iter, outer), generator.iter):
        s.assign(generator.target, item, frame)
        if all(keeps(s, test, generator, frame) for test in generator.ifs):
            generate(s, generators, position + 1, frame, produce)


def keeps(s: Specialiser, test: Any, generator: Any, frame: Frame) -> bool:
    kept = truth(s, s.evaluate(test, frame), test)
    if not isinstance(kept, bool):
        raise s.need_static(kept, "the condition of a comprehension", test, masked(generator))
    return kept


def masked(generator: Any) -> str:
    """What to write for the items of an array that fulfil a condition: x[x > 0]."""
    simple = isinstance(generator.target, gast.Name) and isinstance(generator.iter, gast.Name)
    if not simple or len(generator.ifs) > 1:
        return "choose items of an array with a mask, as in x[x > 0]"
    test = copy.deepcopy(generator.ifs[0])
    for part in gast.walk(test):
        if isinstance(part, gast.Name) and part.id == generator.target.id:
            part.id = generator.iter.id
    return f"choose the items with a mask: {generator.iter.id}[{unparse(test).strip()}]"
