"""Random keys in a function that is being specialised: each use is marked, so that a second one is seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..codegen.core import Program
from ..codegen.key_reuse import outer_uses, report, without_marks
from ..codegen.primitives.keys import use_key
from ..codegen.specialise.builtin_functions import BUILTINS
from ..codegen.specialise.calls import call_python
from .modes import DEFAULTS


def without_keys(s: Any, program: Program) -> Program:
    """The program of one example without its marks: what it uses of keys from outside is marked outside.

    All examples using one such key is what vmap is asked for, and no use at every turn.
    """
    if report(program) and s.externals is not None:
        s.externals.lasting = False
    for statement in outer_uses(program):
        with s.builder.at(statement.location):
            s.builder.emit(use_key, *statement.operands)
    return Program(program.name, program.parameters, without_marks(program.body))


def uses_key(sampler: Callable) -> None:
    """Let calls of a function whose first argument is a key count as uses of it."""

    def handler(s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        key = arguments[0] if arguments else keywords.get("key")
        if DEFAULTS["key_reuse"] and not s.quiet and s.number(key):
            with s.at(node):
                s.builder.emit(use_key, s.operand(key))
        return call_python(s, sampler, arguments, keywords, node)

    BUILTINS[sampler] = handler
