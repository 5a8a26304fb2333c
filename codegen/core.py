"""The core program: a small, typed, functional subset of Python that every pass reads and writes.

A program is a list of statements, each of which assigns fresh variables:

    y = primitive(operand, ..., keyword=static)        Assign
    if test: ... else: ...                             If
    for index in range(start, stop, step): ...         For
    while test: ...                                    While

A variable is assigned once. A block (the body of a program, a branch, a loop) ends by naming its results.
An operand is a variable, a Python constant, or a tuple, list or slice of operands, so that an index reads
as an index: `getitem(x, (i, slice(None, j), None))`.

>>> n = Variable("n", INT)
>>> x = Variable("x", ArrayType(np.dtype("float32"), (n, 3)))
>>> x.type
float32[n, 3]
>>> [v.name for v in variables_in((x, slice(None, n), 2.0))]
['x', 'n']
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import TypeMismatchError

if TYPE_CHECKING:
    from .errors import Location
    from .registry import Primitive


@dataclass(frozen=True, slots=True, repr=False)
class ArrayType:
    """The type of an array or scalar: a dtype and a shape of dimensions, each an int or an integer variable.

    `weak` marks a Python scalar (bool, int, float, complex), which NumPy promotes less than an array.
    """

    dtype: np.dtype
    shape: tuple[Dimension, ...] = ()
    weak: bool = False

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def inexact(self) -> bool:
        """Whether values of this type can have a derivative."""
        return self.dtype.kind in "fc"

    def with_shape(self, shape: tuple[Dimension, ...]) -> ArrayType:
        return ArrayType(self.dtype, tuple(shape), self.weak and not shape)

    def with_dtype(self, dtype: Any) -> ArrayType:
        return ArrayType(np.dtype(dtype), self.shape)

    def __repr__(self) -> str:
        if self.weak:
            return {"b": "bool", "i": "int", "f": "float", "c": "complex"}[self.dtype.kind]
        return f"{self.dtype}[{', '.join(str(d) for d in self.shape)}]"


@dataclass(frozen=True, slots=True, repr=False)
class StackType:
    """The type of a last-in first-out stack; `element` is the type of what it holds (any symbolic sizes)."""

    element: ArrayType

    inexact = property(lambda self: self.element.inexact)

    def __repr__(self) -> str:
        return f"stack of {self.element}"


Type = ArrayType | StackType

BOOL = ArrayType(np.dtype(bool), (), True)
INT = ArrayType(np.dtype(np.int64), (), True)
FLOAT = ArrayType(np.dtype(np.float64), (), True)
COMPLEX = ArrayType(np.dtype(np.complex128), (), True)


class Variable:
    """A name that is assigned once. Two variables are the same only if they are one object.

    `name` is a wish (the user's name for the value, or None for a temporary); printing makes names unique.
    """

    __slots__ = ("name", "type")

    def __init__(self, name: str | None, type: Type):
        self.name = name
        self.type = type

    def __repr__(self) -> str:
        return self.name or f"v{id(self) % 9973}"


Dimension = int | Variable
Operand = Any


@dataclass(slots=True, eq=False)
class Assign:
    """`targets = primitive(*operands, **static)`."""

    targets: tuple[Variable, ...]
    primitive: Primitive
    operands: tuple[Operand, ...]
    static: dict[str, Any] = field(default_factory=dict)
    location: Location | None = None


@dataclass(slots=True, eq=False)
class Block:
    """Statements, then the operands that are its results."""

    statements: list[Statement] = field(default_factory=list)
    results: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """The mark of something that a backward sweep runs again: on its first run, and on the one again."""

    mark: object = field(default_factory=object)
    again: bool = False


@dataclass(slots=True, eq=False)
class If:
    """`targets` take the results of `body` where `test` holds, else those of `orelse`.

    With `recompute` it has a test that is True and nothing in `orelse`: nothing of its body is kept for the
    backward sweep, which runs it again.
    """

    targets: tuple[Variable, ...]
    test: Operand
    body: Block
    orelse: Block
    location: Location | None = None
    recompute: Run | None = None


@dataclass(slots=True, eq=False)
class For:
    """`for index in range(start, stop, step)`: `carried` begin as `initial`, become `body.results` each time.

    `targets` are their final values. `carried` are variables of the body. `fused`: the numbers that it
    carries are reductions of whole arrays, in any order. `independent`: its turns may be done at once.
    """

    targets: tuple[Variable, ...]
    index: Variable
    start: Operand
    stop: Operand
    step: Operand
    carried: tuple[Variable, ...]
    initial: tuple[Operand, ...]
    body: Block
    location: Location | None = None
    fused: bool = False
    independent: bool = False


@dataclass(slots=True, eq=False)
class While:
    """`carried` begin as `initial` and become `body.results` for as long as `test` (one result) holds.

    Both blocks see `carried`; `body` also sees what `test` assigned. `targets` are the final values.
    """

    targets: tuple[Variable, ...]
    carried: tuple[Variable, ...]
    initial: tuple[Operand, ...]
    test: Block
    body: Block
    location: Location | None = None


Statement = Assign | If | For | While


@dataclass(slots=True, eq=False)
class Program:
    """A function of `parameters` with one block. Free variables (of an enclosing program) are allowed."""

    name: str
    parameters: tuple[Variable, ...]
    body: Block

    @property
    def results(self) -> tuple[Operand, ...]:
        return self.body.results


def nothing(count: int) -> Block:
    """A block that never runs, with so many results."""
    return Block([], (0,) * count)


def variables_in(operand: Operand) -> Iterator[Variable]:
    """Every variable in an operand, in order."""
    found: list[Variable] = []
    collect_variables(operand if type(operand) is tuple else (operand,), found)
    return iter(found)


def collect_variables(operands: Sequence[Operand], found: list[Variable]) -> None:
    for operand in operands:
        kind = type(operand)
        if kind is Variable:
            found.append(operand)
        elif kind is tuple or kind is list:
            collect_variables(operand, found)
        elif kind is slice:
            collect_variables((operand.start, operand.stop, operand.step), found)


def map_variables(function: Callable[[Variable], Operand], operand: Operand) -> Operand:
    """The operand with every variable replaced by `function(variable)`."""
    if isinstance(operand, Variable):
        return function(operand)
    if isinstance(operand, (tuple, list)):
        return type(operand)(map_variables(function, item) for item in operand)
    if isinstance(operand, slice):
        return slice(*(map_variables(function, part) for part in (operand.start, operand.stop, operand.step)))
    return operand


def blocks_of(statement: Statement) -> tuple[Block, ...]:
    """The blocks directly inside a statement."""
    match statement:
        case If():
            return statement.body, statement.orelse
        case For():
            return (statement.body,)
        case While():
            return statement.test, statement.body
    return ()


def operands_of(statement: Statement) -> tuple[Operand, ...]:
    """What the statement itself reads, apart from what its blocks read."""
    match statement:
        case Assign():
            return statement.operands
        case If():
            return (statement.test,)
        case For():
            return (statement.start, statement.stop, statement.step, *statement.initial)
        case While():
            return statement.initial


def bound_in(statement: Statement) -> tuple[Variable, ...]:
    """Variables that a statement introduces for its own blocks only."""
    match statement:
        case For():
            return (statement.index, *statement.carried)
        case While():
            return statement.carried
    return ()


def walk(block: Block) -> Iterator[Statement]:
    """Every statement of a block and of the blocks in it, in order."""
    for statement in block.statements:
        yield statement
        for inner in blocks_of(statement):
            yield from walk(inner)


def assigned_in(loop: For | While) -> set[Variable]:
    """The variables that get a value in each turn of a loop."""
    found = set(bound_in(loop))
    for block in blocks_of(loop):
        for statement in walk(block):
            found.update(statement.targets, bound_in(statement))
    return found


def uses_in(program: Program) -> Counter[Variable]:
    """How often each variable is read."""
    uses = Counter(variables_in(program.results))
    for statement in walk(program.body):
        uses.update(variables_in(operands_of(statement)))
        for block in blocks_of(statement):
            uses.update(variables_in(block.results))
    return uses


def free_variables(block: Block) -> dict[Variable, None]:
    """Variables that a block reads and does not assign, in order of first reading."""
    free: dict[Variable, None] = {}
    collect_free(block, set(), free)
    return free


def collect_free(block: Block, bound: set[Variable], free: dict[Variable, None]) -> None:
    bound = set(bound)
    for statement in block.statements:
        for variable in variables_in(operands_of(statement)):
            if variable not in bound:
                free[variable] = None
        inner = bound.union(bound_in(statement))
        for part in blocks_of(statement):
            collect_free(part, inner, free)
            if isinstance(statement, While):
                inner = inner.union(*(s.targets for s in part.statements))
        bound.update(statement.targets)
    for variable in variables_in(block.results):
        if variable not in bound:
            free[variable] = None


def type_of(operand: Operand) -> Type:
    """The type of an operand that is a variable or a scalar or array constant."""
    if isinstance(operand, Variable):
        return operand.type
    for kind, known in ((bool, BOOL), (int, INT), (float, FLOAT), (complex, COMPLEX)):
        if type(operand) is kind:
            return known
    if isinstance(operand, (np.ndarray, np.generic)):
        return ArrayType(operand.dtype, operand.shape)
    kind = type(operand).__name__
    raise TypeMismatchError(f"an array or a number is needed, and this is of type {kind}: {operand!r}",
                            "pass arrays and numbers only")
