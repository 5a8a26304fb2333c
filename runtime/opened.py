"""A call of the user's function as a program of its own, ready to be differentiated."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..autodiff import paste
from ..codegen.core import Assign, Block, Program, Variable, type_of
from ..codegen.errors import NotDifferentiableError, ShapeMismatchError, TypeMismatchError
from ..codegen.registry import PRIMITIVES
from ..codegen.specialise import put_together
from ..codegen.specialise.calls import call
from ..codegen.specialise.machine import BranchEnds
from ..codegen.specialise.merge import Leaf, Record, take_apart
from ..codegen.specialise.nodes import Node, open_node, same_metadata
from ..codegen.specialise.values import Array, Cell
from .user_lines import definition_location, return_location


@contextlib.contextmanager
def differentiating(s: Any, more: int) -> Iterator[None]:
    """What is emitted within is differentiated so many times more, in halves, than what is around it."""
    before = s.differentiating
    s.differentiating = max(before + more, 0)
    try:
        yield
    finally:
        s.differentiating = before


def several(argnums: Any) -> bool:
    """Whether argnums asks for a tuple of derivatives."""
    return isinstance(argnums, (Sequence, np.ndarray)) and np.ndim(argnums) == 1


def normalise_argnums(argnums: Any, count: int, name: str) -> tuple[int, ...]:
    """Positions of arguments as a tuple of non-negative ints."""
    positions = []
    for one in argnums if several(argnums) else (argnums,):
        try:
            position = operator.index(one)
        except TypeError:
            raise TypeError(f"argnums must be an int or a sequence of ints, and is {argnums!r}") from None
        if not -count <= position < count:
            raise ValueError(
                f"argnums={argnums} names an argument that isn't there: {name} was called with "
                f"{count} positional argument{'s' if count != 1 else ''} "
                "(keyword arguments are not differentiated)"
            )
        positions.append(position % count)
    return tuple(positions)


def shown(shape: tuple) -> str:
    sizes = [str(size) if isinstance(size, int) else "n" for size in shape]
    return "(" + ", ".join(sizes) + (",)" if len(shape) == 1 else ")")


def take_leaves(value: Any) -> list[Any]:
    leaves: list[Any] = []
    take_apart(value, leaves)
    return leaves


def is_inexact(s: Any, leaf: Any) -> bool:
    return s.type(leaf).dtype.kind in "fc"


def refuse_input(s: Any, function: Any, leaf: Any, what: str, name: str, node: Any) -> None:
    of = s.type(leaf)
    raise NotDifferentiableError(
        f"{what} needs floating-point inputs, and {name} was given one of dtype {of.dtype}",
        "pass a float (1.0 instead of 1), or convert the array with x.astype(float)",
        s.location(node) or definition_location(function),
    )


def refuse_text(s: Any, function: Any, value: Any, what: str, name: str, node: Any) -> None:
    if isinstance(value, (str, bytes)):
        raise NotDifferentiableError(
            f"{what} needs floating-point inputs, and {name} was given a {type(value).__name__}",
            "differentiate by another argument, with argnums",
            s.location(node) or definition_location(function),
        )


class Opened:
    """A call of a function specialised as a program of its own within an enclosing one.

    The program's parameters are the floating-point leaves of the arguments at `positions`; all else it reads
    are variables of the enclosing program. Its results are the leaves of the function's value, then those of
    what it returns beside it (with `has_aux`), through which no derivative passes.
    """

    def __init__(
        self,
        s: Any,
        function: Any,
        arguments: list,
        keywords: dict,
        positions: tuple[int, ...],
        what: str,
        node: Any,
        name: str,
        has_aux: bool = False,
        integers: bool = False,
    ):
        self.s, self.node, self.what, self.name = s, node, f"{what} of {name}", name
        self.function = function
        self.leaves: list[Any] = []
        for position in positions:
            refuse_text(s, function, arguments[position], what, name, node)
        self.templates = {p: take_apart(arguments[p], self.leaves) for p in positions}
        self.chosen = [k for k, leaf in enumerate(self.leaves) if is_inexact(s, leaf)]
        if not integers and len(self.chosen) < len(self.leaves):
            odd = next(leaf for leaf in self.leaves if not is_inexact(s, leaf))
            refuse_input(s, function, odd, what, name, node)
        self.operands = [s.operand(self.leaves[k]) for k in self.chosen]
        self.parameters = [Variable(getattr(o, "name", None), type_of(o)) for o in self.operands]
        block = Block()
        s.store.open()
        try:
            with s.builder.inside(block), differentiating(s, 2):
                inside = list(self.leaves)
                for k, parameter in zip(self.chosen, self.parameters, strict=True):
                    inside[k] = copy_of(s.wrap(parameter), self.leaves[k])
                given = [
                    put_together(self.templates[k], inside) if k in self.templates else own(s, a)
                    for k, a in enumerate(arguments)
                ]
                value = call(s, function, given, {key: own(s, a) for key, a in keywords.items()}, node)
                self.take_results(value, has_aux)
                block.results = tuple(s.operand(leaf) for leaf in (*self.results, *self.aux))
        except BranchEnds:
            # Every path ends in an exception; the program is what decides in which.
            paste(s.builder, Program("inner", tuple(self.parameters), block), tuple(self.operands))
            raise
        finally:
            trial = s.store.close()
        if trial.outer():
            raise s.unsupported(
                f"{what} of a function that changes something outside of itself",
                "return the new value instead",
                node,
            )
        self.program = Program("inner", tuple(self.parameters), block)

    def where_it_returns(self) -> Any:
        """Where a result is refused: at the call, or else at the function's return."""
        return self.s.location(self.node) or return_location(self.function)

    def take_results(self, value: Any, has_aux: bool) -> None:
        """Take what the function returned apart; what is auxiliary gets no derivative."""
        aux = None
        if has_aux:
            if not (isinstance(value, tuple) and len(value) == 2):
                raise TypeMismatchError(
                    f"{self.what} with has_aux=True needs a function that returns "
                    f"(value, aux), and this one returns {described(value)}",
                    "return a tuple of two",
                    self.s.location(self.node),
                )
            value, aux = value
        self.value = value
        self.results: list[Any] = []
        self.template = take_apart(value, self.results)
        aux_leaves: list[Any] = []
        self.aux_template = take_apart(aux, aux_leaves)
        self.aux = [stopped(self.s, leaf) for leaf in aux_leaves]
        self.count = len(self.results) + len(self.aux)

    @property
    def outputs(self) -> list[Any]:
        """The operands in the program that are the leaves of the function's value."""
        return list(self.program.body.results[: len(self.results)])

    def active(self) -> tuple[bool, ...]:
        return (True,) * len(self.parameters)

    def unused_seeds(self) -> list[Any]:
        """Cotangents for the auxiliary results, which nothing reads."""
        aux = self.program.body.results[len(self.results) :]
        return [0.0 for result in aux if type_of(result).inexact]

    def splice(self, program: Program, *more: Any) -> list[Any]:
        """Emit a derived program here, for this call's leaves and `more` operands; its results as values."""
        results = paste(self.s.builder, self.aux_let_through(program), (*self.operands, *more))
        return [self.s.wrap(result) for result in results]

    def aux_let_through(self, program: Program) -> Program:
        """The program with the auxiliary results as they were before they were stopped."""
        made = {t: s for s in program.body.statements if isinstance(s, Assign) for t in s.targets}
        results = list(program.body.results)
        for k in range(len(self.results), self.count):
            stop = made.get(results[k])
            if stop is not None and stop.primitive.name == "stop_gradient":
                results[k] = stop.operands[0]
        return Program(program.name, program.parameters, Block(program.body.statements, tuple(results)))

    def answer(self, results: list[Any]) -> tuple[Any, Any]:
        """The function's value and what it returned beside it, from the program's results."""
        aux = results[len(self.results) : self.count]
        return put_together(self.template, results[: len(self.results)]), put_together(self.aux_template, aux)

    def unpack(self, positions: tuple[int, ...], found: list[Any]) -> tuple:
        """Derivatives in the arguments' own structure; by a Python float, a Python float."""
        leaves = [None] * len(self.leaves)
        for k, parameter, one in zip(self.chosen, self.parameters, found, strict=True):
            weak = parameter.type.weak and not self.s.type(one).shape
            leaves[k] = as_seed(self.s, self.s.operand(one), parameter.type) if weak else one
        return tuple(put_together(self.templates[p], leaves) for p in positions)


