"""Result dtypes found by asking NumPy: the function itself is run on an array of one element.

>>> from ..core import INT, ArrayType, Variable
>>> x = Variable("x", ArrayType(np.dtype("int8"), (INT, 3)))
>>> result_dtype(np.sum, x)
dtype('int64')
>>> result_dtype(np.linalg.inv, x)
dtype('float64')
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import Operand, type_of
from ..errors import Location, TypeMismatchError


def result_dtypes(function: Callable, *operands: Operand, location: Location | None = None,
                  **static: Any) -> tuple[np.dtype, ...]:
    """The dtypes of the results of a function, which must depend only on ranks, dtypes and `static`."""
    kinds = tuple((of.dtype, of.ndim, of.weak) for of in map(type_of, operands))
    try:
        return probe(function, kinds, tuple(sorted(static.items())))
    except (TypeError, np.linalg.LinAlgError) as error:
        raise TypeMismatchError(str(error), location=location) from None


def result_dtype(function: Callable, *operands: Operand, location: Location | None = None,
                 **static: Any) -> np.dtype:
    """The dtype of the only result of a function."""
    return result_dtypes(function, *operands, location=location, **static)[0]


@functools.cache
def probe(function: Callable, kinds: tuple, static: tuple) -> tuple[np.dtype, ...]:
    samples = [np.ones((1,) * rank, dtype).item() if weak else np.ones((1,) * rank, dtype)[()]
               for dtype, rank, weak in kinds]
    with np.errstate(all="ignore"):
        results = function(*samples, **dict(static))
    results = results if isinstance(results, tuple) else (results,)
    return tuple(np.asarray(result).dtype for result in results)
