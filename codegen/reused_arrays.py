"""Arrays that a loop makes in each turn, for that turn alone: made once, before the loop.

    for i in range(n):                            y = np.empty(m)
        y = np.zeros(m)                           for i in range(n):
        for j in range(m):            ->              y[:] = 0.0
            y[j] += ...                               for j in range(m):
                                                          y[j] += ...

>>> from .build import Builder
>>> from .core import INT
>>> from .registry import PRIMITIVES
>>> i = Variable("i", INT)
>>> builder, body = Builder(), Block()
>>> with builder.inside(body):
...     y = builder.emit(PRIMITIVES["zeros"], (3,), dtype="float64")
...     y = builder.emit(PRIMITIVES["setitem"], y, (i,), 1.0)
...     body.results = ()
>>> builder.append(For((), i, 0, 3, 1, (), (), body))
>>> made, loop = reuse_arrays(Program("f", (), builder.block)).body.statements
>>> made.primitive, [statement.primitive for statement in loop.body.statements]
(empty, [setitem, setitem])
"""

from __future__ import annotations

from dataclasses import replace

from .access import is_array
from .arrays_over_time import Histories
from .core import (
    Assign,
    Block,
    For,
    If,
    Program,
    Statement,
    Variable,
    While,
    assigned_in,
    blocks_of,
    free_variables,
    operands_of,
    variables_in,
    walk,
)
from .made_arrays import is_product, made_in, makes_array, memory_for
from .renaming import Renaming
from .row_loops import INDEXED


def reuse_arrays(program: Program) -> Program:
    """The loop program with such arrays made before its loops."""
    return Program(program.name, program.parameters, Reuse(program).block(program.body))


class Reuse:
    def __init__(self, program: Program):
        self.histories = Histories(program.body)
        self.escaped = {self.histories.of(v) for v in variables_in(program.results) if is_array(v)}
        self.sizes: set[Variable] = set()
        self.made: set[Variable] = set()
        self.replaced: set[Variable] = set()
        for statement in walk(program.body):
            self.escaped |= {self.histories.of(v) for v in self.handed_on(statement)}
            if isinstance(statement, Assign) and statement.primitive.name in ("size", "slice_size"):
                self.sizes.update(statement.targets)
            elif isinstance(statement, Assign) and not statement.primitive.destructive:
                self.made.update(statement.targets)

    def handed_on(self, statement: Statement) -> list[Variable]:
        """The arrays of which a statement does more than read or write elements."""
        if is_product(statement):
            return []
        if not isinstance(statement, Assign):
            values = (operands_of(statement), [block.results for block in blocks_of(statement)])
            return [v for v in variables_in(values) if is_array(v) and self.histories.is_view(v)]
        views = any(map(self.histories.is_view, statement.targets))
        single = statement.primitive.name in INDEXED and not views
        return [v for v in variables_in(statement.operands[1 if single else 0 :]) if is_array(v)]

    def block(self, block: Block) -> Block:
        made: list[Statement] = []
        for statement in block.statements:
            match statement:
                case For():
                    made += self.loop(replace(statement, body=self.block(statement.body)))
                    continue
                case While():
                    statement = replace(statement, body=self.block(statement.body))
                case If():
                    body, orelse = map(self.block, blocks_of(statement))
                    statement = replace(statement, body=body, orelse=orelse)
            made.append(statement)
        return Block(made, block.results)

    def loop(self, loop: For) -> list[Statement]:
        """A loop, after what makes the arrays that its turns can share."""
        before: list[Statement] = []
        while making := next((s for s in loop.body.statements if self.lasts_a_turn(s, loop)), None):
            (array,) = making.targets
            once = Variable(array.name, array.type)
            before.append(memory_for(making, once))
            loop = sharing(loop, making, once, last_version(loop.body, array))
            self.histories.unite(array, once, loop.carried[-1], loop.targets[-1])
            self.made ^= {array, once}
            if making.primitive.name == "empty":
                self.replaced.add(array)
        return [*before, loop]

    def lasts_a_turn(self, making: Statement, loop: For) -> bool:
        """Whether it makes an array for a turn only, which can be made although there may be no turn."""
        if not makes_array(making):
            return False
        (array,) = making.targets
        inside, shape = assigned_in(loop), getattr(array.type, "shape", ())
        if not shape or inside.intersection(variables_in(shape)):
            return False
        if not all(isinstance(size, int) or size in self.sizes for size in shape):
            return False
        members = self.histories.members(array) - self.replaced
        outside = {*loop.carried, *variables_in(loop.body.results)}
        if self.histories.of(array) in self.escaped or not members <= inside or members & outside:
            return False
        if len(members & self.made) != 1:
            return False
        return last_version(loop.body, array) is not None


def last_version(body: Block, array: Variable) -> Variable | None:
    """What an array has become at the end of a block; None if it is carried by other than loops."""
    for statement in body.statements:
        match statement:
            case Assign():
                if statement.primitive.destructive and statement.operands[0] is array:
                    array = statement.targets[0]
            case For():
                if array in statement.initial:
                    array = statement.targets[statement.initial.index(array)]
            case While() | If():
                touched = (statement.targets, operands_of(statement), free_variables(Block([statement])))
                if array in variables_in([tuple(part) for part in touched]):
                    return None
    return array


def sharing(loop: For, making: Assign, once: Variable, end: Variable) -> For:
    """A loop that carries an array on to the next turn, which begins anew."""
    (array,) = making.targets
    carried, target = (Variable(array.name, array.type) for _ in range(2))
    place = loop.body.statements.index(making)
    before, after = loop.body.statements[:place], Block(loop.body.statements[place + 1 :], (end,))
    begun = made_in(making, carried)
    if begun is None:
        after = Renaming({array: carried}).block(after)
    else:
        before = [*before, begun]
    return replace(
        loop,
        targets=(*loop.targets, target),
        carried=(*loop.carried, carried),
        initial=(*loop.initial, once),
        body=Block([*before, *after.statements], (*loop.body.results, *after.results)),
    )