def stopped(s: Any, leaf: Any) -> Any:
    """A value through which no derivative passes."""
    if not isinstance(leaf, (Array, Variable)) or not is_inexact(s, leaf):
        return leaf
    value = s.emit("stop_gradient", leaf)
    if isinstance(value, Array):
        value.cell.ambiguous = "stop_gradient may give the array itself"
    return value


def own(s: Any, value: Any) -> Any:
    """A value whose arrays the function may write to without the caller seeing it."""
    if isinstance(value, Array):
        return copy_of(Array(Cell(s.read(value), s.contiguous(value), s.store.depth)), value)
    if type(value) in (list, tuple):
        return type(value)(own(s, item) for item in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(own(s, item) for item in value))
    if type(value) is dict:
        return {key: own(s, item) for key, item in value.items()}
    return value


def copy_of(made: Any, value: Any) -> Any:
    """A value that stands for another: a write to it is noted there too."""
    if isinstance(made, Array) and isinstance(value, Array):
        made.cell.origin = value.cell
        value.cell.copied = True
    return made


def one_of(of: Any) -> Any:
    """The cotangent 1 of a scalar's type."""
    return 1.0 if of.weak else of.dtype.type(1)


def zero_of(s: Any, of: Any) -> Any:
    if not of.shape:
        return 0.0 if of.weak else of.dtype.type(0)
    return s.builder.emit(PRIMITIVES["zeros"], of.shape, dtype=of.dtype)


