"""Fuse: from whole-array operations to loop nests over scalars, without temporaries.

>>> from .build import Builder
>>> from .core import INT, ArrayType
>>> import numpy as np
>>> builder, n = Builder(), Variable("n", INT)
>>> x = Variable("x", ArrayType(np.dtype(float), (n,)))
>>> squares = builder.emit(PRIMITIVES["multiply"], x, x)
>>> builder.block.results = (builder.emit(PRIMITIVES["sum"], squares, axis=(0,), keepdims=False),)
>>> [s.primitive.name for s in builder.block.statements]
['multiply', 'sum']
>>> fused = fuse(Program("f", (x,), builder.block))
>>> (loop,) = fused.body.statements
>>> [s.primitive.name for s in loop.body.statements]
['getitem', 'multiply', 'add']

The loop program is a core program like any other. It has no elementwise operation, view read by elements,
or reduction of arrays left in it, only loops, scalars, and library calls.
"""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Callable

from .build import Builder, bound_index
from .clusters import Cluster, Clusters
from .core import Assign, Block, Dimension, For, If, Program, Statement, Variable, While
from .expand import expand
from .least_size import least_size
from .nests import write_nest
from .outputs import region
from .registry import PRIMITIVES
from .repeated import repeat
from .reread import reread
from .roles import kind_of

# For each size: from which position on it is known to be which other, and what is added to that.
Equal = dict[Variable, list[tuple[int, Variable | None, int]]]


def fuse(program: Program, merge: bool = True, library: Callable[[Assign], bool] | None = None) -> Program:
    """The loop program. Without `merge`, every operation keeps a nest and a result of its own.

    `library` tells the operations that stay calls on whole arrays.
    """
    program = expand(program)
    fuser = Fuser(merge, library)
    for parameter in program.parameters:
        fuser.parameters.add(parameter)
    body = fuser.block(program.body)
    return Program(program.name, program.parameters, body)


