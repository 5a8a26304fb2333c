"""Functions with derivative rules of one's own: names, arguments and documentation. See docs/custom.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .runtime.custom_functions import CustomJvp, CustomVjp
from .runtime.nested import Decorator, inside
from .runtime.primitives import PrimitiveFunction


def custom_jvp(
    function: Callable | None = None,
    nondiff_argnums: int | Sequence[int] = (),
    nondiff_argnames: str | Sequence[str] = (),
) -> Any:
    """The same function, whose derivative is what a rule in forward mode says.

    Args:
        function: any function of arrays and numbers in any structure. Left out, the result is a decorator.
        nondiff_argnums: positions of arguments that have no derivative, such as functions and options. The
            rule gets them first.
        nondiff_argnames: their names.

    Returns:
        The function, to which a rule is given by `.defjvp(rule)`, usable as a decorator: `rule(*nondiff,
        primals, tangents)` returns (value, tangent of the value), the tangent linear in the tangents. Or by
        `.defjvps(*rules)`, with one rule for each argument, `rule(tangent, value, *primals)`, None where the
        derivative is zero. Reverse mode transposes the rule; a second derivative is that of the rule's code.

    Raises:
        NotDifferentiableError (a TypeError): it is differentiated and has no rule. TypeMismatchError (a
            TypeError), ShapeMismatchError (a ValueError): a rule returns what does not fit.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> @cr.custom_jvp
    ... def softplus(x):
    ...     return np.logaddexp(x, 0)
    >>> @softplus.defjvp
    ... def softplus_jvp(primals, tangents):
    ...     (x,), (x_dot,) = primals, tangents
    ...     return softplus(x), x_dot / (1 + np.exp(-x))
    >>> float(cr.grad(softplus)(0.0)), float(cr.grad(cr.grad(softplus))(0.0))
    (0.5, 0.25)
    """
    if function is None:
        return Decorator(lambda later: CustomJvp(later, nondiff_argnums, nondiff_argnames))
    return CustomJvp(function, nondiff_argnums, nondiff_argnames)


def custom_vjp(
    function: Callable | None = None,
    nondiff_argnums: int | Sequence[int] = (),
    nondiff_argnames: str | Sequence[str] = (),
) -> Any:
    """The same function, whose derivative is what a rule in reverse mode says.

    Args:
        function: any function of arrays and numbers in any structure. Left out, the result is a decorator.
        nondiff_argnums: positions of arguments that have no derivative, such as functions and options. The
            backward rule gets them first; the forward rule gets all arguments as the function does.
        nondiff_argnames: their names.

    Returns:
        The function, to which a rule is given by `.defvjp(forward, backward)`. `forward(*arguments)` returns
        (value, residuals), which may be anything; `backward(*nondiff, residuals, cotangent)` returns a tuple
        with a cotangent for each argument, None where it is zero. A second derivative is that of their code.

    Raises:
        NotDifferentiableError (a TypeError): it is differentiated in forward mode, or has no rule.
            TypeMismatchError (a TypeError), ShapeMismatchError (a ValueError): a rule returns what does not
            fit.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> @cr.custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda residuals, x_bar: (np.clip(x_bar, -1, 1),))
    >>> float(cr.grad(lambda x: 10 * clipped(x))(2.0))
    1.0
    """
    if function is None:
        return Decorator(lambda later: CustomVjp(later, nondiff_argnums, nondiff_argnames))
    return CustomVjp(function, nondiff_argnums, nondiff_argnames)


def primitive(name: str, function: Callable, type: Any = None) -> Any:
    """An operation that is computed by calling a function, from SciPy, C or anywhere, which is not read.

    Args:
        name: what it is called in errors and in generated source: an identifier.
        function: computes it from NumPy arrays and numbers, changes none of them, and gives the same results
            for the same arguments.
        type: the type of the results, as a function of the arguments that reads shapes and dtypes only: it
            returns one of them, for a result like it, or (shape, dtype), where None stands for a size known
            only when it has run; a tuple of these for several results. Or "elementwise", for a function that
            broadcasts as NumPy's do. It can be left out for a ufunc.

    Returns:
        A function of arrays and numbers; keyword arguments are constants: numbers, strings, None. It works
        within every transformation, as far as it is told what it needs:

        - `.defjvps(*rules)`: for each argument `rule(tangent, value, *arguments)`, None where it is zero; or
          `.defjvp(rule)`, with `rule(primals, tangents)` that returns (value, tangent).
        - `.defvjps(*rules)`: for each argument `rule(cotangent, value, *arguments)`; or `.defvjp(forward,
          backward)`, as of custom_vjp. Of jvp and vjp rules the one missing is had by transposing the other.
        - `.defbatch(rule)`: `rule(size, batched, *arguments)` does a whole batch, which is the first axis of
          the results, and of each argument for which `batched` has True. Without it a batch is a loop.
        - `.lower(backend, code)`: what computes it on "numpy" (a function), "numba" (a function or its
          source, of scalars if elementwise) or "cuda" (C++ source). Without, compiled code calls Python.

    Raises:
        ValueError: the name is no identifier. TypeError: there is no type rule. Later NotDifferentiableError
            (a TypeError): it is differentiated and has no rule.

    >>> import numpy as np, scipy.special
    >>> import chainrule as cr
    >>> yv = cr.primitive("yv", scipy.special.yv)
    >>> yv.defjvps(None, lambda t, value, v, x: t * (yv(v - 1, x) - yv(v + 1, x)) / 2)
    >>> round(float(cr.grad(yv, 1)(1.0, 2.0)), 6)
    0.563892
    """
    return PrimitiveFunction(name, function, type)


def made(kind: type) -> Callable:
    def make(f: Any = None, nondiff_argnums: Any = (), nondiff_argnames: Any = ()) -> Any:
        if f is None:
            return Decorator(lambda later: kind(later, nondiff_argnums, nondiff_argnames))
        return kind(f, nondiff_argnums, nondiff_argnames)

    return make


inside(custom_jvp, made(CustomJvp))
inside(custom_vjp, made(CustomVjp))
