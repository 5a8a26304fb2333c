"""Rewrite match statements into if statements, which the passes know.

    >>> tree = gast.parse('''
    ... def volume(kind, r):
    ...     match kind:
    ...         case "disc" | "circle":
    ...             v = 3 * r**2
    ...         case n if n > 3:
    ...             v = r**n
    ...         case other:
    ...             v = other
    ...     return v
    ... ''').body[0]
    >>> print(gast.unparse(without_match(tree)).strip())
    def volume(kind, r):
        if kind == 'disc' or kind == 'circle':
            v = 3 * r ** 2
        else:
            n = kind
            if n > 3:
                v = r ** n
            else:
                other = kind
                v = other
        return v

A name that a pattern captures is bound at the beginning of the case's body, or before its guard. Builtins are
called as constants, for the user may have other things of their names.
"""

from __future__ import annotations

import collections
import copy
from collections.abc import Callable
from typing import Any

import gast

from .errors import UnsupportedError, location_of
from .trees import name, stored

SEQUENCES = (list, tuple, range, collections.deque)
# case int(n): the one positional pattern of these stands for the value itself.
THEMSELVES = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


def without_match(tree: Any, source: Any = None) -> Any:
    """The function without match statements; itself if it has none. `source` gives errors their place."""
    if not any(isinstance(node, gast.Match) for node in gast.walk(tree)):
        return tree
    return Matching(source, {n.id for n in gast.walk(tree) if isinstance(n, gast.Name)}).visit(
        copy.deepcopy(tree)
    )


class Matching(gast.NodeTransformer):
    def __init__(self, source: Any, taken: set[str]):
        self.source, self.taken = source, taken

    def visit_Match(self, node: Any) -> list[Any]:
        self.generic_visit(node)
        subject, before = node.subject, []
        captured = {c for case in node.cases for c in captures(case.pattern)}
        if not isinstance(subject, gast.Name) or subject.id in captured:
            text = next(
                t for t in ("subject", *(f"subject_{k}" for k in range(2, 999))) if t not in self.taken
            )
            self.taken.add(text)
            before = [located(gast.Assign([stored(text)], subject, None), node.subject)]
            subject = name(text)
        rest: list[Any] = []
        for case in reversed(node.cases):
            rest = self.case(case, subject, rest)
        return [*before, *rest]

    def case(self, case: Any, subject: Any, rest: list[Any]) -> list[Any]:
        """The statements for a case; `rest` are those for the cases after it."""
        pattern = Pattern(self.source)
        tests = pattern.tests(case.pattern, subject)
        body = case.body
        bound = [located(gast.Assign([stored(n)], value, None), case.pattern) for n, value in pattern.bound]
        if case.guard is not None and bound and tests:
            walruses = [gast.NamedExpr(stored(n), value) for n, value in pattern.bound]
            tests.append(negated(negated(gast.List(walruses, gast.Load()))))
        elif case.guard is None:
            body = [*bound, *body]
        if case.guard is not None:
            tests.append(case.guard)
        if not tests:
            return body
        before = bound if case.guard is not None and len(tests) == 1 else []
        test = tests[0] if len(tests) == 1 else gast.BoolOp(gast.And(), tests)
        return [*before, located(gast.If(test, body, rest), case.pattern)]


