"""Writing a loop nest: the elements of several results, computed one at a time.

>>> import numpy as np
>>> from .build import Builder
>>> from .core import ArrayType, Assign, Variable, INT
>>> n = Variable("n", INT)
>>> x, y = (Variable(name, ArrayType(np.dtype(float), (n,))) for name in "xy")
>>> double = Assign((y,), PRIMITIVES["multiply"], (x, 2.0))
>>> builder = Builder()
>>> write_nest(builder, (n,), [double], {})
>>> [type(statement).__name__ for statement in builder.block.statements]
['Assign', 'For']
>>> [s.primitive.name for s in builder.block.statements[1].body.statements]
['getitem', 'multiply', 'setitem']
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from .access import Index, is_array, is_one
from .build import Builder
from .core import INT, ArrayType, Assign, Block, Dimension, For, Operand, Variable, type_of
from .elements import Elements
from .outputs import Write, output_of
from .registry import PRIMITIVES

INDEX_NAMES = "ijkl"


def write_nest(
    builder: Builder,
    space: tuple[Dimension, ...],
    outputs: list[Assign],
    definitions: dict[Variable, Assign],
    checked: Container[tuple] = (),
) -> None:
    """Emit one nest of loops over `space` that computes the results of `outputs`.

    `definitions` are the elementwise operations and views whose elements are computed where they are read;
    `checked`, the arrays of indices known to be inside an axis of some size.
    """
    location = next((s.location for s in outputs if s.location), None)
    builder.location = location
    Nest(builder, space, [output_of(s) for s in outputs], definitions, checked, location).write()


class Nest(Elements):
    """The nest under construction."""

    def __init__(self, builder: Builder, space: tuple[Dimension, ...], outputs: list, *context: Any):
        super().__init__(builder, *context)
        self.space = space
        self.outputs = outputs

    def write(self) -> None:
        initial = {output: output.initial(self) for output in self.outputs if output.depth != 0}
        final = self.loop(0, (), initial, {output: output.target for output in self.outputs})
        for output in self.outputs:
            if final[output] is not output.target and not self.renamed(final[output], output.target):
                copy = PRIMITIVES["astype"], (final[output],), {"dtype": output.target.type.dtype}
                self.builder.append(Assign((output.target,), *copy, self.location))

    def renamed(self, array: Operand, target: Variable) -> bool:
        """Let the write that made an array assign the target instead."""
        if not is_array(array):
            return False
        for statement in reversed(self.builder.block.statements):
            if array in statement.targets:
                statement.targets = tuple(target if t is array else t for t in statement.targets)
                return True
        return False

    def loop(
        self, axis: int, at: Index, state: dict[Any, Operand], names: dict[Any, Variable]
    ) -> dict[Any, Operand]:
        """Emit the loops from `axis` inward; `state` is what is carried, the results are its new values."""
        starting = [output for output in self.outputs if output.depth == axis]
        carried = dict(state)
        for output in starting:
            carried.pop(output, None)
            carried |= {(output, part): value for part, value in output.identities().items()}
        if axis == len(self.space):
            new = self.innermost(at, carried)
        elif is_one(self.space[axis]):
            new = self.loop(axis + 1, (*at, 0), carried, {})
        else:
            new = self.one_loop(axis, at, carried, names)
        for output in starting:
            parts = {part: new.pop((output, part)) for part in output.identities()}
            new[output] = output.finish(self, parts, state.get(output), at)
        return new

    def one_loop(
        self, axis: int, at: Index, state: dict[Any, Operand], names: dict[Any, Variable]
    ) -> dict[Any, Operand]:
        named = lambda key: key[0].part_name(key[1]) if isinstance(key, tuple) else key.target.name
        index = Variable(INDEX_NAMES[axis] if axis < len(INDEX_NAMES) else f"i{axis}", INT)
        carried = {key: Variable(named(key), carried_type(key, value)) for key, value in state.items()}
        targets = {key: self.final(key, value, names) for key, value in carried.items()}
        self.builder.lower_bounds[index] = 0
        body = Block()
        with self.builder.inside(body):
            for variable in (index, *carried.values()):
                self.depths[variable] = len(self.builder.scopes)
            new = self.loop(axis + 1, (*at, index), carried, {})
            body.results = tuple(new[key] for key in state)
        self.builder.append(
            For(
                tuple(targets.values()),
                index,
                0,
                self.space[axis],
                1,
                tuple(carried.values()),
                tuple(state.values()),
                body,
                self.location,
                True,
            )
        )
        for target in targets.values():
            self.depths[target] = len(self.builder.scopes)
        return targets

    def final(self, key: Any, carried: Variable, names: dict[Any, Variable]) -> Variable:
        """The variable for what a loop ends with: the statement's own, where that is the end of it."""
        if key in names:
            return names[key]
        if isinstance(key, tuple) and key[0] in names and key[0].is_final(key[1]):
            return names[key[0]]
        return Variable(carried.name, carried.type)

    def innermost(self, at: Index, state: dict[Any, Variable]) -> dict[Any, Operand]:
        new = dict(state)
        writes = [output for output in self.outputs if isinstance(output, Write)]
        self.current.clear()
        for write in writes:
            write.enter(self, state[write], at)
        for output in self.outputs:
            if output in writes:
                continue
            if output.depth is None:
                new[output] = output.update(self, state[output], at)
            elif output.scalar:
                parts = {part: state[output, part] for part in output.identities()}
                updated = output.update(self, parts, at)
                new |= {(output, part): value for part, value in updated.items()}
            else:
                new[output] = output.update_in_place(self, state[output], at)
        # What is overwritten is read first.
        values = [write.value(self, at) for write in writes]
        new |= {write: write.store(self, value) for write, value in zip(writes, values)}
        return new

    # statements at the right depth


def carried_type(key: Any, value: Operand) -> ArrayType:
    """The type of what a loop carries: an accumulator's does not depend on its first value."""
    return key[0].part_type(key[1]) if isinstance(key, tuple) else type_of(value)
