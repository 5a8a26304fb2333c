"""Building core programs: emits typed statements, folds scalar constants, and never computes a thing twice.

Every pass that makes statements makes them here, so that types, shape arithmetic and shared values are
worked out in one place.

>>> from .primitives import elementwise as e
>>> from .core import INT, ArrayType
>>> b = Builder()
>>> n = Variable("n", INT)
>>> b.dimension_add(b.dimension_add(n, 1), -1) is n
True
>>> b.emit(e.add, 2, 3)
5
>>> x = Variable("x", ArrayType(np.dtype("float32"), (n,)))
>>> b.emit(e.multiply, x, 2.0).type
float32[n]
>>> b.emit(e.multiply, x, 2.0) is b.emit(e.multiply, x, 2.0)
True
"""
from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from . import core
from .core import Assign, Block, Dimension, Operand, Variable, map_variables, type_of
from .errors import Location, ShapeMismatchError
from .linear import at_most, difference, least, linear_form
from .registry import PRIMITIVES, Primitive, array_scalar


class Scope:
    """A block under construction, the values known in it, and the sizes known to be equal in it."""

    def __init__(self, block: Block):
        self.block = block
        self.known: dict[Any, Any] = {}
        self.equal: dict[Variable, Dimension] = {}


class Builder:
    """Emits statements into the innermost open block."""

    def __init__(self, block: Block | None = None):
        self.scopes = [Scope(block if block is not None else Block())]
        self.location: Location | None = None
        self.depths: dict[Variable, int] = {}
        self.offsets: dict[Variable, tuple[Variable, int]] = {}
        self.lower_bounds: dict[Variable, int] = {}
        self.upper_bounds: dict[Variable, Dimension | None] = {}
        self.definitions: dict[Variable, Assign] = {}
        self.compared: Callable[[Variable, int], None] | None = None

    @property
    def block(self) -> Block:
        return self.scopes[-1].block

    @contextlib.contextmanager
    def inside(self, block: Block) -> Iterator[Block]:
        """Emit into `block` for a while; what becomes known there is forgotten after."""
        self.scopes.append(Scope(block))
        try:
            yield block
        finally:
            self.scopes.pop()

    @contextlib.contextmanager
    def within(self, scopes: list[Scope]) -> Iterator[Block]:
        """Emit into the last of these scopes for a while, and know what holds in them."""
        before, self.scopes = self.scopes, scopes
        try:
            yield self.block
        finally:
            self.scopes = before

    def outermost(self) -> contextlib.AbstractContextManager[Block]:
        """Emit into the outermost block for a while: before the statements that are being made."""
        return self.within(self.scopes[:1])

    def elsewhere(self) -> contextlib.AbstractContextManager[Block]:
        """Emit for an earlier place in the program: of what is known here, only what holds of parameters."""
        pairs, scope = (pair for outer in self.scopes for pair in outer.equal.items()), Scope(Block())
        scope.equal = {old: new for old, new in pairs if not isinstance(new, Variable) or not self.depth(new)}
        return self.within([scope])

    @contextlib.contextmanager
    def at(self, location: Location | None) -> Iterator[None]:
        """What is emitted within serves this line."""
        before, self.location = self.location, location
        try:
            yield
        finally:
            self.location = before

    def append(self, statement: core.Statement) -> None:
        """Add a finished statement as it is."""
        self.block.statements.append(statement)

    def emit(self, primitive: Primitive, *operands: Operand, name: str | None = None, **static: Any) -> Any:
        """Emit one operation; its result is a variable, a folded constant, or a tuple of variables."""
        if not primitive.effect and all(map(array_scalar, operands)) and operands:
            folded = fold(primitive, operands, static)
            if folded is not None:
                return folded
        shared = not (primitive.effect or primitive.destructive or primitive.allocates)
        key = value_key(primitive, operands, static) if shared else None
        if key is not None:
            for scope in reversed(self.scopes):
                if key in scope.known:
                    return scope.known[key]
        types = primitive.type_rule(self, *operands, **static)
        several = isinstance(types, tuple)
        unknown: list[tuple[Variable, int, Variable]] = []
        targets = tuple(self.target(t, unknown) for t in (types if several else (types,)))
        if name and not several:
            targets[0].name = name
        statement = Assign(targets, primitive, operands, static, self.location)
        for target in targets:
            self.definitions[target] = statement
        self.append(statement)
        for size, axis, array in unknown:
            self.emit_size(size, array, axis)
        result = targets if several else targets[0]
        if key is not None:
            self.scopes[-1].known[key] = result
        return result

    def target(self, of: core.Type, unknown: list[tuple[Variable, int, Variable]]) -> Variable:
        """A variable for a result; sizes that its type rule left as None are read off it at run time."""
        array = Variable(None, of)
        self.depths[array] = len(self.scopes)
        if isinstance(of, core.ArrayType) and None in of.shape:
            sizes = [Variable(None, core.INT) if size is None else size for size in of.shape]
            for axis, size in enumerate(of.shape):
                if size is None:
                    self.depths[sizes[axis]] = len(self.scopes)
                    unknown.append((sizes[axis], axis, array))
                    self.lower_bounds[sizes[axis]] = 0
            array.type = of.with_shape(tuple(sizes))
        return array

    def emit_size(self, size: Variable, array: Variable, axis: int) -> None:
        """Define a size variable as what an array has at run time."""
        self.append(Assign((size,), PRIMITIVES["size"], (array,), {"axis": axis}, self.location))

    # sizes

    def same(self, a: Dimension, b: Dimension) -> bool:
        """Whether two sizes are known to be equal here."""
        a, b = self.representative(a), self.representative(b)
        return a is b or (isinstance(a, int) and isinstance(b, int) and a == b)

    def representative(self, size: Dimension) -> Dimension:
        while isinstance(size, Variable):
            known = next((scope.equal for scope in reversed(self.scopes) if size in scope.equal), None)
            if known is None:
                break
            size = known[size]
        return size

    def require_same(self, a: Dimension, b: Dimension, message: str, enforced: bool | None = None) -> None:
        """Check, now or else at run time, that two sizes are equal; from here on they are known to be.

        `enforced`: NumPy itself refuses sizes that differ (by default, where neither can be 1).
        """
        if self.same(a, b):
            return
        first, second = a, b
        a, b = self.representative(a), self.representative(b)
        if isinstance(a, int) and isinstance(b, int):
            raise ShapeMismatchError(message, location=self.location)
        if self.compared is not None and isinstance(a, int) != isinstance(b, int):
            self.compared(*((b, a) if isinstance(a, int) else (a, b)))
        message = in_run_time_sizes(message, (a, first), (b, second))
        if enforced is None:
            enforced = self.never_one(a) and self.never_one(b)
        self.emit(PRIMITIVES["check_same"], a, b, message=message, **({"enforced": True} if enforced else {}))
        self.equate(a, b)

    def equate(self, a: Dimension, b: Dimension) -> None:
        """From here on two sizes are one, and the one of the outer block stands for both."""
        a, b = self.representative(a), self.representative(b)
        if self.same(a, b):
            return
        deeper = isinstance(a, Variable) and (not isinstance(b, Variable) or self.depth(a) >= self.depth(b))
        old, new = (a, b) if deeper else (b, a)
        if self.computed_from(new, old):
            old, new = new, old
        if isinstance(old, Variable) and not self.computed_from(new, old):
            self.scopes[-1].equal[old] = new

    def computed_from(self, size: Dimension, other: Dimension) -> bool:
        """Whether a size is arithmetic on another: the other cannot then be replaced by it."""
        waiting, seen = [size], set()
        while waiting:
            size = self.representative(waiting.pop())
            made = self.definitions.get(size) if isinstance(size, Variable) and size not in seen else None
            seen.add(size)
            if made is not None and made.primitive.elementwise:
                if any(self.same(o, other) for o in made.operands if isinstance(o, Variable)):
                    return True
                waiting += made.operands
        return False

    def depth(self, size: Variable) -> int:
        """How many blocks deep a variable was made."""
        return self.depths.get(size, 0)

    def lower_bound(self, size: Dimension) -> int | None:
        """A number that a size or index is known not to fall below, or None."""
        size = self.representative(size)
        if isinstance(size, int):
            return int(size)
        return self.lower_bounds.get(size)

    def never_one(self, size: Dimension) -> bool:
        """Whether a size is known not to be 1 (parameters' symbolic sizes are at least 2)."""
        bound = self.lower_bound(size)
        return size != 1 if isinstance(size, int) else bound is not None and bound >= 2

    def dimension_add(self, a: Dimension, b: Dimension) -> Dimension:
        return self.emit_int("add", a, b)

    def dimension_subtract(self, a: Dimension, b: Dimension) -> Dimension:
        terms, constant = difference(self, a, b)
        if not terms:
            return constant
        if list(terms.values()) == [1]:
            return self.dimension_add(*terms, constant)
        return self.emit_int("add", a, -b) if isinstance(b, int) else self.emit_int("subtract", a, b)

    def dimension_multiply(self, a: Dimension, b: Dimension) -> Dimension:
        for one, other in ((a, b), (b, a)):
            if isinstance(one, int) and one in (0, 1):
                return other if one else 0
        return self.emit_int("multiply", a, b)

    def dimension_max(self, a: Dimension, b: Dimension) -> Dimension:
        """The larger of two sizes, without asking where the answer is known."""
        for one, other in ((a, b), (b, a)):
            if at_most(self, other, one):
                return one
        return self.emit_int("maximum", a, b)

    def dimension_min(self, a: Dimension, b: Dimension) -> Dimension:
        """The smaller of two sizes, without asking where the answer is known."""
        for one, other in ((a, b), (b, a)):
            if at_most(self, one, other):
                return one
        return self.emit_int("minimum", a, b)

    def product(self, sizes: Iterable[Dimension]) -> Dimension:
        """The number of elements of an array of these sizes."""
        total: Dimension = 1
        for size in sizes:
            total = self.dimension_multiply(total, size)
        return total

    def emit_int(self, name: str, a: Dimension, b: Dimension) -> Dimension:
        """Integer arithmetic in a normal form: constants fold, and (n + 1) - 1 is n."""
        if isinstance(a, int) and isinstance(b, int):
            return {"add": a + b, "subtract": a - b, "multiply": a * b, "maximum": max(a, b),
                    "minimum": min(a, b)}[name]
        if name == "add":
            return self.add_offset(a, b)
        weak = {"weak": True} if name in ("maximum", "minimum") else {}
        total = self.emit(PRIMITIVES[name], a, b, **weak)
        bounds = self.lower_bound(a), self.lower_bound(b)
        if isinstance(total, Variable) and None not in bounds and name != "subtract" and min(bounds) >= 0:
            combine = {"multiply": lambda pair: pair[0] * pair[1], "maximum": max, "minimum": min}[name]
            self.lower_bounds[total] = combine(bounds)
        return total

    def add_offset(self, a: Dimension, b: Dimension) -> Dimension:
        if isinstance(a, int):
            a, b = b, a
        if not isinstance(b, int):
            total = self.emit(PRIMITIVES["add"], a, b)
            bounds = self.lower_bound(a), self.lower_bound(b)
            if isinstance(total, Variable) and None not in bounds:
                self.lower_bounds[total] = sum(bounds)
            return total
        base, offset = self.offsets.get(a, (a, 0))
        offset += b
        if offset == 0:
            return base
        if offset > 0:
            total = self.emit(PRIMITIVES["add"], base, offset)
        else:
            total = self.emit(PRIMITIVES["subtract"], base, -offset)
        if total is not base:
            self.offsets[total] = (base, offset)
            bound = self.lower_bound(base)
            if bound is not None:
                self.lower_bounds[total] = bound + offset
        return total

    def size(self, array: Operand, axis: int) -> Dimension:
        """The size of one axis of an array, as its type has it."""
        return self.representative(type_of(array).shape[axis])

    def fresh_size(self, array: Variable, axis: int) -> Variable:
        """Read the size of an axis at run time: for arrays whose size nothing else says."""
        size = self.emit(PRIMITIVES["size"], array, axis=axis)
        self.lower_bounds.setdefault(size, 0)
        return size

    def broadcast(self, *shapes: tuple[Dimension, ...], what: str = "operands") -> tuple[Dimension, ...]:
        """The shape that shapes broadcast to, as NumPy has it; what is not proved is checked at run time."""
        rank = max(map(len, shapes), default=0)
        result: list[Dimension] = []
        for axis in range(rank):
            sizes = [s[axis - rank + len(s)] for s in shapes if axis - rank + len(s) >= 0]
            wide = [s for s in map(self.representative, sizes) if not (isinstance(s, int) and s == 1)]
            chosen = next((s for s in wide if isinstance(s, int)), wide[0] if wide else 1)
            for size in wide:
                known = [tuple(map(self.representative, shape)) for shape in shapes]
                self.require_same(chosen, size, broadcast_message(what, known))
            result.append(chosen)
        return tuple(result)


