"""The functions that vjp and linearize give outside, called within a function that is being specialised.

Then the second half of the program is emitted there. What the first half kept are further parameters of the
enclosing program, read from the one run that it had.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..codegen.adopt import paste
from ..codegen.core import ArrayType, Assign, Block, Program, StackType, Variable, type_of
from ..codegen.renaming import Renaming
from ..codegen.specialise import put_together
from ..codegen.specialise.merge import take_apart
from ..codegen.specialise.places import Place
from .arguments import known_type
from .opened import as_seed, check_like, paired


class SecondHalf:
    """From seeds to derivatives. `run` has what the first half gave and kept."""

    def __init__(self, run: Any):
        self.run = run
        self.__name__ = run.name

    def kept(self, s: Any, node: Any) -> tuple[list[Any], dict]:
        """What the first half kept, brought into the program, and what its sizes are called there."""
        run, sizes, operands = self.run, {}, []
        place = Place(run).attribute("residuals")
        parameters = run.compiled.second_program.parameters[: len(run.residuals)]
        for k, parameter in enumerate(parameters):
            if isinstance(parameter.type, StackType):
                raise s.unsupported(
                    f"a call within a program of the {run.whose} from outside, which kept what a loop did",
                    f"call {run.what} within: lambda c: {run.what}(f, x)[1](c)",
                    node,
                )
            operand = s.operand(s.outside(place.item(k), parameter.name or "kept", False))
            operands.append(operand if parameter.type.shape else as_seed(s, operand, parameter.type))
            note_sizes(s, parameter.type, type_of(operand).shape, sizes)
        return [sizes.get(p, o) for p, o in zip(parameters, operands, strict=True)], sizes

    def seeds(self, s: Any, what: str, values: list, given: list, sizes: dict, node: Any) -> list[Any]:
        """Tangents or cotangents of values, checked against them."""
        run = self.run
        types = iter([p.type for p in run.compiled.second_program.parameters[len(run.residuals) :]])
        like = []
        for value in values:
            of = known_type(value)
            if of.inexact:
                of = next(types)
                note_sizes(s, of, np.shape(value), sizes)
            like.append(Variable("like", Renaming(dict(sizes)).type(of)))
        return check_like(s, like, given, what, run.whose, node)

    def results(self, s: Any, operands: tuple, sizes: dict) -> tuple:
        """The second half emitted here, for operands whose sizes are known already."""
        program = self.run.compiled.second_program
        reads_size = lambda one: isinstance(one, Assign) and one.primitive.name == "size"
        statements = [
            one for one in program.body.statements if not (reads_size(one) and one.targets[0] in sizes)
        ]
        body = Block(statements, program.body.results)
        return paste(s.builder, Program(program.name, program.parameters, body), operands, sizes)


def note_sizes(s: Any, of: ArrayType, shape: tuple, sizes: dict) -> None:
    """Remember what the symbolic sizes of a type are here."""
    for size, here in zip(of.shape, shape, strict=True):
        if not isinstance(size, Variable):
            continue
        known = sizes.setdefault(size, here)
        if isinstance(here, Variable) and known is not here:
            s.builder.equate(known, here)


class PulledBack(SecondHalf):
    """The pullback that vjp gives: from the cotangent of the value to those of the primals."""

    def __call__(self, cotangent: Any) -> tuple:
        return self.run.pull(cotangent)

    def __specialise__(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        (cotangent,) = arguments
        run = self.run
        kept, sizes = self.kept(s, node)
        given = paired(run.template, cotangent, "cotangent", run.whose, s.location(node))
        seeds = self.seeds(s, "cotangent", run.values(), given, sizes, node) + run.unused_seeds()
        found = self.results(s, (*kept, *seeds), sizes)
        return run.structure.unflatten(as_leaves(s, run.leaves, found))[0]


class Pushed(SecondHalf):
    """The linear function that linearize gives: from tangents of the primals to that of the value."""

    def __call__(self, *tangents: Any) -> Any:
        return self.run.push(*tangents)

    def given(self, tangents: tuple, where: Any) -> list[Any]:
        """The tangents as leaves, in the order of the primals' leaves."""
        run, numbers = self.run, []
        numbered = run.structure.unflatten([np.int64(k) for k in range(len(run.leaves))])[0]
        template = take_apart(numbered, numbers)
        found = dict(zip(numbers, paired(template, tangents, "tangent", run.whose, where), strict=True))
        return [found[k] for k in range(len(run.leaves))]

    def __specialise__(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        run = self.run
        kept, sizes = self.kept(s, node)
        run.check_count(tuple(arguments), s.location(node))
        given = self.given(tuple(arguments), s.location(node))
        seeds = self.seeds(s, "tangent", run.leaves, given, sizes, node)
        found = iter(self.results(s, (*kept, *seeds), sizes))
        dots = [
            next(found) if of.inexact else np.zeros(np.shape(out))[()]
            for of, out in zip(run.compiled.outputs, run.outputs, strict=True)
        ]
        return put_together(run.template, as_leaves(s, run.outputs, dots))


def as_leaves(s: Any, leaves: list, found: Any) -> list[Any]:
    """Derivatives as values; by or of a Python float, a Python float."""
    weak = lambda leaf: ArrayType(np.dtype(type(leaf)), (), weak=True)
    return [
        s.wrap(as_seed(s, one, weak(leaf)) if type(leaf) in (float, complex) else one)
        for leaf, one in zip(leaves, found, strict=True)
    ]
