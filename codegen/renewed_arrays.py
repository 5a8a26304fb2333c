"""Arrays that a loop carries, and makes anew once the old one was read: written over the old one.

    for i in range(n):                            for i in range(n):
        p = a @ h                                     p = a @ h
        h = np.empty(m)                   ->          for j in range(m):
        for j in range(m):                                h[j] = tanh(p[j])
            h[j] = tanh(p[j])

An element of the old one may also be read where that of the new one is then written.

>>> from .build import Builder
>>> from .core import FLOAT, INT
>>> from .registry import PRIMITIVES
>>> i, h, b, body = Variable("i", INT), Variable("h", FLOAT.with_shape((3,))), Builder(), Block()
>>> start = b.emit(PRIMITIVES["zeros"], (3,), dtype="float64")
>>> with b.inside(body):
...     total = b.emit(PRIMITIVES["getitem"], h, (0,))
...     new = b.emit(PRIMITIVES["empty"], (3,), dtype="float64")
...     body.results = (b.emit(PRIMITIVES["setitem"], new, (0,), total),)
>>> b.append(For((Variable("h", h.type),), i, 0, 5, 1, (h,), (start,), body))
>>> made, loop = renew_arrays(Program("f", (), b.block)).body.statements
>>> [statement.primitive for statement in loop.body.statements], loop.body.statements[1].operands[0] is h
([getitem, setitem], True)
"""

from __future__ import annotations

from dataclasses import replace

from .access import is_array
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
    free_variables,
    operands_of,
    type_of,
    variables_in,
    walk,
)
from .made_arrays import made_in, makes_array
from .registry import PRIMITIVES
from .renaming import Renaming
from .reused_arrays import last_version
from .roles import is_view
from .row_loops import INDEXED
from .union import Union


def renew_arrays(program: Program) -> Program:
    """The loop program with such arrays written over those of the turn before."""
    return Program(program.name, program.parameters, Renewal().block(program.body, outermost=True))


class Renewal:
    def __init__(self) -> None:
        self.sizes = Union()

    def block(self, block: Block, outermost: bool = False) -> Block:
        made: list[Statement] = []
        for statement in block.statements:
            match statement:
                case Assign() if outermost and statement.primitive.name == "check_same":
                    self.sizes.join(*statement.operands)
                case For() | While():
                    statement = self.loop(replace(statement, body=self.block(statement.body)))
                case If():
                    body, orelse = map(self.block, blocks_of(statement))
                    statement = replace(statement, body=body, orelse=orelse)
            made.append(statement)
        return Block(made, block.results)

    def loop(self, loop: For | While) -> For | While:
        for place, carried in enumerate(loop.carried):
            making = next((s for s in loop.body.statements if self.renews(s, loop, place)), None)
            if making is not None:
                loop = replace(loop, body=written_over(loop.body, making, carried))
        return loop

    def renews(self, making: Statement, loop: For | While, place: int) -> bool:
        """Whether it makes what a carried array becomes, once that is not read any more."""
        carried, result = loop.carried[place], loop.body.results[place]
        if not makes_array(making) or not self.alike(making.targets[0], carried):
            return False
        if last_version(loop.body, making.targets[0]) is not result or loop.body.results.count(result) > 1:
            return False
        at = loop.body.statements.index(making)
        before, after = Block(loop.body.statements[:at]), Block(loop.body.statements[at:], loop.body.results)
        if not only_elements_read(before, carried):
            return False
        return carried not in free_variables(after) or read_where_written(after, making, carried) is not None

    def alike(self, one: Variable, other: Variable) -> bool:
        """Whether two arrays have one dtype and shape."""
        a, b = type_of(one), type_of(other)
        if not is_array(other) or (a.dtype, a.ndim) != (b.dtype, b.ndim):
            return False
        return all(self.sizes.find(m) == self.sizes.find(n) for m, n in zip(a.shape, b.shape))


def only_elements_read(block: Block, array: Variable) -> bool:
    """Whether a block does no more with an array than to read elements of it, or to multiply it."""
    for statement in walk(block):
        touched = [operands_of(statement), *(inner.results for inner in blocks_of(statement))]
        if array not in variables_in(touched):
            continue
        reading = isinstance(statement, Assign) and statement.primitive.name in (*INDEXED, "matmul")
        if not reading or is_view(statement) and is_array(statement.targets[0]):
            return False
        if statement.primitive.destructive and statement.operands[0] is array:
            return False
    return True


def read_where_written(after: Block, making: Assign, carried: Variable) -> tuple[For, Variable] | None:
    """The nest that reads an old array only where it then writes the new one, and what that is there."""
    nest = next((s for s in after.statements if isinstance(s, For) and making.targets[0] in s.initial), None)
    rest = Block([s for s in after.statements if s is not nest], after.results)
    if nest is None or making.primitive.name != "empty" or carried in free_variables(rest):
        return None
    writing, array, indices = nest, making.targets[0], set()
    while isinstance(writing, For) and writing.initial.count(array) == 1:
        array, block = writing.carried[writing.initial.index(array)], writing.body
        indices.add(writing.index)
        users = [s for s in block.statements if array in variables_in(operands_of(s))]
        if len(users) != 1:
            return None
        (writing,) = users
    if not isinstance(writing, Assign) or writing.primitive is not PRIMITIVES["setitem"]:
        return None
    index = writing.operands[1]
    if not all(isinstance(entry, (Variable, int)) for entry in index):
        return None
    earlier = list(walk(Block(block.statements[: block.statements.index(writing)])))
    readers = [s for s in walk(nest.body) if carried in variables_in(operands_of(s))]
    results = [inner.results for s in (nest, *walk(nest.body)) for inner in blocks_of(s)]
    same = all(s in earlier and is_element(s, carried, index) for s in readers)
    return (nest, array) if same and indices <= set(index) and carried not in variables_in(results) else None


def is_element(statement: Statement, array: Variable, index: tuple) -> bool:
    """Whether a statement reads the element of an array at an index."""
    if not isinstance(statement, Assign) or statement.primitive is not PRIMITIVES["getitem"]:
        return False
    of, place = statement.operands
    return of is array and len(place) == len(index) and all(a is b for a, b in zip(place, index))


def written_over(body: Block, making: Assign, carried: Variable) -> Block:
    """A loop's body in which an array is not made, but is the one that the loop carries."""
    at = body.statements.index(making)
    before, after = body.statements[:at], Block(body.statements[at + 1 :], body.results)
    if found := read_where_written(after, making, carried):
        nest, array = found
        inside = replace(nest, body=Renaming({carried: array}).block(nest.body))
        after = Block([inside if s is nest else s for s in after.statements], after.results)
    begun = made_in(making, carried)
    if begun is None:
        after = Renaming({making.targets[0]: carried}).block(after)
    return Block([*before, *([begun] if begun else []), *after.statements], after.results)