def broadcast_message(what: str, shapes: Iterable[tuple]) -> str:
    shown = " ".join("(" + ",".join(map(str, s)) + ("," if len(s) == 1 else "") + ")" for s in shapes)
    return f"{what} could not be broadcast together with shapes {shown}"


def in_run_time_sizes(message: str, *sizes: tuple[Dimension, Dimension]) -> str:
    """A message with {0} and {1} where it names the sizes compared, and n for any other without a name."""
    message = message.replace("{", "{{").replace("}", "}}")
    for place, same in enumerate(sizes):
        for size in same:
            if isinstance(size, Variable) and size.name is None:
                message = re.sub(rf"\b{size}\b", f"{{{place}}}", message)
    return re.sub(r"\bv\d+\b", "n", message)


def fold(primitive: Primitive, operands: tuple, static: dict) -> Any:
    """The value of an operation on constants, or None where it has none (an error is left for run time)."""
    try:
        with np.errstate(all="raise"):
            value = primitive.implementation(*operands, **static)
    except Exception:
        return None
    if not array_scalar(value):
        return None
    return value


def value_key(primitive: Primitive, operands: tuple, static: dict) -> Any:
    """A key equal for operations that give equal values, or None where the operation cannot be shared."""
    try:
        key = (primitive.name, freeze(operands), freeze(static))
        hash(key)
    except TypeError:
        return None
    return key


