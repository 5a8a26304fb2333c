"""How Numba compiles generated functions: its own pipeline, with less work in three places.

Generated text reads and writes single elements of arrays, for which Numba's general code, made for every kind
of array and index, takes some seventy LLVM instructions each, that LLVM then has to see through. Here an
element takes about ten. LLVM's passes over single functions and over the whole module come once, not three
times. The wrapper for calls from C is left out.
"""

from __future__ import annotations

from typing import Any

from numba.core import codegen, compiler
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import BaseNativeLowering, NativeLowering
from numba.core.untyped_passes import InlineClosureLikes

from ...codegen.garbage import without_collection
from .direct_calls import DirectCalls
from .distinct_arrays import LowerDistinct
from .llvm_settings import DEFAULT, set_to


class Library(codegen.JITCodeLibrary):
    """A library that LLVM optimises once, when everything that it calls is there to be inlined."""

    settings = DEFAULT

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        with set_to(self.settings):
            passes.run(self._final_module, builder)


@register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(BaseNativeLowering):
    """Numba's lowering, into a library of ours."""

    _name = "chainrule_lowering"
    lowering_class = LowerDistinct

    def run_pass(self, state: Any) -> bool:
        state.flags.no_cfunc_wrapper = True
        state.library = Library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().run_pass(state)


class Compiler(compiler.CompilerBase):
    """Numba's pipeline with our lowering."""

    compile_extra = without_collection(compiler.CompilerBase.compile_extra)

    def define_pipelines(self) -> list:
        passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(Lowering if one is NativeLowering else one, said) for one, said in passes.passes]
        passes.add_pass_after(DirectCalls, InlineClosureLikes)
        passes.finalize()
        return [passes]


def compile_with(dispatcher: Any, module: Any) -> None:
    """Let a module's function be compiled so, if it is its own."""
    if dispatcher.py_func.__module__ == module.__name__:
        dispatcher._compiler.pipeline_class = Compiler
