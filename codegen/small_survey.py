"""Which small arrays of a program become numbers, and which of these are needed as arrays, too.

An array does if its elements can be computed one by one, in a loop, or are carried by one. What a loop
carries remains an array if something in the loop needs it whole, or makes it whole. So does an array of more
than a few elements, unless it is put together or taken apart at known places.
"""

from __future__ import annotations

from collections.abc import Iterator

from .core import (
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
    variables_in,
    walk,
)
from .renaming import sizes_in
from .small_operations import SMALL, is_few, is_fixed, is_split_operation, is_split_write
from .union import Union


class Survey:
    """`split`: the arrays that become numbers. `whole`: those of them that something needs as arrays."""

    def __init__(self, program: Program):
        self.program = program
        held = (*program.parameters, *(r for r in program.results if isinstance(r, Variable)))
        self.stacks = not any(isinstance(variable.type, StackType) for variable in held)
        self.sizes = {size for variable in assigned(program) for size in sizes_in(variable.type)}
        self.split: set[Variable] = set()
        self.whole: set[Variable] = set()
        self.choose(program.body, 0)
        self.choices = [s for s in walk(program.body) if not isinstance(s, Assign)]
        before = -1
        parted = parted_arrays(program, self.split)
        while before != len(self.split):
            before = len(self.split)
            self.whole = {v for v in self.wholly_read(program.body) if v in self.split}
            self.whole.update(v for v in variables_in(program.results) if v in self.split)
            self.split -= {v for v in self.split if is_larger(v) and (v in self.whole or v not in parted)}
            self.whole &= self.split
            for statement in self.choices:
                self.settle(statement)

    def choose(self, block: Block, depth: int) -> None:
        """All arrays that may become numbers."""
        for statement in block.statements:
            match statement:
                case Assign() if depth and (is_split_operation(statement) or self.is_stack(statement)):
                    self.split.update(t for t in statement.targets if is_few(t.type, SMALL))
                case If():
                    self.split.update(t for t in statement.targets if is_few(t.type, SMALL))
                case For() | While():
                    self.split.update(v for v in (*statement.carried, *statement.targets) if is_few(v.type))
            for inner in blocks_of(statement):
                self.choose(inner, depth + (not isinstance(statement, If)))

    def is_stack(self, statement: Assign) -> bool:
        """Whether a statement works on a stack of small arrays, of which each element has its own stack."""
        values = [*statement.targets, *variables_in(statement.operands)]
        return self.stacks and any(self.is_split_stack(value) for value in values)

    def is_split_stack(self, variable: Variable) -> bool:
        return self.stacks and isinstance(variable.type, StackType) and is_few(variable.type.element)

    def by_elements(self, statement: Assign) -> bool:
        """Whether a statement is done element by element."""
        if self.is_stack(statement):
            return True
        if is_split_write(statement) and statement.operands[2] in self.split:
            return statement.targets[0] not in self.split
        if not is_split_operation(statement):
            return False
        (target,) = statement.targets
        if target.type.shape:
            return target in self.split
        return target not in self.sizes and any(v in self.split for v in variables_in(statement.operands))

    def wholly_read(self, block: Block) -> Iterator[Variable]:
        """The arrays that something other than their elements is read of."""
        for statement in block.statements:
            match statement:
                case Assign():
                    if not self.by_elements(statement):
                        yield from variables_in(statement.operands)
                    elif self.keeps_first(statement):
                        yield from variables_in(statement.operands[0])
                case If():
                    for target, *results in zip(statement.targets, statement.body.results,
                                                statement.orelse.results, strict=True):  # fmt: skip
                        yield from self.unsplit(target, results)
                case For() | While():
                    pairs = zip(statement.initial, statement.body.results, strict=True)
                    for carried, ends in zip(statement.carried, pairs, strict=True):
                        yield from self.unsplit(carried, ends)
            for inner in blocks_of(statement):
                yield from self.wholly_read(inner)

    def keeps_first(self, statement: Assign) -> bool:
        """Whether the first operand of what is done element by element must be an array all the same."""
        if statement.primitive.name == "getitem":
            return not is_fixed(statement.operands[1])
        return is_split_write(statement) and statement.targets[0] not in self.split

    def unsplit(self, variable: Variable, values: Operand) -> Iterator[Variable]:
        """What a variable takes the value of, if it is an array."""
        if variable not in self.split:
            yield from variables_in(values)

    def settle(self, statement: Statement) -> None:
        """Leave what a branch or a loop gives an array, where it had better be one."""
        if isinstance(statement, If):
            for target, *results in zip(statement.targets, statement.body.results, statement.orelse.results,
                                        strict=True):  # fmt: skip
                if not any(r in self.split for r in results if isinstance(r, Variable)):
                    self.split.discard(target)
            return
        for carried, target, result in zip(statement.carried, statement.targets, statement.body.results,
                                           strict=True):  # fmt: skip
            if carried in self.whole or not self.split.issuperset((carried, result, target)):
                self.split -= {carried, target}


def is_larger(variable: Variable) -> bool:
    """Whether an array that may become numbers has more than a few elements."""
    return is_few(variable.type, SMALL) and not is_few(variable.type)


def parted_arrays(program: Program, among: set[Variable]) -> set[Variable]:
    """The larger arrays that are put together or taken apart at known places, or hang together with such."""
    groups = Union()
    parted: set[Variable] = set()
    for statement in walk(program.body):
        for link in links_of(statement):
            larger = [v for v in variables_in(link) if v in among and is_larger(v)]
            for one in larger[1:]:
                groups.join(larger[0], one)
            if isinstance(statement, Assign) and takes_parts(statement):
                parted.update(larger)
    roots = set(map(groups.find, parted))
    return {v for v in among if is_larger(v) and groups.find(v) in roots}


def links_of(statement: Statement) -> list[tuple]:
    """The values that are either all numbers or all arrays."""
    if isinstance(statement, If):
        return list(zip(statement.targets, statement.body.results, statement.orelse.results, strict=True))
    if isinstance(statement, Assign) and is_split_operation(statement):
        return [(*statement.targets, *statement.operands)]
    return []


def takes_parts(statement: Assign) -> bool:
    """Whether an operation reads or writes elements at known places, or puts an array together."""
    if statement.primitive.name in ("getitem", "setitem", "index_add"):
        return any(part != slice(None) for part in statement.operands[1]) and is_fixed(statement.operands[1])
    return statement.primitive.name in ("array", "concatenate")


def assigned(program: Program) -> Iterator[Variable]:
    """Every variable of a program."""
    yield from program.parameters
    for statement in walk(program.body):
        yield from (*statement.targets, *bound_in(statement))
