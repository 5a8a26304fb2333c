"""Making a program without Python's search for garbage in cycles.

Programs, syntax trees and types are many small objects that all stay until the program is made. Python would
walk over them, and over everything else that the process holds, again and again: a seventh of the time.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from typing import Any


def without_collection(function: Callable) -> Callable:
    """The function, during which no cyclic garbage is looked for; what there is, is found afterwards.

    >>> without_collection(gc.isenabled)(), gc.isenabled()
    (False, True)
    """

    @functools.wraps(function)
    def wrapped(*arguments: Any, **keywords: Any) -> Any:
        if not gc.isenabled():
            return function(*arguments, **keywords)
        gc.disable()
        try:
            return function(*arguments, **keywords)
        finally:
            gc.enable()

    return wrapped
