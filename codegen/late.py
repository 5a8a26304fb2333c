"""Libraries that take long to import, and are imported when something of theirs is first needed.

>>> special = LateModule("scipy.special")
>>> float(special.expit(0.0)), float(LateFunction("scipy.special", "expit")(0.0))
(0.5, 0.5)
"""

from __future__ import annotations

import importlib
import types
from dataclasses import dataclass
from typing import Any


class LateModule(types.ModuleType):
    """Stands for a module under its name: asked for an attribute, it imports the module."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(self.__name__), name)


@dataclass(frozen=True)
class LateFunction:
    """A function of a module, which is imported when the function is first called."""

    module: str
    name: str

    def found(self) -> Any:
        return getattr(importlib.import_module(self.module), self.name)

    def __call__(self, *operands: Any, **options: Any) -> Any:
        return self.found()(*operands, **options)


special = LateModule("scipy.special")
