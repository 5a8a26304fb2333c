"""Transformations used inside a function that is being specialised."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..codegen.specialise.builtin_functions import BUILTINS


def inside(function: Callable, make: Callable, call_with: Callable | None = None) -> None:
    """Let a call of `function` in the user's code give `make(...)`, called with `call_with(...)` if given."""

    def handler(s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        made = make(*arguments, **keywords)
        if call_with is None:
            return made
        return made.expand(s, list(call_with(*arguments, **keywords)), {}, node)

    BUILTINS[function] = handler
