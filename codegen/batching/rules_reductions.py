"""Reductions, scans, sorting and Fourier transforms: every axis is one further back."""
from __future__ import annotations

from .. import primitives
from ..core import Operand
from .rules import Batching, batching

assert primitives


@batching("sum", "prod", "max", "min", "any", "all", "argmax", "argmin", "cumsum", "cumprod", "sort",
          "argsort", "fft", "ifft", "rfft")
def along_axes(call: Batching) -> Operand:
    axis = call.static["axis"]
    later = tuple(a + 1 for a in axis) if isinstance(axis, tuple) else axis + 1
    return call.again(*call.operands, axis=later)


@batching("irfft", lanes=lambda statement, differs: differs(statement.operands[1]))
def irfft(call: Batching) -> Operand:
    return along_axes(call)


@batching("searchsorted", lanes=lambda statement, differs: differs(statement.operands[0]))
def searchsorted(call: Batching) -> Operand:
    return call.again(*call.operands)
