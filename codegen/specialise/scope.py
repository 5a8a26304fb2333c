"""What is known of a function before it runs: its lowered tree, its local names, what is live where."""

from __future__ import annotations

from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import gast

from ..jumps import lower_jumps
from ..live_names import assigned_names, live_after
from ..matching import without_match
from ..parse import Source, parse
from .kept_scopes import keep, place_of, recall


class Scope:
    """A function's body, ready to be run by the specialiser."""

    def __init__(self, tree: Any, source: Source | None, module: dict, quiet: bool):
        tree = without_match(tree, source)
        self.tree = tree
        self.source = source
        self.module = module
        self.quiet = quiet
        self.users = not quiet and not is_foreign(module.get("__name__"))
        self.name = getattr(tree, "name", "<lambda>")
        body = tree.body if isinstance(tree.body, list) else [gast.Return(tree.body)]
        if isinstance(tree, gast.Lambda):
            self.lowered, self.live = tree, {}
            self.body = body
        else:
            self.lowered = lower_jumps(tree, source)
            self.live = live_after(self.lowered)
            self.body = self.lowered.body
        parameters = parameter_names(tree.args)
        declared = declarations(self.body)
        self.nonlocals = declared["nonlocal"]
        self.globals = declared["global"]
        assigned = set(assigned_names(self.body)) - self.nonlocals - self.globals
        self.locals = assigned | set(parameters)
        self.generated = frozenset(assigned - set(assigned_names(body))) - set(parameters)


def parameter_names(args: Any) -> list[str]:
    """Every parameter of a function, in order."""
    nodes = [*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg]
    return [node.id for node in nodes if node is not None]


def declarations(body: list) -> dict[str, set[str]]:
    """Names declared nonlocal or global in a function's own statements."""
    found: dict[str, set[str]] = {"nonlocal": set(), "global": set()}
    pending = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, gast.Nonlocal):
            found["nonlocal"].update(node.names)
        elif isinstance(node, gast.Global):
            found["global"].update(node.names)
        elif not isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef)):
            pending.extend(child for child in gast.iter_child_nodes(node) if not isinstance(child, gast.expr))
    return found


_scopes: WeakKeyDictionary = WeakKeyDictionary()
_inner: dict[int, tuple[Any, Scope]] = {}


def scope_of(function: Any) -> Scope:
    """The scope of a Python function, made once for each code object."""
    code = function.__code__
    known = _scopes.get(code)
    if known is None or known.module is not function.__globals__:
        known = _scopes[code] = made_or_kept(function)
    return known


def made_or_kept(function: Any) -> Scope:
    """The scope of a function; of our own, as an earlier process made it."""
    place = place_of(function)
    if place is not None:
        kept = Scope.__new__(Scope)
        if recall(place, function, kept):
            return kept
    source = parse(function)
    made = Scope(source.tree, source, function.__globals__, is_ours(function.__module__))
    if place is not None:
        keep(place, made)
    return made


def inner_scope(tree: Any, outer: Scope) -> Scope:
    """The scope of a function defined inside another."""
    known = _inner.get(id(tree))
    if known is None or known[0] is not tree:
        known = (tree, Scope(tree, outer.source, outer.module, outer.quiet))
        _inner[id(tree)] = known
    return known[1]


@lru_cache(maxsize=1024)
def is_ours(module: str | None) -> bool:
    """Whether a module is chainrule's own, whose lines are nobody's business."""
    root = __name__.split(".")[0]
    return module is not None and module.split(".")[0] == root and ".tools." not in module


def is_foreign(module: str | None) -> bool:
    """Whether a module is NumPy's or SciPy's, whose functions are read on the user's behalf."""
    return module is not None and module.split(".")[0] in ("numpy", "scipy")
