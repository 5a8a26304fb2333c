"""The errors of the elementary functions in units in the last place, against mpmath, and their times.

    python -m chainrule.backends.numba.elementary_errors > docs/elementary.md
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import mpmath
import numba
import numpy as np
from mpmath import mp, mpf

from . import elementary

EXACT: dict[str, Callable[..., Any]] = {
    "exp": mp.exp,
    "exp2": lambda x: mpf(2) ** x,
    "expm1": mp.expm1,
    "log": mp.log,
    "log2": lambda x: mp.log(x) / mp.log(2),
    "log1p": mp.log1p,
    "pow": lambda x, y: x**y,
    "sin": mp.sin,
    "cos": mp.cos,
    "tan": mp.tan,
    "atan": mp.atan,
    "atan2": mp.atan2,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "tanh": mp.tanh,
    "expit": lambda x: 1 / (1 + mp.exp(-x)),
    "erf": mp.erf,
}
# The functions of NumPy that have other names here.
NUMPY = {"pow": "power", "atan": "arctan", "atan2": "arctan2"}


def points(name: str, dtype: Any, count: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Arguments of every size, more where the function bends, and where results overflow or vanish."""
    dtype, random = np.dtype(dtype), np.random.default_rng(seed)
    integer = np.dtype(f"i{dtype.itemsize}")
    most = int(np.array(np.inf, dtype).view(integer))

    def signed(values):
        return np.where(random.random(len(values)) < 0.5, values, -values).astype(dtype)

    def every(n):
        return signed(random.integers(0, most, n).astype(integer).view(dtype))

    def middle(n):
        return signed(10 ** random.uniform(-4, 1.5, n))

    if name == "pow":
        base, exponent = np.abs(middle(count)), middle(count)
        near = (1 + random.normal(size=count) * 10 ** random.uniform(-6, -1, count)).astype(dtype)
        return np.concatenate([base, near]), np.concatenate([exponent, exponent * dtype.type(100)])
    if name == "atan2":
        return np.concatenate([middle(count), every(count)]), np.concatenate([middle(count), every(count)])
    end = 760.0 if dtype == np.float64 else 110.0
    parts = [every(count), middle(count), signed(random.uniform(0.85 * end, end, count // 2))]
    if name in ("sin", "cos", "tan"):
        parts.append((np.arange(1, count // 2) * (np.pi / 2)).astype(dtype))
    if name.startswith("log"):
        parts.append((1 + random.normal(size=count) * 10 ** random.uniform(-7, -0.5, count)).astype(dtype))
        x = np.concatenate(parts)
        return (x[x > -1] if name == "log1p" else np.abs(x),)
    return (np.concatenate(parts),)


def looped(name: str, dtype: Any) -> Callable[..., np.ndarray]:
    """The function on arrays, by a loop that vectorises."""
    function = getattr(elementary, name + ("f" if np.dtype(dtype).char == "f" else ""))

    @numba.njit(error_model="numpy")
    def one(x, out):
        for i in range(x.shape[0]):
            out[i] = function(x[i])
        return out

    @numba.njit(error_model="numpy")
    def two(x, y, out):
        for i in range(x.shape[0]):
            out[i] = function(x[i], y[i])
        return out

    run = two if name in ("pow", "atan2") else one
    return lambda *arguments: run(*arguments, np.empty_like(arguments[0]))


def error(name: str, found: Any, *arguments: Any) -> float:
    """The error of one result, in units of the last place of the exact one."""
    kind = type(found)
    with mpmath.workprec(250):
        exact = EXACT[name](*(mpf(float(argument)) for argument in arguments))
        largest = np.finfo(kind).max
        # Half a unit beyond the largest number.
        if abs(exact) >= mpf(float(largest)) * (1 + mpf(float(np.finfo(kind).eps)) / 4):
            return 0.0 if np.isinf(found) and (found > 0) == (exact > 0) else np.inf
        if not np.isfinite(found):
            return np.inf
        nearest = kind(min(max(float(exact), -float(largest)), float(largest)))
        return float(abs(mpf(float(found)) - exact) / mpf(float(np.spacing(abs(nearest)))))


def worst(name: str, dtype: Any, count: int) -> tuple[float, tuple]:
    """The greatest error over the points, and where it is."""
    arguments = points(name, dtype, count)
    found = looped(name, dtype)(*arguments)
    errors = [error(name, value, *at) for value, *at in zip(found, *arguments)]
    k = int(np.argmax(errors))
    return errors[k], tuple(argument[k] for argument in arguments)


def times(name: str, dtype: Any, size: int = 100_000) -> tuple[float, float]:
    """Nanoseconds for an element on one core: here, and one call of the C library after the other."""
    random = np.random.default_rng(1)
    x, y = (random.normal(size=size).astype(dtype) * 3 for _ in range(2))
    x = abs(x) if name.startswith(("log", "pow")) else x
    arguments = (x, y) if name in ("pow", "atan2") else (x,)
    library = alone(name)
    results = [np.empty_like(x) for _ in range(2)]
    found = []
    for run in (looped(name, dtype), lambda *a: library(*a, results[0])):
        run(*arguments)
        samples = []
        for _ in range(25):
            start = time.perf_counter()
            run(*arguments)
            samples.append(time.perf_counter() - start)
        found.append(statistics.median(samples) / size * 1e9)
    return found[0], found[1]


def alone(name: str) -> Callable[..., np.ndarray]:
    """What Numba makes of the function by itself."""
    text = {
        "expit": "1 / (1 + np.exp(-x[i]))",
        "erf": "math.erf(x[i])",
        "pow": "x[i] ** y[i]",
        "atan2": "np.arctan2(x[i], y[i])",
    }.get(name, f"np.{NUMPY.get(name, name)}(x[i])")
    parameters = "x, y, out" if name in ("pow", "atan2") else "x, out"
    space: dict[str, Any] = {"np": np, "math": __import__("math")}
    loop = f"    for i in range(x.shape[0]):\n        out[i] = {text}\n    return out"
    exec(f"def run({parameters}):\n{loop}", space)
    return numba.njit(error_model="numpy")(space["run"])


HEAD = """# Elementary functions

Compiled programs compute these by arithmetic that LLVM vectorises (`backends/numba/elementary/`), where a
loop calls them for numbers that do not wait for each other; elsewhere the C library is called. Greatest error
found, in units in the last place, against mpmath with 250 bits, over arguments of every size (the smallest
subnormal to the largest number) with more of them where the function bends; infinities, NaN, signed zeros and
overflow are checked apart, in tests/backends/numba/test_elementary.py. Times are nanoseconds for an element
on one core, 100,000 elements, the median of 25 runs; beside them is what Numba makes of the same loop with
NumPy's function. Single-precision functions without arithmetic of their own are computed in double precision
and rounded.

| function | error, double | error, single | ns, double | Numba alone | ns, single | Numba alone |
| --- | --- | --- | --- | --- | --- | --- |"""


def table(count: int) -> None:
    print(HEAD)
    for name in EXACT:
        errors = [worst(name, dtype, count)[0] for dtype in (np.float64, np.float32)]
        double, single = times(name, np.float64), times(name, np.float32)
        figures = [f"{e:.2f}" for e in errors] + [f"{t:.2f}" for t in (*double, *single)]
        print(f"| {name} | {' | '.join(figures)} |")
    print("\nThis page is printed by `python -m chainrule.backends.numba.elementary_errors`.")


if __name__ == "__main__":
    table(4_000)
