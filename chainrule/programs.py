"""What is made of a program: compiled, checkpointed, cut off from derivatives, and printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .runtime import modes
from .runtime.checkpoints import Checkpoint, stop_inside
from .runtime.compilation import Jit
from .runtime.nested import decorator, inside, kept
from .runtime.pullbacks import Plain
from .runtime.transformation import Transformation


def jit(
    function: Callable | None = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
) -> Any:
    """The same function, compiled with Numba.

    It is compiled at its first call for arguments of certain dtypes and ranks, once for all sizes.

    Args:
        function: any function; derivatives too: `jit(grad(f))`. Left out, the result is a decorator.
        static_argnums: positions of arguments that are constants of the program, which is compiled again for
            each value. They must be hashable. Strings, bools, functions and objects are constants anyway.
        static_argnames: their names, where they are given by keyword.

    Returns:
        A function with the results of the original: NumPy arrays and scalars, and what it does to arrays in
        place.

    Raises:
        TypeError: a static argument is not hashable. UnsupportedError: the function uses something outside of
            the language.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> @cr.jit
    ... def norm(x):
    ...     return np.sqrt(np.sum(x * x))
    >>> float(norm(np.array([3.0, 4.0])))
    5.0
    """
    return decorator(Jit, function, hashed(static_argnums), hashed(static_argnames))


def hashed(names: Any) -> Any:
    return tuple(names) if isinstance(names, (list, set)) else names


def checkpoint(function: Callable | None = None, *, steps: int | str | None = None) -> Any:
    """The same function, whose inner values reverse mode computes again instead of keeping them.

    Args:
        function: any function that changes nothing outside of itself. Left out, the result is a decorator.
        steps: for a function that holds a loop: the number of iterations of which nothing is kept but the
            first state, or "binomial" for segments within segments: with n iterations n / steps + steps
            states are kept, or about 6 * n ** (1 / 6), each iteration then running up to 6 times more.

    Returns:
        A function with the same results. Where it is differentiated in reverse mode, only its arguments are
        kept, and it runs a second time in the backward sweep: memory for time.

    Raises:
        UnsupportedError: the function changes an array or list that was there before, or `steps` is given
            for a loop whose arrays change their sizes.
        ValueError: `steps` is neither a positive int nor "binomial".

    >>> import numpy as np
    >>> import chainrule as cr
    >>> @cr.checkpoint
    ... def layer(x):
    ...     return np.tanh(np.sin(x))
    >>> float(cr.grad(lambda x: layer(layer(x)))(0.0))
    1.0
    """
    if not (steps is None or steps == "binomial" or isinstance(steps, int) and steps > 0):
        raise ValueError(f"checkpoint: steps is a positive int or 'binomial', not {steps!r}")
    return decorator(Checkpoint, function, steps)


def stop_gradient(value: Any) -> Any:
    """The value itself, through which no derivative passes.

    Args:
        value: an array or number, or any structure of these.

    Returns:
        The value. In forward mode its tangent is 0; in reverse mode no cotangent passes back.

    >>> import chainrule as cr
    >>> cr.grad(lambda x: x * cr.stop_gradient(x))(3.0)
    3.0
    """
    return value


def disable_jit(disable: Any = True) -> Any:
    """A with block, or a decorator, in which nothing is compiled: everything runs line by line as NumPy.

    What `jit` and `checkpoint` made is the user's function itself, `vmap` calls it for one example after the
    other, and a derivative is the readable NumPy program that `source` prints. So prints, breakpoints and
    exceptions are at the user's own line. The environment variable CHAINRULE_DISABLE_JIT=1 does the same.

    Args:
        disable: False to compile again within.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> @cr.jit
    ... def double(x):
    ...     return 2 * x
    >>> with cr.disable_jit():
    ...     double("ab")
    'abab'
    """
    return modes.disable_jit(disable)


def source(function: Callable, stage: str = "numpy") -> Callable[..., str]:
    """The program made from a function, as Python that runs.

    Args:
        function: any function, or what a transformation made: `source(grad(f))`.
        stage: "core" (as it comes from the user's source), "simplified", "numpy" (what runs uncompiled),
            "loops" (what is compiled, still in NumPy), or "numba" (what runs compiled).

    Returns:
        A function of the same arguments that returns the text of a module. It imports NumPy only (and Numba,
        for stage "numba").

    Raises:
        ValueError: there is no such stage.

    >>> import chainrule as cr
    >>> print(cr.source(cr.grad(lambda x, y: x * y + y), "numpy")(2.0, 3.0), end="")
    def function(x, y):
        return y
    """
    made = function if isinstance(function, Transformation) else kept(Plain, function)

    def text(*arguments: Any, **keywords: Any) -> str:
        return made.source(arguments, keywords, stage)

    return text


inside(
    jit,
    lambda f=None, static_argnums=(), static_argnames=(): decorator(
        Jit, f, static_argnums, static_argnames, fresh=True
    ),
)
inside(checkpoint, lambda f=None, steps=None: decorator(Checkpoint, f, steps, fresh=True))
stop_inside(stop_gradient)
