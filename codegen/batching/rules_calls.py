"""Calls of functions with derivative rules: the function and its rules, each for a whole batch.

All results are batched. A cotangent of an argument that is the same for all examples is the sum of theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..build import Builder
from ..core import Assign, Operand, Program, Variable
from ..custom_calls import CustomCall, alias, custom_call, custom_call_with_effects
from ..registry import PRIMITIVES
from .batch import batch
from .rules import Batching, batched_type, batching, repeat


@batching(alias)
def same(call: Batching) -> Operand:
    return call.full(0)


@batching(custom_call, custom_call_with_effects)
def whole_call(call: Batching) -> Operand | tuple:
    made = BatchedCall(call).made()
    targets = tuple(
        Variable(target.name, batched_type(of, call.size))
        for target, of in zip(call.statement.targets, call.types, strict=True)
    )
    size = (call.size,) if isinstance(call.size, Variable) else ()
    location = call.statement.location
    statement = Assign(targets, call.primitive, (*call.operands, *size), {"call": made}, location)
    call.builder.append(statement)
    return targets if len(targets) > 1 else targets[0]


class BatchedCall:
    """The programs of a call for a batch."""

    def __init__(self, call: Batching):
        self.call: CustomCall = call.static["call"]
        self.size, self.axis = call.size, call.axis
        self.flags = [call.batched(k) for k in range(len(call.given))]
        self.known = Builder()
        pairs = [*zip(self.call.body.parameters, call.operands, strict=True), (call.size, call.size)]
        for parameter, operand in pairs:
            bound = call.builder.lower_bound(operand) if isinstance(operand, (int, Variable)) else None
            if bound is not None and isinstance(parameter, Variable):
                self.known.lower_bounds[parameter] = bound

    def made(self) -> CustomCall:
        call = self.call
        body, _ = self.program(call.body, self.flags)
        new = replace(call, body=body)
        if call.jvp is not None:
            flags = [*self.flags, *self.flags[: call.leaves]]
            new.jvp = self.rule(call.jvp, lambda program: self.program(program, flags)[0])
        if isinstance(call.forward, Program):
            new.forward = self.rule(call.forward, lambda program: self.pair(new, program))
        else:
            new.forward = call.forward
        return new

    def rule(self, program: Program | Exception, make: Callable) -> Program | Exception:
        """A rule for the batch; that there is none is for whoever needs it."""
        if isinstance(program, Exception):
            return program
        try:
            return make(program)
        except Exception as error:
            return error

    def pair(self, new: CustomCall, forward: Program) -> Program:
        """The forward rule; the backward rule is entered beside it."""
        count = len(self.call.body.results)
        made, differ = self.program(forward, self.flags, count)
        cotangents = [True] * len(self.call.inexact)
        flags = [*self.flags, *differ[count:], *cotangents]
        program, differ = self.program(self.call.backward, flags, 0)
        builder, bars = Builder(program.body), []
        for place, bar, differs in zip(self.call.pulled, program.body.results, differ, strict=True):
            bar = bar if differs else repeat(builder, bar, self.size)
            if not self.flags[place]:
                bar = builder.emit(PRIMITIVES["sum"], bar, axis=(0,), keepdims=False)
            bars.append(bar)
        program.body.results = tuple(bars)
        new.backward = program
        return made

    def program(
        self, program: Program, flags: list[bool], forced: int | None = None
    ) -> tuple[Program, list[bool]]:
        """A program for the batch, and which of its results differ; the first `forced` of them always do."""
        chosen = [p for p, flag in zip(program.parameters, flags, strict=True) if flag]
        part = Program(program.name, tuple(chosen), program.body)
        made, differ = batch(part, (True,) * len(chosen), self.size, self.axis, self.known)
        fresh = iter(made.parameters)
        parameters = [next(fresh) if flag else p for p, flag in zip(program.parameters, flags, strict=True)]
        if isinstance(self.size, Variable):
            parameters.insert(len(self.flags), self.size)
        count = len(differ) if forced is None else forced
        builder = Builder(made.body)
        results = [
            repeat(builder, r, self.size) if k < count and not differ[k] else r
            for k, r in enumerate(made.body.results)
        ]
        made.body.results = tuple(results)
        differ = [flag or k < count for k, flag in enumerate(differ)]
        return Program(program.name, tuple(parameters), made.body), differ
