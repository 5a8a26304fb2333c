"""Arrays of few elements, made again and again in a loop, become numbers: one for each element.

    while test:                                     while test:
        k = array((b, -a))                              k_0, k_1 = b, -a
        y = add(y, multiply(h, k))          ->          y_0 = add(y_0, multiply(h, k_0))
                                                        y_1 = add(y_1, multiply(h, k_1))

Processors keep numbers in registers, and nothing is allocated. Where an operation needs a whole array, it is
put together from its numbers.

>>> from .build import Builder
>>> from .core import FLOAT, INT
>>> h, i, b, body = Variable("h", FLOAT), Variable("i", INT), Builder(), Block()
>>> y, start = (Variable(name, ArrayType(np.dtype(float), (2,))) for name in ("y", "start"))
>>> with b.inside(body):
...     body.results = (b.emit(PRIMITIVES["multiply"], y, h),)
>>> end = Variable("end", y.type)
>>> b.append(For((end,), i, 0, 9, 1, (y,), (start,), body))
>>> b.block.results = (b.emit(PRIMITIVES["sum"], end, axis=(0,), keepdims=False),)
>>> made = split_small_arrays(Program("f", (start, h), b.block)).body.statements
>>> [getattr(s, "primitive", "loop") for s in made]
[getitem, getitem, 'loop', add]
>>> made[2].carried, made[2].body.statements[0].operands
((y_0, y_1), (y_0, h))
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from .adopt import adopt, open_program
from .build import Builder, bound_index
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
    Type,
    Variable,
    While,
    map_variables,
    type_of,
)
from .registry import PRIMITIVES
from .small_operations import elements_of_operation, filled, is_split_write, places, table
from .small_survey import Survey


def split_small_arrays(program: Program) -> Program:
    """The program with numbers instead of the small arrays of its loops."""
    survey = Survey(program)
    if not survey.split:
        return program
    return Splitter(program, survey).run()


class Splitter:
    """Rewrites a program; `elements` has the numbers of each array that became some."""

    def __init__(self, program: Program, survey: Survey):
        self.program, self.survey = program, survey
        self.builder = Builder()
        self.elements: dict[Variable, np.ndarray] = {}
        self.parts: dict[Variable, list[Variable]] = {}
        self.same: dict[Variable, Operand] = {}
        open_program(self.builder, program)

    def run(self) -> Program:
        program = self.program
        self.statements(program.body.statements)
        self.builder.block.results = self.current(program.results)
        return Program(program.name, program.parameters, self.builder.block)

    def current(self, operand: Operand) -> Operand:
        return map_variables(lambda v: self.same.get(v, v), operand)

    def of(self, operand: Operand, sizes: tuple = ()) -> np.ndarray:
        """The elements of an operand: of an array that remains one, they are read.

        `sizes` are known to be those of the operand's axes, where its own are variables.
        """
        if isinstance(operand, Variable) and operand in self.elements:
            return self.elements[operand]
        shape = type_of(operand).shape
        if len(sizes) == len(shape):
            shape = tuple(known if isinstance(own, Variable) else own
                          for own, known in zip(shape, sizes, strict=True))  # fmt: skip
        read = PRIMITIVES["getitem"]
        return table(shape, lambda at: self.builder.emit(read, operand, at) if at else self.current(operand))

    def strong(self, number: Operand, of: ArrayType) -> Operand:
        """A number as an element of an array of this type."""
        have = type_of(number)
        if not isinstance(number, Variable):
            return of.dtype.type(number)
        if have.dtype == of.dtype and not have.weak:
            return number
        return self.builder.emit(PRIMITIVES["astype"], number, dtype=of.dtype)

    def named(self, variable: Variable, of: Type) -> list[Variable]:
        """New variables for the elements of one."""
        shape = (of.element if isinstance(of, StackType) else of).shape
        one = (of.element if isinstance(of, StackType) else of).with_shape(())
        kind = StackType(one) if isinstance(of, StackType) else one
        name = lambda at: None if variable.name is None else "_".join([variable.name, *map(str, at)])
        return [Variable(name(at), kind) for at in np.ndindex(*shape)]

    def several(self, variable: Variable) -> bool:
        """Whether a variable is replaced by several."""
        return variable in self.survey.split or self.survey.is_split_stack(variable)

    def spread(self, variable: Variable) -> list[Variable]:
        """The variables that replace one which a branch or a loop gives."""
        if not self.several(variable):
            return [variable]
        made = self.named(variable, variable.type)
        self.become(variable, made)
        return made

    def become(self, variable: Variable, made: list[Any]) -> None:
        if isinstance(variable.type, StackType):
            self.parts[variable] = made
            return
        flat = iter(made)
        self.elements[variable] = table(variable.type.shape, lambda at: next(flat))

    def values(self, operand: Operand, variable: Variable) -> list[Operand]:
        """What the variables that replace one are given, where it was given an operand."""
        if not self.several(variable):
            return [self.current(operand)]
        if isinstance(variable.type, StackType):
            return list(self.parts[operand])
        wide = np.broadcast_to(self.of(operand, variable.type.shape), variable.type.shape)
        return [self.strong(number, variable.type) for number in wide.flat]

    def together(self, variables: Iterable[Variable]) -> None:
        """Put arrays together that something needs whole."""
        for variable in variables:
            if variable in self.survey.whole:
                static = {"dtype": variable.type.dtype}
                items = (self.elements[variable].tolist(),)
                self.builder.append(Assign((variable,), PRIMITIVES["array"], items, static,
                                           self.builder.location))  # fmt: skip

    # statements

    def statements(self, statements: list[Statement]) -> None:
        for statement in statements:
            self.builder.location = statement.location
            match statement:
                case Assign():
                    self.assign(statement)
                case If():
                    self.branch(statement)
                case For() | While():
                    self.loop(statement)

    def assign(self, statement: Assign) -> None:
        if not self.survey.by_elements(statement):
            adopt(self.builder, replace(statement, operands=self.current(statement.operands)))
        elif self.survey.is_stack(statement):
            self.stack(statement)
        elif statement.targets[0] not in self.survey.split and is_split_write(statement):
            self.write(statement)
        else:
            self.operation(statement)

    def operation(self, statement: Assign) -> None:
        (target,) = statement.targets
        given = replace(statement, operands=self.current(statement.operands))
        made = elements_of_operation(self.builder, given, self.of)
        if not target.type.shape:
            self.same[target] = self.strong(made[()], target.type) if not target.type.weak else made[()]
            return
        self.take(target, made)

    def take(self, target: Variable, made: np.ndarray) -> None:
        """Let an array be these numbers."""
        names = iter(self.named(target, target.type))
        numbers = []
        for number in np.broadcast_to(made, target.type.shape).flat:
            name = next(names).name
            number = self.strong(number, target.type)
            if isinstance(number, Variable) and number.name is None:
                number.name = name
            numbers.append(number)
        self.become(target, numbers)
        self.together((target,))

    def write(self, statement: Assign) -> None:
        """Elements written one by one into an array that remains one."""
        array, index, value = self.current(statement.operands)
        found = places(index, type_of(array).ndim)
        numbers = self.elements[statement.operands[2]]
        for at in np.ndindex(*numbers.shape):
            operands = (array, filled(found, at), numbers[at])
            last = at == tuple(size - 1 for size in numbers.shape)
            target = statement.targets[0] if last else Variable(statement.targets[0].name, array.type)
            self.builder.append(replace(statement, targets=(target,), operands=operands))
            array = target

    def stack(self, statement: Assign) -> None:
        """An operation on a stack, on each of the stacks that have become of it."""
        name, primitive = statement.primitive.name, statement.primitive
        location = self.builder.location
        made = self.named(statement.targets[0], statement.targets[0].type)
        self.become(statement.targets[0], made)
        if name == "stack":
            for one in made:
                static = {"element": one.type.element}
                self.builder.append(Assign((one,), primitive, (), static, location))
            return
        before = self.parts[statement.operands[0]]
        if name == "push":
            values = self.values_of(statement.operands[1], before[0].type.element)
            for one, old, value in zip(made, before, values, strict=True):
                self.builder.append(Assign((one,), primitive, (old, value), {}, location))
            return
        value = statement.targets[1]
        numbers = self.named(value, value.type)
        for one, number, old in zip(made, numbers, before, strict=True):
            self.builder.append(Assign((one, number), primitive, (old,), {}, location))
        self.become(value, numbers)
        self.together((value,))

    def values_of(self, operand: Operand, of: ArrayType) -> list[Operand]:
        return [self.strong(number, of) for number in self.of(operand).flat]

    def inside(self, block: Block, variables: Iterable[Variable]) -> Block:
        """A block whose results are given to variables."""
        with self.builder.inside(Block()) as made:
            self.statements(block.statements)
            pairs = zip(block.results, variables, strict=True)
            made.results = tuple(one for result, v in pairs for one in self.values(result, v))
        return made

    def branch(self, statement: If) -> None:
        blocks = [self.inside(block, statement.targets) for block in (statement.body, statement.orelse)]
        targets = tuple(one for target in statement.targets for one in self.spread(target))
        parts = {"targets": targets, "body": blocks[0], "orelse": blocks[1]}
        self.builder.append(replace(statement, test=self.current(statement.test), **parts))
        self.together(t for t in statement.targets if t in self.survey.split)

    def loop(self, loop: For | While) -> None:
        pairs = zip(loop.initial, loop.carried, strict=True)
        parts: dict[str, Any] = {"initial": tuple(one for i, v in pairs for one in self.values(i, v))}
        parts["carried"] = tuple(one for variable in loop.carried for one in self.spread(variable))
        if isinstance(loop, While):
            with self.builder.inside(Block()) as test:
                self.statements(loop.test.statements)
                test.results = self.current(loop.test.results)
            parts["test"] = test
        else:
            parts |= {name: self.current(getattr(loop, name)) for name in ("start", "stop", "step")}
            bound_index(self.builder, loop.index, parts["start"], parts["stop"], parts["step"])
        parts["body"] = self.inside(loop.body, loop.carried)
        parts["targets"] = tuple(one for target in loop.targets for one in self.spread(target))
        self.builder.append(replace(loop, **parts))
        self.together(t for t in loop.targets if t in self.survey.split)
