"""A call of a function with derivative rules, as a statement that holds the function's code and its rules'.

The function and its rules are read where they are called, each into a program. Where nothing is
differentiated, none of this is: the function is read as any other.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..codegen.core import ArrayType, Assign, Block, Program, Variable, free_variables, type_of
from ..codegen.custom_calls import (
    CustomCall,
    custom_call,
    custom_call_with_effects,
    has_effects,
    outside_of,
)
from ..codegen.errors import NotDifferentiableError, TypeMismatchError, UnsupportedError
from ..codegen.specialise import put_together
from ..codegen.specialise.calls import call
from ..codegen.specialise.control import attempt, defined_in, emit_sizes
from ..codegen.specialise.machine import BranchEnds, NeedStatic, NotGrowing, Unroll
from ..codegen.specialise.merge import take_apart
from ..codegen.specialise.values import Array, Closure
from .checkpoints import seen_from_outside
from .opened import as_seed, differentiating, is_inexact, paired, refuse_unlike, zero_of
from .user_lines import return_location


def emit_call(
    s: Any,
    name: str,
    function: Any,
    rules: Any,
    nondiff: tuple[int, ...],
    arguments: list,
    node: Any,
    remedy: str | None = None,
    turned: bool = False,
) -> Any:
    """The value of a call, whose derivative is that of the rules.

    `rules` has `jvp`, `forward` and `backward`, each a function or None. `remedy` says what to do where all
    are missing; if `turned`, forward mode may do with the backward rule transposed.
    """
    made = Made(s, name, function, rules, nondiff, arguments, node)
    if not made.chosen:
        return call(s, function, arguments, {}, node)
    made.remedy, made.turned = remedy, turned
    return made.emitted()


class Made:
    """One call, as it is made."""

    def __init__(
        self,
        s: Any,
        name: str,
        function: Any,
        rules: Any,
        nondiff: tuple[int, ...],
        arguments: list,
        node: Any,
    ):
        self.s, self.name, self.function, self.rules, self.node = s, name, function, rules, node
        count = len(arguments)
        for position in nondiff:
            if not -count <= position < count:
                error = ValueError(
                    f"nondiff_argnums of {name} has {position}, and it is called with {count} "
                    f"argument{'s' if count != 1 else ''}"
                )
                raise s.located(error, node)
        self.nondiff = sorted({position % count for position in nondiff})
        self.arguments = arguments
        self.leaves: list[Any] = []
        self.templates = {
            k: take_apart(a, self.leaves) for k, a in enumerate(arguments) if k not in self.nondiff
        }
        self.operands = [s.operand(leaf) for leaf in self.leaves]
        self.chosen = [
            k
            for k, o in enumerate(self.operands)
            if isinstance(o, Variable) and isinstance(o.type, ArrayType) and o.type.inexact
        ]
        self.parameters = [Variable(self.operands[k].name, type_of(self.operands[k])) for k in self.chosen]
        self.inside = list(self.leaves)
        for k, parameter in zip(self.chosen, self.parameters, strict=True):
            leaf = self.leaves[k]
            self.inside[k] = s.wrap(parameter, not isinstance(leaf, Array) or bool(s.contiguous(leaf)))

    # arguments and results

    def given(self) -> list[Any]:
        """The arguments, in which those that can have a derivative are the parameters of the programs."""
        return [
            put_together(self.templates[k], self.inside) if k in self.templates else a
            for k, a in enumerate(self.arguments)
        ]

    def fixed(self) -> list[Any]:
        return [self.arguments[k] for k in self.nondiff]

    def tree(self, leaves: list[Any]) -> tuple:
        """What has the structure of the arguments that have a derivative."""
        return tuple(put_together(template, leaves) for template in self.templates.values())

    def emitted(self) -> Any:
        s, location = self.s, self.s.location(self.node) or return_location(self.function)

        def run() -> Any:
            value = call(s, self.function, self.given(), {}, self.node)
            results: list[Any] = []
            return take_apart(value, results), results, [s.operand(leaf) for leaf in results]

        with differentiating(s, -s.differentiating):
            block, trial, value = attempt(s, run)
        if trial is None:
            return call(s, self.function, self.arguments, {}, self.node)
        self.refuse_writes(trial, self.name, location)
        self.template, self.results, operands = value
        self.places = [k for k, o in enumerate(operands) if isinstance(o, Variable) or type_of(o).inexact]
        self.outputs = block.results = tuple(operands[k] for k in self.places)
        self.hidden = set(defined_in(block))
        with differentiating(s, -1):  # reverse mode transposes it
            jvp = self.read(self.rules.jvp, self.jvp)
        with differentiating(s, -1 if self.turned else -2):
            pair = self.read(self.rules.forward, self.pair)
        return self.append(block, jvp, pair, location)

    def refuse_writes(self, trial: Any, whose: str, location: Any) -> None:
        if trial.outer():
            raise UnsupportedError(
                f"{whose} has a derivative rule, and changes something outside of itself",
                "copy what it writes to, and return the new value",
                location,
            )

    def append(self, block: Block, jvp: Any, pair: Any, location: Any) -> Any:
        """The statement, and the value that it gives."""
        s = self.s
        blocks = [
            block,
            *(part for part in (jvp, *(pair if isinstance(pair, tuple) else ())) if isinstance(part, Block)),
        ]
        own = list(self.parameters)
        if isinstance(jvp, Block):
            own += self.dots
        if isinstance(pair, tuple):
            own += self.bars
            forward, backward = pair
            bound = set(defined_in(forward))
            reads = dict.fromkeys((*free_variables(backward), *outside_of([backward], self.bars)))
            residuals = [v for v in reads if v in bound]
        common = outside_of(blocks, own)
        parameters = (*self.parameters, *common)
        program = lambda block, *more: Program(self.name, (*parameters, *more), block)
        made = CustomCall(self.name, program(block), len(self.parameters))
        made.remedy, made.turned = self.remedy, self.turned
        made.jvp = program(jvp, *self.dots) if isinstance(jvp, Block) else jvp
        made.forward = pair
        if isinstance(pair, tuple):
            made.forward = program(Block(forward.statements, (*forward.results, *residuals)))
            made.backward = program(backward, *residuals, *self.bars)
            made.pulled = self.pulled
        inner, unknown = set(defined_in(block)), []
        targets = tuple(s.builder.target(seen_from_outside(o, inner), unknown) for o in self.outputs)
        for target, output in zip(targets, self.outputs, strict=True):
            target.name = getattr(output, "name", None)
        kind = custom_call_with_effects if has_effects(block) else custom_call
        operands = (*(self.operands[k] for k in self.chosen), *common)
        statement = Assign(targets, kind, operands, {"call": made}, location)
        s.builder.append(statement)
        s.builder.definitions.update((target, statement) for target in targets)
        emit_sizes(s, unknown)
        leaves = list(self.results)
        for k, target in zip(self.places, targets, strict=True):
            leaves[k] = self.wrapped(target, self.results[k])
        return s.store.adopt(put_together(self.template, leaves))

    def wrapped(self, target: Variable, result: Any) -> Any:
        """A result as a value; one that is an argument itself can be read and not be written."""
        value = self.s.wrap(target, not isinstance(result, Array) or bool(self.s.contiguous(result)))
        mine = [leaf.cell for leaf in self.inside if isinstance(leaf, Array)]
        if isinstance(value, Array) and isinstance(result, Array) and result.cell in mine:
            value.cell.ambiguous = f"{self.name} returns an argument itself"
        return value

    # rules

    def read(self, rule: Any, make: Callable) -> Any:
        """A rule as blocks; an exception is for whoever needs the rule."""
        if rule is None:
            return None
        s = self.s
        try:
            block, trial, value = attempt(s, lambda: make(rule))
        except (NeedStatic, Unroll, NotGrowing):
            raise
        except Exception as error:
            return error
        where = return_location(rule)
        if trial is None:
            return NotDifferentiableError(
                f"the rule of {self.name} always ends in an exception", "let it return a derivative", where
            )
        if trial.outer():
            return UnsupportedError(
                f"the rule of {self.name} changes something outside of itself",
                "return the new value instead",
                where,
            )
        block.results = tuple(value[0])
        return block if len(value) == 1 else (block, value[1])

    def jvp(self, rule: Any) -> tuple:
        s = self.s
        dots = {
            k: Variable(f"{p.name}_dot" if p.name else None, p.type)
            for k, p in zip(self.chosen, self.parameters, strict=True)
        }
        self.dots = list(dots.values())
        tangents = [
            s.wrap(dots[k]) if k in dots else self.no_tangent(leaf) for k, leaf in enumerate(self.leaves)
        ]
        answer = call(s, rule, [*self.fixed(), self.tree(self.inside), self.tree(tangents)], {}, self.node)
        whose, where = f"the jvp rule of {self.name}", return_location(rule)
        value, tangent = two(
            answer,
            f"{whose} must return two values, the value and its tangent",
            "write: return value, tangent",
            where,
        )
        outputs = self.checked_outputs(value, whose, where)
        dots_out = []
        given = paired(self.template, tangent, "tangent", whose, where, "returns", True)
        for k, output in zip(self.places, outputs, strict=True):
            if type_of(output).inexact:
                dots_out.append(self.checked(given[k], type_of(output), "tangent", whose, where))
        return ([*outputs, *dots_out],)

    def pair(self, rule: Any) -> tuple:
        """The forward rule's results, and the block of the backward rule, which reads its variables."""
        s, backward = self.s, self.rules.backward
        whose, where = f"the forward rule of {self.name}", return_location(rule)
        answer = call(s, rule, self.given(), {}, self.node)
        value, residuals = two(
            answer,
            f"{whose} must return two values, the value and residuals",
            "write: return value, residuals",
            where,
        )
        outputs = self.checked_outputs(value, whose, where)
        self.bars, leaves = [], [self.no_tangent(leaf) for leaf in self.results]
        for k, output in zip(self.places, outputs, strict=True):
            if type_of(output).inexact:
                name = getattr(output, "name", None)
                self.bars.append(Variable(f"{name}_bar" if name else None, type_of(output)))
                leaves[k] = s.wrap(self.bars[-1])
        cotangent = put_together(self.template, leaves)
        with s.builder.inside(Block()) as block:
            try:
                answer = call(s, backward, [*self.fixed(), residuals, cotangent], {}, self.node)
                block.results = tuple(self.cotangents(answer, return_location(backward)))
            except BranchEnds:
                self.pulled = ()
        return outputs, block

    def cotangents(self, answer: Any, where: Any) -> list[Any]:
        """The cotangents that the backward rule gives for the parameters; `pulled` are their numbers."""
        whose, count = f"the backward rule of {self.name}", len(self.templates)
        if not isinstance(answer, (tuple, list)) or len(answer) != count:
            several = isinstance(answer, (tuple, list))
            got = f"a tuple of {len(answer)}" if several else f"a {kind_name(answer)}"
            for_which = "its one argument" if count == 1 else f"each of the {count} arguments that have one"
            remedy = "write: return (x_bar,)" if count == 1 else "put None where the cotangent is zero"
            raise TypeMismatchError(
                f"{whose} must return a tuple with a cotangent for {for_which}, and returns {got}",
                remedy,
                where,
            )
        given, whats = [], []
        for (position, template), part in zip(self.templates.items(), answer, strict=True):
            what = f"cotangent of {self.argument_name(position)}"
            found = paired(template, part, what, whose, where, "returns", True)
            given += found
            whats += [what] * len(found)
        found, self.pulled = [], []
        for number, (k, parameter) in enumerate(zip(self.chosen, self.parameters, strict=True)):
            if given[k] is not None:
                found.append(self.checked(given[k], parameter.type, whats[k], whose, where))
                self.pulled.append(number)
        self.pulled = tuple(self.pulled)
        return found

    def argument_name(self, position: int) -> str:
        names = parameter_names(self.function)
        return f"argument {position}" + (f" ({names[position]})" if position < len(names) else "")

    def no_tangent(self, leaf: Any) -> Any:
        """The tangent of what has none, or a constant's: zero."""
        s = self.s
        if not s.number(leaf):
            return leaf
        of = s.type(leaf)
        return s.wrap(zero_of(s, of if is_inexact(s, leaf) else ArrayType(FLOAT64, of.shape)))

    def checked_outputs(self, value: Any, whose: str, where: Any) -> list[Any]:
        """The value that a rule gives, held against the function's own."""
        given = paired(self.template, value, "value", whose, where, "returns")
        return [
            self.checked(given[k], type_of(output), "value", whose, where)
            for k, output in zip(self.places, self.outputs, strict=True)
        ]

    def checked(self, given: Any, of: ArrayType, what: str, whose: str, where: Any) -> Any:
        """What a rule gives as an operand of exactly the type of what it belongs to; else it is refused."""
        s = self.s
        if given is None:
            return s.operand(s.wrap(zero_of(s, of)))
        if not s.number(given):
            raise TypeMismatchError(
                f"{whose} returns a {kind_name(given)} where its {what} is an array or "
                f"number of dtype {of.dtype}",
                f"return an array or number for the {what}",
                where,
            )
        have = s.type(given)
        if of.weak and have.dtype.kind in ("f", of.dtype.kind):  # a Python number has no dtype of its own
            have = have.with_dtype(of.dtype)
        refuse_unlike(of, have, what, whose, where, "returns")
        for a, b in zip(of.shape, have.shape, strict=True):
            if self.comparable(a) and self.comparable(b):
                message = f"{whose} returns a {what} of another shape than what it belongs to"
                s.builder.require_same(a, b, message, enforced=False)
        return as_seed(s, s.operand(given), of)

    def comparable(self, size: Any) -> bool:
        """Whether a size is known here: not one that only the function's own block has."""
        return not isinstance(size, Variable) or size not in self.hidden


FLOAT64 = type_of(0.0).dtype


def two(answer: Any, what: str, remedy: str, where: Any) -> tuple:
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise TypeMismatchError(what + f"; it returns a {kind_name(answer)}", remedy, where)
    return tuple(answer)


def parameter_names(function: Any) -> list[str]:
    """The names of a function's positional parameters, where it has a signature."""
    if isinstance(function, Closure):
        return [p.id for p in (*function.tree.args.posonlyargs, *function.tree.args.args)]
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def kind_name(value: Any) -> str:
    if isinstance(value, (Array, Variable)):
        return "number or array"
    return type(value).__name__
