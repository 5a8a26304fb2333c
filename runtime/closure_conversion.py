"""Functions whose reads from outside become arguments, so that a derivative rule can be given for these too.

>>> offset = 2.0
>>> function, reads = closed_over(lambda x: x + offset, 1.0)
>>> function(reads, 3.0), reads
(5.0, ())
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from ..codegen.adopt import paste
from ..codegen.core import ArrayType, Block, Program, Variable, free_variables
from ..codegen.specialise import put_together
from ..codegen.specialise.builtin_functions import BUILTINS
from ..codegen.specialise.calls import call
from ..codegen.specialise.control import attempt
from ..codegen.specialise.merge import take_apart
from .custom_functions import CustomFunction, Rules
from .trees import unflatten, values_flatten


def closed_over(function: Callable, *examples: Any) -> tuple[Callable, tuple]:
    """(a function of (reads, *arguments), reads): what `function` reads beside its arguments is in `reads`.

    Inside a program these are its arrays and floats; outside of one there is nothing to take out.
    """
    return lambda reads, *arguments: function(*arguments), ()


def with_rules(function: Callable, jvp: Callable, forward: Callable | None, backward: Callable | None) -> Any:
    """A function with a rule for forward mode, and with rules of their own for reverse mode."""
    made = CustomFunction(function)
    made.rules = Rules(jvp, forward, backward)
    return made


# inside a function that is being specialised


class Opened:
    """A function of (reads, *arguments), whose code reads other variables in their place."""

    def __init__(self, function: Any, variables: tuple[Variable, ...]):
        self.function, self.variables = function, variables

    def __specialise__(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        reads, *arguments = arguments
        found = read_alone(s, self.function, arguments, node)
        if found is None:
            return call(s, self.function, arguments, {}, node)
        block, template, leaves = found
        operands = tuple(s.operand(read) for read in reads)
        block.results = tuple(leaf for leaf in leaves if isinstance(leaf, Variable))
        results = iter(paste(s.builder, Program("opened", self.variables, block), operands))
        values = [s.wrap(next(results), False) if isinstance(leaf, Variable) else leaf for leaf in leaves]
        return s.store.adopt(put_together(template, values))


def read_alone(s: Any, function: Any, arguments: list, node: Any) -> tuple[Block, Any, list] | None:
    """The code of a call, its result's template and leaves; None if it always ends in an exception."""
    leaves: list[Any] = []

    def run() -> Any:
        template = take_apart(call(s, function, arguments, {}, node), leaves)
        return template, [s.operand(leaf) for leaf in leaves]

    with unshared(s.builder):
        block, trial, value = attempt(s, run)
    if trial is None:
        return None
    if trial.outer():
        raise s.unsupported(
            "a function of a solver that changes something outside of itself",
            "return the new value instead",
            node,
        )
    return block, *value


@contextlib.contextmanager
def unshared(builder: Any) -> Iterator[None]:
    """Emit what reads the function's own variables, not what has been computed from them before."""
    known = [scope.known for scope in builder.scopes]
    for scope in builder.scopes:
        scope.known = {}
    try:
        yield
    finally:
        for scope, before in zip(builder.scopes, known, strict=False):
            scope.known = before


def values_closed_over(s: Any, arguments: list, keywords: dict, node: Any) -> tuple[Opened, tuple]:
    function, *examples = arguments
    given, own = [], []
    for example in examples:
        leaves, structure = values_flatten(s, [example], {}, node)
        leaves = [s.wrap(Variable(None, s.type(leaf)), False) if s.number(leaf) else leaf for leaf in leaves]
        own += [s.operand(leaf) for leaf in leaves if s.number(leaf)]
        given.append(unflatten(structure, leaves))
    found = read_alone(s, function, given, node)
    if found is None:
        return Opened(function, ()), ()
    block, _, leaves = found
    block.results = tuple(leaf for leaf in leaves if isinstance(leaf, Variable))
    reads = tuple(
        v for v in free_variables(block) if isinstance(v.type, ArrayType) and v.type.inexact and v not in own
    )
    return Opened(function, reads), tuple(s.wrap(v, False) for v in reads)


BUILTINS[closed_over] = values_closed_over
BUILTINS[with_rules] = lambda s, arguments, keywords, node: with_rules(*arguments)

__all__ = ["closed_over", "with_rules"]
