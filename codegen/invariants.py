"""Loop invariants: takes out of a loop what is the same at every turn.

Only what is pure, cannot raise (the loop may not run at all), and is not written in place afterwards.

>>> from .build import Builder
>>> from .core import FLOAT, INT, Block, Program, Variable
>>> from .primitives import elementwise as e
>>> x, y, i, c = (Variable(name, FLOAT if name != "i" else INT) for name in "xyic")
>>> b, body = Builder(), Block()
>>> with b.inside(body):
...     body.results = (b.emit(e.add, c, b.emit(e.multiply, x, x)),)
>>> b.append(For((y,), i, 0, 10, 1, (c,), (0.0,), body))
>>> b.block.results = (y,)
>>> moved = hoist_invariants(Program("f", (x,), b.block))
>>> [type(s).__name__ for s in moved.body.statements]
['Assign', 'For']
"""
from __future__ import annotations

from dataclasses import replace

from .core import (
    ArrayType,
    Assign,
    Block,
    For,
    If,
    Operand,
    Program,
    StackType,
    Statement,
    Variable,
    While,
    blocks_of,
    bound_in,
    operands_of,
    type_of,
    variables_in,
    walk,
)

# Besides the elementwise operations; none of these can raise.
MOVABLE = {"size", "transpose", "sum", "prod", "cumsum", "cumprod"}
# On Python numbers these raise where NumPy would give inf or nan.
MAY_RAISE = {"divide", "floor_divide", "remainder", "power", "left_shift", "right_shift"}


def hoist_invariants(program: Program) -> Program:
    """The program with invariants moved in front of the loops they do not change in."""
    return Program(program.name, program.parameters, hoist_block(program.body))


def hoist_block(block: Block) -> Block:
    hoisted = Block([], block.results)
    for statement in block.statements:
        match statement:
            case If():
                parts = {"body": hoist_block(statement.body), "orelse": hoist_block(statement.orelse)}
                statement = replace(statement, **parts)
            case For() | While():
                moved, statement = hoist_loop(statement)
                hoisted.statements += moved
        hoisted.statements.append(statement)
    return hoisted


def hoist_loop(loop: For | While) -> tuple[list[Statement], Statement]:
    """The statements that may stand before the loop, and the loop without them."""
    parts = {"body": hoist_block(loop.body)}
    if isinstance(loop, While):
        parts["test"] = hoist_block(loop.test)
    blocks = list(parts.values())
    inside = set(bound_in(loop))
    for block in blocks:
        for statement in walk(block):
            inside.update(statement.targets, bound_in(statement))
    kept = written_or_carried(blocks)
    moved: list[Statement] = []
    for name in ("test", "body"):
        if name not in parts:
            continue
        staying = []
        for statement in parts[name].statements:
            if movable(statement, inside, kept):
                moved.append(statement)
                inside.difference_update(statement.targets)
            else:
                staying.append(statement)
        parts[name] = Block(staying, parts[name].results)
    return moved, replace(loop, **parts)


def written_or_carried(blocks: list[Block]) -> set[Variable]:
    """Arrays that may be written, or handed on: moving what makes them would cost a copy a turn."""
    found: set[Variable] = set()
    for block in blocks:
        found.update(variables_in(block.results))
        for statement in reversed(list(walk(block))):
            for inner in blocks_of(statement):
                found.update(variables_in(inner.results))
            if not isinstance(statement, Assign):
                found.update(variables_in(operands_of(statement)))
            elif statement.primitive.destructive:
                count = 2 if statement.primitive.name == "push" else 1
                found.update(variables_in(statement.operands[:count]))
            elif statement.primitive.view and statement.targets[0] in found:
                found.update(variables_in(statement.operands[:1]))
    return {variable for variable in found if isinstance(variable.type, StackType) or variable.type.shape}


def movable(statement: Statement, inside: set[Variable], kept: set[Variable]) -> bool:
    """Whether a statement gives the same at every turn, and may run although the loop does not."""
    if not isinstance(statement, Assign) or not operands_are_outside(statement, inside):
        return False
    primitive, operands = statement.primitive, statement.operands
    if primitive.effect or primitive.destructive or primitive.allocates:
        return False
    if any(target in kept for target in statement.targets):
        return False
    if any(isinstance(v.type, StackType) for v in variables_in(operands)):
        return False
    if primitive.name == "getitem":
        return all(entry is None or isinstance(entry, slice) for entry in operands[1])
    if primitive.name == "broadcast_to":
        return agree(type_of(operands[0]).shape, operands[1])
    if primitive.name == "matmul":
        return matrices_agree(*(type_of(operand).shape for operand in operands))
    return primitive.name in MOVABLE or (primitive.elementwise and cannot_raise(statement))


def operands_are_outside(statement: Assign, inside: set[Variable]) -> bool:
    sizes = tuple(t.type.shape for t in statement.targets if isinstance(t.type, ArrayType))
    return not any(variable in inside for variable in variables_in((statement.operands, sizes)))


def cannot_raise(statement: Assign) -> bool:
    """Whether an elementwise operation is sure to give a value: its shapes fit, it is not Python's own."""
    if statement.static.get("weak"):
        return False
    types = [type_of(operand) for operand in statement.operands]
    if statement.primitive.name in MAY_RAISE and all(t.weak for t in types):
        return False
    return all(agree(one.shape, other.shape) for one in types for other in types)


def agree(one: tuple[Operand, ...], other: tuple[Operand, ...]) -> bool:
    """Whether two shapes are sure to broadcast."""
    pairs = zip(reversed(one), reversed(other))
    return all(a == b or (type(a) is int and a == 1) or (type(b) is int and b == 1) for a, b in pairs)


def matrices_agree(one: tuple[Operand, ...], other: tuple[Operand, ...]) -> bool:
    """Whether two shapes, of matrices or vectors, are sure to fit for a product."""
    return max(len(one), len(other)) <= 2 and one[-1] == other[-2:][0]
