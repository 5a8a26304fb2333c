"""Products of a matrix that the caches hold and a vector, in LLVM's vectors: BLAS takes longer to begin.

A matrix by rows times a vector is a sum for each row: as many rows at once as a vector has lanes, whose sums
are then added up together. By columns, it is a sum of columns: of some vectors' elements of them at once, in
registers. What is left over at an end is done with a whole block that ends there; its elements come out the
same twice, for each is a sum in one order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba.core import types

from .kernels import kernel

INT = ir.IntType(64)
MOST = 2**16  # elements: what is larger waits for memory, and is worth BLAS's threads
KINDS = {types.float64: (ir.DoubleType(), 8), types.float32: (ir.FloatType(), 4)}
BLOCK = 4  # sums that do not wait for each other
FUSED = ("contract",)


def lanes(dtype: Any) -> int:
    """The elements in a vector register of this processor."""
    features = llvmlite.binding.get_host_cpu_features()
    size = next((size for name, size in (("avx512f", 64), ("avx", 32)) if features.get(name)), 16)
    return size // KINDS[dtype][1]


def suits(builder: Any, dtype: Any, by_rows: bool, rows: Any, columns: Any) -> Any:
    """Whether a product is small enough, and has a vector's elements along the rows or columns in memory."""
    along = columns if by_rows else rows
    few = builder.icmp_unsigned("<=", builder.mul(rows, columns), INT(MOST))
    return builder.and_(few, builder.icmp_signed(">=", along, INT(lanes(dtype))))


def multiply(
    context: Any,
    builder: Any,
    dtype: Any,
    by_rows: bool,
    matrix: Any,
    vector: Any,
    out: Any,
    rows: Any,
    columns: Any,
) -> None:
    """Write the product of a matrix, which is kept by rows or by columns, and a vector."""

    def lower(function: Any) -> None:
        for argument in function.args[:3]:
            argument.add_attribute("noalias")
        inside = Product(ir.IRBuilder(function.append_basic_block()), dtype, *function.args)
        inside.by_rows() if by_rows else inside.by_columns()
        inside.builder.ret_void()

    pointer = KINDS[dtype][0].as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [pointer, pointer, pointer, INT, INT])
    name = f"chainrule_{'rows' if by_rows else 'columns'}_{dtype}"
    arrays = [builder.bitcast(data, pointer) for data in (matrix, vector, out)]
    builder.call(kernel(context, builder.module, name, kind, lower), [*arrays, rows, columns])