class Fuser:
    """Rewrites blocks from the outside in."""

    def __init__(self, merge: bool, library: Callable[[Assign], bool] | None):
        self.merge = merge
        self.library = library
        self.builder = Builder()
        self.parameters: set[Variable] = set()
        self.checked: frozenset[tuple] = frozenset()
        self.equal: Equal = {}

    def block(self, block: Block) -> Block:
        made = Block()
        with self.builder.inside(made):
            self.statements(block)
        made.results = block.results
        return made

    def statements(self, block: Block) -> None:
        for statement in block.statements:
            self.learn(statement)
        outer = self.equal
        block = Block(self.with_copies(block.statements), block.results)
        clusters = self.clusters(block, outer)
        again = reread(clusters, block) if self.merge else None
        if again is not None:
            block, clusters = again, self.clusters(again, outer)
        again = repeat(clusters, block, lambda block: self.clusters(block, outer)) if self.merge else None
        if again is not None:
            block, clusters = again, self.clusters(again, outer)
        checks = [(k, s.operands) for k, s in enumerate(block.statements) if is_check(s)]
        definitions = {s.targets[0]: s for k, s in enumerate(block.statements) if clusters.is_lazy(k)}
        for unit in in_order(clusters):
            if isinstance(unit, Cluster):
                inner = {
                    clusters.statements[k].targets[0]: clusters.statements[k]
                    for k in unit.members
                    if k not in unit.outputs
                }
                outputs = [clusters.statements[k] for k in sorted(unit.outputs)]
                checked = self.checked | {operands for k, operands in checks if k < min(unit.members)}
                write_nest(self.builder, unit.space, outputs, definitions | inner, checked)
            else:
                before, self.checked = self.checked, self.checked | {o for k, o in checks if k < unit}
                self.builder.append(self.inside(clusters.statements[unit]))
                self.checked = before
        self.equal = outer

    def clusters(self, block: Block, outer: Equal) -> Clusters:
        """The clusters of a block, for sizes that are equal around it."""
        self.equal = {size: [(-1, *known) for _, *known in found] for size, found in outer.items()}
        for position, statement in enumerate(block.statements):
            self.learn_equal(position, statement)
        return Clusters(block, self.region, self.same, self.apart, self.merge, self.library)

    def inside(self, statement: Statement) -> Statement:
        """A statement with the blocks in it rewritten."""
        match statement:
            case If():
                return dataclasses.replace(
                    statement, body=self.block(statement.body), orelse=self.block(statement.orelse)
                )
            case For():
                bounds = (statement.start, statement.stop, statement.step)
                bound_index(self.builder, statement.index, *bounds)
                return dataclasses.replace(statement, body=self.block(statement.body))
            case While():
                return dataclasses.replace(
                    statement, test=self.block(statement.test), body=self.block(statement.body)
                )
        return statement

    # sizes

    def learn(self, statement: Statement) -> None:
        """What is known of a size or an index: a number it does not fall below, its place after another."""
        if not isinstance(statement, Assign) or len(statement.targets) != 1:
            return
        name, target, bounds = statement.primitive.name, statement.targets[0], self.builder.lower_bounds
        if name == "size":
            bounds[target] = least_size() if statement.operands[0] in self.parameters else 0
        elif name in ("slice_size", "count_nonzero"):
            bounds[target] = 0
        elif name in ("add", "subtract", "multiply", "maximum", "minimum", "floor_divide"):
            self.learn_arithmetic(name, target, statement.operands)

    def learn_arithmetic(self, name: str, target: Variable, operands: tuple) -> None:
        if any(
            not isinstance(o, (int, Variable)) or (isinstance(o, Variable) and not is_size(o))
            for o in operands
        ):
            return
        a, b = operands
        low, other = self.builder.lower_bound(a), self.builder.lower_bound(b)
        constant = isinstance(b, int)
        if name in ("add", "subtract") and constant and isinstance(a, Variable):
            offset = b if name == "add" else -b
            base, already = self.builder.offsets.get(a, (a, 0))
            self.builder.offsets[target] = (base, already + offset)
        bound = None
        if name == "maximum":
            bound = max((x for x in (low, other) if x is not None), default=None)
        elif name == "subtract":
            bound = low - b if constant and low is not None else None
        elif low is not None and other is not None:
            combine = {
                "add": int.__add__,
                "multiply": int.__mul__,
                "minimum": min,
                "floor_divide": lambda x, y: x // y if constant and y > 0 else 0,
            }[name]
            if name != "multiply" or min(low, other) >= 0:
                bound = combine(low, other)
        if bound is not None:
            self.builder.lower_bounds[target] = max(bound, self.builder.lower_bounds.get(target, bound))

    def learn_equal(self, position: int, statement: Statement) -> None:
        """That two sizes are equal, from a position on: then so are these less what is added to them."""
        if isinstance(statement, Assign) and statement.primitive.name == "check_same":
            (a, more), (b, less) = map(self.offset, statement.operands)
            for one, other, distance in ((a, b, less - more), (b, a, more - less)):
                if one is not None:
                    self.equal.setdefault(one, []).append((position, other, distance))

    def offset(self, size: Dimension) -> tuple[Variable | None, int]:
        """A size as a variable (or none) and a constant added to it."""
        return self.builder.offsets.get(size, (size, 0)) if isinstance(size, Variable) else (None, int(size))

    def same(self, a: Dimension, b: Dimension, position: int) -> bool:
        """Whether two sizes are known to be equal once the statement at `position` is reached."""
        waiting, seen, goal = [self.offset(a)], set(), self.offset(b)
        while waiting:
            size, more = waiting.pop()
            if (size, more) == goal:
                return True
            if size is not None and size not in seen:
                seen.add(size)
                known = (found for found in self.equal.get(size, ()) if found[0] < position)
                waiting += ((other, more + distance) for _, other, distance in known)
        return False

    def apart(self, one: Dimension, other: Dimension) -> bool:
        """Whether two indices of one axis, of any sign, are known to take different elements."""
        if isinstance(one, Variable) != isinstance(other, Variable):
            return False
        (a, more), (b, less) = self.offset(one), self.offset(other)
        bounds = [self.builder.lower_bound(index) for index in (one, other)]
        from_start = None not in bounds and min(bounds) >= 0
        from_end = a is None and max(more, less) < 0
        return a is b and more != less and (from_start or from_end)

    def region(self, statement: Assign, position: int) -> tuple[Dimension, ...]:
        return self.regions[statement] if statement in self.regions else region(self.builder, statement)

    def with_copies(self, statements: list[Statement]) -> list[Statement]:
        """Statements in which a write whose value reads the same array elsewhere has that value copied first.

        The sizes of written parts are worked out here, before the statements that need them.
        """
        self.regions: dict[Assign, tuple] = {}
        result: list[Statement] = []
        for statement in statements:
            if kind_of(statement, self.library) != "write":
                result.append(statement)
                continue
            sizes = Block()
            with self.builder.inside(sizes):
                space = region(self.builder, statement)
            result.extend(sizes.statements)
            array, index, value = statement.operands[:3]
            again = Block([*result, statement], tuple(statement.targets))
            trial = Clusters.__new__(Clusters)
            if not self.safe(trial, again, space):
                copied = []
                for part in (value, *index):
                    copied.append(self.copied(part, result) if is_whole_array(part) else part)
                value, index = copied[0], tuple(copied[1:])
                statement = dataclasses.replace(
                    statement, operands=(array, index, value, *statement.operands[3:])
                )
            self.regions[statement] = space
            result.append(statement)
        return result

    def copied(self, array: Variable, result: list[Statement]) -> Variable:
        copy = Variable(array.name, array.type)
        result.append(Assign((copy,), PRIMITIVES["copy"], (array,)))
        return copy

    def safe(self, trial: Clusters, block: Block, space: tuple) -> bool:
        """Whether the write at the end of a block can run element by element."""
        Clusters.__init__(trial, block, lambda *_: space, self.same, self.apart, False, self.library)
        last = len(block.statements) - 1
        return trial.valid(Cluster(space, {last}, {last}))


