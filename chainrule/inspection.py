"""What is known of a function's program: its shapes, why it was made again, and the program as files."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from .runtime import exports, recompiles
from .runtime.debugging import as_program
from .runtime.shapes import ShapeDtype, shapes
from .runtime.transformation import Transformation

__all__ = ["ShapeDtype", "eval_shape", "explain_recompiles", "export"]


def eval_shape(function: Callable, *arguments: Any, **keywords: Any) -> Any:
    """The shapes and dtypes of a function's results, without running it.

    Args:
        function: any function, or what a transformation made.
        arguments, keywords: its arguments, in which a ShapeDtype (or anything else with a shape and a dtype)
            may stand for an array.

    Returns:
        What the function returns, with a ShapeDtype for each array and number.

    Raises:
        UnsupportedError: a shape depends on the values of an array. What the function itself would raise.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> cr.eval_shape(lambda x, w: x @ w, cr.ShapeDtype((128, 4), np.float32), np.ones((4, 3), np.float32))
    ShapeDtype(shape=(128, 3), dtype=float32)
    """
    return shapes(as_program(function), arguments, keywords)


def explain_recompiles(function: Callable) -> str:
    """Why a compiled function was compiled as often as it was.

    Args:
        function: what `jit`, or another transformation, made.

    Returns:
        Text: a line for each program, with the types that it is for, and below it what was not as in the
        earlier program most like it.

    Raises:
        TypeError: the function was not made by a transformation.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> total = cr.jit(lambda x: np.sum(x))
    >>> _ = total(np.ones(3)), total(np.ones(5)), total(np.ones(5, np.float32))
    >>> print(cr.explain_recompiles(total))
    function was compiled 2 times
    1. x: float64[n]
    2. x: float32[n]
       x is float32[n], and was float64[n]
    """
    if not isinstance(function, Transformation):
        raise TypeError(
            "explain_recompiles takes what jit or another transformation made, and not a "
            f"{type(function).__name__}"
        )
    what = "compiled" if function.jitted else "made"
    return recompiles.describe(function.history, function.program_name(), what)


def export(
    function: Callable, folder: str | PathLike | None = None, stage: str = "numba"
) -> Callable[..., Path]:
    """Write a function's program as Python files that run without chainrule.

    The folder gets a module of the function's name, which has a function of that name with the parameters of
    the original. If the program needs helpers, they are beside it in `<name>_support.py`, and large arrays
    from outside of the function in `<name>_values.npz`. It imports NumPy, Numba (but for stage "numpy"), and
    SciPy only where the function itself calls scipy.special.

    Args:
        function: any function, or what a transformation made: `export(grad(f))`.
        folder: where to write; by default a folder of the function's name.
        stage: "numba" or "numpy".

    Returns:
        A function of example arguments, which writes the files and returns the path of the module. What was
        exported takes arguments of the same dtypes, ranks and structure, of any sizes from 2 on, and refuses
        all others.

    Raises:
        UnsupportedError: the program calls functions of this process, as debug.callback does.
        TypeMismatchError (a TypeError): an argument or result is neither an array, number or string nor a
            tuple, list or dict of these.

    >>> import tempfile
    >>> import numpy as np
    >>> import chainrule as cr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = cr.export(cr.grad(lambda x: np.sum(np.exp(x))), folder)(np.ones(3))
    ...     sorted(p.name for p in path.parent.iterdir())
    ['function.py', 'function_support.py']
    """
    made = as_program(function)

    def exporter(*arguments: Any, **keywords: Any) -> Path:
        place = Path(made.program_name() if folder is None else folder)
        return exports.export(made, place, stage, arguments, keywords)

    return exporter
