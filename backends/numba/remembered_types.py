"""Numba's inference of types, which looks up once what an operator gives for some types, not at every use."""

from __future__ import annotations

import functools
import operator
from typing import Any

from numba.core import types
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NopythonTypeInference

OPERATORS = frozenset(
    function
    for name, function in vars(operator).items()
    if callable(function) and not name.startswith("_") and not isinstance(function, type)
)


@register_pass(mutates_CFG=True, analysis_only=False)
class TypeInference(NopythonTypeInference):
    """Infers types as Numba does, in a context that remembers."""

    _name = "chainrule_type_inference"

    def run_pass(self, state: Any) -> bool:
        context, state.typingctx = state.typingctx, remembering(state.typingctx)
        try:
            return super().run_pass(state)
        finally:
            state.typingctx = context


@functools.cache
def remembering(context: Any) -> Remembering:
    return Remembering(context)


class Remembering:
    """A typing context for which the operators on numbers, arrays and tuples are looked up once."""

    def __init__(self, context: Any):
        self.context = context
        self.known: dict[tuple, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.context, name)

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        key = func.typing_key if isinstance(func, types.Function) else func
        if kws or not hashable_operator(key) or not all(isinstance(of, PLAIN) for of in args):
            return self.context.resolve_function_type(func, args, kws)
        return self.remembered((func, *args), self.context.resolve_function_type, func, args, kws)

    def resolve_setitem(self, target: Any, index: Any, value: Any) -> Any:
        given = target, index, value
        return self.remembered((None, *given), self.context.resolve_setitem, *given)

    def remembered(self, key: tuple, look_up: Any, *arguments: Any) -> Any:
        if key not in self.known:
            found = look_up(*arguments)
            if found is None:
                return None
            self.known[key] = found
        return self.known[key]


def hashable_operator(key: Any) -> bool:
    return callable(key) and key in OPERATORS


PLAIN = (types.Number, types.Boolean, types.Array, types.BaseTuple, types.SliceType)
