"""grad, value_and_grad, jvp, vjp, linearize and what is made of them."""
from __future__ import annotations

import collections
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..autodiff import forward, paste, reverse
from ..codegen.core import ArrayType, Block, Program, Variable, type_of
from ..codegen.errors import NotDifferentiableError, ShapeMismatchError, TypeMismatchError
from ..codegen.specialise import put_together
from ..codegen.specialise.calls import call
from ..codegen.registry import PRIMITIVES
from ..codegen.specialise.merge import take_apart
from ..codegen.specialise.values import Array, Cell
from .transformation import Transformation


def normalise_argnums(argnums: Any, count: int, name: str) -> tuple[int, ...]:
    """Positions of arguments as a tuple of non-negative ints."""
    wanted = tuple(argnums) if isinstance(argnums, (Sequence, np.ndarray)) else (argnums,)
    positions = []
    for one in wanted:
        position = operator.index(one)
        if not -count <= position < count:
            raise ValueError(f"argnums={argnums} names an argument that isn't there: {name} was called with "
                             f"{count} positional argument{'s' if count != 1 else ''} "
                             "(keyword arguments are not differentiated)")
        positions.append(position % count)
    return tuple(positions)


def refuse_dtype(leaf_type: Any, name: str, path: str) -> None:
    raise NotDifferentiableError(
        f"{name} needs floating-point inputs, and {path} is {leaf_type!r}",
        "pass a float (1.0 instead of 1), or convert the array with x.astype(float)")


class Opened:
    """A call of a function specialised as a program of its own within an enclosing one.

    Its parameters are the chosen leaves; all else it reads are variables of the enclosing program.
    """

    def __init__(self, s: Any, function: Any, arguments: list, keywords: dict, positions: tuple[int, ...],
                 what: str, node: Any):
        self.s = s
        self.leaves: list[Any] = []
        self.templates = {p: take_apart(arguments[p], self.leaves) for p in positions}
        for leaf in self.leaves:
            of = s.type(leaf)
            if of.dtype.kind not in "fc":
                refuse_dtype(of, what, "an argument")
        self.operands = [s.operand(leaf) for leaf in self.leaves]
        self.parameters = [Variable(getattr(o, "name", None), type_of(o)) for o in self.operands]
        block = Block()
        s.store.open()
        try:
            with s.builder.inside(block):
                inside = [s.wrap(p) for p in self.parameters]
                given = [put_together(self.templates[k], inside) if k in self.templates else own(s, a)
                         for k, a in enumerate(arguments)]
                self.value = call(s, function, given, {key: own(s, a) for key, a in keywords.items()}, node)
                self.results: list[Any] = []
                self.template = take_apart(self.value, self.results)
                block.results = tuple(s.operand(leaf) for leaf in self.results)
        finally:
            trial = s.store.close()
        if trial.outer():
            raise s.unsupported(f"{what} of a function that changes something outside of itself",
                                "return the new value instead", node)
        self.program = Program("inner", tuple(self.parameters), block)

    def splice(self, program: Program, *more: Any) -> list[Any]:
        """Emit a derived program here, for this call's leaves and `more` operands; its results as values."""
        results = paste(self.s.builder, program, (*self.operands, *more))
        return [self.s.wrap(result) for result in results]


def own(s: Any, value: Any) -> Any:
    """A value whose arrays the function may write to without the caller seeing it."""
    if isinstance(value, Array):
        return Array(Cell(s.read(value), s.contiguous(value), s.store.depth))
    if type(value) in (list, tuple):
        return type(value)(own(s, item) for item in value)
    if type(value) is dict:
        return {key: own(s, item) for key, item in value.items()}
    return value


