"""Derivatives: names, arguments and documentation. What they do is in runtime/.

Conventions are JAX's. A position of an argument may be negative; one position gives a bare derivative, a
tuple of positions a tuple of derivatives. Keyword arguments are passed on and never differentiated.
Arguments and results may be arrays, numbers, and any nesting of tuples, lists, dicts, dataclasses,
namedtuples and None. Each function here may also be used inside a function that is differentiated or
compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .runtime.derivatives import Gradient, HessianVector, Linearized, Pushforward
from .runtime.jacobians import Hessian, Jacobian
from .runtime.nested import decorator, inside, kept
from .runtime.pullbacks import ForwardMode, InnerReverse, ReverseMode


def grad(function: Callable | None = None, argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Any:
    """The function that computes the gradient of a scalar function.

    Args:
        function: returns one real floating-point scalar, or (scalar, anything) with `has_aux`. Left out, the
            result is a decorator.
        argnums: which positional arguments to differentiate by. Their arrays and numbers must be of a
            floating-point or complex dtype.
        has_aux: whether the function returns a second value, which is passed on undifferentiated.

    Returns:
        A function of the same arguments that returns the gradient, in the structure, shapes and dtypes of the
        argument; for a sequence of argnums, a tuple of gradients; with `has_aux`, (gradient, aux). The
        gradient of a Python float is a Python float.

    Raises:
        NotDifferentiableError (a TypeError): the output is not a real scalar, or an input is of integers or
            bools. ValueError: an argnum names an argument that isn't there. UnsupportedError: the function
            uses something outside of the language; it says where, and what to write instead.

    The gradient is computed in reverse mode (A. Griewank and A. Walther, Evaluating Derivatives, SIAM 2008,
    chapter 3), from the source of the function.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> cr.grad(lambda x: np.sum(x ** 2))(np.array([1.0, 2.0]))
    array([2., 4.])
    >>> @cr.grad
    ... def slope(x):
    ...     return x ** 3
    >>> slope(2.0)
    12.0
    """
    return decorator(Gradient, function, argnums, has_aux)


def value_and_grad(
    function: Callable | None = None, argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Any:
    """The function that computes a scalar function's value and its gradient together.

    Args:
        function: returns one real floating-point scalar, or (scalar, anything) with `has_aux`.
        argnums: which positional arguments to differentiate by.
        has_aux: whether the function returns a second value, which is passed on undifferentiated.

    Returns:
        A function that returns (value, gradient), or ((value, aux), gradient) with `has_aux`.

    Raises:
        What `grad` raises.

    >>> import chainrule as cr
    >>> cr.value_and_grad(lambda x, y: x * y * y, argnums=(0, 1))(3.0, 2.0)
    (12.0, (4.0, 12.0))
    """
    return decorator(Gradient, function, argnums, has_aux, True)


def jvp(function: Callable, primals: Sequence, tangents: Sequence, has_aux: bool = False) -> tuple:
    """The value of a function and its derivative along a direction (a Jacobian-vector product).

    Args:
        function: any function of the primals.
        primals: a tuple of its arguments.
        tangents: a tuple of directions, each of the structure, shapes and dtypes of its primal. The tangent
            of an integer is 0 (or None).
        has_aux: whether the function returns (value, aux), of which aux gets no derivative.

    Returns:
        (value, tangent of the value), with aux third under `has_aux`. The tangent of an integer result is 0.

    Raises:
        TypeMismatchError (a TypeError), ShapeMismatchError (a ValueError): a tangent does not fit its primal.

    Forward mode: Griewank and Walther, chapter 3.

    >>> import chainrule as cr
    >>> cr.jvp(lambda x, y: x * y, (3.0, 4.0), (1.0, 0.0))
    (12.0, 4.0)
    """
    return kept(Pushforward, function, has_aux)(primals, tangents)


def vjp(function: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """The value of a function, and the function from its cotangent to the cotangents of the arguments.

    The function runs once; the pullback may be called any number of times, and does not see later changes
    of the arrays that were the primals. It may be batched, compiled and differentiated: `vmap(pullback)`.

    Args:
        function: any function of the primals.
        primals: its arguments, of floating-point or complex dtypes.
        has_aux: whether the function returns (value, aux), of which aux gets no derivative.

    Returns:
        (value, pullback), with aux third under `has_aux`. `pullback(cotangent)` takes what has the structure,
        shapes and dtypes of the value, and returns a tuple with a cotangent for each primal.

    Raises:
        NotDifferentiableError (a TypeError): a primal is of integers or bools. The pullback raises
            TypeMismatchError (a TypeError) or ShapeMismatchError (a ValueError) where a cotangent does not
            fit.

    Complex cotangents are transposed without conjugation, as in JAX.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> value, pullback = cr.vjp(np.sin, 0.0)
    >>> float(value), pullback(2.0)
    (0.0, (2.0,))
    """
    return kept(ReverseMode, function, has_aux).pullback(primals)


def linearize(function: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """The value of a function, and its derivative at this point as a function of the tangents.

    The function runs once; the derivative uses what it computed. It may be batched, compiled and
    differentiated: `vmap(push)`.

    Args:
        function: any function of the primals.
        primals: its arguments, of floating-point or complex dtypes.
        has_aux: whether the function returns (value, aux), of which aux gets no derivative.

    Returns:
        (value, push), with aux third under `has_aux`. `push(*tangents)` takes a tangent for each primal and
        returns the tangent of the value.

    Raises:
        What `vjp` raises, of tangents.

    >>> import chainrule as cr
    >>> value, push = cr.linearize(lambda x: x ** 2, 3.0)
    >>> value, push(1.0), push(10.0)
    (9.0, 6.0, 60.0)
    """
    return kept(ForwardMode, function, has_aux).linear(primals)


def jacrev(function: Callable | None = None, argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Any:
    """The function that computes a Jacobian in reverse mode, a row at a time: for few outputs.

    Args:
        function: returns arrays or numbers of floating-point or complex dtypes, in any structure.
        argnums: which positional arguments to differentiate by.
        has_aux: whether the function returns (value, aux), of which aux gets no derivative.

    Returns:
        A function that returns the Jacobian: in the structure of the value, at each leaf the structure of the
        argument (a tuple of these for a sequence of argnums), at each leaf of that an array of shape
        output shape + input shape. With `has_aux`, (Jacobian, aux).

    Raises:
        NotDifferentiableError (a TypeError): an input or output is of integers or bools.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> cr.jacrev(lambda x: np.array([x[0] * x[1], x[1]]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [0., 1.]])
    """
    return decorator(Jacobian, function, argnums, has_aux, True)


def jacfwd(function: Callable | None = None, argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Any:
    """The function that computes a Jacobian in forward mode, a column at a time: for few inputs.

    Args:
        function: returns arrays or numbers of floating-point or complex dtypes, in any structure.
        argnums: which positional arguments to differentiate by.
        has_aux: whether the function returns (value, aux), of which aux gets no derivative.

    Returns:
        What `jacrev` returns.

    Raises:
        What `jacrev` raises.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> cr.jacfwd(lambda t: np.array([t, t ** 2]))(3.0)
    array([1., 6.])
    """
    return decorator(Jacobian, function, argnums, has_aux, False)


def hessian(function: Callable | None = None, argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Any:
    """The function that computes all second derivatives, forward over reverse.

    Args:
        function: returns an array or number of a floating-point dtype (for a scalar, the Hessian matrix).
        argnums: which positional arguments to differentiate by, twice.
        has_aux: whether the function returns (value, aux), of which aux gets no derivative.

    Returns:
        A function that returns an array of shape output shape + input shape + input shape; for arguments with
        structure, or a sequence of argnums, that structure within that structure. With `has_aux`,
        (Hessian, aux).

    Raises:
        What `jacrev` raises.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> cr.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 3.0]))
    array([[6., 2.],
           [2., 0.]])
    """
    return decorator(Hessian, function, argnums, has_aux)


def hvp(function: Callable, primals: Sequence, tangents: Sequence) -> Any:
    """The Hessian of a scalar function times a vector, at the cost of a few evaluations.

    Args:
        function: returns one real floating-point scalar.
        primals: a tuple of its arguments.
        tangents: a tuple with a direction for each.

    Returns:
        The product, in the structure of the argument; for several primals, a tuple with a part for each.

    Raises:
        What `grad` and `jvp` raise.

    Forward over reverse: B. Pearlmutter, Fast exact multiplication by the Hessian, Neural Computation 6
    (1994).

    >>> import numpy as np
    >>> import chainrule as cr
    >>> cr.hvp(lambda x: np.sum(x ** 3), (np.array([1.0, 2.0]),), (np.array([1.0, 0.0]),))
    array([6., 0.])
    """
    return kept(HessianVector, function)(primals, tangents)


inside(grad, lambda f=None, argnums=0, has_aux=False: decorator(Gradient, f, argnums, has_aux, fresh=True))
inside(
    value_and_grad,
    lambda f=None, argnums=0, has_aux=False: decorator(Gradient, f, argnums, has_aux, True, fresh=True),
)
inside(
    jacrev,
    lambda f=None, argnums=0, has_aux=False: decorator(Jacobian, f, argnums, has_aux, True, fresh=True),
)
inside(
    jacfwd,
    lambda f=None, argnums=0, has_aux=False: decorator(Jacobian, f, argnums, has_aux, False, fresh=True),
)
inside(hessian, lambda f=None, argnums=0, has_aux=False: decorator(Hessian, f, argnums, has_aux, fresh=True))
inside(
    jvp,
    lambda f, primals, tangents, has_aux=False: Pushforward(f, has_aux),
    lambda f, primals, tangents, has_aux=False: (primals, tangents),
)
inside(hvp, lambda f, primals, tangents: HessianVector(f), lambda f, primals, tangents: (primals, tangents))
inside(
    vjp,
    lambda f, *primals, has_aux=False: InnerReverse(f, has_aux),
    lambda f, *primals, has_aux=False: primals,
)
inside(
    linearize,
    lambda f, *primals, has_aux=False: Linearized(f, has_aux),
    lambda f, *primals, has_aux=False: primals,
)
