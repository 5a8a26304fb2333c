"""Looking into a program as it runs, compiled or not: printing, calling Python, stopping, finding NaN.

What is printed or called comes in the order of the function, once for each time that it comes there: in loops
and branches, in a compiled function, in one example after the other of a batch. Where a derivative is taken
it is part of the function, not of its derivative.

>>> import numpy as np
>>> import chainrule as cr
>>> @cr.jit
... @cr.grad
... def loss(x):
...     total = np.sum(x * x)
...     cr.debug.print("total {:.2f} of {x}", total, x=x)
...     return np.sqrt(total)
>>> loss(np.array([3.0, 4.0]))
total 25.00 of [3. 4.]
array([0.6, 0.8])
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from .runtime import debugging
from .runtime.checked import Nans, NotFiniteError
from .runtime.inserted_gradients import InsertedGradient, insert_inside
from .runtime.modes import WATCH, Watch

__all__ = ["NotFiniteError", "breakpoint", "callback", "insert_grad_of", "nans", "print"]

breakpoint = builtins.breakpoint


def print(fmt: str, *args: Any, ordered: bool = True, **kwargs: Any) -> None:  # noqa: A001
    """Print values each time that the function comes here, in the language of str.format.

    Args:
        fmt: a format string: `"x = {}, loss = {loss:.3f}"`.
        args, kwargs: the values of its fields: arrays, numbers, strings, and structures of these.
        ordered: taken for JAX's sake; the order is always that of the function.

    Raises:
        IndexError, KeyError: the format string has a field that is not given.

    >>> print("{} of {n}", 1, n=2)
    1 of 2
    """
    builtins.print(fmt.format(*args, **kwargs))


def callback(function: Callable, *args: Any, ordered: bool = True, **kwargs: Any) -> None:
    """Call a Python function each time that the function comes here, for its effect.

    Args:
        function: any Python function; what it returns is dropped. The arrays that it gets are its own.
        args, kwargs: what it is called with: arrays, numbers, strings, and structures of these.
        ordered: taken for JAX's sake; the order is always that of the function.

    Raises:
        UnsupportedError: `function` itself reads a value that is known only as the program runs.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> seen = []
    >>> @cr.jit
    ... def double(x):
    ...     cr.debug.callback(lambda value: seen.append(value), x[0])
    ...     return 2 * x
    >>> double(np.array([1.5, 2.5])), seen
    (array([3., 5.]), [np.float64(1.5)])
    """
    function(*args, **kwargs)


def nans(function: Callable | None = None, *, inf: bool = True) -> Any:
    """A with block, or a decorator, in which the first NaN or infinity raises.

    Programs are run one operation at a time, forward and backward, and the exception has the user's line, the
    operation, and its operands. What an operation was given is not its fault: only that one is reported which
    makes a NaN of numbers that are none. A function that is no program is watched by NumPy.

    Args:
        function: left out for a with block; else a function that is made a program and run so.
        inf: whether an infinity made of finite numbers raises too.

    Raises:
        NotFiniteError (a FloatingPointError).

    >>> import numpy as np
    >>> import chainrule as cr
    >>> try:
    ...     with cr.debug.nans():
    ...         cr.jit(lambda x: np.sum(np.log(x)))(np.array([1.0, 0.0]))
    ... except FloatingPointError as error:
    ...     builtins.print(error.what)
    np.log gave -inf at [1], of
        x = [1., 0.], there 0.0
    """
    watch = Watch(inf)
    if function is None:
        return Nans(WATCH, watch)
    return Nans(WATCH, watch)(debugging.as_program(function))


def insert_grad_of(x: Any) -> Any:
    """A with block that runs in the backward sweep, where the gradient of a variable is known.

    `with insert_grad_of(x) as g:` stands in a function that is differentiated in reverse mode. Its body runs
    when the sweep has gone back to it, and `g` is then the gradient of the result by `x`, as far as `x` is
    used below the block. The body may print, stop in the debugger, and give `g` another value, with which
    the sweep goes on. It may read the function's variables; it assigns to `g` and to variables of its own.

    Where nothing is differentiated in reverse mode, a program goes without the body. In a function that
    Python itself runs, which cannot skip a with block, the body runs in its place with zeros for `g`.

    Args:
        x: a variable: an array or number, or any structure of these.

    Raises:
        UnsupportedError: `x` is not a variable, there is no `as`, or a return, break or continue is in the
            block.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> def loss(x):
    ...     y = x * x
    ...     with cr.insert_grad_of(y) as g:
    ...         g = np.clip(g, -1, 1)
    ...     return np.sum(y * np.array([0.5, 10.0]))
    >>> cr.grad(loss)(np.array([3.0, 3.0]))
    array([3., 6.])
    """
    return InsertedGradient(x)


debugging.enter(insert_grad_of, insert_inside)
debugging.enter(print, debugging.print_inside)
debugging.enter(callback, debugging.callback_inside)
