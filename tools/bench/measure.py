"""Times the contenders of one row in this process, in turn, and compares what they return."""
from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from .contenders import InPlace, all_calls
from .row import Row

SECONDS = 2.0  # for all rounds of a row together
ROUNDS = 3, 60
LEAST = 2e-4  # a shorter call is repeated within its round


def timed(call: Callable, repeat: int = 1) -> float:
    """The seconds that a call takes, without the copies of arguments that it writes into."""
    calls = [call.prepared() if isinstance(call, InPlace) else call for _ in range(repeat)]
    start = perf_counter()
    for one in calls:
        one()
    return (perf_counter() - start) / repeat


def measure(row: Row, quick: bool, ports: bool) -> dict[str, Any]:
    """Every figure of a row that one process can find: in seconds, in bytes, and errors in words."""
    calls = all_calls(row, quick, ports)
    first, results, errors = {}, {}, {}
    for name in list(calls):
        try:
            start = perf_counter()
            results[name] = calls[name]()
            first[name] = perf_counter() - start
        except Exception as error:  # the other contenders still run
            errors[name] = f"{type(error).__name__}: {error}".splitlines()[0]
            del calls[name]
    errors |= disagreements(results)
    results.clear()
    peaks = {name: peak(calls[name]) for name in ("primal", "gradient") if name in calls}
    return {"first": first, "time": interleaved(calls), "peak": peaks, "errors": errors}


def interleaved(calls: dict[str, Callable]) -> dict[str, float]:
    """The median time of each call, the calls taking turns so that noise meets all alike."""
    repeats = {name: max(1, int(LEAST / max(timed(call), 1e-7))) for name, call in calls.items()}
    times = {name: [] for name in calls}
    stop = perf_counter() + SECONDS
    for number in range(ROUNDS[1]):
        if number >= ROUNDS[0] and perf_counter() > stop:
            break
        for name, call in calls.items():
            times[name].append(timed(call, repeats[name]))
    return {name: median(values) for name, values in times.items()}


def disagreements(results: dict[str, Any]) -> dict[str, str]:
    """Who returns something else than chainrule: values against `primal`, gradients against `gradient`."""
    found = {}
    for name, result in results.items():
        ours = results.get("primal" if name.endswith("primal") else "gradient")
        if ours is not None and (off := distance(ours, result)) > tolerance(ours):
            found[name] = f"differs from chainrule's by {off:.1e} of the largest element"
    return found


def parts(result: Any) -> list[np.ndarray]:
    return [np.asarray(part) for part in (result if isinstance(result, (tuple, list)) else [result])]


def tolerance(result: Any) -> float:
    return 1e-3 if any(part.dtype == np.float32 for part in parts(result)) else 1e-7


def distance(ours: Any, theirs: Any) -> float:
    """The largest difference, relative to the largest element of that part."""
    pairs = list(zip(parts(ours), parts(theirs), strict=True))
    return max(np.max(np.abs(a - b)) / max(np.max(np.abs(a)), 1e-30) for a, b in pairs)


def peak(call: Callable) -> int | None:
    """How much resident memory rises during a call; on Linux only, where the mark can be reset."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
    except (OSError, AttributeError):
        return None
    before = status("VmRSS")
    call()
    return max(0, status("VmHWM") - before)


def status(name: str) -> int:
    text = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(rf"{name}:\s+(\d+)", text).group(1))
