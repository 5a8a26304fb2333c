"""The batch pass: a program for one example becomes a program for a whole batch of them.

Each operation is done once for all examples, by the batching rule of its primitive; what the examples go
through differently is done in lanes (lanes.py).

>>> import numpy as np
>>> from ..parse import parse_text
>>> from ..printing import print_program
>>> from ..specialise import Parameter, specialise
>>> f = parse_text("def f(w, x):\\n    if w.sum() > 0:\\n        x = -x\\n    return w @ x")
>>> vector = ArrayType(np.dtype(float), (3,))
>>> program = specialise(f, [Parameter(vector, "w"), Parameter(vector, "x")]).program
>>> batched, _ = batch(program, (False, True), 5)
>>> text = print_program(batched)
>>> print("\\n".join(line for line in text[text.index("def"):].splitlines() if "#" not in line))
def f(w, x):
    if np.sum(w) > 0:
        x = -x
    return x @ w
"""
from __future__ import annotations

import dataclasses

from ..adopt import adopt, open_program
from ..build import Builder, bound_index, replace_type
from ..core import (
    ArrayType,
    Assign,
    Block,
    Dimension,
    For,
    If,
    Operand,
    Program,
    StackType,
    Statement,
    Type,
    Variable,
    While,
    free_variables,
    nothing,
    type_of,
    walk,
)
from ..errors import UnsupportedError
from ..registry import PRIMITIVES
from ..renaming import Renaming, sizes_in
from .analysis import Analysis
from .lanes import Lanes
from .regions import Region, regions
from .rules import Batching, batched_type, repeat


def batch(program: Program, axes: tuple[bool, ...], size: Dimension, axis: object = None,
          known: Builder | None = None, compiled: bool = False) -> tuple[Program, tuple[bool, ...]]:
    """The program for `size` examples, and which of its results differ among them.

    The parameters chosen by `axes`, and those results, have the batch as their first axis. `axis` is what
    the collectives of this batch name it by. `known` is a builder that knows the enclosing program. With
    `compiled`, a loop over the examples costs nothing.
    """
    return Batcher(program, axes, size, axis, known).run(compiled)


def merged(block: Block, also: Block) -> Block:
    """A block with the results that the other reads of it."""
    return Block(block.statements, (*block.results, *free_variables(also)))