def is_whole_array(operand) -> bool:
    return isinstance(operand, Variable) and bool(operand.type.shape)


def is_check(statement: Statement) -> bool:
    """Whether a statement checks an array of indices."""
    return (
        isinstance(statement, Assign)
        and statement.primitive.name == "check_index"
        and is_whole_array(statement.operands[0])
    )


def is_size(variable: Variable) -> bool:
    return getattr(variable.type, "weak", False) and variable.type.dtype.kind == "i"


def in_order(clusters: Clusters) -> list:
    """Clusters and single statements, each after what it needs, else in the order they were in."""
    units: dict[int, tuple] = {}
    for position in range(len(clusters.statements)):
        cluster = clusters.owner.get(position)
        if cluster is not None:
            units[position] = (min(cluster.outputs), cluster)
        elif not clusters.is_lazy(position) or position in clusters.stored:
            units[position] = (position, position)
    names = dict(units.values())
    members = {key: [p for p, (k, _) in units.items() if k == key] for key in names}
    waits = {
        key: {units[q][0] for p in members[key] for q in clusters.before[p] if q in units} - {key}
        for key in names
    }
    followers: dict[int, set[int]] = {}
    for key, before in waits.items():
        for other in before:
            followers.setdefault(other, set()).add(key)
    ready = [key for key, before in waits.items() if not before]
    heapq.heapify(ready)
    ordered = []
    while ready:
        key = heapq.heappop(ready)
        ordered.append(names[key])
        for following in followers.get(key, ()):
            waits[following].discard(key)
            if not waits[following]:
                heapq.heappush(ready, following)
    assert len(ordered) == len(names), "statements wait for each other"
    return ordered
