"""Python's `max` and `min` of two numbers, and `int`, in compiled code."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from numba.core import types
from numba.cpython.builtins import do_minmax
from numba.extending import lower_builtin, type_callable

NUMBER = (types.Integer, types.Float, types.Boolean)


def largest(a, b): ...


def smallest(a, b): ...


def integer(number): ...


@type_callable(largest)
@type_callable(smallest)
def type_extreme(context: Any) -> Callable:
    def typer(a, b):
        known = isinstance(a, NUMBER) and isinstance(b, NUMBER)
        return context.unify_types(types.unliteral(a), types.unliteral(b)) if known else None

    return typer


@lower_builtin(largest, types.Any, types.Any)
def lower_largest(context: Any, builder: Any, signature: Any, arguments: tuple) -> Any:
    return do_minmax(context, builder, signature.args, arguments, operator.gt)


@lower_builtin(smallest, types.Any, types.Any)
def lower_smallest(context: Any, builder: Any, signature: Any, arguments: tuple) -> Any:
    return do_minmax(context, builder, signature.args, arguments, operator.lt)


@type_callable(integer)
def type_integer(context: Any) -> Callable:
    def typer(number):
        if not isinstance(number, NUMBER):
            return None
        of = types.unliteral(number)
        return of if isinstance(of, types.Integer) else types.int64

    return typer


@lower_builtin(integer, types.Any)
def lower_integer(context: Any, builder: Any, signature: Any, arguments: tuple) -> Any:
    return context.cast(builder, arguments[0], signature.args[0], signature.return_type)
