"""What a row of the table is: a function, the operands it is tried on, and what holds for it."""
from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np


@dataclass(frozen=True)
class Operand:
    """How to make an operand: values of one kind, of one shape, between two bounds."""

    shape: tuple[int, ...]
    kind: str = "real"
    low: float = -2.0
    high: float = 2.0

    def make(self, rng: np.random.Generator) -> np.ndarray | np.generic:
        return MAKERS[self.kind](self, rng)[()]


def spread(operand: Operand, rng: np.random.Generator) -> np.ndarray:
    """Values apart from each other and, where the bounds are symmetric, from zero: no kink is near."""
    count = int(np.prod(operand.shape))
    places = (rng.permutation(count) + rng.uniform(0.65, 0.9, count)) / max(count, 1)
    return (operand.low + (operand.high - operand.low) * places).reshape(operand.shape)


def spread_complex(operand: Operand, rng: np.random.Generator) -> np.ndarray:
    return spread(operand, rng) + 1j * spread(operand, rng)


def whole_numbers(operand: Operand, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(int(operand.low), int(operand.high), operand.shape)


def truths(operand: Operand, rng: np.random.Generator) -> np.ndarray:
    return rng.permutation(int(np.prod(operand.shape))).reshape(operand.shape) % 2 == 0


def well_conditioned(operand: Operand, rng: np.random.Generator) -> np.ndarray:
    """Matrices that are far from singular, with eigenvalues and singular values apart."""
    rows, columns = operand.shape[-2:]
    return 0.4 * rng.normal(size=operand.shape) + np.eye(rows, columns) * (2 + np.arange(columns))


MAKERS = {"real": spread, "complex": spread_complex, "integer": whole_numbers, "bool": truths,
          "matrix": well_conditioned}


def real(*shape: int, low: float = -2.0, high: float = 2.0) -> Operand:
    return Operand(shape, "real", low, high)


def positive(*shape: int) -> Operand:
    return real(*shape, low=0.4, high=3.0)


def unit(*shape: int) -> Operand:
    """Inside (-1, 1)."""
    return real(*shape, low=-0.9, high=0.9)


def fraction(*shape: int) -> Operand:
    """Inside (0, 1)."""
    return real(*shape, low=0.1, high=0.9)


def complexes(*shape: int) -> Operand:
    return Operand(shape, "complex")


def integers(*shape: int, low: int = 0, high: int = 3) -> Operand:
    return Operand(shape, "integer", low, high)


def booleans(*shape: int) -> Operand:
    return Operand(shape, "bool")


def matrix(*shape: int) -> Operand:
    return Operand(shape, "matrix")


@dataclass(frozen=True)
class Row:
    """A function on its operands, and what is to be checked of it.

    `wrt`: positions of the operands that it is differentiated by; by default all real and complex ones.
    `order`: how often it can be differentiated in a comparison with differences (0: not at all).
    `elementwise`: its operands broadcast, so it is tried on many shapes.
    `any_dtype`: it is also tried on float32 and on integers; False where the operands' dtype is the point.
    `resized`: it is also tried with axes of length 0 and 1, and NumPy's errors there are expected.
    `compiled`: False where another row compiles to nearly the same program, which takes a second.
    `tolerance`: of values, in units of the result's precision.
    """

    name: str
    function: Callable = field(repr=False)
    operands: tuple[Operand, ...]
    wrt: tuple[int, ...] | None = None
    order: int = 2
    elementwise: bool = False
    any_dtype: bool = True
    resized: bool = True
    compiled: bool = True
    tolerance: float = 100

    @property
    def positions(self) -> tuple[int, ...]:
        if self.wrt is not None:
            return self.wrt
        return tuple(k for k, operand in enumerate(self.operands) if operand.kind not in ("integer", "bool"))

    def generator(self) -> np.random.Generator:
        return np.random.default_rng(zlib.crc32(self.name.encode()))

    def arguments(self) -> list:
        rng = self.generator()
        return [operand.make(rng) for operand in self.operands]

    def with_shapes(self, shapes: tuple) -> Row:
        operands = tuple(replace(operand, shape=shape) for operand, shape in zip(self.operands, shapes))
        return replace(self, operands=operands)


def row(name: str, function: Callable, *operands: Operand, **options) -> Row:
    return Row(name, function, operands, **options)


def elementwise(function: Callable, *operands: Operand, **options) -> Row:
    name = options.pop("name", None) or function.__name__
    return Row(name, function, operands, elementwise=True, **options)


SHAPES = {
    1: [((),), ((1,),), ((0,),), ((2, 0),), ((2, 3),), ((2, 1, 2),)],
    2: [((), ()), ((), (3,)), ((3,), ()), ((1,), (3,)), ((3,), (1,)), ((3, 1), (1, 4)), ((2, 3), (3,)),
        ((1, 1), (3,)),
        ((0,), (1,)), ((1, 3), (0, 3)), ((2, 3), (2, 3))],
    3: [((), (), ()), ((3,), (), (3,)), ((1,), (3,), ()), ((2, 1), (3,), (1, 3)), ((0,), (1,), (0,))],
}


def variants(of: Row) -> list[Row]:
    """The row with its operands in other shapes."""
    if of.elementwise:
        return [of.with_shapes(shapes) for shapes in SHAPES[len(of.operands)]]
    if not of.resized:
        return []
    found = []
    for place, operand in enumerate(of.operands):
        for axis in range(len(operand.shape)):
            for size in (0, 1):
                shape = (*operand.shape[:axis], size, *operand.shape[axis + 1:])
                shapes = [o.shape for o in of.operands]
                shapes[place] = shape
                found.append(of.with_shapes(tuple(shapes)))
    return found
