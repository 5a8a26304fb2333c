"""Numba's lowering, with few LLVM instructions for elements of arrays and for numbers in variables."""

from __future__ import annotations

from typing import Any

from llvmlite import ir as llvm
from numba.core import ir, types

from .call_wrapper import LowerWrapper
from .range_loops import LowerRanges
from .references import LowerReferences
from .signs import Signs

ELEMENTS = (types.Number, types.Boolean)


class LowerElements(LowerReferences, LowerRanges, LowerWrapper):
    """Lowers one function."""

    def init(self) -> None:
        super().init()
        self.signs = Signs(self.blocks)
        self.held: dict[Any, bool] = {}

    def refers(self, name: str) -> bool:
        """Whether a variable's value may hold references that are counted."""
        of = self.typeof(name)
        if of not in self.held:
            self.held[of] = self.context.data_model_manager[of].contains_nrt_meminfo()
        return self.held[of]

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        if argidx is not None or self.flags.debuginfo or self.refers(name):
            return super().storevar(value, name, argidx)
        self._alloca_var(name, self.typeof(name))
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        if self.flags.debuginfo or self.refers(name):
            super().delvar(name)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        if expr.op in ("getitem", "static_getitem"):
            index = expr.index if expr.op == "getitem" else expr.index_var
            if index is not None and self.is_element(expr.value, index):
                array = self.typeof(expr.value.name)
                pointer = self.element(expr.value, index)
                value = self.context.unpack_value(self.builder, array.dtype, pointer, alignment(array))
                return self.context.cast(self.builder, value, array.dtype, resty)
        return super().lower_expr(resty, expr)

    def lower_inst(self, inst: Any) -> None:
        if isinstance(inst, (ir.SetItem, ir.StaticSetItem)):
            index = inst.index if isinstance(inst, ir.SetItem) else inst.index_var
            if self.is_element(inst.target, index) and isinstance(self.typeof(inst.value.name), ELEMENTS):
                return self.write(inst, index)
        return super().lower_inst(inst)

    def write(self, inst: Any, index: Any) -> None:
        array, of = self.typeof(inst.target.name), self.typeof(inst.value.name)
        value = self.context.cast(self.builder, self.loadvar(inst.value.name), of, array.dtype)
        pointer = self.element(inst.target, index)
        self.context.pack_value(self.builder, array.dtype, value, pointer, alignment(array))

    def is_element(self, base: Any, index: Any) -> bool:
        """Whether an index takes one number out of an array."""
        array, of = self.typeof(base.name), self.typeof(index.name)
        if (
            type(array) is not types.Array
            or not isinstance(array.dtype, ELEMENTS)
            or self.context.enable_boundscheck
        ):
            return False
        if isinstance(of, types.Integer):
            return array.ndim == 1
        return (
            isinstance(of, types.BaseTuple)
            and len(of) == array.ndim > 0
            and all(isinstance(one, types.Integer) for one in of)
        )

    def element(self, base: Any, index: Any) -> Any:
        """The pointer to an element."""
        array, of = self.typeof(base.name), self.typeof(index.name)
        fields = Fields(self, base.name)
        value, names, kinds = self.loadvar(index.name), [index.name], [of]
        parts = [value]
        if not isinstance(of, types.Integer):
            names, kinds = self.signs.items(index, len(of)), list(of)
            parts = [self.builder.extract_value(value, axis) for axis in range(len(of))]
        indices = [
            self.index(part, kind, axis, name in self.signs.natural, fields)
            for axis, (part, kind, name) in enumerate(zip(parts, kinds, names, strict=True))
        ]
        return fields.address(array, indices)

    def index(self, part: Any, kind: Any, axis: int, natural: bool, fields: Fields) -> Any:
        """An index counted from the start of its axis."""
        if not kind.signed:
            return self.context.cast(self.builder, part, kind, types.uintp)
        part = self.context.cast(self.builder, part, kind, types.intp)
        if natural:
            return part
        negative = self.builder.icmp_signed("<", part, part.type(0))
        return self.builder.select(negative, self.builder.add(part, fields.get("shape", axis)), part)


def alignment(array: Any) -> int | None:
    return None if array.aligned else 1


class Fields:
    """The parts of an array in a variable, of which only those that are needed are loaded."""

    def __init__(self, lower: LowerElements, name: str):
        self.lower, self.builder = lower, lower.builder
        self.local = lower._blk_local_varmap.get(name)
        self.pointer = None if self.local is not None else lower.getvar(name)
        self.model = lower.context.data_model_manager[lower.typeof(name)]

    def get(self, field: str, axis: int | None = None) -> Any:
        where = self.model.get_field_position(field)
        path = [where] if axis is None else [where, axis]
        if self.pointer is None:
            return self.builder.extract_value(self.local, path)
        integer = llvm.IntType(32)
        address = self.builder.gep(self.pointer, [integer(0), *map(integer, path)], inbounds=True)
        return self.builder.load(address)

    def address(self, array: Any, indices: list) -> Any:
        """The pointer to an element, by indices that are not negative."""
        data, builder = self.get("data"), self.builder
        if array.layout not in "CF":
            return self.by_strides(data, indices)
        axes = range(array.ndim) if array.layout == "C" else range(array.ndim - 1, -1, -1)
        where = None
        for axis in axes:
            if where is None:
                where = indices[axis]
            else:
                where = builder.add(builder.mul(where, self.get("shape", axis)), indices[axis])
        return builder.gep(data, [where])

    def by_strides(self, data: Any, indices: list) -> Any:
        builder, where = self.builder, None
        for axis, index in enumerate(indices):
            step = builder.mul(index, self.get("strides", axis))
            where = step if where is None else builder.add(where, step)
        start = builder.ptrtoint(data, where.type)
        return builder.inttoptr(builder.add(start, where), data.type)
