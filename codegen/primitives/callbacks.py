"""Calls of the user's Python functions from a program, for their effect: debug.callback and breakpoints.

A program names the function, which is kept here under that name.

>>> seen = []
>>> name = keep(seen.append, "append")
>>> callback(3.0, function=name)
>>> name, seen
('append', [3.0])
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from ..registry import primitive
from .effects import no_result

CALLBACKS: dict[str, Callable] = {}


def keep(function: Callable, name: str) -> str:
    """Keep a function for as long as the process runs; the name that it has in programs."""
    name = "".join(c if c.isalnum() or c == "_" else "_" for c in name).strip("_") or "function"
    for candidate in itertools.chain([name], (f"{name}_{k}" for k in itertools.count(2))):
        if CALLBACKS.setdefault(candidate, function) == function:
            return candidate


def callback_implementation(*operands, function):
    CALLBACKS[function](*operands)


callback = primitive("callback", callback_implementation, no_result, effect=True)
