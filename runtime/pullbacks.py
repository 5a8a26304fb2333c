"""vjp and linearize: the function runs once, and what its derivative will need is kept.

From outside a program is made in two parts, which are two functions. Inside a function that is being
specialised, the second part is emitted where the pullback is called.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..autodiff import linear_split, reverse, split
from ..codegen.core import type_of
from ..codegen.custom_calls import without_custom_calls
from ..codegen.errors import NotDifferentiableError, TypeMismatchError
from ..codegen.specialise import put_together
from ..codegen.specialise.calls import call
from ..codegen.specialise.merge import take_apart
from ..codegen.visible import silent_program
from .arguments import flatten, is_dynamic_leaf, known_type
from .checked import run_checked
from .compiled import Compiled, build, plain
from .derivatives import only_inside
from .kept_texts import Described
from .modes import watched
from .opened import Opened, check_like, differentiating, paired, refuse_unlike, stopped
from .second_halves import PulledBack, Pushed
from .transformation import Transformation


class Plain(Transformation):
    """The function itself."""

    def expand(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        return call(s, self.function, arguments, keywords, node)


class WithAux(Transformation):
    """A function that returns (value, aux), such that no derivative passes through aux."""

    def __init__(self, function: Any, what: str):
        super().__init__(function)
        self.what = what

    def expand(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        result = call(s, self.function, arguments, keywords, node)
        if not (isinstance(result, tuple) and len(result) == 2):
            raise TypeMismatchError(
                f"{self.what} with has_aux=True needs a function that returns (value, aux), and "
                f"this one returns a {type(result).__name__}",
                "return a tuple of two",
                s.location(node),
            )
        value, aux = result
        leaves: list[Any] = []
        template = take_apart(aux, leaves)
        return value, put_together(template, [stopped(s, leaf) for leaf in leaves])


class Halves(Compiled):
    """A program in two parts: one to results and residuals, one from residuals and seeds to derivatives."""

    def __init__(self, specialised: Any, jitted: bool, fresh: bool, halve: Any):
        program = specialised.program
        kept = len(program.body.results) - len(specialised.written)
        program.body.results, specialised.written = program.body.results[:kept], []
        arguments = len(program.parameters) - len(specialised.captures)
        active = tuple(k < arguments and type_of(p).inexact for k, p in enumerate(program.parameters))
        self.outputs = [type_of(r) for r in program.body.results]
        specialised.program, second = halve(program, active)
        self.second_program = without_custom_calls(second)
        self.second = build(Described(self.second_program), jitted, fresh=True)
        super().__init__(specialised, jitted, fresh)
        self.single = len(self.second_program.body.results) == 1

    def run_first(self, leaves: list[Any], captured: list[Any]) -> tuple[list, tuple]:
        """The function's results as leaves, and the residuals."""
        results = self.results(leaves, captured)
        count = len(self.outputs)
        return [plain(r) for r in results[:count]], results[count:]

    def run_second(self, residuals: tuple, seeds: list[Any]) -> tuple:
        watch = watched()
        if watch is not None:
            return run_checked(self.second_program, [*residuals, *seeds], watch)
        try:
            found = self.second(*residuals, *seeds)
        except Exception as error:
            raise self.annotated(error) from None
        return (found,) if self.single else found


class Pullback(Halves):
    """Forward to results, then backward from cotangents."""

    def __init__(self, specialised: Any, jitted: bool, fresh: bool):
        super().__init__(specialised, jitted, fresh, split)


class LinearPart(Halves):
    """Forward to results, then forward again from tangents, without the function's own values."""

    def __init__(self, specialised: Any, jitted: bool, fresh: bool):
        super().__init__(specialised, jitted, fresh, linear_split)