class Product:
    """The code of one such function."""

    def __init__(self, builder: Any, dtype: Any, matrix: Any, vector: Any, out: Any, rows: Any, columns: Any):
        self.builder, self.matrix, self.vector, self.out = builder, matrix, vector, out
        self.rows, self.columns = rows, columns
        self.element, self.itemsize = KINDS[dtype]
        self.lanes = lanes(dtype)
        self.zeros = ir.Constant(ir.VectorType(self.element, self.lanes), [0.0] * self.lanes)

    def by_rows(self) -> None:
        with self.builder.if_else(self.builder.icmp_signed(">=", self.rows, INT(self.lanes))) as (many, few):
            with many:
                self.blocks(self.rows, self.lanes, lambda first: self.sums_of_rows(first, self.lanes))
            with few:
                self.fold(INT(0), self.rows, 1, [], lambda row, _: self.sums_of_rows(row, 1))

    def by_columns(self) -> None:
        block = BLOCK * self.lanes
        with self.builder.if_else(self.builder.icmp_signed(">=", self.rows, INT(block))) as (many, few):
            with many:
                self.blocks(self.rows, block, lambda first: self.sum_of_columns(first, BLOCK, 1))
            with few:
                self.blocks(self.rows, self.lanes, lambda first: self.sum_of_columns(first, 1, BLOCK))

    def blocks(self, size: Any, width: int, block: Callable) -> None:
        """So many elements at a time; the last block ends where they end."""
        last = self.builder.sub(size, INT(width))

        def body(index: Any, _: list) -> list:
            block(self.builder.select(self.builder.icmp_signed("<", index, last), index, last))
            return []

        self.fold(INT(0), size, width, [], body)

    def sums_of_rows(self, first: Any, count: int) -> list:
        """The elements of some rows, or of one."""
        rows = [
            self.builder.gep(self.matrix, [self.builder.mul(self.builder.add(first, INT(k)), self.columns)])
            for k in range(count)
        ]

        def whole(column: Any, sums: list) -> list:
            right = self.load(self.vector, column)
            return [self.fused(total, self.load(row, column), right) for total, row in zip(sums, rows)]

        def rest(column: Any, sums: list) -> list:
            last = self.builder.sub(self.columns, INT(self.lanes))
            new = self.at_least(self.builder.sub(column, last))
            right = self.builder.select(new, self.load(self.vector, last), self.zeros)
            left = [self.builder.select(new, self.load(row, last), self.zeros) for row in rows]
            return [self.fused(total, one, right) for total, one in zip(sums, left)]

        end = self.multiple(self.columns, self.lanes)
        sums = self.fold(INT(0), end, self.lanes, [self.zeros] * count, whole)
        sums = self.fold(end, self.columns, self.lanes, sums, rest)
        total = self.added_up(sums)
        if count == 1:
            total = self.builder.extract_element(total, INT(0))
        self.store(total, first)
        return []

    def sum_of_columns(self, first: Any, vectors: int, at_once: int) -> None:
        """Some vectors' elements, some columns at once."""

        def body(column: Any, sums: list, at_once: int) -> list:
            columns = [self.builder.add(column, INT(k)) for k in range(at_once)]
            found = []
            for k, one in enumerate(columns):
                start = self.builder.add(self.builder.mul(one, self.rows), first)
                factor = self.spread(self.builder.load(self.builder.gep(self.vector, [one])))
                for v in range(vectors):
                    part = self.load(self.matrix, self.builder.add(start, INT(v * self.lanes)))
                    found.append(self.fused(sums[k * vectors + v], part, factor))
            return found + sums[len(found) :]

        end = self.multiple(self.columns, at_once)
        sums = [self.zeros] * (vectors * at_once)
        sums = self.fold(INT(0), end, at_once, sums, lambda column, sums: body(column, sums, at_once))
        sums = self.fold(end, self.columns, 1, sums, lambda column, sums: body(column, sums, 1))
        for v in range(vectors):
            total, *others = sums[v::vectors]
            for other in others:
                total = self.builder.fadd(total, other)
            self.store(total, self.builder.add(first, INT(v * self.lanes)))

    def added_up(self, sums: list) -> Any:
        """A vector of the sums of the lanes of as many vectors; of one alone, its sum in every lane."""
        group = 1
        while group < self.lanes:
            starts = range(0, self.lanes, 2 * group)
            low = [start + k for start in starts for k in range(group)]
            pairs = list(zip(sums[::2], sums[1::2])) or [(sums[0], sums[0])]
            order = [low[k : k + group] for k in range(0, len(low), group)]
            mask = [lane for part in order for lane in (*part, *(one + self.lanes for one in part))]
            sums = [
                self.builder.fadd(self.shuffle(a, b, mask), self.shuffle(a, b, [m + group for m in mask]))
                for a, b in pairs
            ]
            group *= 2
        return sums[0]

    def fold(self, start: Any, stop: Any, step: int, initial: list, body: Callable) -> list:
        """A loop that carries values: what they are at its end."""
        builder, before = self.builder, self.builder.block
        head, inside, after = (builder.append_basic_block(name) for name in ("head", "inside", "after"))
        builder.branch(head)
        builder.position_at_end(head)
        index = builder.phi(INT)
        carried = [builder.phi(value.type) for value in initial]
        builder.cbranch(builder.icmp_signed("<", index, stop), inside, after)
        builder.position_at_end(inside)
        found = [builder.add(index, INT(step)), *body(index, carried)]
        for phi, value, became in zip([index, *carried], [start, *initial], found, strict=True):
            phi.add_incoming(value, before)
            phi.add_incoming(became, builder.block)
        builder.branch(head)
        builder.position_at_end(after)
        return carried

    def load(self, array: Any, index: Any) -> Any:
        """A vector of elements from an index on."""
        place = self.builder.gep(array, [index])
        return self.builder.load(
            self.builder.bitcast(place, self.zeros.type.as_pointer()), align=self.itemsize
        )

    def store(self, value: Any, index: Any) -> None:
        place = self.builder.gep(self.out, [index])
        self.builder.store(value, self.builder.bitcast(place, value.type.as_pointer()), align=self.itemsize)

    def fused(self, total: Any, a: Any, b: Any) -> Any:
        return self.builder.fadd(total, self.builder.fmul(a, b, flags=FUSED), flags=FUSED)

    def multiple(self, size: Any, width: int) -> Any:
        """The largest multiple of a width, which is a power of two, up to a size."""
        return self.builder.and_(size, INT(-width))

    def at_least(self, least: Any) -> Any:
        """For each lane, whether its number is at least so much."""
        numbers = ir.Constant(ir.VectorType(INT, self.lanes), list(range(self.lanes)))
        return self.builder.icmp_signed(">=", numbers, self.spread(least))

    def spread(self, value: Any) -> Any:
        """A vector of one value."""
        of = ir.VectorType(value.type, self.lanes)
        single = self.builder.insert_element(ir.Constant(of, ir.Undefined), value, INT(0))
        return self.shuffle(single, single, [0] * self.lanes)

    def shuffle(self, a: Any, b: Any, lanes: list[int]) -> Any:
        mask = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), lanes)
        return self.builder.shuffle_vector(a, b, mask)