def freeze(operand: Any) -> Any:
    if isinstance(operand, Variable):
        return operand
    if isinstance(operand, (tuple, list)):
        return (type(operand), *map(freeze, operand))
    if isinstance(operand, dict):
        return tuple((k, freeze(v)) for k, v in sorted(operand.items()))
    if isinstance(operand, slice):
        return ("slice", freeze(operand.start), freeze(operand.stop), freeze(operand.step))
    if isinstance(operand, float):
        return (type(operand), operand.hex())
    if isinstance(operand, np.ndarray):
        raise TypeError("array constants are not shared")
    return (type(operand), operand, str(operand))


def bound_index(builder: Builder, index: Variable, start: Operand, stop: Operand, step: Operand) -> None:
    """Record what is known of a loop index: it is never below its start, or, counting down, its stop."""
    end, more = (start, 0) if isinstance(step, int) and step > 0 else (stop, 1)
    bound = least(builder, linear_form(builder, end)) if isinstance(end, (int, Variable)) else None
    if isinstance(step, int) and bound is not None:
        builder.lower_bounds[index] = bound + more


def replace_type(of: core.Type, mapping: dict[Variable, Operand]) -> core.Type:
    """A type with its sizes replaced."""
    if isinstance(of, core.StackType):
        return core.StackType(replace_type(of.element, mapping))
    return of.with_shape(map_variables(lambda v: mapping.get(v, v), of.shape)) if of.shape else of


def constant_int(value: Any) -> bool:
    """Whether an operand is an integer constant."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


