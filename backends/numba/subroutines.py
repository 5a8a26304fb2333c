"""LLVM functions that lowered code calls, each made once in a module: short code where it is called often."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils


def call(context: Any, builder: Any, name: str, signature: Any, arguments: Any, lower: Callable) -> Any:
    """The result of a function that `lower` makes where it is first called; what it raises is passed on.

    Parameters
    ----------
    name
        Says, with the types of the arguments, which function it is.
    signature
        Numba's types of the arguments and the result.
    lower
        Called as Numba's lowerings are, with the context, a builder, the signature and the arguments.
    """
    convention, mangled = context.call_conv, context.mangler(f"chainrule_{name}", signature.args)
    function = builder.module.globals.get(mangled) or made(context, builder, mangled, signature, lower)
    status, result = convention.call_function(
        builder, function, signature.return_type, signature.args, arguments
    )
    with cgutils.if_unlikely(builder, status.is_error):
        convention.return_status_propagate(builder, status)
    return result


def made(context: Any, builder: Any, mangled: str, signature: Any, lower: Callable) -> Any:
    convention, types = context.call_conv, signature.args
    kind = convention.get_function_type(signature.return_type, types)
    function, inside = new(builder.module, kind, mangled)
    convention.decorate_function(function, [f"of{place}" for place in range(len(types))], types)
    packer = context.get_arg_packer(types)
    arguments = packer.from_arguments(inside, convention.get_arguments(function))
    result = lower(context, inside, signature, arguments)
    convention.return_value(inside, result)
    return function


def new(module: Any, kind: Any, name: str) -> tuple[Any, Any]:
    """A function of a module that nothing else calls, not inlined, and what builds its code."""
    function = ir.Function(module, kind, name)
    function.linkage = "internal"
    function.attributes.add("noinline")
    return function, ir.IRBuilder(function.append_basic_block("entry"))
