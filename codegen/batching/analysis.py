"""Which values of a program differ from one example of a batch to another, and which statements need lanes.

A batched value has the batch as its first axis. Where that cannot be (a branch or a loop that the examples go
through differently, an array whose size differs, a primitive without a batching rule), the examples are
computed one at a time: the statement is laned. What has no one shape for all examples is ragged, and lives
only inside lanes.

>>> from ..core import BOOL, FLOAT
>>> from ..primitives import elementwise as e
>>> x, y, z = (Variable(name, FLOAT) for name in "xyz")
>>> test = Variable("test", BOOL)
>>> branch = If((z,), test, Block([], (x,)), Block([], (y,)))
>>> program = Program("f", (x, y), Block([Assign((test,), e.less, (x, y)), branch], (z,)))
>>> [Analysis(program, axes).laned == {branch} for axes in ((True, False), (False, False))]
[True, False]
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..core import (
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
    free_variables,
    operands_of,
    variables_in,
    walk,
)
from ..custom_calls import is_custom_call
from ..errors import UnsupportedError
from .rules import COLLECTIVES, LANED

# What is much faster on a whole batch than on one example after the other.
HEAVY = frozenset({"matmul", "einsum", "solve", "inv", "det", "slogdet", "cholesky", "qr", "svd", "svdvals",
                   "eigh", "eigvalsh", "pinv", "cofactor", "cofactor_along", "fft", "ifft", "rfft", "irfft"})


class Analysis:
    """The batched variables, the ragged stacks and the laned statements of a program: a least fixed point."""

    def __init__(self, program: Program, axes: tuple[bool, ...], axis: object = None):
        self.axis = axis
        self.measured = frozenset(measured(program))
        self.uneven: set[Variable] = set()
        self.batched = {p for p, chosen in zip(program.parameters, axes, strict=True) if chosen}
        self.ragged_stacks: set[Variable] = set()
        self.laned: set[Statement] = set()
        before = None
        while before != (now := self.sizes()):
            before = now
            self.block(program.body)

    def sizes(self) -> list[int]:
        """What is known so far, which only grows."""
        return list(map(len, (self.batched, self.ragged_stacks, self.laned, self.uneven)))

    def differs(self, operand: Operand) -> bool:
        """Whether an operand, or anything in it, is batched."""
        return any(v in self.batched for v in variables_in(operand))

    def ragged(self, variable: Variable) -> bool:
        """Whether a batched value has no one shape for all examples."""
        if variable not in self.batched:
            return False
        if isinstance(variable.type, StackType):
            return variable in self.ragged_stacks
        return self.differs(variable.type.shape)

    def touches_ragged(self, statement: Statement) -> bool:
        return any(map(self.ragged, mentioned(statement)))

    def block(self, block: Block) -> None:
        for statement in block.statements:
            if statement not in self.laned:
                self.visit(statement)
            if statement not in self.laned and self.touches_ragged(statement):
                self.laned.add(statement)
            if statement in self.laned:
                self.lane(statement)

    def visit(self, statement: Statement) -> None:
        match statement:
            case Assign():
                self.assign(statement)
            case If():
                self.branch(statement)
            case For() | While():
                self.loop(statement)

    def lane(self, statement: Statement) -> None:
        """Everything that lanes write is batched, and a stack that they touch has its own height in each."""
        self.batched.update(statement.targets)
        self.uneven.update(t for t in statement.targets if t in self.measured)
        stacks = [v for v in mentioned(statement) if isinstance(v.type, StackType)]
        self.batched.update(stacks)
        self.ragged_stacks.update(stacks)
        inside = [statement] if isinstance(statement, Assign) else walk(Block([statement]))
        for one in inside:
            if isinstance(one, Assign) and self.collective(one):
                raise UnsupportedError(
                    f"{one.primitive.name} where the examples of a batch go different ways",
                    "call it outside of branches and loops that depend on batched data", one.location)

    def assign(self, statement: Assign) -> None:
        name, operands, targets = statement.primitive.name, statement.operands, statement.targets
        if name == "size":
            if self.size_differs(statement):
                self.batched.update(targets)
            return
        if self.collective(statement):
            if COLLECTIVES.get(name, True):
                self.batched.update(targets)
            return
        if any(isinstance(v.type, StackType) for v in (*targets, *variables_in(operands))):
            self.stack_operation(statement)
            return
        if not self.differs(operands):
            return
        self.batched.update(targets)
        self.uneven.update(t for t in targets if t in self.measured)
        needs_lanes = LANED.get(statement.primitive)
        if statement.primitive.batch is None or (needs_lanes and needs_lanes(statement, self.differs)):
            self.laned.add(statement)

    def collective(self, statement: Assign) -> bool:
        """Whether a statement reads the other examples of this batch."""
        if is_custom_call(statement):
            parts = (walk(program.body) for program in statement.static["call"].programs())
            return any(self.collective(s) for part in parts for s in part if isinstance(s, Assign))
        return statement.primitive.name in COLLECTIVES and statement.static["axis"] is self.axis

    def size_differs(self, statement: Assign) -> bool:
        """A size is batched where the type of its array says so."""
        (array,) = statement.operands
        if not isinstance(array, Variable):
            return False
        size = array.type.shape[statement.static["axis"]]
        if size is statement.targets[0]:
            return array in self.uneven
        return self.differs(size)

    def flow(self, into: Iterable[Variable], operands: Iterable[Operand]) -> None:
        """What a branch or a loop gives is as uneven as what comes in."""
        if any(isinstance(v, Variable) and (v in self.uneven or self.uneven_type(v)) for v in operands):
            self.uneven.update(into)

    def uneven_type(self, variable: Variable) -> bool:
        return isinstance(variable.type, ArrayType) and self.differs(variable.type.shape)

    def stack_operation(self, statement: Assign) -> None:
        stacks = [v for v in (*statement.targets, *variables_in(statement.operands))
                  if isinstance(v.type, StackType)]
        others = [v for v in variables_in(statement.operands) if v not in stacks]
        if any(v in self.batched for v in (*stacks, *others)):
            self.batched.update(stacks)
            self.batched.update(statement.targets)
        self.link(stacks)

    def link(self, operands: Iterable[Operand]) -> None:
        """A stack is one thing under many names: all are batched or none, ragged or none."""
        stacks = [v for v in operands if isinstance(v, Variable) and isinstance(v.type, StackType)]
        for kind in (self.batched, self.ragged_stacks):
            if any(v in kind for v in stacks):
                kind.update(stacks)

    def branch(self, statement: If) -> None:
        if self.differs(statement.test):
            self.laned.add(statement)
            return
        for block in blocks_of(statement):
            self.block(block)
        for target, *results in zip(statement.targets, statement.body.results, statement.orelse.results,
                                    strict=True):
            if self.differs(results):
                self.batched.add(target)
            self.flow((target,), results)
            self.link((target, *results))

    def better_in_lanes(self, loop: For | While) -> bool:
        """Whether examples that go different ways in a turn of a loop had better do all of it one by one.

        Done together they would meet again after each turn, with a copy of all that they carry; that pays
        only where there is work that is much faster on all of them.
        """
        return any(s in self.laned for s in walk(Block([loop]))) and not self.heavy((loop,))

    def heavy(self, statements: Iterable[Statement]) -> bool:
        """Whether there is linear algebra among what is done for all examples at once, or a collective."""
        for statement in statements:
            if isinstance(statement, Assign):
                together = statement not in self.laned and statement.primitive.name in HEAVY
                if together or self.collective(statement):
                    return True
            elif statement not in self.laned and any(self.heavy(b.statements) for b in blocks_of(statement)):
                return True
        return False

    def loop(self, loop: For | While) -> None:
        if isinstance(loop, For) and self.differs((loop.start, loop.stop, loop.step)):
            self.laned.add(loop)
            return
        for carried, initial in zip(loop.carried, loop.initial, strict=True):
            if self.differs(initial):
                self.batched.add(carried)
            self.flow((carried,), (initial,))
        for block in blocks_of(loop):
            self.block(block)
        if isinstance(loop, While) and self.differs(loop.test.results):
            self.laned.add(loop)
            return
        if self.better_in_lanes(loop):
            self.laned.add(loop)
            return
        for names in zip(loop.targets, loop.carried, loop.initial, loop.body.results, strict=True):
            target, carried, _, result = names
            if self.differs((carried, result)):
                self.batched.update((target, carried))
            self.flow((target, carried), (carried, result))
            self.link(names)


def measured(program: Program) -> Iterator[Variable]:
    """The arrays of which nothing tells a size but themselves."""
    for statement in walk(program.body):
        if isinstance(statement, Assign) and statement.primitive.name == "size":
            (array,) = statement.operands
            axis = statement.static["axis"]
            if isinstance(array, Variable) and array.type.shape[axis] is statement.targets[0]:
                yield array


def mentioned(statement: Statement) -> Iterator[Variable]:
    """The variables that a statement and the blocks in it share with the block around it."""
    yield from statement.targets
    yield from variables_in(operands_of(statement))
    yield from bound_in(statement)
    if not isinstance(statement, Assign):
        yield from free_variables(Block([statement]))


