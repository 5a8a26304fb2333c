"""Calls of BLAS in compiled code, with one of its threads where more would not pay (blas_threads.py)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from llvmlite import ir
from numba.core import cgutils

from . import subroutines
from .blas_threads import SYMBOL, make_ready

INT, WORK, NONE = ir.IntType(32), ir.IntType(64), ir.VoidType()
# Multiplications: with fewer BLAS takes one thread itself, and with more, of 0.3 ms on one core, several pay.
LEAST, MOST = 2**13, 2**23
BUSY, SHARED, SETTER, GETTER = range(4)
STATE = ir.LiteralStructType(
    [INT, INT, ir.FunctionType(NONE, [INT]).as_pointer(), ir.FunctionType(INT, []).as_pointer()]
)


@contextlib.contextmanager
def threads_for(builder: Any, work: Any) -> Iterator[None]:
    """The right number of threads for so many multiplications, in what is lowered inside."""
    make_ready()
    before = builder.call(function(builder.module, begin, INT, WORK), [work])
    yield
    builder.call(function(builder.module, end, NONE, INT), [before])


def function(module: Any, body: Callable, result: Any, argument: Any) -> Any:
    """A function of a module, made where it is first called."""
    name = f"{SYMBOL}_{body.__name__}"
    if name not in module.globals:
        made, builder = subroutines.new(module, ir.FunctionType(result, [argument]), name)
        body(builder, made.args[0])
    return module.globals[name]


def begin(builder: Any, work: Any) -> None:
    """Answer how many threads there were; 0 where their number stays."""
    with builder.if_then(builder.icmp_unsigned("<", builder.sub(work, WORK(LEAST)), WORK(MOST - LEAST))):
        busy = field(builder, BUSY)
        taken = builder.cmpxchg(busy, INT(0), INT(1), "seq_cst")
        with builder.if_then(builder.extract_value(taken, 1)):
            before = builder.call(builder.load(field(builder, GETTER)), [])
            shared = builder.load_atomic(field(builder, SHARED), "seq_cst", 4)
            several = builder.icmp_signed(">", before, INT(1))
            with builder.if_then(builder.and_(several, builder.icmp_signed("==", shared, INT(0)))):
                builder.call(builder.load(field(builder, SETTER)), [INT(1)])
                builder.ret(before)
            builder.store_atomic(INT(0), busy, "seq_cst", 4)
    builder.ret(INT(0))


def end(builder: Any, before: Any) -> None:
    with builder.if_then(builder.icmp_signed("!=", before, INT(0))):
        builder.call(builder.load(field(builder, SETTER)), [before])
        builder.store_atomic(INT(0), field(builder, BUSY), "seq_cst", 4)
    builder.ret_void()


def field(builder: Any, number: int) -> Any:
    """Where a field of the state is."""
    if SYMBOL not in builder.module.globals:
        ir.GlobalVariable(builder.module, STATE, SYMBOL)
    return cgutils.gep_inbounds(builder, builder.module.globals[SYMBOL], 0, number)