class Batcher:
    """Goes through a program once, with the batched form of every value met so far."""

    def __init__(self, program: Program, axes: tuple[bool, ...], size: Dimension, axis: object,
                 known: Builder | None):
        self.program, self.size = program, size
        self.analysis = Analysis(program, axes, axis)
        self.builder = Builder()
        self.renaming = Renaming()
        self.named: dict[Variable, list[Variable]] = {}
        self.even: set[Variable] = set()
        open_program(self.builder, program)
        if known is not None:
            self.builder.lower_bounds.update(known.lower_bounds)
            self.builder.offsets.update(known.offsets)
            self.builder.definitions.update(known.definitions)
            for scope in known.scopes:
                self.builder.scopes[0].equal.update(scope.equal)
        self.lanes = Lanes(self)

    def run(self, compiled: bool) -> tuple[Program, tuple[bool, ...]]:
        program = self.program
        parameters = tuple(map(self.fresh, program.parameters))
        self.block(program.body.statements, program.body, compiled=compiled)
        for result in program.results:
            if isinstance(result, Variable) and self.analysis.ragged(result) and result not in self.even:
                raise UnsupportedError(
                    "vmap of a function whose result has another shape for one example than for another",
                    "return arrays of one shape: pad them, or call the function in a loop",
                    self.builder.location)
        self.builder.block.results = tuple(map(self.renaming, program.results))
        made = Program(program.name, parameters, self.builder.block)
        self.retype(made)
        return made, tuple(map(self.differs, program.results))

    def differs(self, operand: Operand) -> bool:
        return self.analysis.differs(operand)

    def retype(self, program: Program) -> None:
        """Sizes that a type named before they had their new variable."""
        mapping = {old: new for old, new in self.renaming.mapping.items()
                   if isinstance(old.type, ArrayType) and not old.type.shape and old.type.dtype.kind in "iu"}
        for statement in walk(program.body):
            bound = getattr(statement, "carried", ())
            for variable in (*statement.targets, *bound):
                variable.type = replace_type(variable.type, mapping)

    # variables

    def type(self, of: Type) -> Type:
        return self.renaming.type(of)

    def new_type(self, variable: Variable) -> Type:
        """The type of the new form of a variable."""
        of = self.type(variable.type)
        if variable not in self.analysis.batched:
            return of
        if isinstance(of, StackType):
            return StackType(batched_type(of.element, self.size))
        return batched_type(of, self.size)

    def fresh(self, variable: Variable) -> Variable:
        """A new variable for a parameter, or for what a branch or a loop gives."""
        made = Variable(variable.name, self.new_type(variable))
        for size in sizes_in(made.type):
            self.named.setdefault(size, []).append(made)
        self.renaming.mapping[variable] = made
        self.builder.depths[made] = len(self.builder.scopes)
        return made

    def conform(self, operand: Operand, variable: Variable) -> Operand:
        """An operand in the form that a variable of a branch or loop has it in."""
        value = self.renaming(operand)
        if variable not in self.analysis.batched or isinstance(variable.type, StackType):
            return value
        of = variable.type
        if not self.differs(operand):
            if type_of(value).dtype != of.dtype:
                value = self.builder.emit(PRIMITIVES["astype"], value, dtype=of.dtype)
            return repeat(self.builder, value, self.size)
        if type_of(value).dtype != of.dtype:
            value = self.builder.emit(PRIMITIVES["astype"], value, dtype=of.dtype)
        return value

    # statements

    def block(self, statements: list[Statement], block: Block, also: Block | None = None,
              compiled: bool = False) -> None:
        """Emit the batched form of a block's statements; `also` also reads what they assign."""
        whole = block if also is None else merged(block, also)
        for item in regions(statements, self.analysis, whole, compiled):
            if isinstance(item, Region):
                self.lanes.emit(item, statements, block, also)
            else:
                self.statement(item)

    def statement(self, statement: Statement) -> None:
        self.builder.location = statement.location
        match statement:
            case Assign():
                self.assign(statement)
            case If():
                self.branch(statement)
            case For() | While():
                self.loop(statement)

    def assign(self, statement: Assign) -> None:
        if self.analysis.collective(statement) or self.differs((statement.operands, statement.targets)):
            if statement.primitive.name == "size":
                self.known_size(statement)
            else:
                self.rule(statement)
        else:
            self.same(statement)

    def known_size(self, statement: Assign) -> None:
        """The size of a batched array: its type says it, or it is read at run time."""
        (target,), (array,) = statement.targets, statement.operands
        axis = statement.static["axis"] + 1
        if array.type.shape[axis - 1] is target:
            size = self.builder.emit(PRIMITIVES["size"], self.renaming(array), axis=axis)
            self.measured(array, target, size)
        else:
            size = self.type(array.type).shape[axis - 1]
        self.renaming.mapping[target] = size

    def measured(self, array: Variable, old: Variable, new: Dimension) -> None:
        """The types that name a size which an array has read off itself, now that it has its new variable."""
        for made in (self.renaming(array), *self.named.pop(old, ())):
            made.type = replace_type(made.type, {old: new})

    def same(self, statement: Assign) -> None:
        """A statement that is the same for all examples."""
        self.renaming.bind(statement.targets)
        made = self.renaming.statement(statement)
        self.renaming.retype()
        adopt(self.builder, made)
        if statement.primitive.name == "size" and isinstance(statement.operands[0], Variable):
            self.measured(statement.operands[0], statement.targets[0], made.targets[0])

    def rule(self, statement: Assign) -> None:
        targets = statement.targets
        operands = self.renaming(statement.operands)
        types = tuple(self.type(target.type) for target in targets)
        here = self.analysis.collective(statement)
        case = Batching(self.builder, self.size, statement, operands, self.differs, types, here,
                        self.analysis.axis)
        results = statement.primitive.batch(case)
        if not targets:
            return
        for target, result in zip(targets, results if len(targets) > 1 else (results,), strict=True):
            self.renaming.mapping[target] = self.finished(target, result)

    def finished(self, target: Variable, result: Operand) -> Operand:
        """The result of a rule, with the dtype and the name of what it is the batched form of."""
        if isinstance(target.type, ArrayType) and type_of(result).dtype != target.type.dtype:
            result = self.builder.emit(PRIMITIVES["astype"], result, dtype=target.type.dtype)
        if isinstance(result, Variable) and result.name is None:
            result.name = target.name
        return result

    def inner(self, block: Block, targets: tuple[Variable, ...], also: Block | None = None) -> Block:
        """The batched form of a branch or of a loop's body, which gives values in the form of `targets`."""
        with self.builder.inside(Block()) as made:
            self.block(block.statements, block, also)
            made.results = tuple(self.conform(r, t) for r, t in zip(block.results, targets, strict=True))
        return made

    def branch(self, statement: If) -> None:
        test, targets = self.renaming(statement.test), statement.targets
        body = self.inner(statement.body, targets)
        orelse = nothing(len(targets)) if statement.recompute else self.inner(statement.orelse, targets)
        parts = {"test": test, "body": body, "orelse": orelse}
        self.builder.append(dataclasses.replace(statement, targets=tuple(map(self.fresh, targets)), **parts))

    def loop(self, loop: For | While) -> None:
        builder = self.builder
        pairs = zip(loop.initial, loop.carried, strict=True)
        parts = {"initial": tuple(self.conform(initial, carried) for initial, carried in pairs)}
        parts["carried"] = tuple(map(self.fresh, loop.carried))
        if isinstance(loop, While):
            with builder.inside(Block()) as test:
                self.block(loop.test.statements, loop.test, loop.body)
                test.results = self.renaming(loop.test.results)
            parts["test"] = test
        else:
            for name in ("start", "stop", "step"):
                parts[name] = self.renaming(getattr(loop, name))
            parts["index"] = self.fresh(loop.index)
            bound_index(builder, *(parts[name] for name in ("index", "start", "stop", "step")))
        parts["body"] = self.inner(loop.body, loop.carried)
        parts["targets"] = tuple(map(self.fresh, loop.targets))
        builder.append(dataclasses.replace(loop, **parts))
