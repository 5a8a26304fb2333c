"""Values computed at the end of one turn, and from the same numbers again in the next: carried on.

                                                  t = exp(x)
    while abs(error) > 1e-12:                     while abs(error) > 1e-12:
        x = x - error / exp(x)                        x = x - error / t
        error = x - c * exp(x)           ->           t = exp(x)
                                                      error = x - c * t

Only functions of numbers that take long are worth a variable.

>>> from .core import FLOAT, INT
>>> from .primitives import elementwise as e
>>> x, y, z, s, t, i = (Variable(name, INT if name == "i" else FLOAT) for name in "xyzsti")
>>> body = Block([Assign((s,), e.exp, (x,)), Assign((y,), e.add, (x, s)), Assign((t,), e.exp, (y,))], (y, t))
>>> loop = For((z, Variable("u", FLOAT)), i, 0, 9, 1, (x, Variable("w", FLOAT)), (0.5, 0.0), body)
>>> before, again = carry_values(Program("f", (), Block([loop], loop.targets))).body.statements
>>> before.primitive, before.operands, [statement.primitive for statement in again.body.statements]
(exp, (0.5,), [add, exp])
"""

from __future__ import annotations

from dataclasses import replace

from .build import freeze
from .core import (
    Assign,
    Block,
    For,
    If,
    Program,
    Statement,
    Variable,
    While,
    blocks_of,
    map_variables,
    variables_in,
)
from .renaming import Renaming

LONG = {"arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "cbrt", "cos", "cosh"}
LONG |= {"digamma", "erf", "erfc", "erfinv", "exp", "exp2", "expit", "expm1", "gammaln", "log", "log10"}
LONG |= {"log1p", "log2", "logaddexp", "power", "sin", "sinh", "sqrt", "tan", "tanh"}


def carry_values(program: Program) -> Program:
    """The program with its loops carrying the values that two turns compute."""
    return Program(program.name, program.parameters, in_block(program.body))


def in_block(block: Block) -> Block:
    statements: list[Statement] = []
    for statement in block.statements:
        match statement:
            case If():
                body, orelse = in_block(statement.body), in_block(statement.orelse)
                statements.append(replace(statement, body=body, orelse=orelse))
            case For() | While():
                statements += in_loop(replace(statement, body=in_block(statement.body)))
            case _:
                statements.append(statement)
    return Block(statements, block.results)


def in_loop(loop: For | While) -> list[Statement]:
    """A loop, after what makes the first of the values that it carries from now on."""
    turned = {c: result for c, result in zip(loop.carried, loop.body.results) if result is not c}
    later = {key_of(s, {}): s for s in loop.body.statements if is_long(s)}
    inside = own(loop)
    pairs = []
    for statement in loop.body.statements:
        read = set(variables_in(statement.operands)) if is_long(statement) else set()
        if read & turned.keys() and not read & inside:
            again = later.get(key_of(statement, turned))
            if again is not None and again is not statement:
                pairs.append((statement, again))
    if not pairs:
        return [loop]
    first = dict(zip(loop.carried, loop.initial))
    before: list[Statement] = []
    ends = {}
    for statement, again in pairs:
        (target,) = statement.targets
        start, carried = Variable(target.name, target.type), Variable(target.name, target.type)
        operands = map_variables(lambda v: first.get(v, v), statement.operands)
        before.append(replace(statement, targets=(start,), operands=operands))
        ends[target] = carried, start, again.targets[0]
    gone = {statement for statement, _ in pairs}
    kept = Block([s for s in loop.body.statements if s not in gone], loop.body.results)
    body = Renaming({target: carried for target, (carried, *_) in ends.items()}).block(kept)
    carried, initial, results = zip(*ends.values())
    results = tuple(ends[r][0] if r in ends else r for r in results)
    parts = {
        "targets": (*loop.targets, *(Variable(c.name, c.type) for c in carried)),
        "carried": (*loop.carried, *carried),
        "initial": (*loop.initial, *initial),
        "body": Block(body.statements, (*body.results, *results)),
    }
    return [*before, replace(loop, **parts)]


def own(loop: For | While) -> set[Variable]:
    """The variables that have another value in each turn, but for those that are carried."""
    blocks = blocks_of(loop)
    found = {target for block in blocks for statement in block.statements for target in statement.targets}
    return found | ({loop.index} if isinstance(loop, For) else set())


def is_long(statement: Statement) -> bool:
    """Whether a statement is a function of numbers that takes long, and raises nothing."""
    if not isinstance(statement, Assign) or statement.primitive.name not in LONG:
        return False
    of = statement.targets[0].type
    return of.inexact and not of.shape


def key_of(statement: Assign, turned: dict) -> tuple:
    """What a statement computes; with `turned`, what it does in the next turn."""
    operands = map_variables(lambda v: turned.get(v, v), statement.operands)
    return statement.primitive.name, freeze(operands), freeze(sorted(statement.static.items(), key=str))
