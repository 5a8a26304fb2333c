"""Numba's lowering, which tells LLVM what arrays share no memory with others.

An array that a function makes is its own, and so is one that a loop's turns write. Told so, LLVM need not
test for overlaps before each loop, and keeps elements in registers across writes to other arrays.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from llvmlite import ir as llvm
from numba.core import cgutils, ir, types

from .direct_calls import DIRECT
from .element_access import LowerElements
from .llvm_settings import SHORT_ROWS

MAKES = (np.empty, np.zeros, np.ones, np.full, *(DIRECT[name] for name in ("empty", "zeros", "full")))
# How Numba calls the pointer to the elements of an array that is an argument.
DATA = re.compile(r"arg\.\w+\.4")


class LowerDistinct(LowerElements):
    """Lowers one function."""

    def setup_function(self, fndesc: Any) -> None:
        super().setup_function(fndesc)
        if fndesc.restype != types.none:
            return
        # What only writes into arrays that it is given is a loop's turns: no view of them is read there.
        for argument in self.call_conv.get_arguments(self.function):
            if DATA.fullmatch(argument.name):
                argument.add_attribute("noalias")

    def element(self, base: Any, index: Any) -> Any:
        if self.typeof(base.name).ndim > 2:
            self.library.settings = SHORT_ROWS
        return super().element(base, index)

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        value = super().lower_assign(ty, inst)
        return self.distinct(ty, value) if self.makes_array(ty, inst.value) else value

    def makes_array(self, ty: Any, value: Any) -> bool:
        """Whether an expression makes an array that nothing else refers to."""
        if not isinstance(ty, types.Array) or not isinstance(value, ir.Expr) or value.op != "call":
            return False
        function = self.typeof(value.func.name)
        if isinstance(function, types.BoundFunction):
            return function.typing_key == "array.copy"
        return isinstance(function, types.Function) and function.typing_key in MAKES

    def distinct(self, ty: Any, value: Any) -> Any:
        """An array whose data are found by a call that, LLVM is told, returns memory of its own."""
        model, builder = self.context.data_model_manager[ty], self.builder
        own, data = (model.get_field_position(field) for field in ("meminfo", "data"))
        called = llvm.FunctionType(cgutils.voidptr_t, [cgutils.voidptr_t])
        function = cgutils.get_or_insert_function(builder.module, called, "NRT_MemInfo_data")
        function.return_value.add_attribute("noalias")
        found = builder.call(function, [builder.extract_value(value, own)])
        pointer = builder.bitcast(found, builder.extract_value(value, data).type)
        return builder.insert_value(value, pointer, data)