def scalar_output(s: Any, opened: Opened, what: str, node: Any) -> None:
    """Refuse a result that has no gradient."""
    if len(opened.results) != 1 or not s.number(opened.value):
        raise TypeMismatchError(
            f"{what} needs a function that returns one scalar, and this one returns "
            f"{describe(opened)}", "return the loss alone, or use has_aux=True, jacrev or vjp", s.location(node))
    of = s.type(opened.value)
    if of.shape:
        raise ShapeMismatchError(f"{what} needs a scalar output, and this one has shape {shown(of.shape)}",
                                 "sum it, or use jacrev or vjp", s.location(node))
    if of.dtype.kind != "f":
        hint = "complex: use real or abs, or vjp" if of.dtype.kind == "c" else "return a float"
        raise NotDifferentiableError(f"{what} needs a real floating-point output, and this one is {of!r}", hint,
                                     s.location(node))


def describe(opened: Opened) -> str:
    return f"a {type(opened.value).__name__} with {len(opened.results)} arrays or numbers in it"


def shown(shape: tuple) -> str:
    return "(" + ", ".join(str(size) if isinstance(size, int) else "n" for size in shape) + (
        ",)" if len(shape) == 1 else ")")


class Gradient(Transformation):
    """grad and value_and_grad."""

    fresh_results = True

    def __init__(self, function: Any, argnums: Any = 0, has_aux: bool = False, value: bool = False):
        super().__init__(function)
        self.argnums = argnums
        self.has_aux = has_aux
        self.value = value
        self.what = "value_and_grad" if value else "grad"

    def expand(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        positions = normalise_argnums(self.argnums, len(arguments), self.program_name())
        function = First(self.function, self.what) if self.has_aux else self.function
        opened = Opened(s, function, arguments, keywords, positions, self.what, node)
        aux = None
        if self.has_aux:
            aux, opened.value = opened.value.aux, opened.value.value
            count = len(take_leaves(opened.value))
            scalar = opened.results[:count]
            checked = opened.results
            opened.results = scalar
            scalar_output(s, opened, self.what, node)
            opened.results = checked
        else:
            scalar_output(s, opened, self.what, node)
        program = opened.program
        derived = reverse(program, tuple(True for _ in opened.parameters))
        kinds = [type_of(r) for r in program.body.results]
        seeds = [(one_of(k) if n == 0 else zero_of(s, k)) for n, k in enumerate(kinds) if k.inexact]
        results = opened.splice(derived, *seeds)
        primal, gradients = results[:len(kinds)], results[len(kinds):]
        packed = unpack(opened, positions, gradients)
        answer = packed if isinstance(self.argnums, (Sequence, np.ndarray)) else packed[0]
        value = primal[0]
        if self.has_aux:
            _, template = opened.template.value, opened.template.aux
            value = put_together(opened.template.value, primal)
            aux = put_together(template, primal)
        if self.value:
            return ((value, aux), answer) if self.has_aux else (value, answer)
        return (answer, aux) if self.has_aux else answer


def unpack(opened: Opened, positions: tuple[int, ...], leaves: list[Any]) -> tuple:
    """The leaves' cotangents or tangents in the arguments' own structure."""
    return tuple(put_together(opened.templates[p], leaves) for p in positions)


def take_leaves(value: Any) -> list[Any]:
    leaves: list[Any] = []
    take_apart(value, leaves)
    return leaves


ValueAndAux = collections.namedtuple("ValueAndAux", "value aux")


class First:
    """A function that returns (value, aux), such that the specialiser can tell the two apart."""

    def __init__(self, function: Any, what: str):
        self.function = function
        self.what = what

    def __call__(self) -> None:
        raise TypeError("only the specialiser calls this")

    def __specialise__(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        result = call(s, self.function, arguments, keywords, node)
        if not (isinstance(result, tuple) and len(result) == 2):
            raise TypeMismatchError(f"{self.what} with has_aux=True needs a function that returns (value, aux)",
                                    "return a tuple of two", s.location(node))
        return ValueAndAux(*result)


def one_of(of: Any) -> Any:
    """The cotangent 1 of a scalar's type."""
    return 1.0 if of.weak else of.dtype.type(1)


def zero_of(s: Any, of: Any) -> Any:
    if not of.shape:
        return 0.0 if of.weak else of.dtype.type(0)
    return s.builder.emit(PRIMITIVES["zeros"], of.shape, dtype=of.dtype)


class Pushforward(Transformation):
    """jvp, as a function of (primals, tangents)."""

    fresh_results = True

    def expand(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        primals, tangents = arguments[0], arguments[1]
        if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
            raise TypeMismatchError("jvp takes its primals and tangents as tuples", "write jvp(f, (x,), (v,))",
                                    s.location(node))
        if len(primals) != len(tangents):
            raise TypeMismatchError(f"jvp was given {len(primals)} primals and {len(tangents)} tangents",
                                    "give one tangent for each primal", s.location(node))
        opened = Opened(s, self.function, list(primals), keywords, float_positions(s, primals), "jvp", node)
        tangent_leaves = [leaf for p in opened.templates for leaf in take_leaves(tangents[p])]
        check_like(s, opened.operands, tangent_leaves, "tangent", node)
        derived = forward(opened.program, tuple(True for _ in opened.parameters))
        results = opened.splice(derived, *map(s.operand, tangent_leaves))
        return out_and_tangent(s, opened, results)


def out_and_tangent(s: Any, opened: Opened, results: list[Any]) -> tuple:
    count = len(opened.results)
    primal, dots = results[:count], iter(results[count:])
    kinds = [type_of(r) for r in opened.program.body.results]
    tangents = [next(dots) if k.inexact else integer_zero(s, k) for k in kinds]
    return put_together(opened.template, primal), put_together(opened.template, tangents)


def integer_zero(s: Any, of: Any) -> Any:
    """The tangent of an integer or bool: zero."""
    return s.wrap(zero_of(s, ArrayType(np.dtype(float), of.shape)))


def float_positions(s: Any, primals: Any) -> tuple[int, ...]:
    return tuple(k for k, p in enumerate(primals)
                 if all(s.type(leaf).dtype.kind in "fc" for leaf in take_leaves(p)) and take_leaves(p))


def check_like(s: Any, primals: list, given: list, what: str, node: Any) -> None:
    """Refuse tangents or cotangents that are not like what they belong to."""
    if len(primals) != len(given):
        raise TypeMismatchError(f"{len(given)} {what}s were given for {len(primals)} arrays or numbers",
                                f"give the {what} the structure of what it belongs to", s.location(node))
    for primal, one in zip(primals, given, strict=True):
        want, have = type_of(primal), s.type(one)
        if want.ndim != have.ndim or any(isinstance(a, int) and isinstance(b, int) and a != b
                                         for a, b in zip(want.shape, have.shape, strict=True)):
            raise ShapeMismatchError(f"the {what} has shape {shown(have.shape)}, and what it belongs to has shape "
                                     f"{shown(want.shape)}", f"give a {what} of the same shape", s.location(node))
        if not (want.dtype == have.dtype or have.weak and have.dtype.kind in "biufc"):
            raise TypeMismatchError(f"the {what} has dtype {have.dtype}, and what it belongs to has dtype {want.dtype}",
                                    f"convert it with .astype(np.{want.dtype})", s.location(node))
        for a, b in zip(want.shape, have.shape, strict=True):
            s.builder.require_same(a, b, f"the {what} does not have the shape of what it belongs to")


class Pullback:
    """What vjp gives inside a function that is being specialised: cotangents to the arguments' cotangents."""

    def __init__(self, opened: Opened, positions: tuple[int, ...]):
        self.opened = opened
        self.positions = positions

    def __specialise__(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        (cotangent,) = arguments
        opened = self.opened
        outputs = opened.program.body.results
        given = take_leaves(cotangent)
        check_like(s, list(outputs), given, "cotangent", node)
        derived = reverse(opened.program, tuple(True for _ in opened.parameters))
        seeds = [s.operand(g) for g, out in zip(given, outputs, strict=True) if type_of(out).inexact]
        results = opened.splice(derived, *seeds)
        return unpack(opened, self.positions, results[len(outputs):])


class ReverseMode(Transformation):
    """vjp inside a function being specialised, as a function of the primals."""

    def expand(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        positions = tuple(range(len(arguments)))
        opened = Opened(s, self.function, arguments, keywords, positions, "vjp", node)
        primal = opened.splice(opened.program)
        return put_together(opened.template, primal), Pullback(opened, positions)
