"""vjp from outside: the function runs once, and what its cotangents will need is kept."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..autodiff import split
from ..codegen.core import type_of
from ..codegen.errors import ShapeMismatchError, TypeMismatchError
from ..codegen.specialise import put_together
from ..codegen.specialise.calls import call
from .arguments import flatten, is_dynamic_leaf
from .compiled import Compiled, build, plain
from .derivatives import refuse_dtype, shown
from .transformation import Transformation


class TwoSweeps(Compiled):
    """A program split in two: forward to results and residuals, backward from cotangents."""

    def __init__(self, specialised: Any, jitted: bool, fresh: bool):
        program = specialised.program
        kept = len(program.body.results) - len(specialised.written)
        program.body.results, specialised.written = program.body.results[:kept], []
        inexact = [type_of(p).inexact for p in program.parameters]
        chosen = len(program.parameters) - len(specialised.captures)
        active = tuple(flag and k < chosen for k, flag in enumerate(inexact))
        self.outputs = [type_of(r) for r in program.body.results]
        self.forward_program, self.backward_program = split(program, active)
        self.backward = build(self.backward_program, jitted, fresh=True)
        specialised.program = self.forward_program
        super().__init__(specialised, jitted, fresh)
        self.single = len(self.backward_program.body.results) == 1

    def forward(self, leaves: list[Any], captured: list[Any]) -> tuple[Any, list, tuple]:
        """The function's value, its results as leaves, and the residuals."""
        results = self.function(*leaves, *captured)
        results = (results,) if self.count == 1 else results
        outputs = [plain(r) for r in results[:len(self.outputs)]]
        return put_together(self.template, outputs), outputs, results[len(self.outputs):]

    def pull(self, residuals: tuple, seeds: list[Any]) -> tuple:
        found = self.backward(*residuals, *seeds)
        return (found,) if self.single else found


class Plain(Transformation):
    """The function itself, to be run in two sweeps."""

    compiled_kind = TwoSweeps

    def expand(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        return call(s, self.function, arguments, keywords, node)

    def pullback(self, primals: tuple) -> tuple[Any, Any]:
        """The value, and the function from its cotangent to the cotangents of the primals."""
        leaves, structure = flatten((primals, {}))
        for leaf in leaves:
            dtype = np.asarray(leaf).dtype
            if not is_dynamic_leaf(leaf) or dtype.kind not in "fc":
                refuse_dtype(dtype, "vjp", "an argument")
        forward = lambda compiled, dynamic, captured: (compiled, compiled.forward(dynamic, captured))
        compiled, (value, outputs, residuals) = self.run(leaves, structure, None, forward)

        def pull(cotangent: Any) -> tuple:
            given, _ = flatten(cotangent)
            seeds = cotangents_like(compiled.outputs, outputs, given)
            found = compiled.pull(residuals, seeds)
            restored = [like(leaf, plain(bar)) for leaf, bar in zip(leaves, found, strict=True)]
            return structure.unflatten(restored)[0]

        return value, pull


def like(leaf: Any, cotangent: Any) -> Any:
    """A Python float's cotangent is a Python float."""
    return type(leaf)(cotangent) if type(leaf) in (float, complex) else cotangent


def cotangents_like(types: list[Any], outputs: list[Any], given: list[Any]) -> list[Any]:
    """The cotangents of the inexact results, checked against them."""
    if len(given) != len(outputs):
        raise TypeMismatchError(f"{len(given)} cotangents were given for {len(outputs)} results",
                                "give the cotangent the structure of the result")
    seeds = []
    for of, output, one in zip(types, outputs, given, strict=True):
        if not of.inexact:
            continue
        if np.shape(one) != np.shape(output):
            raise ShapeMismatchError(f"the cotangent has shape {shown(np.shape(one))}, and the result has shape "
                                     f"{shown(np.shape(output))}", "give a cotangent of the same shape")
        if isinstance(one, (np.ndarray, np.generic)) and one.dtype != of.dtype:
            raise TypeMismatchError(f"the cotangent has dtype {one.dtype}, and the result has dtype {of.dtype}",
                                    f"convert it with .astype(np.{of.dtype})")
        if not of.shape:
            one = of.dtype.type(one)
        seeds.append(one)
    return seeds
