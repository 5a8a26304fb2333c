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
from collections.abc import Callable
from typing import Any

import llvmlite
import llvmlite.binding
import numba
import numpy as np
from numba.core import codegen, compiler, config, environment, serialize
from numba.core.caching import NullCache
from numba.core.runtime import _nrt_python

from ...codegen.garbage import without_collection
from . import blas_threads, kernels
from .scipy_modules import import_alone

OURS = ("chainrule_support", "chainrule_elementary", "chainrule_cores")
KNOWN = ("numba", "numpy", "math", "scipy.special", *OURS)
# What compiled code calls BLAS and LAPACK by, and what such calls look like in a text.
LINEAR_ALGEBRA = ("numba_xx", "numba_ez_", "numba_raw_")
PRODUCTS = (" @ ", "np.dot(", "np.linalg.")
KNOWN_SYMBOLS: set[str] = set()
OPTIONS = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "ENABLE_AVX", "BOUNDSCHECK", "DEBUGINFO_DEFAULT")


class MachineCode(NullCache):
    """The cache of one generated function's dispatcher. `missing` is called before anything is compiled."""

    def __init__(self, store: Any, name: str, text: str, missing: Callable[[], None]):
        self.store, self.name, self.text, self.missing = store, name, text, missing

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        loaded = self.loaded(sig, target_context)
        if loaded is None:
            if any(word in self.text for word in PRODUCTS):
                import_alone()
            self.missing()
        return loaded

    @without_collection
    def loaded(self, sig: Any, target_context: Any) -> Any:
        contents = self.store.get(self.key(sig, target_context))
        if contents is None:
            return None
        symbols, defined, called, payload = pickle.loads(contents)
        for name, code in called.items():
            kernels.load(target_context.codegen(), name, code)
        if not found(symbols):
            target_context.refresh()
            if not found(symbols):
                return None
        return rebuilt(target_context, defined, *Loader(io.BytesIO(payload)).load())

    def save_overload(self, sig: Any, data: Any) -> None:
        if data.objectmode or data.lifted or data.library.has_dynamic_globals:
            return
        payload = serialize.dumps(data._reduce())
        needed, defined = symbols_of(data.library)
        called = {name: kernels.MACHINE_CODE[name] for name in needed if name in kernels.MACHINE_CODE}
        kept = (needed, defined, called, payload)
        self.store.put(self.key(sig, data.target_context), serialize.dumps(kept))

    def key(self, sig: Any, target_context: Any) -> str:
        processor = target_context.codegen().magic_tuple()
        parts = (self.name, digest_of(self.text), str(sig), versions(), processor, options())
        return hashlib.sha256(repr(parts).encode()).hexdigest()


class Library(codegen.JITCodeLibrary):
    """Machine code that was kept. What LLVM would need to inline it elsewhere is read if that happens."""

    bitcode = b""

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            self._shared_module = llvmlite.binding.parse_bitcode(self.bitcode)
        return self._shared_module


def rebuilt(
    context: Any,
    defined: list[str],
    kept: Any,
    description: Any,
    environment: Any,
    signature: Any,
    objectmode: bool,
    lifted: tuple,
    annotation: Any,
    initialisers: Any,
    environments: list,
) -> Any:
    """A compiled function, as Numba has it, from what Numba says of it in order to keep it."""
    name, _, (machine_code, bitcode) = kept
    for initialise in initialisers:
        initialise()
    library = Library(context.codegen(), name)
    library.bitcode = bitcode
    library.enable_object_caching()
    library._set_compiled_object(machine_code)
    library.codegen._engine._defined_symbols.update(defined)
    library._finalize_final_module()
    made = compiler.CompileResult(
        typing_context=context.typing_context,
        target_context=context,
        entry_point=context.get_executable(library, description, environment),
        typing_error=None,
        type_annotation=annotation,
        signature=signature,
        objectmode=objectmode,
        lifted=lifted,
        fndesc=description,
        library=library,
        call_helper=None,
        environment=environment,
        metadata=None,
        reload_init=initialisers,
        referenced_envs=environments,
    )
    for one in environments:
        library.codegen.set_env(one.env_name, one)
    return made


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


def says_all(text: str) -> bool:
    """Whether a module's text is all that its machine code depends on, beside Numba and ourselves."""
    return all(
        line.split()[1] in KNOWN for line in text.splitlines() if line.startswith(("import ", "from "))
    )


def keep(dispatcher: Any, store: Any, text: str, missing: Callable[[], None]) -> None:
    """Let a module's function find its machine code in a store."""
    dispatcher._cache = MachineCode(store, dispatcher.__name__, text, missing)


def symbols_of(library: Any) -> tuple[list[str], list[str]]:
    """The symbols that a library refers to and does not define, and those that it defines."""
    module = library._final_module
    declared = {v.name: v.is_declaration for v in (*module.functions, *module.global_variables)}
    needed = sorted(name for name, only in declared.items() if only and not name.startswith("llvm."))
    return needed, sorted(name for name, only in declared.items() if not only)


def found(symbols: list[str]) -> bool:
    """Whether all symbols are there. Numba's memory manager is made known when it compiles; here, by us."""
    if blas_threads.SYMBOL in symbols:
        blas_threads.make_ready()
    if any(name.startswith(LINEAR_ALGEBRA) for name in symbols):
        import_alone()
    make_memory_manager_known()
    unknown = [name for name in symbols if name not in KNOWN_SYMBOLS]
    KNOWN_SYMBOLS.update(filter(llvmlite.binding.address_of_symbol, unknown))
    return KNOWN_SYMBOLS.issuperset(symbols)


@functools.cache
def make_memory_manager_known() -> None:
    for name, address in _nrt_python.c_helpers.items():
        known = name if name.startswith("_") else f"NRT_{name}"
        llvmlite.binding.add_symbol(known, address)


@functools.lru_cache(maxsize=16)
def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def versions() -> tuple:
    """Everything installed that takes part in compiling; of the functions that are called, their text."""
    digest = hashlib.sha256()
    for folder, inner, names in os.walk(os.path.dirname(__file__)):
        inner.sort()
        for name in sorted(names):
            if name.endswith(".py"):
                with open(os.path.join(folder, name), "rb") as file:
                    digest.update(file.read())
    own = digest.hexdigest()
    return own, sys.version, platform.platform(), numba.__version__, llvmlite.__version__, np.__version__


def options() -> tuple:
    """Numba's settings that change what it compiles."""
    chosen = tuple((name, getattr(config, name, None)) for name in OPTIONS)
    given = tuple(sorted(item for item in os.environ.items() if item[0].startswith("NUMBA_")))
    return (*chosen, *given)
