"""Calls of functions with derivative rules of their own, kept whole for as long as they are differentiated.

    y = custom_call(x, n)       {"call": what it computes, its jvp rule, its forward and backward rules}

Each part is a program of the same parameters. The derivative passes replace a call that is active by the code
of its rule, so that a further derivative is that of the rule's code; what is left at the end is replaced by
the code of the function itself.

>>> from .core import FLOAT
>>> from .primitives import elementwise as e
>>> from .printing import print_program
>>> x, y, z = (Variable(name, FLOAT) for name in "xyz")
>>> body = Program("double", (x,), Block([Assign((y,), e.add, (x, x))], (y,)))
>>> call = CustomCall("double", body, 1)
>>> program = Program("f", (x,), Block([Assign((z,), custom_call, (x,), {"call": call})], (z,)))
>>> print(print_program(without_custom_calls(program)), end="")
def f(x):
    y = x + x
    return y
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .core import (
    Assign,
    Block,
    Operand,
    Program,
    Statement,
    Variable,
    bound_in,
    free_variables,
    type_of,
    walk,
)
from .registry import Primitive, primitive
from .renaming import Renaming, sizes_in


@dataclass(eq=False)
class CustomCall:
    """What a call computes, and its rules; a rule that could not be read is the exception that says why.

    The first `leaves` operands are the arguments by which can be differentiated. `jvp` goes from operands and
    tangents of the leaves to results and tangents of the inexact ones; `forward` from operands to results and
    residuals; `backward` from operands, residuals and cotangents of the inexact results to cotangents of the
    leaves whose numbers are in `pulled`. If `turned`, forward mode may transpose `backward`. `remedy` is what
    to do where there is no rule.
    """

    name: str
    body: Program
    leaves: int
    jvp: Program | Exception | None = None
    forward: Program | Exception | None = None
    backward: Program | None = None
    pulled: tuple[int, ...] = ()
    turned: bool = False
    remedy: str | None = None

    @property
    def inexact(self) -> list[int]:
        """The places of the results that have a derivative."""
        return [k for k, result in enumerate(self.body.results) if type_of(result).inexact]

    def programs(self) -> list[Program]:
        parts = (self.body, self.jvp, self.forward, self.backward)
        return [part for part in parts if isinstance(part, Program)]


def result_types(builder, *operands, call):
    return tuple(type_of(result) for result in call.body.results)


def same_type(builder, value, *rest, **static):
    return type_of(value)


def run(*operands, call):
    raise NotImplementedError("a custom call is replaced by code before a program runs")


custom_call = primitive("custom_call", run, result_types)
custom_call_with_effects = primitive("custom_call_with_effects", run, result_types, effect=True)
# the same value, under another name
alias = primitive("alias", lambda value: value, same_type)
# What follows stands in a program only while it is differentiated.
# the value of the first operand, and the derivative of the second
joined = Primitive("joined", lambda value, linear: value, same_type)
# zero, with the derivative of the operand
seed = Primitive("seed", lambda value, whose=None: 0 * value, same_type)
# the results of a forward rule, before a backward rule: operands are results, residuals, the call's operands
pulled = Primitive("pulled", lambda *operands, call: operands[: len(call.body.results)], result_types)


def is_custom_call(statement: Statement) -> bool:
    return isinstance(statement, Assign) and statement.primitive in (custom_call, custom_call_with_effects)


def has_custom_calls(block: Block) -> bool:
    return any(map(is_custom_call, walk(block)))


def differentiated(statement: Assign) -> tuple[Operand, ...]:
    """The operands through which a derivative can pass."""
    if statement.primitive is joined:
        return statement.operands[1:]
    if statement.primitive is pulled:
        call = statement.static["call"]
        first = len(statement.operands) - len(call.body.parameters)
        return statement.operands[first : first + call.leaves]
    return statement.operands


def has_effects(block: Block) -> bool:
    return any(
        isinstance(s, Assign) and s.primitive.effect and s.primitive.name != "use_key" for s in walk(block)
    )


def outside_of(blocks: Iterable[Block], known: Iterable[Variable]) -> list[Variable]:
    """The variables that blocks read and do not assign, with the sizes in types; `known` is what they get."""
    known = list(known)
    own, found = set(known), dict.fromkeys(size for v in known for size in sizes_in(v.type))
    for block in blocks:
        for statement in walk(block):
            own.update((*statement.targets, *bound_in(statement)))
    for block in blocks:
        found.update(free_variables(block))
        for statement in walk(block):
            for variable in (*statement.targets, *bound_in(statement)):
                found.update(dict.fromkeys(sizes_in(variable.type)))
    for variable in list(found):
        found.update(dict.fromkeys(sizes_in(variable.type)))
    return [variable for variable in found if variable not in own]


def without_custom_calls(program: Program) -> Program:
    """The program with the code of the functions that it calls."""
    if not any(
        isinstance(s, Assign) and (is_custom_call(s) or s.primitive is alias) for s in walk(program.body)
    ):
        return program
    inliner = Inliner()
    made = Program(program.name, program.parameters, inliner.block(program.body))
    for statement in walk(made.body):
        for variable in (*statement.targets, *bound_in(statement)):
            variable.type = inliner.type(variable.type)
    return made


class Inliner(Renaming):
    """Copies statements, with the bodies of custom calls in their place."""

    def statements(self, statements: list[Statement]) -> list[Statement]:
        made: list[Statement] = []
        for statement in statements:
            if is_custom_call(statement):
                made += self.pasted(statement.static["call"].body, statement)
            elif isinstance(statement, Assign) and statement.primitive is alias:
                self.mapping[statement.targets[0]] = self(statement.operands[0])
            else:
                made.append(self.statement(statement))
        return made

    def pasted(self, program: Program, statement: Assign) -> list[Statement]:
        """The statements of a program for a call's operands, whose results take its targets' place."""
        inner = type(self)(dict(zip(program.parameters, self(statement.operands), strict=True)))
        block = copied(inner, program.body)
        self.mapping.update(zip(statement.targets, block.results, strict=True))
        return block.statements


def copied(renaming: Renaming, block: Block) -> Block:
    """A block with variables of its own."""
    renaming.bind_block(block)
    made = renaming.block(block)
    renaming.retype()
    return made