def refuse_unlike(
    primal: Any, given: Any, what: str, whose: str, location: Any, verb: str = "was given"
) -> None:
    """Refuse a tangent or cotangent of a type that is not that of what it belongs to."""
    if primal.ndim != given.ndim or any(
        isinstance(a, int) and isinstance(b, int) and a != b
        for a, b in zip(primal.shape, given.shape, strict=True)
    ):
        raise ShapeMismatchError(
            f"{whose} needs a {what} of shape {shown(primal.shape)}, and {verb} one of shape "
            f"{shown(given.shape)}",
            f"give the {what} the shape of what it belongs to",
            location,
        )
    if not (
        primal.dtype == given.dtype
        or given.weak
        and given.dtype.kind in "biuf"
        or (given.weak and primal.dtype.kind == "c")
    ):
        raise TypeMismatchError(
            f"{whose} needs a {what} of dtype {primal.dtype}, and {verb} one of dtype {given.dtype}",
            f"convert it with .astype(np.{primal.dtype})",
            location,
        )


def check_like(s: Any, primals: list, given: list, what: str, whose: str, node: Any) -> list[Any]:
    """Tangents or cotangents as operands; those that are not like what they belong to are refused."""
    seeds = []
    for primal, one in zip(primals, given, strict=True):
        want = type_of(primal)
        if not want.inexact:
            require_zero(s, one, what, whose, node)
            continue
        if not s.number(one):
            raise TypeMismatchError(
                f"{whose} needs a {what} of dtype {want.dtype}, and was given a {type(one).__name__}",
                "give an array or a number",
                s.location(node),
            )
        have = s.type(one)
        refuse_unlike(want, have, what, whose, s.location(node))
        for a, b in zip(want.shape, have.shape, strict=True):
            s.builder.require_same(
                a, b, f"{whose} was given a {what} of another shape than what it belongs to"
            )
        seeds.append(as_seed(s, s.operand(one), want))
    return seeds


def require_zero(s: Any, given: Any, what: str, whose: str, node: Any) -> None:
    """Refuse a tangent or cotangent other than zero of an integer or bool."""
    if not s.number(given):
        return
    zero = call(s, np.all, [call(s, np.equal, [given, 0], {}, node)], {}, node)
    message = f"{whose} was given a {what} other than 0 for an integer or bool"
    if not isinstance(zero, (bool, np.bool_)):
        s.emit("check", zero, exception="ValueError", message=message)
    elif not zero:
        raise TypeMismatchError(message, f"give the {what} 0", s.location(node))


def as_seed(s: Any, operand: Any, of: Any) -> Any:
    """An operand of exactly this scalar or array type."""
    have = type_of(operand)
    if have.dtype == of.dtype and have.weak == of.weak:
        return operand
    static = {"weak": True} if of.weak else {}
    return s.operand(s.emit("astype", operand, dtype=of.dtype, **static))


def paired(
    template: Any, value: Any, what: str, whose: str, location: Any, verb: str = "was given",
    absent: bool = False
) -> list[Any]:
    """What of `value` stands where the template has its leaves; another structure is refused.

    With `absent`, None stands for any part of it.
    """
    if isinstance(template, Leaf):
        return [value]
    if absent and value is None:
        return [None] * count_leaves(template)
    pairs: list[tuple[Any, Any]] | None = []
    if isinstance(template, (tuple, list)):
        same = type(template) is type(value) and len(template) == len(value)
        pairs = list(zip(template, value, strict=True)) if same else None
    elif isinstance(template, dict):
        same = isinstance(value, dict) and list(template) == list(value)
        pairs = [(template[key], value[key]) for key in template] if same else None
    elif isinstance(template, Record):
        same = type(value) is template.kind
        pairs = [(part, getattr(value, name)) for name, part in template.fields.items()] if same else None
    elif isinstance(template, Node) and type(value) is template.kind:
        children, metadata = open_node(value)
        same = same_metadata(metadata, template.metadata) and len(children) == len(template.children)
        pairs = list(zip(template.children, children, strict=True)) if same else None
    if pairs is None:
        raise TypeMismatchError(
            f"{whose} {verb} a {what} of another structure than what it belongs to: a "
            f"{type(value).__name__} for a {kind_of(template)}",
            f"give the {what} the structure of what it belongs to",
            location,
        )
    return [leaf for pair in pairs for leaf in paired(*pair, what, whose, location, verb, absent)]


def count_leaves(template: Any) -> int:
    if isinstance(template, Leaf):
        return 1
    if isinstance(template, (Record, Node)):
        template = list(template.fields.values()) if isinstance(template, Record) else template.children
    parts = template.values() if isinstance(template, dict) else template
    return sum(map(count_leaves, parts)) if isinstance(template, (tuple, list, dict)) else 0


def described(value: Any) -> str:
    """What a function returned, in the words of an error."""
    return "an array or number" if isinstance(value, (Array, Variable)) else f"a {type(value).__name__}"


def kind_of(template: Any) -> str:
    size = f" of {len(template)}" if isinstance(template, (tuple, list, dict)) else ""
    return (template.kind if isinstance(template, (Record, Node)) else type(template)).__name__ + size
