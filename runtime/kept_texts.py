"""The generated text of a program, kept from one process to the next, which spares the passes that make it.

The key is the core program itself, whole, so a text cannot be stale: whatever changed in a function's source,
its globals or the types of its arguments has changed the program that comes out of the specialiser.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import io
import os
import pickle
import sys
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import astunparse
import gast
import numpy as np
import optree

from .. import autodiff, backends, codegen
from ..backends.numpy.emit import Text
from ..codegen.core import Program
from ..codegen.least_size import least_size
from ..codegen.registered import REGISTERED
from ..codegen.registry import FUNCTIONS, METHODS, PRIMITIVES, Primitive
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


def kept_text(store: Store | None, described: Described, options: tuple, make: Callable[[], Text]) -> Text:
    """The text that `make` makes of a program with some options, or made in an earlier process."""
    key = None if store is None else described.key(options)
    if key is None:
        return make()
    contents = store.get(key)
    if contents is not None:
        return Text(*pickle.loads(contents))
    made = make()
    if OF_THIS_PROCESS not in made:
        store.put(key, pickle.dumps((str(made), made.locations)))
    return made


class Described:
    """A program written down, for the keys of its texts, and to be read again by another process."""

    def __init__(self, program: Program, least: int | None = None):
        self.program = program
        self.least = least_size() if least is None else least

    @functools.cached_property
    def written(self) -> tuple[bytes, list[str]] | None:
        """The program as bytes and the texts in it; None if part of it means nothing to another process."""
        described = io.BytesIO()
        describer = Describer(described)
        try:
            describer.dump((self.program.name, self.program.parameters, self.program.body))
        except (pickle.PicklingError, TypeError, AttributeError, RecursionError):
            return None
        return described.getvalue(), list(describer.texts)

    def forget(self) -> None:
        """Give back what the bytes take; they are made again when they are needed again."""
        vars(self).pop("written", None)

    def key(self, options: tuple) -> str | None:
        """What a text of the program depends on, as a key; None if there is none for another process."""
        if self.written is None:
            return None
        digest = hashlib.sha256(repr((installed(), options, self.least)).encode())
        digest.update(self.written[0])
        digest.update(repr(self.written[1]).encode())
        return digest.hexdigest()


def restored(written: tuple[bytes, list[str]]) -> Program:
    """The program that was written down."""
    return Program(*Restorer(*written).load())


class Describer(pickle.Pickler):
    """Writes a program down.

    Equal texts have one number, for a pickle also tells whether they are one object.
    """

    def __init__(self, file: Any):
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.texts: dict[str, int] = {}

    def persistent_id(self, value: Any) -> Any:
        if type(value) is str:
            if value in REGISTERED:
                raise pickle.PicklingError(f"{value} is known to this process")
            return self.texts.setdefault(value, len(self.texts))
        if isinstance(value, Primitive):
            if PRIMITIVES.get(value.name) is not value or not ours(value.implementation):
                raise pickle.PicklingError(f"{value.name} is not one of ours")
            return value.name
        if isinstance(value, (types.FunctionType, types.MethodType)) and not ours(value):
            raise pickle.PicklingError(f"{value!r} may be another in another process")
        return None


class Restorer(pickle.Unpickler):
    """Reads what a Describer wrote."""

    def __init__(self, described: bytes, texts: list[str]):
        super().__init__(io.BytesIO(described))
        self.texts = texts

    def persistent_load(self, known: Any) -> Any:
        return self.texts[known] if type(known) is int else PRIMITIVES[known]


def ours(function: Any) -> bool:
    """Whether a function comes with chainrule or NumPy, whose versions are part of every key."""
    module = getattr(function, "__module__", None) or type(function).__module__
    return module.partition(".")[0] in KNOWN


@functools.cache
def installed() -> tuple:
    """What else a text depends on; our own files by size and time, by which Python knows them too."""
    found = [(module.__name__, 0, os.stat(module.__file__).st_mtime_ns) for module in (gast, astunparse)]
    found += files_in([package.__path__[0] for package in FOLDERS])
    return np.__version__, sys.version, os.cpu_count(), tuple(sorted(found))


@functools.cache
def environment() -> str:
    """What else a whole program depends on: all of our files, and the libraries that are read."""
    runtime, face = os.path.dirname(__file__), sys.modules[LIBRARY].__path__[0]
    apart = {os.path.basename(package.__path__[0]) for package in FOLDERS} | {os.path.basename(runtime)}
    known = installed(), files_in([runtime]), files_in([face], apart | {"tools"}), library_versions()
    return hashlib.sha256(repr((known, sys.flags.optimize)).encode()).hexdigest()


def library_versions() -> tuple:
    """Of SciPy, which need not be imported yet, the time of its installation."""
    scipy = importlib.util.find_spec("scipy")
    return optree.__version__, None if scipy is None else os.stat(scipy.origin).st_mtime_ns


def files_in(folders: list[str], without: Iterable[str] = ()) -> list[tuple[str, int, int]]:
    """The name, size and time of each module in these folders."""
    found = []
    for top in folders:
        for folder, inner, names in os.walk(top):
            inner[:] = sorted(set(inner) - set(without))
            for name in sorted(names):
                if name.endswith(".py"):
                    status = os.stat(os.path.join(folder, name))
                    found.append((name, status.st_size, status.st_mtime_ns))
    return found


def only_ours() -> bool:
    """Whether all rules of our primitives, and all meanings of the libraries' functions, are ours."""
    for primitive in filter(is_ours, PRIMITIVES.values()):
        if not all(map(ours, (*primitive.jvp.values(), *primitive.vjp.values()))):
            return False
        if primitive.batch is not None and not ours(primitive.batch):
            return False
    return all(map(is_ours, (*FUNCTIONS.values(), *METHODS.values())))


def is_ours(meaning: Primitive | Callable) -> bool:
    return ours(meaning.implementation if isinstance(meaning, Primitive) else meaning)