class InTwo(Transformation):
    """vjp and linearize from outside. No later write of the caller's is seen by the second part."""

    fresh_results = True
    what = ""

    def __init__(self, function: Any, has_aux: bool = False):
        super().__init__(WithAux(function, self.what) if has_aux else function)
        self.has_aux = has_aux

    def expand(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        with differentiating(s, 2):
            return call(s, self.function, arguments, keywords, node)

    def halves(self, primals: tuple) -> tuple[tuple, Any]:
        """What the caller gets with the second function, and what that function needs."""
        leaves, structure = flatten((primals, {}))
        name = self.program_name()
        for leaf in leaves:
            dtype = np.asarray(leaf).dtype
            if not is_dynamic_leaf(leaf) or dtype.kind not in "fc":
                shown = dtype if is_dynamic_leaf(leaf) else type(leaf).__name__
                raise NotDifferentiableError(
                    f"{self.what} needs floating-point inputs, and {name} was given one of dtype {shown}",
                    "pass a float (1.0 instead of 1), or convert the array with x.astype(float); what is not "
                    "differentiated can be captured: lambda x: f(x, n)",
                )
        return Run(self, name, primals, leaves, structure)


class Run:
    """One run of the first half: its results, and all that the second half will need."""

    def __init__(self, transformation: InTwo, name: str, primals: tuple, leaves: list, structure: Any):
        self.what, self.name = transformation.what, name
        self.whose, self.primals, self.leaves = f"{self.what} of {name}", primals, leaves
        self.structure = structure
        first = lambda compiled, dynamic, captured: (compiled, compiled.run_first(dynamic, captured))
        self.compiled, (self.outputs, self.residuals) = transformation.run(leaves, structure, None, first)
        template = self.compiled.template
        whole = put_together(template, self.outputs)
        self.template = template[0] if transformation.has_aux else template
        self.answer = whole if transformation.has_aux else (whole,)

    def seeds(self, what: str, of: list, types: list, given: list) -> list[Any]:
        """Tangents or cotangents of the inexact values among `of`, checked against them."""
        seeds = []
        for value, known, one in zip(of, types, given, strict=True):
            if not known.inexact:
                if one is not None and np.any(one) and np.asarray(one).dtype.kind != "V":
                    raise TypeMismatchError(
                        f"{self.whose} was given a {what} other than 0 for an integer or bool",
                        f"give the {what} 0",
                    )
                continue
            if not is_dynamic_leaf(one):
                raise TypeMismatchError(
                    f"{self.whose} needs a {what} of dtype {known.dtype}, and was given "
                    f"{'a bool' if isinstance(one, bool) else f'a {type(one).__name__}'}",
                    "give an array or a number",
                )
            refuse_unlike(known.with_shape(np.shape(value)), known_type(one), what, self.whose, None)
            seeds.append(one if known.shape else known.dtype.type(one))
        return seeds

    def pull(self, cotangent: Any) -> tuple:
        """The cotangents of the primals."""
        given = paired(self.template, cotangent, "cotangent", self.whose, None)
        types = [self.compiled.outputs[k] for k in leaf_places(self.template)]
        seeds = self.seeds("cotangent", self.values(), types, given) + self.unused_seeds()
        found = self.compiled.run_second(self.residuals, seeds)
        restored = [like(leaf, plain(bar)) for leaf, bar in zip(self.leaves, found, strict=True)]
        return self.structure.unflatten(restored)[0]

    def values(self) -> list[Any]:
        """The leaves of the function's value, without what it returned beside it."""
        return [self.outputs[k] for k in leaf_places(self.template)]

    def unused_seeds(self) -> list[Any]:
        """Cotangents for what the function returned beside its value, which nothing reads."""
        places = leaf_places(self.template)
        return [0.0 for k, of in enumerate(self.compiled.outputs) if k not in places and of.inexact]

    def check_count(self, tangents: tuple, where: Any = None) -> None:
        if len(tangents) != len(self.primals):
            raise TypeMismatchError(
                f"{self.whose} was given {len(tangents)} tangents for {len(self.primals)} primals",
                "give one tangent for each primal",
                where,
            )

    def push(self, *tangents: Any) -> Any:
        """The tangent of the function's value."""
        self.check_count(tangents)
        given, structure = flatten((tangents, {}))
        if structure != self.structure:
            raise TypeMismatchError(
                f"{self.whose} was given tangents of another structure than its primals",
                "give the tangent the structure of what it belongs to",
            )
        seeds = self.seeds("tangent", self.leaves, [known_type(leaf) for leaf in self.leaves], given)
        dots = iter(self.compiled.run_second(self.residuals, seeds))
        tangents_of = {}
        for k, (of, out) in enumerate(zip(self.compiled.outputs, self.outputs, strict=True)):
            tangents_of[k] = like(out, plain(next(dots))) if of.inexact else np.zeros(np.shape(out))[()]
        return put_together(self.template, tangents_of)


def leaf_places(template: Any) -> list[int]:
    """The numbers of a template's leaves, in order."""
    places: list[int] = []
    put_together(template, Places(places))
    return places


class Places:
    """Stands for the leaves of a template, and notes which are asked for."""

    def __init__(self, places: list[int]):
        self.places = places

    def __getitem__(self, k: int) -> int:
        self.places.append(k)
        return k


class ReverseMode(InTwo):
    """vjp, called with the primals."""

    compiled_kind = Pullback
    what = "vjp"

    def pullback(self, primals: tuple) -> tuple:
        run = self.halves(primals)
        value, *aux = run.answer
        return (value, PulledBack(run), *aux)


class ForwardMode(InTwo):
    """linearize, called with the primals."""

    compiled_kind = LinearPart
    what = "linearize"

    def linear(self, primals: tuple) -> tuple:
        run = self.halves(primals)
        value, *aux = run.answer
        return (value, Pushed(run), *aux)


def like(leaf: Any, derivative: Any) -> Any:
    """The derivative of a Python float is a Python float."""
    return type(leaf)(derivative) if type(leaf) in (float, complex) else derivative


class InnerPullback:
    """What vjp gives inside a function that is being specialised: cotangents to the arguments' cotangents."""

    def __init__(self, opened: Opened, positions: tuple[int, ...], primal: list[Any]):
        self.opened = opened
        self.positions = positions
        self.primal = primal
        self.derived = reverse(silent_program(opened.program), opened.active())

    __call__ = only_inside

    def __specialise__(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        (cotangent,) = arguments
        opened = self.opened
        given = paired(opened.template, cotangent, "cotangent", opened.what, s.location(node))
        outputs = [s.operand(result) for result in self.primal]
        seeds = check_like(s, outputs, given, "cotangent", opened.what, node)
        results = opened.splice(self.derived, *seeds, *opened.unused_seeds())
        return opened.unpack(self.positions, results[opened.count :])


class InnerReverse(Transformation):
    """vjp inside a function being specialised, as a function of the primals."""

    def __init__(self, function: Any, has_aux: bool = False):
        super().__init__(function)
        self.has_aux = has_aux

    def expand(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        positions = tuple(range(len(arguments)))
        opened = Opened(
            s, self.function, arguments, keywords, positions, "vjp", node, self.program_name(), self.has_aux
        )
        primal = opened.splice(opened.program)
        value, aux = opened.answer(primal)
        pullback = InnerPullback(opened, positions, primal[: len(opened.outputs)])
        return (value, pullback, aux) if self.has_aux else (value, pullback)
