"""How Python calls a compiled function: Numba's wrapper, in a third of the LLVM instructions.

All that is unpacked is let go at one place, and a function of the module unpacks every array.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir as llvm
from numba.core import cgutils, lowering, types
from numba.core.callwrapper import PyCallWrapper
from numba.np import arrayobj

from . import subroutines

KNOWN = (types.Number, types.Boolean, types.Array)
UNPACK = "chainrule_unpack"
WRONG = "can't unbox array from PyObject into native value.  The object maybe of a different type"


class LowerWrapper(lowering.Lower):
    """Lowers one function."""

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        described = self.fndesc
        if self.genlower or not all(isinstance(of, KNOWN) for of in described.argtypes):
            return super().create_cpython_wrapper(release_gil)
        module = self.context.create_module("wrapper")
        kind = self.call_conv.get_function_type(described.restype, described.argtypes)
        called = llvm.Function(module, kind, described.llvm_func_name)
        wrapper = Wrapper(self.context, module, called, described, self.env, self.call_helper, release_gil)
        made, _ = wrapper.build()
        # What it does is done in the functions that it calls: it would be as slow, optimised.
        for attribute in ("noinline", "optnone"):
            made.attributes.add(attribute)
        self.library.add_ir_module(module)


class Wrapper(PyCallWrapper):
    """Builds the wrapper of a function of numbers and arrays."""

    def build_wrapper(self, api: Any, builder: Any, closure: Any, args: Any, kws: Any) -> None:
        kinds, null = self.fndesc.argtypes, api.get_null_object()
        objects = [api.alloca_obj() for _ in kinds]
        parsed = api.unpack_tuple(args, self.fndesc.qualname, len(kinds), len(kinds), *objects)
        with cgutils.if_unlikely(builder, cgutils.is_null(builder, parsed)):
            builder.ret(null)
        environment = self.get_env(api, builder)
        # Empty at first, so that they can be let go of at any time.
        arrays = {
            place: cgutils.alloca_once(builder, self.context.get_value_type(of))
            for place, of in enumerate(kinds)
            if isinstance(of, types.Array)
        }
        refused = builder.append_basic_block("refused")
        values = [
            self.value(api, builder, of, builder.load(given), arrays.get(place), refused)
            for place, (of, given) in enumerate(zip(kinds, objects))
        ]
        saved = api.save_thread() if self.release_gil else None
        status, result = self.context.call_conv.call_function(
            builder, self.func, self.fndesc.restype, kinds, values, attrs=("noinline",)
        )
        if saved is not None:
            api.restore_thread(saved)
        self.let_go(builder, arrays)
        with builder.if_then(status.is_ok, likely=True):
            with builder.if_then(status.is_none):
                api.return_none()
            builder.ret(api.from_native_return(self._simplified_return_type(), result, environment))
        self.context.call_conv.raise_error(builder, api, status)
        builder.ret(null)
        with builder.goto_block(refused):
            self.let_go(builder, arrays)
            builder.ret(null)

    def value(self, api: Any, builder: Any, of: Any, given: Any, place: Any, refused: Any) -> Any:
        """An argument; where it is another kind of object, the wrapper goes to the block `refused`."""
        if place is None:
            native = api.to_native_value(of, given)
            failed = native.is_error
        else:
            size = llvm.IntType(64)(arrayobj.get_itemsize(self.context, of))
            where = builder.bitcast(place, cgutils.voidptr_t)
            code = builder.call(self.unpack(builder.module), [given, where, size])
            failed = cgutils.is_not_null(builder, code)
        with cgutils.if_unlikely(builder, failed):
            builder.branch(refused)
        return native.value if place is None else builder.load(place)

    def unpack(self, module: Any) -> Any:
        """The function that unpacks an array, with elements of a size; not 0 where it cannot."""
        if UNPACK in module.globals:
            return module.globals[UNPACK]
        pointer, size = cgutils.voidptr_t, llvm.IntType(64)
        kind = llvm.FunctionType(cgutils.bool_t, [pointer, pointer, size])
        function, builder = subroutines.new(module, kind, UNPACK)
        given, where, wanted = function.args
        api = self.context.get_python_api(builder)
        code = api.nrt_adapt_ndarray_from_python(given, where)
        found = builder.load(builder.gep(builder.bitcast(where, size.as_pointer()), [size(3)]))
        other = builder.icmp_unsigned("!=", found, wanted)
        failed = builder.or_(cgutils.is_not_null(builder, code), other)
        with cgutils.if_unlikely(builder, failed):
            api.err_set_string("PyExc_TypeError", WRONG)
        builder.ret(failed)
        return function

    def let_go(self, builder: Any, arrays: dict) -> None:
        for place, where in arrays.items():
            self.context.nrt.decref(builder, self.fndesc.argtypes[place], builder.load(where))
