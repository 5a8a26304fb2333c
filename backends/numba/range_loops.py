"""Numba's lowering, with few LLVM instructions for a loop over a range that goes up or down by one."""

from __future__ import annotations

from typing import Any

from llvmlite import ir as llvm
from numba.core import cgutils, ir, lowering, types

from .signs import Definitions, is_expression


class LowerRanges(lowering.Lower):
    """Lowers one function."""

    def init(self) -> None:
        super().init()
        self.steps = unit_steps(self.blocks)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        if id(expr) not in self.steps or self.typeof(expr.value.name) not in RANGES:
            return super().lower_expr(resty, expr)
        given, builder = self.loadvar(expr.value.name), self.builder
        if expr.op == "getiter":
            turn = cgutils.alloca_once_value(builder, builder.extract_value(given, 0))
            return self.structure(resty, iter=turn, stop=builder.extract_value(given, 1))
        model = self.context.data_model_manager[self.typeof(expr.value.name)]
        place = model.get_field_position
        turn, stop = (builder.extract_value(given, place(field)) for field in ("iter", "stop"))
        now, step = builder.load(turn), self.steps[id(expr)]
        # Past the last turn nothing reads it, so that it cannot matter whether it overflows.
        builder.store(builder.add(now, now.type(step), flags=("nsw",)), turn)
        valid = builder.icmp_signed("<" if step > 0 else ">", now, stop)
        return self.structure(resty, first=now, second=valid)

    def structure(self, of: Any, **fields: Any) -> Any:
        """A value of a type with fields, of which the others are never read."""
        model = self.context.data_model_manager[of]
        value = llvm.Constant(model.get_value_type(), llvm.Undefined)
        for name, part in fields.items():
            value = self.builder.insert_value(value, part, model.get_field_position(name))
        return value


RANGES = (types.range_state64_type, types.range_iter64_type)


def unit_steps(blocks: dict) -> dict[int, int]:
    """The step of each loop over a range, 1 or -1, by where it begins and where its next turn does."""
    definitions, steps = Definitions(blocks), {}
    for block in blocks.values():
        for following in block.find_exprs(op="iternext"):
            begun = definitions.only(following.value)
            called = definitions.only(begun.value) if is_expression(begun, "getiter") else None
            function = definitions.only(called.func) if is_expression(called, "call") else None
            if not isinstance(function, ir.Global) or function.value is not range or called.kws:
                return {}
            step = definitions.integer(called.args[2]) if len(called.args) == 3 else 1
            if step in (1, -1):
                steps[id(begun)] = steps[id(following)] = step
    return steps