class Pattern:
    """The tests that a pattern makes, and the names that it binds."""

    def __init__(self, source: Any):
        self.source = source
        self.bound: list[tuple[str, Any]] = []

    def tests(self, pattern: Any, subject: Any) -> list[Any]:
        match pattern:
            case gast.MatchValue():
                return [gast.Compare(subject, [gast.Eq()], [pattern.value])]
            case gast.MatchSingleton():
                return [gast.Compare(subject, [gast.Is()], [gast.Constant(pattern.value, None)])]
            case gast.MatchOr():
                return self.alternatives(pattern, subject)
            case gast.MatchAs():
                found = [] if pattern.pattern is None else self.tests(pattern.pattern, subject)
                self.bind(pattern.name, subject)
                return found
            case gast.MatchSequence():
                return self.sequence(pattern, subject)
            case gast.MatchMapping():
                found = [called(isinstance, subject, gast.Constant(dict, None))]
                found += [gast.Compare(key, [gast.In()], [subject]) for key in pattern.keys]
                parts = [(p, item(subject, key)) for p, key in zip(pattern.patterns, pattern.keys)]
                found += self.all(parts)
                self.bind(pattern.rest, called(remaining, subject, *pattern.keys))
                return found
            case gast.MatchClass():
                found = [called(isinstance, subject, pattern.cls)]
                place = lambda k: called(positional_part, subject, pattern.cls, gast.Constant(k, None))
                parts = [(p, place(k)) for k, p in enumerate(pattern.patterns)]
                attribute = lambda key: gast.Attribute(subject, key, gast.Load())
                parts += [(p, attribute(k)) for k, p in zip(pattern.kwd_attrs, pattern.kwd_patterns)]
                return found + self.all(parts)
        raise UnsupportedError(
            "this pattern is not supported", "write if and elif", location_of(pattern, self.source)
        )

    def all(self, parts: list[tuple[Any, Any]]) -> list[Any]:
        return [test for pattern, subject in parts for test in self.tests(pattern, subject)]

    def bind(self, text: str | None, value: Any) -> None:
        if text is not None:
            self.bound.append((text, value))

    def alternatives(self, pattern: Any, subject: Any) -> list[Any]:
        """a | b. Alternatives that bind names may each find them elsewhere, which is refused."""
        inner = Pattern(self.source)
        options = [inner.tests(option, subject) for option in pattern.patterns]
        if inner.bound:
            raise UnsupportedError(
                "a pattern with | that binds names",
                "write a case for each alternative",
                location_of(pattern, self.source),
            )
        if not all(options):
            return []
        joined = [o[0] if len(o) == 1 else gast.BoolOp(gast.And(), o) for o in options]
        return [gast.BoolOp(gast.Or(), joined)]

    def sequence(self, pattern: Any, subject: Any) -> list[Any]:
        """Items before a starred one are counted from the front, those after it from the back."""
        parts = pattern.patterns
        count = len(parts)
        star = next((k for k, p in enumerate(parts) if isinstance(p, gast.MatchStar)), None)
        fixed = count if star is None else count - 1
        enough = gast.Eq() if star is None else gast.GtE()
        found = [called(isinstance, subject, gast.Constant(SEQUENCES, None))]
        found.append(gast.Compare(called(len, subject), [enough], [gast.Constant(fixed, None)]))
        places = []
        for k, part in enumerate(parts):
            if k == star:
                end = gast.Constant(k + 1 - count, None) if k + 1 < count else None
                middle = gast.Subscript(subject, gast.Slice(gast.Constant(k, None), end, None), gast.Load())
                self.bind(part.name, called(list, middle))
            else:
                at = k if star is None or k < star else k - count
                places.append((part, item(subject, gast.Constant(at, None))))
        return found + self.all(places)


def positional_part(subject: Any, kind: type, position: int) -> Any:
    """What a positional pattern of a class pattern is held against."""
    if kind in THEMSELVES:
        return subject
    return getattr(subject, kind.__match_args__[position])


def remaining(subject: dict, *keys: Any) -> dict:
    """What `**rest` of a mapping pattern stands for."""
    return {key: value for key, value in subject.items() if key not in keys}


def captures(pattern: Any) -> set[str]:
    """The names that a pattern binds."""
    found = {getattr(node, "name", None) or getattr(node, "rest", None) for node in gast.walk(pattern)}
    return {text for text in found if isinstance(text, str)}


def called(function: Callable, *arguments: Any) -> Any:
    return gast.Call(gast.Constant(function, None), list(arguments), [])


def item(subject: Any, key: Any) -> Any:
    return gast.Subscript(subject, key, gast.Load())


def negated(test: Any) -> Any:
    return gast.UnaryOp(gast.Not(), test)


def located(node: Any, at: Any) -> Any:
    """A new node, and all in it that has no place, at the place of another."""
    for part in gast.walk(node):
        if "lineno" in part._attributes and not hasattr(part, "lineno"):
            gast.copy_location(part, at)
    return node
