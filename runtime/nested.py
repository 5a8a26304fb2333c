"""Making transformations: outside, where each is made once; inside a function that is being specialised."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..codegen.specialise.builtin_functions import BUILTINS

KEPT = 256


@functools.lru_cache(maxsize=KEPT)
def made(kind: type, function: Any, *options: Any) -> Any:
    return kind(function, *options)


def kept(kind: type, function: Any, *options: Any) -> Any:
    """One transformation of each kind for each function, so that its programs are made once."""
    try:
        hash((function, options))
    except TypeError:
        return kind(function, *options)
    return made(kind, function, *options)


class Decorator:
    """A transformation with options that waits for its function."""

    def __init__(self, make: Callable):
        self.make = make

    def __call__(self, function: Any) -> Any:
        return self.make(function)

    def __specialise__(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        return self.make(*arguments, **keywords)


def decorator(kind: type, function: Any, *options: Any, fresh: bool = False) -> Any:
    """The transformation of a function, or a decorator where there is none yet."""
    make = kind if fresh else functools.partial(kept, kind)
    if function is None:
        return Decorator(lambda later: make(later, *options))
    return make(function, *options)


def inside(function: Callable, make: Callable, call_with: Callable | None = None) -> None:
    """Let a call of `function` in the user's code give `make(...)`, called with `call_with(...)` if given."""

    def handler(s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        transformed = make(*arguments, **named(keywords))
        if call_with is None:
            return transformed
        return transformed.expand(s, list(call_with(*arguments, **named(keywords))), {}, node)

    BUILTINS[function] = handler


def named(keywords: dict) -> dict:
    """Keyword arguments, in which the function itself may be called by the name of its parameter."""
    return {("f" if key == "function" else key): value for key, value in keywords.items()}
