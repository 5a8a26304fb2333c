"""The generated text of a program, kept from one process to the next, which spares the passes that make it.

The key is the core program itself, whole, so a text cannot be stale: whatever changed in a function's source,
its globals or the types of its arguments has changed the program that comes out of the specialiser.
"""

from __future__ import annotations

import functools
import hashlib
import io
import os
import pickle
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import astunparse
import gast
import numpy as np

from .. import autodiff, backends, codegen
from ..backends.numpy.emit import Text
from ..codegen.core import Program
from ..codegen.least_size import least_size
from ..codegen.registry import PRIMITIVES, Primitive
from ..codegen.specialise.kept_scopes import PROVIDERS
from .configuration import config
from .store import Store

LIBRARY = __name__.partition(".")[0]
KNOWN = (LIBRARY, "numpy", "scipy", "builtins", "math", "operator", "_operator")
FOLDERS = (codegen, autodiff, backends)
OF_THIS_PROCESS = "CALLBACKS"


@functools.cache
def store_at(folder: Path) -> Store:
    return Store(folder)


def current_store() -> Store | None:
    """Where compiled programs are kept now, if anywhere: a user without a home has no folder for them."""
    folder = config.cache_dir
    if not config.cache or not folder.is_absolute():
        return None
    store = store_at(folder)
    store.limit = config.cache_size * 2**20
    return store


def provided() -> tuple[Store, tuple] | None:
    """The store and the versions for what the specialiser keeps."""
    store = current_store()
    return None if store is None else (store, installed())


PROVIDERS[:] = [provided]


def kept_text(store: Store | None, program: Program, options: tuple, make: Callable[[], Text]) -> Text:
    """The text that `make` makes of a program with some options, or made in an earlier process."""
    key = None if store is None else program_key(program, options)
    if key is None:
        return make()
    contents = store.get(key)
    if contents is not None:
        return Text(*pickle.loads(contents))
    made = make()
    if OF_THIS_PROCESS not in made:
        store.put(key, pickle.dumps((str(made), made.locations)))
    return made


def program_key(program: Program, options: tuple) -> str | None:
    """What a program's text depends on, as a key; None if part of it means nothing to another process."""
    described = io.BytesIO()
    describer = Describer(described)
    try:
        describer.dump((installed(), options, least_size(), program.name, program.parameters, program.body))
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError):
        return None
    described.write(repr(list(describer.texts)).encode())
    return hashlib.sha256(described.getbuffer()).hexdigest()


class Describer(pickle.Pickler):
    """Writes a program down; only to be compared, never to be read.

    Equal texts have one number, for a pickle also tells whether they are one object.
    """

    def __init__(self, file: Any):
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.texts: dict[str, int] = {}

    def persistent_id(self, value: Any) -> Any:
        if type(value) is str:
            return self.texts.setdefault(value, len(self.texts))
        if isinstance(value, Primitive):
            if PRIMITIVES.get(value.name) is not value or not ours(value.implementation):
                raise pickle.PicklingError(f"{value.name} is not one of ours")
            return value.name
        if isinstance(value, (types.FunctionType, types.MethodType)) and not ours(value):
            raise pickle.PicklingError(f"{value!r} may be another in another process")
        return None


def ours(function: Any) -> bool:
    """Whether a function comes with chainrule or NumPy, whose versions are part of every key."""
    module = getattr(function, "__module__", None) or type(function).__module__
    return module.partition(".")[0] in KNOWN


@functools.cache
def installed() -> tuple:
    """What else a text depends on; our own files by size and time, by which Python knows them too."""
    found = [(module.__name__, 0, os.stat(module.__file__).st_mtime_ns) for module in (gast, astunparse)]
    for package in FOLDERS:
        for folder, _, names in os.walk(package.__path__[0]):
            for name in names:
                if name.endswith(".py"):
                    status = os.stat(os.path.join(folder, name))
                    found.append((name, status.st_size, status.st_mtime_ns))
    return np.__version__, sys.version, os.cpu_count(), tuple(sorted(found))
