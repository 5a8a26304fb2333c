"""What Numba puts the LLVM code of a function in, with all that it calls, to be optimised and made ready."""

from __future__ import annotations

from typing import Any

import llvmlite.binding
from llvmlite.binding import Linkage
from numba.core import codegen

from .llvm_settings import DEFAULT, EMITTING, set_to

MANGLED = "_ZN"
WRAPPER, ENVIRONMENT = "_ZN7cpython", "_ZN08NumbaEnv"
OWN = "..own"


class Library(codegen.JITCodeLibrary):
    """A library that LLVM optimises once, when everything that it calls is there to be inlined."""

    settings = DEFAULT

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        for function in list(self._final_module.functions):
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                self.own(function)
        passes, builder = self._codegen._module_pass_manager()
        with set_to(self.settings):
            passes.run(self._final_module, builder)

    def _finalize_specific(self) -> None:
        with set_to(EMITTING):
            super()._finalize_specific()

    def own(self, function: Any) -> None:
        """Let a function that is called here be this library's own.

        It may come to take other arguments, and so needs another name: when code is loaded, functions that
        several libraries have in common are looked for among those, too, that one keeps to itself. Only
        functions written in Python are known to nobody by their names.
        """
        if function.name.startswith(MANGLED):
            function.linkage = "internal"
            function.name += OWN


class HelperLibrary(Library):
    """The library of a function that only compiled code calls.

    Its code is optimised as part of each caller, and nothing is made of it here. Numba asks for its address:
    what is there answers a call from Python with an exception.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._codegen._add_module(llvmlite.binding.parse_assembly(self.stub()))
        self._codegen._engine.finalize_object()
        self._finalized = True

    def stub(self) -> str:
        """A module with the names that the library defines."""
        module = self._final_module
        names = [f.name for f in module.functions if not f.is_declaration and f.linkage == Linkage.external]
        environments = [v.name for v in module.global_variables if v.name.startswith(ENVIRONMENT)]
        lines = [f'target triple = "{module.triple}"', f'target datalayout = "{module.data_layout}"']
        lines += [f'@"{name}" = common global ptr null' for name in environments]
        for name in names:
            wraps = name.startswith(WRAPPER)
            head = f'"{name}"(ptr %a, ptr %b, ptr %c)'
            lines.append(
                f"define ptr @{head} {{ ret ptr null }}"
                if wraps
                else f"define void @{head} {{ unreachable }}"
            )
        return "\n".join(lines)
