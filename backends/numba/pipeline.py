"""How Numba compiles generated functions: its own pipeline, with less work in several places.

Generated text reads and writes single elements of arrays, for which Numba's general code, made for every kind
of array and index, takes some seventy LLVM instructions each, that LLVM then has to see through. Here an
element takes about ten. LLVM's passes over single functions and over the whole module come once, not three
times. The wrapper for calls from C is left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import compiler, ir, types
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import (
    BaseNativeLowering,
    NativeLowering,
    NopythonRewrites,
    NopythonTypeInference,
)
from numba.core.untyped_passes import InlineClosureLikes, ReconstructSSA

from ...codegen.garbage import without_collection
from .direct_calls import DirectCalls
from .distinct_arrays import LowerDistinct
from .libraries import HelperLibrary, Library
from .remembered_types import TypeInference
from .single_assignments import SingleAssignments


@register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(BaseNativeLowering):
    """Numba's lowering, into a library of ours."""

    _name = "chainrule_lowering"
    lowering_class = LowerDistinct
    library_class = Library

    def run_pass(self, state: Any) -> bool:
        state.flags.no_cfunc_wrapper = True
        state.library = self.library_class(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().run_pass(state)


@register_pass(mutates_CFG=True, analysis_only=False)
class HelperLowering(Lowering):
    """The same for a function that only compiled code calls."""

    _name = "chainrule_helper_lowering"
    library_class = HelperLibrary


@register_pass(mutates_CFG=True, analysis_only=False)
class Closures(InlineClosureLikes):
    """Numba's inlining of functions that are defined inside, where there are any."""

    _name = "chainrule_closures"

    def run_pass(self, state: Any) -> bool:
        blocks = state.func_ir.blocks.values()
        inside = any(next(block.find_exprs(op="make_function"), None) for block in blocks)
        return super().run_pass(state) if inside else False


@register_pass(mutates_CFG=True, analysis_only=False)
class ArrayRewrites(NopythonRewrites):
    """Numba's rewriting of arithmetic on whole arrays, where there is any."""

    _name = "chainrule_array_rewrites"

    def run_pass(self, state: Any) -> bool:
        assignments = (one for block in state.func_ir.blocks.values() for one in block.find_insts(ir.Assign))
        of = state.typemap
        computes = any(
            isinstance(of[one.target.name], types.Array) and is_arithmetic(one.value, of)
            for one in assignments
        )
        return super().run_pass(state) if computes else False


def is_arithmetic(value: Any, of: Any) -> bool:
    """Whether a value is that of an operator or of one of NumPy's elementwise functions."""
    if not isinstance(value, ir.Expr) or value.op != "call":
        return isinstance(value, ir.Expr) and value.op in ("binop", "inplace_binop", "unary")
    called = of[value.func.name]
    return isinstance(called, types.Function) and isinstance(called.typing_key, np.ufunc)


REPLACED = {
    NativeLowering: Lowering,
    InlineClosureLikes: Closures,
    ReconstructSSA: SingleAssignments,
    NopythonRewrites: ArrayRewrites,
    NopythonTypeInference: TypeInference,
}


class Compiler(compiler.CompilerBase):
    """Numba's pipeline with our lowering."""

    compile_extra = without_collection(compiler.CompilerBase.compile_extra)
    replaced = REPLACED

    def define_pipelines(self) -> list:
        passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(self.replaced.get(one, one), said) for one, said in passes.passes]
        passes.add_pass_after(DirectCalls, Closures)
        passes.finalize()
        return [passes]


class HelperCompiler(Compiler):
    """The same for a function that only compiled code calls."""

    replaced = REPLACED | {NativeLowering: HelperLowering}


def compile_with(pipeline: type[Compiler], dispatcher: Any, module: Any) -> None:
    """Let a module's function be compiled so, if it is its own."""
    if dispatcher.py_func.__module__ == module.__name__:
        dispatcher._compiler.pipeline_class = pipeline
