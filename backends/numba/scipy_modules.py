"""SciPy's modules of BLAS and LAPACK functions for compiled code, without the rest of scipy.linalg.

Numba's helpers look for `scipy.linalg.cython_blas` at the first product of matrices. Imported in the usual
way it brings all of scipy.linalg with it, and NumPy's f2py: a sixth of a second, of which these two modules
need a tenth. They are entered among the imported modules under their own names, so that whoever imports them
later gets these; scipy.linalg is told of them when it is imported itself.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

PACKAGE = "scipy.linalg"
NAMES = ("cython_blas", "cython_lapack")


def import_alone() -> None:
    """Import the two modules, if scipy.linalg is not imported and they are not yet."""
    if PACKAGE in sys.modules or f"{PACKAGE}.{NAMES[0]}" in sys.modules:
        return
    package = importlib.import_module(PACKAGE.partition(".")[0])
    folders = [str(Path(folder) / "linalg") for folder in package.__path__]
    specs = [PathFinder.find_spec(f"{PACKAGE}.{name}", folders) for name in NAMES]
    if None in specs:
        return
    sys.meta_path.insert(0, Telling())
    for spec in specs:
        module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


class Telling:
    """Finds scipy.linalg once, as others would, and sets these modules as its attributes."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != PACKAGE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            for one in NAMES:
                setattr(module, one, sys.modules[f"{PACKAGE}.{one}"])
            execute(module)

        spec.loader.exec_module = exec_module
        return spec
