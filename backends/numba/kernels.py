"""Functions that are the same wherever compiled code calls them: compiled once, and kept with programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba.core import cgutils

MACHINE_CODE: dict[str, bytes] = {}


def kernel(context: Any, module: Any, name: str, kind: Any, lower: Callable) -> Any:
    """A function that a module calls by its name, which says all that it depends on.

    Where this process does not have it, `lower` is called with the function, to build its LLVM code.
    """
    codegen = context.codegen()
    if name not in MACHINE_CODE:
        load(codegen, name, compiled(codegen, name, kind, lower))
    return cgutils.get_or_insert_function(module, kind, name)


def compiled(codegen: Any, name: str, kind: Any, lower: Callable) -> bytes:
    module = ir.Module(name)
    module.triple, module.data_layout = codegen._tm.triple, codegen._data_layout
    lower(ir.Function(module, kind, name))
    parsed = llvmlite.binding.parse_assembly(str(module))
    passes, builder = codegen._module_pass_manager()
    passes.run(parsed, builder)
    return codegen._tm.emit_object(parsed)


def load(codegen: Any, name: str, code: bytes) -> None:
    """Let compiled code find a kernel."""
    if name not in MACHINE_CODE:
        engine = codegen._engine._ee
        engine.add_object_file(llvmlite.binding.ObjectFileRef.from_data(code))
        engine.finalize_object()
        llvmlite.binding.add_symbol(name, engine.get_function_address(name))
        MACHINE_CODE[name] = code
