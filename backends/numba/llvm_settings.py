"""Settings of LLVM's own, for one module at a time: LLVM has them for the whole process.

Numba compiles one function after the other, under a lock, so that nobody else's see what is set for ours.
"""

from __future__ import annotations

import contextlib
import platform
from collections.abc import Iterator, Mapping

import llvmlite.binding

Settings = Mapping[str, tuple[str, str]]

DEFAULT: Settings = {}
# Rows of arrays of three dimensions are short. What is left over from the vectors of an innermost loop is
# done by shorter vectors, for which elements must be read again rather than kept from the round before.
SHORT_ROWS: Settings = {
    "epilogue-vectorization-minimum-VF": ("4", "16"),
    "enable-load-pre": ("false", "true"),
}
# Machine code is made in half the time without, and is as fast.
EMITTING: Settings = {"disable-lsr": ("true", "false")}
# LLVM ends the process when it does not know a setting; what they are by default depends on the processor.
KNOWN = llvmlite.binding.llvm_version_info[0] == 22 and platform.machine() in ("x86_64", "AMD64")


@contextlib.contextmanager
def set_to(chosen: Settings) -> Iterator[None]:
    """Give settings the first of their two values, and afterwards the second."""
    try:
        for name, (value, _) in chosen.items() if KNOWN else ():
            llvmlite.binding.set_option("", f"-{name}={value}")
        yield
    finally:
        for name, (_, value) in chosen.items() if KNOWN else ():
            llvmlite.binding.set_option("", f"-{name}={value}")
