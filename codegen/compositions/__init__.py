"""NumPy functions that are compositions of others, written in Python."""
import contextlib
import importlib

from . import (
    along_axes,
    arguments,
    creation,
    differences,
    elementwise,
    indexing,
    interpolation,
    joining,
    nan_reductions,
    padding,
    reductions,
    shaping,
    sorting,
    statistics,
    windows,
    writing,
)

for _name in ("fourier", "linear_algebra", "mathematics", "products", "special", "ufunc_methods"):
    with contextlib.suppress(ModuleNotFoundError):
        importlib.import_module("." + _name, __name__)
