"""Loops cut into segments, of which the backward sweep keeps the beginnings only and runs the rest again.

    for i in range(n):              for low in range(0, n, k):
        x = f(x, i)        ->           [recompute]
                                            for i in range(low, min(low + k, n)):
                                                x = f(x, i)

The outer loop keeps n / k states; going back, one segment at a time is run again and keeps k more. With
several levels of segments within segments of r = n ** (1 / levels) iterations, levels * r states are
kept at once, and each iteration runs `levels` times (A. Griewank, "Achieving logarithmic growth of temporal
and spatial complexity in reverse automatic differentiation", 1992).
"""

from __future__ import annotations

from ..codegen.build import Builder
from ..codegen.core import INT, Assign, Block, For, If, Operand, Run, Statement, Variable, While, nothing
from ..codegen.errors import UnsupportedError
from ..codegen.registry import PRIMITIVES
from ..codegen.renaming import Renaming, sizes_in
from .calls import emit

LEVELS = 6


def segmented(block: Block, steps: int | str) -> Block:
    """The block with each of its outermost loops cut into segments of `steps` iterations, or "binomial"."""
    builder = Builder()
    with builder.inside(Block([], block.results)) as made:
        for statement in block.statements:
            match statement:
                case For():
                    cut_range(builder, statement, steps)
                case While():
                    cut_while(builder, statement, steps)
                case If():
                    body, orelse = segmented(statement.body, steps), segmented(statement.orelse, steps)
                    builder.append(
                        If(
                            statement.targets,
                            statement.test,
                            body,
                            orelse,
                            statement.location,
                            statement.recompute,
                        )
                    )
                case _:
                    builder.append(statement)
    return made


def cut_range(builder: Builder, loop: For, steps: int | str) -> None:
    require_steady(loop)
    builder.location = loop.location
    count = trip_count(builder, loop)
    if steps == "binomial":
        root = emit(builder, "ceil", emit(builder, "power", count, 1 / LEVELS))
        radix = emit(
            builder, "maximum", emit(builder, "astype", root, dtype=INT.dtype, weak=True), 2, weak=True
        )
        spans = [radix]
        while len(spans) < LEVELS - 1:
            spans.insert(0, emit(builder, "multiply", spans[0], radix))
    else:
        spans = [steps]
    nest(builder, loop, 0, count, count, spans, loop.initial, loop.targets)


def trip_count(builder: Builder, loop: For) -> Operand:
    """How often a range loop runs."""
    start, stop, step = loop.start, loop.stop, loop.step
    if isinstance(start, int) and isinstance(step, int) and (start, step) == (0, 1):
        return emit(builder, "maximum", stop, 0, weak=True)
    sign = emit(builder, "sign", step)
    length = emit(
        builder, "subtract", emit(builder, "add", emit(builder, "subtract", stop, start), step), sign
    )
    return emit(builder, "maximum", emit(builder, "floor_divide", length, step), 0, weak=True)


def nest(
    builder: Builder,
    loop: For,
    low: Operand,
    high: Operand,
    count: Operand,
    spans: list,
    initial: tuple,
    targets: tuple,
) -> None:
    """Emit the iterations from `low` to `high`, in segments of spans[0], those in ones of spans[1], ..."""
    if not spans:
        body = Block(list(loop.body.statements), loop.body.results)
        counter = loop.index
        if not (
            isinstance(loop.start, int) and loop.start == 0 and isinstance(loop.step, int) and loop.step == 1
        ):
            counter, passed = Variable(None, INT), Variable(None, INT)
            body.statements[:0] = [
                Assign((passed,), PRIMITIVES["multiply"], (counter, loop.step), {}, loop.location),
                Assign((loop.index,), PRIMITIVES["add"], (passed, loop.start), {}, loop.location),
            ]
        builder.append(For(targets, counter, low, high, 1, loop.carried, initial, body, loop.location))
        return
    counter, carried, inner, outer = Variable("low", INT), *(fresh(loop.carried) for _ in range(3))
    with builder.inside(Block([], inner)) as segment:
        end = emit(builder, "minimum", emit(builder, "add", counter, spans[0]), count, weak=True)
        nest(builder, loop, counter, end, count, spans[1:], carried, inner)
    again = If(outer, True, segment, nothing(len(outer)), loop.location, recompute=Run())
    builder.append(
        For(targets, counter, low, high, spans[0], carried, initial, Block([again], outer), loop.location)
    )


def cut_while(builder: Builder, loop: While, steps: int | str) -> None:
    """A while loop around segments of at most `steps` iterations."""
    require_steady(loop)
    if not isinstance(steps, int):
        raise UnsupportedError(
            "checkpoint(steps='binomial') of a loop whose length is not known before it runs",
            "give the number of iterations of a segment: checkpoint(steps=100)",
            loop.location,
        )
    builder.location = loop.location
    carried, inner, outer = (fresh(loop.carried) for _ in range(3))
    renaming = Renaming(dict(zip(loop.carried, carried, strict=True)))
    renaming.bind_block(loop.test)
    test = renaming.block(loop.test)
    renaming.retype()
    passed, ended, following = (Variable(None, INT) for _ in range(3))
    with builder.inside(Block(list(loop.test.statements))) as head:
        more = emit(builder, "less", passed, steps)
        head.results = (emit(builder, "logical_and", *loop.test.results, more),)
    advance = Assign((following,), PRIMITIVES["add"], (passed, 1), {}, loop.location)
    body = Block([*loop.body.statements, advance], (*loop.body.results, following))
    segment = While((*inner, ended), (*loop.carried, passed), (*carried, 0), head, body, loop.location)
    again = If(outer, True, Block([segment], inner), nothing(len(outer)), loop.location, recompute=Run())
    builder.append(While(loop.targets, carried, loop.initial, test, Block([again], outer), loop.location))


def fresh(variables: tuple[Variable, ...]) -> tuple[Variable, ...]:
    return tuple(Variable(v.name, v.type) for v in variables)


def require_steady(loop: For | While) -> None:
    """Refuse a loop that carries arrays whose sizes change."""
    made = {t for s in body_statements(loop) for t in s.targets}
    for variable in loop.carried:
        if any(size in made for size in sizes_in(variable.type)):
            raise UnsupportedError(
                f"checkpoint(steps=...) of a loop in which the size of {variable.name or 'an array'} changes",
                "keep the sizes of arrays the same in every iteration",
                loop.location,
            )


def body_statements(loop: For | While) -> list[Statement]:
    return [*(loop.test.statements if isinstance(loop, While) else ()), *loop.body.statements]
