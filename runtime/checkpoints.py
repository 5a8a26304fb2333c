"""checkpoint: a call whose inner values are computed again in the backward sweep, not kept."""

from __future__ import annotations

from typing import Any

from ..autodiff import segmented
from ..codegen.core import ArrayType, If, Run, Variable, nothing, type_of
from ..codegen.errors import UnsupportedError
from ..codegen.specialise import put_together
from ..codegen.specialise.builtin_functions import BUILTINS
from ..codegen.specialise.calls import call
from ..codegen.specialise.control import attempt, defined_in, emit_sizes
from ..codegen.specialise.merge import take_apart
from .opened import stopped
from .transformation import Transformation


class Checkpoint(Transformation):
    """The function itself; in reverse mode it runs a second time instead of keeping what it computed."""

    def __init__(self, function: Any, steps: int | str | None = None):
        super().__init__(function)
        self.steps = steps
        self.fresh_results = getattr(function, "fresh_results", False)

    def as_python(self, arguments: tuple, keywords: dict) -> Any:
        return self.function(*arguments, **keywords)

    def expand(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        leaves: list[Any] = []

        def run() -> Any:
            template = take_apart(call(s, self.function, arguments, keywords, node), leaves)
            return template, [s.operand(leaf) for leaf in leaves]

        block, trial, value = attempt(s, run)
        if trial is None:
            return call(s, self.function, arguments, keywords, node)
        if trial.outer():
            raise UnsupportedError(
                f"checkpoint of {self.program_name()}, which changes something outside of itself",
                "return the new value instead",
                s.location(node),
            )
        template, operands = value
        inner = set(defined_in(block))
        places = [k for k, operand in enumerate(operands) if operand in inner]
        block.results = tuple(operands[k] for k in places)
        unknown: list = []
        targets = tuple(s.builder.target(seen_from_outside(r, inner), unknown) for r in block.results)
        for target, result in zip(targets, block.results, strict=True):
            target.name = result.name
        location = s.location(node)
        if self.steps is not None:
            block = segmented(block, self.steps)
        s.builder.append(If(targets, True, block, nothing(len(targets)), location, recompute=Run()))
        emit_sizes(s, unknown)
        for k, target in zip(places, targets, strict=True):
            leaves[k] = s.wrap(target)
        return put_together(template, leaves)


def seen_from_outside(result: Variable, inner: set[Variable]) -> Any:
    """The type of a block's result, without the sizes that only the block knows."""
    of = type_of(result)
    if not isinstance(of, ArrayType):
        return of
    return of.with_shape(tuple(None if size in inner else size for size in of.shape))


def stop_inside(function: Any) -> None:
    """Let `function`, in the user's code, cut each array and number of its argument off from derivatives."""

    def handler(s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        leaves: list[Any] = []
        (value,) = (*arguments, *keywords.values())
        template = take_apart(value, leaves)
        return put_together(template, [stopped(s, leaf) for leaf in leaves])

    BUILTINS[function] = handler
