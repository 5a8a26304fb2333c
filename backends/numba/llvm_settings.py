"""Settings of LLVM's own, for one module at a time: LLVM has them for the whole process.

Numba compiles one function after the other, under a lock, so that nobody else's see what is set for ours.
"""

from __future__ import annotations

import contextlib
import platform
from collections.abc import Iterator

import llvmlite.binding

# Rows of arrays of three dimensions are short. What is left over from the vectors of an innermost loop is
# done by shorter vectors, for which elements must be read again rather than kept from the round before.
SHORT_ROWS = {"epilogue-vectorization-minimum-VF": ("4", "16"), "enable-load-pre": ("false", "true")}
# LLVM ends the process when it does not know a setting, and what they are without us depends on the processor.
KNOWN = llvmlite.binding.llvm_version_info[0] == 22 and platform.machine() in ("x86_64", "AMD64")


@contextlib.contextmanager
def settings(chosen: dict[str, tuple[str, str]]) -> Iterator[None]:
    """Set what is chosen to the first of two values, and afterwards to the second."""
    try:
        for name, (value, _) in chosen.items() if KNOWN else ():
            llvmlite.binding.set_option("", f"-{name}={value}")
        yield
    finally:
        for name, (_, value) in chosen.items() if KNOWN else ():
            llvmlite.binding.set_option("", f"-{name}={value}")
