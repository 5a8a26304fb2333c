"""BLAS's threads, kept from products for which they do not pay, and from cores that have work of ours.

OpenBLAS wakes its threads for products of 0.01 ms, and they wait for each other, and for more work, without
sleeping: where anything else runs on the cores, such a product may take a hundred times as long. It has one
number of threads for the whole process, which is changed for a while by one at a time: `busy` is set by
compiled code during a product (blas_calls.py), `shared` while turns of a loop are shared. Other BLAS is left
as it is.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import threading
import time
from collections.abc import Iterator

import llvmlite.binding

from .scipy_modules import import_alone

SYMBOL = "chainrule_blas_threads"
SET, GET = ctypes.CFUNCTYPE(None, ctypes.c_int), ctypes.CFUNCTYPE(ctypes.c_int)


class State(ctypes.Structure):
    """What compiled code and Python both know; busy for good until OpenBLAS's functions are found."""

    _fields_ = (("busy", ctypes.c_int32), ("shared", ctypes.c_int32), ("set", SET), ("get", GET))


STATE = State(busy=1)
LONGEST = 200  # times that a product of compiled code is waited for, which takes a millisecond at most
LOCK = threading.Lock()
USUAL: list[int] = []


@functools.cache
def make_ready() -> None:
    """Let compiled code find the functions that get and set the number."""
    found = functions()
    if found is not None:
        STATE.get, STATE.set = found
        STATE.busy = 0
    llvmlite.binding.add_symbol(SYMBOL, ctypes.addressof(STATE))


def functions() -> tuple | None:
    """OpenBLAS's functions that get and set the number of its threads, where SciPy is linked with it."""
    import_alone()
    library = ctypes.CDLL(importlib.import_module("scipy.linalg.cython_blas").__file__)
    for name in ("scipy_openblas_{}_num_threads", "openblas_{}_num_threads"):
        with contextlib.suppress(AttributeError):
            return GET((name.format("get"), library)), SET((name.format("set"), library))
    return None


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """One thread for each product inside, whoever makes it; nothing where no compiled code makes any."""
    if not STATE.set:
        yield
        return
    with LOCK:
        STATE.shared += 1
        if STATE.shared == 1:
            for _ in range(LONGEST):
                if STATE.busy:
                    time.sleep(1e-5)
            USUAL.append(STATE.get())
            STATE.set(1)
    try:
        yield
    finally:
        with LOCK:
            STATE.shared -= 1
            if not STATE.shared:
                STATE.set(USUAL.pop())
