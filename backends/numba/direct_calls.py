"""Calls of functions that generated code makes often, lowered without compiling anything for them.

Numba has `max` and most of NumPy as Python functions, which each process compiles for each combination of
types: 30 ms for `np.empty`, 200 for a product of matrices, 3 s for `np.transpose`, whose errors need Numba's
strings. What these functions do in the end is done here at the call itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.core import cgutils, ir, types
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.imputils import impl_ret_borrowed, impl_ret_new_ref
from numba.extending import lower_builtin, type_callable
from numba.np import arrayobj, linalg

from . import copies, new_arrays, python_functions, subroutines, views
from .products import inner, multiply
from .signs import Definitions, is_expression


@register_pass(mutates_CFG=False, analysis_only=False)
class DirectCalls(FunctionPass):
    """Replaces `np.zeros`, `max` and others by what stands for them here."""

    _name = "chainrule_direct_calls"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        definitions = Definitions(state.func_ir.blocks)
        for block in state.func_ir.blocks.values():
            for call in block.find_exprs(op="call"):
                if chosen := direct(definitions.only(call.func), call, definitions):
                    if chosen is copies.copied:
                        call.args = [definitions.only(call.func).value]
                    known = ir.Global(chosen.__name__, chosen, call.loc)
                    definitions.assignment[call.func.name].value = known
        state.typingctx.refresh()
        state.targetctx.refresh()
        return True


def direct(function: Any, call: Any, definitions: Definitions) -> Callable | None:
    """What stands for a function in a call, or None."""
    if isinstance(function, ir.Global):
        given = None if call.vararg else len(call.args)
        known = (ours for theirs, count, ours in PYTHON if function.value is theirs and given == count)
        return next(known, None)
    if not is_expression(function, "getattr"):
        return None
    if function.attr == "copy" and not (call.args or call.kws or call.vararg):
        return copies.copied
    module = definitions.only(function.value)
    if not isinstance(module, ir.Global) or module.value is not np:
        return None
    if function.attr == "arange" and (call.kws or len(call.args) > 2):
        return None
    if function.attr != "transpose":
        return DIRECT.get(function.attr)
    given = definitions.only(call.args[1]) if len(call.args) == 2 else None
    axes = [definitions.integer(item) for item in given.items] if is_expression(given, "build_tuple") else []
    return views.permuting(tuple(axes)) if set(axes) == set(range(len(axes))) != set() else None


def product(a, b, out=None): ...


DIRECT = {
    "empty": new_arrays.empty,
    "zeros": new_arrays.zeros,
    "full": new_arrays.full,
    "arange": new_arrays.arange,
    "broadcast_to": views.broadcast_to,
    "ascontiguousarray": copies.contiguous,
    "dot": product,
}
PYTHON = (
    (max, 2, python_functions.largest),
    (min, 2, python_functions.smallest),
    (int, 1, python_functions.integer),
)


@type_callable(product)
def type_product(context: Any) -> Callable:
    def typer(a, b, out=None):
        if not all(isinstance(one, types.Array) and one.ndim in (1, 2) for one in (a, b)):
            return None
        if a.dtype != b.dtype:
            return None
        ndim = a.ndim + b.ndim - 2
        return out or (types.Array(a.dtype, ndim, "C") if ndim else a.dtype)

    return typer


@lower_builtin(product, types.VarArg(types.Any))
def lower_product(context: Any, builder: Any, signature: Any, arguments: tuple) -> Any:
    linalg.ensure_blas()
    result = signature.return_type
    with linalg.make_contiguous(context, builder, result(*signature.args[:2]), arguments[:2]) as (
        made,
        operands,
    ):
        if not isinstance(result, types.Array):
            return subroutines.call(context, builder, "inner", made, operands, inner)
        into = types.none(*made.args, result)
        if len(arguments) == 3 and isinstance(signature.args[2], types.Array):
            subroutines.call(context, builder, "product", into, (*operands, arguments[2]), multiply)
            return impl_ret_borrowed(context, builder, result, arguments[2])
        a, b = (arrayobj.make_array(of)(context, builder, value) for of, value in zip(made.args, operands))
        rows, columns = cgutils.unpack_tuple(builder, a.shape), cgutils.unpack_tuple(builder, b.shape)
        out = new_arrays.new(context, builder, result, [*rows[:-1], *columns[1:]])._getvalue()
        subroutines.call(context, builder, "product", into, (*operands, out), multiply)
        return impl_ret_new_ref(context, builder, result, out)
