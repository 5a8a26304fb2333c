"""The least size that an axis can have whose size is not part of a program's signature.

It is 2, for a 1 broadcasts. A program in which nothing broadcasts along such axes serves 1 as well: it is
made with sizes from 1 on.

>>> least_size()
2
>>> with sizes_from(1):
...     least_size()
1
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

LEAST: ContextVar[int] = ContextVar("least", default=2)


def least_size() -> int:
    """The least size of an axis of a parameter, where the size is a variable."""
    return LEAST.get()


@contextlib.contextmanager
def sizes_from(least: int) -> Iterator[None]:
    """Make programs that serve all sizes from `least` on."""
    before = LEAST.set(least)
    try:
        yield
    finally:
        LEAST.reset(before)
