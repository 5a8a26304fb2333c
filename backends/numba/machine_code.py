"""Machine code kept from one process to the next, in place of Numba's own files.

Numba asks its dispatcher's cache before it compiles. This one is keyed by the text of the module, the types,
the versions and the processor, and keeps code in a store, which says whether a file can be trusted. Loading
code needs little of Numba, which takes a quarter of a second to get ready for compiling: only that every
symbol is there which the code calls.
"""

from __future__ import annotations

import functools
import hashlib
import io
import os
import pickle
import platform
import sys
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding
import numba
import numpy as np
from numba.core import compiler, config, environment, serialize
from numba.core.caching import NullCache
from numba.core.runtime import _nrt_python

OURS = ("chainrule_support", "chainrule_elementary", "chainrule_cores")
KNOWN = ("numba", "numpy", "math", "scipy.special", *OURS)
OPTIONS = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "ENABLE_AVX", "BOUNDSCHECK", "DEBUGINFO_DEFAULT")


class MachineCode(NullCache):
    """The cache of one generated function's dispatcher."""

    def __init__(self, store: Any, name: str, text: str):
        self.store, self.name, self.text = store, name, text

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        contents = self.store.get(self.key(sig, target_context))
        if contents is None:
            return None
        symbols, payload = pickle.loads(contents)
        if not found(symbols):
            target_context.refresh()
            if not found(symbols):
                return None
        return compiler.CompileResult._rebuild(target_context, *Loader(io.BytesIO(payload)).load())

    def save_overload(self, sig: Any, data: Any) -> None:
        if data.objectmode or data.lifted or data.library.has_dynamic_globals:
            return
        payload = serialize.dumps(data._reduce())
        self.store.put(self.key(sig, data.target_context), serialize.dumps((needed(data.library), payload)))

    def key(self, sig: Any, target_context: Any) -> str:
        processor = target_context.codegen().magic_tuple()
        parts = (self.name, self.text, str(sig), versions(), processor, options())
        return hashlib.sha256(repr(parts).encode()).hexdigest()


class Loader(pickle.Unpickler):
    """Reads compiled code back, without importing the parts of Numba that inlined functions came from."""

    def find_class(self, module: str, name: str) -> Any:
        if name == environment._rebuild_env.__name__ and module == environment.__name__:
            return restored_environment
        return super().find_class(module, name)


def restored_environment(module: str, constants: list, name: str) -> Any:
    """A function's environment; its globals are for Python's own mode only, which is not kept."""
    known = environment.lookup_environment(name)
    if known is not None:
        return known
    loaded = sys.modules.get(module)
    made = environment.Environment({} if loaded is None else loaded.__dict__)
    made.consts[:] = constants
    made.env_name = name
    if loaded is not None:
        environment.Environment._memo[name] = made
    return made


def keep(dispatcher: Any, store: Any, text: str) -> None:
    """Let a module's function find its machine code in a store, if its text says all that it depends on."""
    if all(line.split()[1] in KNOWN for line in text.splitlines() if line.startswith(("import ", "from "))):
        dispatcher._cache = MachineCode(store, dispatcher.__name__, text)


def needed(library: Any) -> list[str]:
    """The symbols that a library refers to and does not define."""
    module = library._final_module
    values = (*module.functions, *module.global_variables)
    return sorted({v.name for v in values if v.is_declaration and not v.name.startswith("llvm.")})


def found(symbols: list[str]) -> bool:
    """Whether all symbols are there. Numba's memory manager is made known when it compiles; here, by us."""
    for name, address in _nrt_python.c_helpers.items():
        known = name if name.startswith("_") else f"NRT_{name}"
        llvmlite.binding.add_symbol(known, address)
    return all(llvmlite.binding.address_of_symbol(name) for name in symbols)


@functools.cache
def versions() -> tuple:
    """Everything installed that takes part in compiling; of the functions that are called, their text."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    own = digest.hexdigest()
    return own, sys.version, platform.platform(), numba.__version__, llvmlite.__version__, np.__version__


def options() -> tuple:
    """Numba's settings that change what it compiles."""
    chosen = tuple((name, getattr(config, name, None)) for name in OPTIONS)
    given = tuple(sorted(item for item in os.environ.items() if item[0].startswith("NUMBA_")))
    return (*chosen, *given)
