"""How Python calls a compiled function: Numba's wrapper, in a third of the LLVM instructions.

All that is unpacked is let go at one place; functions of the module unpack arrays and make them.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir as llvm
from numba.core import cgutils, lowering, types
from numba.core.callwrapper import PyCallWrapper
from numba.np import arrayobj, numpy_support

from . import subroutines
from .references import count

KNOWN = (types.Number, types.Boolean, types.Array)
UNPACK, PACK = "chainrule_unpack", "chainrule_pack"
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
    """Builds the wrapper of a function of numbers and arrays.

    Arrays, and tuples that are returned, stay in memory: a structure that LLVM holds as one value is taken
    apart into each of its members wherever it is used.
    """

    def build_wrapper(self, api: Any, builder: Any, closure: Any, args: Any, kws: Any) -> None:
        kinds, null = self.fndesc.argtypes, api.get_null_object()
        objects = [api.alloca_obj() for _ in kinds]
        parsed = api.unpack_tuple(args, self.fndesc.qualname, len(kinds), len(kinds), *objects)
        with cgutils.if_unlikely(builder, cgutils.is_null(builder, parsed)):
            builder.ret(null)
        # Empty at first, so that they can be let go of at any time.
        arrays = {
            place: cgutils.alloca_once(builder, self.context.get_value_type(of))
            for place, of in enumerate(kinds)
            if isinstance(of, types.Array)
        }
        result = cgutils.alloca_once(builder, self.func.function_type.args[0].pointee)
        raised = cgutils.alloca_once(builder, self.func.function_type.args[1].pointee)
        refused = builder.append_basic_block("refused")
        values = [result, raised]
        for place, (of, given) in enumerate(zip(kinds, objects)):
            values += self.value(api, builder, of, builder.load(given), arrays.get(place), refused)
        saved = api.save_thread() if self.release_gil else None
        code = builder.call(self.func, values, attrs=("noinline",))
        if saved is not None:
            api.restore_thread(saved)
        self.let_go(builder, arrays)
        status = self.context.call_conv._get_return_status(builder, code, builder.load(raised))
        with builder.if_then(status.is_ok, likely=True):
            builder.ret(self.answer(api, builder, status, result))
        self.context.call_conv.raise_error(builder, api, status)
        builder.ret(null)
        with builder.goto_block(refused):
            self.let_go(builder, arrays)
            builder.ret(null)

    def value(self, api: Any, builder: Any, of: Any, given: Any, place: Any, refused: Any) -> list:
        """What an argument is passed as; if it is another kind of object, the wrapper goes to `refused`."""
        if place is None:
            native = api.to_native_value(of, given)
            failed = native.is_error
        else:
            size = llvm.IntType(64)(arrayobj.get_itemsize(self.context, of))
            failed = builder.call(self.unpack(builder.module), [given, untyped(builder, place), size])
        with cgutils.if_unlikely(builder, failed):
            builder.branch(refused)
        if place is not None:
            return members(builder, place)
        return self.context.get_arg_packer((of,)).as_arguments(builder, (native.value,))

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

    def answer(self, api: Any, builder: Any, status: Any, result: Any) -> Any:
        """The object that Python gets for the result that is at a place."""
        of = self._simplified_return_type()
        if isinstance(of, types.NoneType):
            return api.make_none()
        if of != self.fndesc.restype:
            with builder.if_then(status.is_none):
                api.return_none()
            value = self.context.get_returned_value(builder, self.fndesc.restype, builder.load(result))
            return api.from_native_return(of, value, self.get_env(api, builder))
        return Packing(self.context, api, builder, self.get_env(api, builder)).object(of, result)

    def let_go(self, builder: Any, arrays: dict) -> None:
        for where in arrays.values():
            let_go_of(builder, where)


class Packing:
    """Makes Python's objects of what is at a place, whose references they take over."""

    def __init__(self, context: Any, api: Any, builder: Any, environment: Any) -> None:
        self.context, self.api, self.builder, self.environment = context, api, builder, environment
        self.dtypes: dict = {}

    def object(self, of: Any, place: Any) -> Any:
        builder = self.builder
        if isinstance(of, types.BaseTuple) and not isinstance(of, types.BaseNamedTuple):
            made = self.api.tuple_new(len(of.types))
            for index, (kind, where) in enumerate(zip(of.types, parts(builder, place))):
                self.api.tuple_setitem(made, index, self.object(kind, where))
            return made
        if isinstance(of, types.Array):
            return builder.call(self.pack(of), [untyped(builder, place), self.dtype(of)])
        value, model = builder.load(place), self.context.data_model_manager[of]
        if value.type != model.get_value_type():
            value = model.from_data(builder, value)
        return self.api.from_native_value(of, value, self.environment)

    def dtype(self, of: Any) -> Any:
        if of.dtype not in self.dtypes:
            constant = self.environment.add_const(numpy_support.as_dtype(of.dtype))
            self.dtypes[of.dtype] = self.environment.read_const(constant)
        return self.dtypes[of.dtype]

    def pack(self, of: Any) -> Any:
        """The function that makes an array of a type and a dtype."""
        module, name = self.builder.module, self.context.mangler(PACK, (of,))
        if name in module.globals:
            return module.globals[name]
        pointer, kind = cgutils.voidptr_t, self.context.get_value_type(of)
        called = llvm.FunctionType(self.api.pyobj, [pointer, self.api.pyobj])
        function, builder = subroutines.new(module, called, name)
        place, dtype = function.args
        where = builder.bitcast(place, kind.as_pointer())
        api = self.context.get_python_api(builder)
        made = api.nrt_adapt_ndarray_to_python(of, builder.load(where), dtype)
        let_go_of(builder, where)
        builder.ret(made)
        return function


def let_go_of(builder: Any, array: Any) -> None:
    """Give back a reference to the memory of the array at a place."""
    count(builder, "NRT_decref", builder.load(cgutils.gep_inbounds(builder, array, 0, 0)))


def members(builder: Any, place: Any) -> list:
    """The numbers and pointers at a place, as they are passed to a function."""
    if isinstance(place.type.pointee, (llvm.LiteralStructType, llvm.ArrayType)):
        return [one for part in parts(builder, place) for one in members(builder, part)]
    return [builder.load(place)]


def parts(builder: Any, place: Any) -> list:
    count = len(place.type.pointee)
    return [cgutils.gep_inbounds(builder, place, 0, index) for index in range(count)]


def untyped(builder: Any, place: Any) -> Any:
    return builder.bitcast(place, cgutils.voidptr_t)
