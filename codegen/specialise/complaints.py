"""What Python says when it refuses an operation: it is asked, with samples of the values.

>>> import operator
>>> from .machine import Specialiser
>>> from ..core import FLOAT, Variable
>>> s = Specialiser()
>>> complaint(s, operator.add, [Variable("x", FLOAT), "a"], None)
TypeError("unsupported operand type(s) for +: 'float' and 'str'")
>>> complaint(s, iter, [Variable("x", FLOAT)], None)
TypeError("'float' object is not iterable")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .machine import Specialiser
from .values import has_dynamic


def complaint(s: Specialiser, function: Callable, values: list[Any], node: Any) -> Exception:
    """The exception that `function(*values)` ends in because of the types of the values."""
    samples = [sample(s, value) for value in values]
    try:
        function(*samples)
    except (TypeError, AttributeError) as error:
        return s.located(error.with_traceback(None), node)
    kinds = " and ".join(type(one).__name__ for one in samples)
    return s.unsupported(f"{getattr(function, '__name__', 'this operation')} of {kinds}", None, node)


def sample(s: Specialiser, value: Any) -> Any:
    """A known value of the same type."""
    if s.number(value):
        of = s.type(value)
        made = np.zeros((1,) * of.ndim, of.dtype)
        return made[()].item() if of.weak else made[()]
    if type(value) in (list, tuple, dict, set) and has_dynamic(value):
        return type(value)()
    return value
