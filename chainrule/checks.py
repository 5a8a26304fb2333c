"""Holding derivatives against differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .runtime.differences import check

MODES = ("fwd", "rev")


def check_grads(
    function: Callable,
    args: Sequence,
    order: int = 1,
    modes: str | Sequence[str] = MODES,
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Check the derivatives of a function against central differences, along random directions.

    Args:
        function: a function of arrays and numbers of floating-point dtypes.
        args: a tuple of its arguments, at which it must be smooth.
        order: how many times to differentiate; every combination of the modes is checked.
        modes: "fwd", "rev", or both.
        atol, rtol: tolerances, 1e-5 by default and 1e-2 where an argument is of single precision.
        eps: the step of the differences, 1e-5 by default and 1e-2 for single precision.

    Raises:
        AssertionError: a derivative is not what the differences say; it names the mode, the argument, the
            element that is most off, and what was expected there.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> cr.check_grads(lambda x: np.sin(x) * x, (np.array([0.5, 1.0]),), order=2)
    """
    chosen = (modes,) if isinstance(modes, str) else tuple(modes)
    for mode in chosen:
        if mode not in MODES:
            raise ValueError(f"there is no mode {mode!r}; the modes are 'fwd' and 'rev'")
    if order < 1:
        raise ValueError(f"the order of a derivative is at least 1, and is {order}")
    check(function, tuple(args), order, chosen, atol, rtol, eps, np.random.default_rng(0))
