"""How programs are run for now: compiled or not, watched for NaN or not. Each thread has modes of its own.

>>> with disable_jit():
...     uncompiled()
True
>>> uncompiled()
False
"""

from __future__ import annotations

import contextlib
import contextvars
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Watch:
    """What is looked for in every result: NaN, and infinities too if `inf`."""

    inf: bool = True


UNCOMPILED: contextvars.ContextVar[bool | None] = contextvars.ContextVar("uncompiled", default=None)
WATCH: contextvars.ContextVar[Watch | None] = contextvars.ContextVar("watch", default=None)
DEFAULTS = {"disable_jit": False, "debug_nans": False, "key_reuse": True}


def uncompiled() -> bool:
    """Whether everything runs line by line as NumPy."""
    chosen = UNCOMPILED.get()
    return DEFAULTS["disable_jit"] if chosen is None else chosen


def watched() -> Watch | None:
    """What is looked for in every result, if anything."""
    found = WATCH.get()
    return Watch() if found is None and DEFAULTS["debug_nans"] else found


def ordinary() -> bool:
    """Whether programs run as they do by default: asked at every call, so all at once."""
    return (
        WATCH.get() is None
        and not UNCOMPILED.get()
        and not DEFAULTS["disable_jit"]
        and not DEFAULTS["debug_nans"]
    )


class Setting(contextlib.ContextDecorator):
    """A mode for the length of a with block or of a function's calls."""

    def __init__(self, variable: contextvars.ContextVar, value: Any):
        self.variable, self.value = variable, value

    def _recreate_cm(self) -> Setting:
        return type(self)(self.variable, self.value)

    def __enter__(self) -> None:
        self.token = self.variable.set(self.value)

    def __exit__(self, *error: Any) -> Any:
        self.variable.reset(self.token)
        return None


def disable_jit(disable: Any = True) -> Any:
    """A with block, or a decorator, in which nothing is compiled (or is again, with False)."""
    if callable(disable):
        return Setting(UNCOMPILED, True)(disable)
    return Setting(UNCOMPILED, bool(disable))
