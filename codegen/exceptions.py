"""The names of exception classes in programs: Python's own, NumPy's, and the user's (registered.py).

>>> class Divergence(ArithmeticError):
...     pass
>>> name_of(Divergence)
'Divergence'
>>> named("Divergence") is Divergence
True
>>> del REGISTERED["Divergence"]
>>> name_of(KeyError), name_of(np.linalg.LinAlgError)
('KeyError', 'np.linalg.LinAlgError')
>>> class Failure(Exception):
...     def __init__(self, step, residual): ...
>>> name_of(Failure) is None
True
"""

from __future__ import annotations

import builtins

import numpy as np

from .registered import REGISTERED, keep

NUMPYS = {"np.linalg.LinAlgError": np.linalg.LinAlgError}


def name_of(kind: type[Exception]) -> str | None:
    """The name of an exception class; None where making one does something of its own."""
    if getattr(builtins, kind.__name__, None) is kind:
        return kind.__name__
    if has_constructor(kind):
        return None
    known = (name for name, one in (*NUMPYS.items(), *REGISTERED.items()) if one is kind)
    return next(known, None) or keep(kind, kind.__name__, lambda name: hasattr(builtins, name))


def has_constructor(kind: type[Exception]) -> bool:
    """Whether a class between this one and Python's has a constructor."""
    written = (one for one in kind.__mro__ if one.__module__ != "builtins")
    return any("__init__" in vars(one) or "__new__" in vars(one) for one in written)


def named(name: str) -> type[Exception]:
    return REGISTERED.get(name) or NUMPYS.get(name) or getattr(builtins, name)
