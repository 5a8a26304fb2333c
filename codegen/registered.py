"""Functions that users registered as primitives, under the names by which generated source imports them.

>>> keep(len, "length")
'length'
>>> from chainrule.codegen.registered import length
>>> length("abc")
3
>>> del REGISTERED["length"]
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import gast

REGISTERED: dict[str, Callable] = {}


def keep(function: Callable, name: str, taken: Callable[[str], bool] = lambda name: False) -> str:
    """Keep a function for as long as the process runs; the name that it has in programs."""
    for candidate in itertools.chain([name], (f"{name}_{k}" for k in itertools.count(2))):
        if candidate not in REGISTERED and not taken(candidate):
            REGISTERED[candidate] = function
            return candidate


def __getattr__(name: str) -> Any:
    try:
        return REGISTERED[name]
    except KeyError:
        raise AttributeError(
            f"no primitive called {name!r} is registered in this process: import the module that "
            "calls chainrule.primitive"
        ) from None


def imports_of(names: Iterable[str]) -> list[Any]:
    """The import of those names that are registered functions."""
    found = sorted({name for name in names if name in REGISTERED})
    aliases = [gast.alias(name, None) for name in found]
    return [gast.ImportFrom("chainrule.codegen.registered", aliases, 0)] if found else []
