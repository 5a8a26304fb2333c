"""Branches and loops: cond, switch, select, while_loop, fori_loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..codegen.compositions.known import require_equal
from ..codegen.errors import ShapeMismatchError, TypeMismatchError
from ..runtime import carries
from ..runtime.agreement import agreed, agreement, refuse, settled

_NO_OPERAND = object()


def cond(
    pred: Any, true_fun: Callable, false_fun: Callable, *operands: Any, operand: Any = _NO_OPERAND
) -> Any:
    """What `true_fun(*operands)` returns where `pred` holds, and else what `false_fun(*operands)` returns.

    Args:
        pred: a bool or number. Only the function that it chooses runs.
        true_fun, false_fun: functions of the operands, which return one structure, with the same shapes and
            dtypes.
        operands: any trees of arrays and numbers.
        operand: in place of `operands`, a single one.

    Returns:
        The result of the function chosen.

    Raises:
        TypeMismatchError (a TypeError), ShapeMismatchError (a ValueError): inside a program, the functions
            return different structures, shapes or dtypes.

    >>> import chainrule as cr
    >>> root = lambda x: cr.lax.cond(x > 0, lambda x: x ** 0.5, lambda x: 0.0 * x, x)
    >>> cr.grad(root)(4.0), cr.grad(root)(-4.0)
    (0.25, 0.0)
    """
    if operand is not _NO_OPERAND:
        operands = (operand,)
    agreed_on = agreement("cond")
    if _scalar(pred, "cond", "its condition"):
        result = agreed(agreed_on, true_fun(*operands), "true_fun")
    else:
        result = agreed(agreed_on, false_fun(*operands), "false_fun")
    return settled(agreed_on, result)


def switch(index: Any, branches: Sequence[Callable], *operands: Any, operand: Any = _NO_OPERAND) -> Any:
    """What `branches[index](*operands)` returns; an index outside of the branches means the nearest of them.

    Args:
        index: an integer.
        branches: functions of the operands, which return one structure, with the same shapes and dtypes.
        operands: any trees of arrays and numbers.
        operand: in place of `operands`, a single one.

    Returns:
        The result of the branch chosen; no other runs.

    Raises:
        ValueError: there is no branch. Else what `cond` raises.

    >>> import chainrule as cr
    >>> branches = [lambda x: x, lambda x: x * x, lambda x: x * x * x]
    >>> [cr.grad(lambda x: cr.lax.switch(k, branches, x))(2.0) for k in (-1, 1, 7)]
    [1.0, 4.0, 12.0]
    """
    if operand is not _NO_OPERAND:
        operands = (operand,)
    if len(branches) == 0:
        refuse("switch needs at least one branch", "give it a list of functions", ShapeMismatchError)
    if not isinstance(_scalar(index, "switch", "its index"), (int, np.integer)):
        refuse(
            f"switch needs an index that is an integer, and was given a {type(index).__name__}",
            "convert it with int(...)",
            TypeMismatchError,
        )
    agreed_on = agreement("switch")
    return settled(agreed_on, _chosen(index, list(branches), 0, operands, agreed_on))


def _chosen(index: Any, branches: list, first: int, operands: tuple, agreed_on: Any) -> Any:
    """The result of one of `branches`, which are those from number `first` on."""
    if len(branches) == 1:
        return agreed(agreed_on, branches[0](*operands), f"branch {first}")
    half = len(branches) // 2
    if index < first + half:
        return _chosen(index, branches[:half], first, operands, agreed_on)
    return _chosen(index, branches[half:], first + half, operands, agreed_on)


def _scalar(value: Any, who: str, what: str) -> Any:
    """A value on which a branch or loop may turn."""
    if isinstance(value, (tuple, list, dict)) or value is None:
        refuse(
            f"{who} needs {what} to be a bool or number, and it is a {type(value).__name__}",
            "give a single value",
            TypeMismatchError,
        )
    if np.shape(value) != ():
        refuse(
            f"{who} needs {what} to be a bool or number, and it is an array of {np.ndim(value)} axes",
            "use np.any, np.all, select, or vmap over the examples",
            ShapeMismatchError,
        )
    return value


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """Elements of `on_true` where `pred` holds, of `on_false` elsewhere: both are computed before.

    Args:
        pred: a bool, or an array of bools of the same shape as the others.
        on_true, on_false: arrays of one shape and dtype.

    Returns:
        An array of that shape and dtype.

    Raises:
        TypeMismatchError (a TypeError): the dtypes differ, or `pred` is not of bools. ShapeMismatchError (a
            ValueError): the shapes differ.

    >>> from chainrule import lax
    >>> lax.select(np.array([True, False]), np.array([1, 2]), np.array([3, 4]))
    array([1, 4])
    """
    pred, on_true, on_false = np.asarray(pred), np.asarray(on_true), np.asarray(on_false)
    if pred.dtype != bool:
        refuse(
            f"select needs bools to select by, and was given {pred.dtype}",
            "compare: pred != 0",
            TypeMismatchError,
        )
    if on_true.dtype != on_false.dtype:
        refuse(
            f"select needs two arrays of one dtype, and was given {on_true.dtype} and {on_false.dtype}",
            "convert one of them with .astype(...)",
            TypeMismatchError,
        )
    if on_true.ndim != on_false.ndim or pred.ndim > 0 and pred.ndim != on_true.ndim:
        refuse(
            f"select needs arrays of one shape, and was given arrays of {pred.ndim}, {on_true.ndim} and "
            f"{on_false.ndim} axes",
            "use np.where, which broadcasts",
            ShapeMismatchError,
        )
    for axis in range(on_true.ndim):
        require_equal(on_true.shape[axis], on_false.shape[axis], "select needs arrays of one shape")
        if pred.ndim > 0:
            require_equal(pred.shape[axis], on_true.shape[axis], "select needs arrays of one shape")
    return np.where(pred, on_true, on_false)


def while_loop(cond_fun: Callable, body_fun: Callable, init_val: Any) -> Any:
    """The value after `while cond_fun(value): value = body_fun(value)`.

    Args:
        cond_fun: gives a bool for a value.
        body_fun: gives the next value, of the same structure, shapes and dtypes.
        init_val: the first value: any tree of arrays and numbers. A Python number in it may be of an exacter
            type after the first step.

    Returns:
        The last value.

    Raises:
        TypeMismatchError (a TypeError), ShapeMismatchError (a ValueError): `body_fun` returns another
            structure, shape or dtype than it is given.

    It is differentiated in forward and in reverse mode, however often it runs.

    >>> import chainrule as cr
    >>> def root(a):
    ...     return cr.lax.while_loop(lambda x: abs(x * x - a) > 1e-9, lambda x: 0.5 * (x + a / x), a)
    >>> round(cr.grad(root)(2.0), 6)
    0.353553
    """
    value = carries.started(lambda _, value: body_fun(value), init_val, "while_loop", "body_fun")
    while _scalar(cond_fun(value), "while_loop", "what cond_fun returns"):
        value = carries.continued(value, body_fun(value), "while_loop", "body_fun")
    return value


def fori_loop(
    lower: Any, upper: Any, body_fun: Callable, init_val: Any, *, unroll: int | bool | None = None
) -> Any:
    """The value after `for i in range(lower, upper): value = body_fun(i, value)`.

    Args:
        lower, upper: integers; they need not be known before the loop runs.
        body_fun: gives the next value for (i, value), of the same structure, shapes and dtypes.
        init_val: the first value: any tree of arrays and numbers.
        unroll: how many steps one iteration of the program's loop takes; True: all of them, if `lower` and
            `upper` are known.

    Returns:
        The last value.

    Raises:
        What `while_loop` raises.

    It is differentiated in forward and in reverse mode.

    >>> import chainrule as cr
    >>> cr.grad(lambda x: cr.lax.fori_loop(0, 3, lambda i, y: y * x, 1.0))(2.0)
    12.0
    """
    value = carries.started(body_fun, init_val, "fori_loop", "body_fun")
    advance = lambda i, value: carries.continued(value, body_fun(i, value), "fori_loop", "body_fun")
    return repeated(advance, value, lower, upper, 1, unroll)


def repeated(
    advance: Callable, carry: Any, first: Any, end: Any, sign: int, unroll: int | bool | None
) -> Any:
    """`carry = advance(k, carry)` for the numbers k from `first` on up or down, before `end`."""
    together, middle = 1, end
    if unroll is not None and unroll is not False and unroll != 1:
        count = max(sign * (end - first), 0)
        together = max(carries.known_count(count), 1) if unroll is True else unroll
        if together < 1:
            refuse(f"unroll must be at least 1, and is {together}", "leave it out", ShapeMismatchError)
        middle = first + sign * (count - count % together)
    for k in range(first, middle, sign * together):
        for i in tuple(range(together)):
            carry = advance(k + sign * i, carry)
    if together > 1:
        for k in range(middle, end, sign):
            carry = advance(k, carry)
    return carry


__all__ = ["cond", "fori_loop", "select", "switch", "while_loop"]
