"""One row of the bench: a NumPy function, its arguments at two sizes, and where its counterparts are."""
from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Row:
    """A function to measure.

    The counterparts are found by the function's name: in the module NAME_jax a function of that name (the
    best formulation) and one with `_port` behind it (a literal port), in NAME_hand the adjoint by hand,
    which takes the cotangent before the arguments. The counterparts of a row's own derivative have its
    name, and take the arguments alone.

    Args:
        function: plain NumPy; returns one array or number. It may write into its arguments.
        arguments: makes its arguments, from a random generator and one of the sizes.
        sizes, quick: the sizes that are measured, and small ones.
        argnums: the arguments to differentiate by.
        name: where it differs from the function's.
        autograd: whether the function stays within what Autograd can differentiate.
        derivative: what is measured instead of the gradient of the output times the cotangent: a function of
            the same arguments, such as one that returns the blocks of a sparse Jacobian.
        why: what stands in the way where the row is slower than it should be.
    """

    function: Callable
    arguments: Callable[..., tuple]
    sizes: tuple
    quick: tuple
    argnums: tuple[int, ...]
    name: str = ""
    autograd: bool = False
    derivative: Callable | None = None
    why: str = ""

    @property
    def title(self) -> str:
        return self.name or self.function.__name__

    def make(self, quick: bool) -> tuple[Any, tuple]:
        """A fixed random cotangent and the arguments."""
        rng = np.random.default_rng(2718)
        arguments = self.arguments(rng, *(self.quick if quick else self.sizes))
        value = self.function(*copied(arguments))
        if np.ndim(value) == 0:
            return 1.0, arguments
        return rng.standard_normal(value.shape).astype(value.dtype), arguments

    def counterpart(self, kind: str, suffix: str = "", of: Callable | None = None) -> Callable | None:
        """What has the name of the row's function, or `of`, in the module of that kind; or None."""
        name = f"{self.function.__module__}_{kind}"
        if importlib.util.find_spec(name) is None:
            return None
        return getattr(importlib.import_module(name), (of or self.function).__name__ + suffix, None)

    def by_hand(self) -> Callable | None:
        """The derivative by hand, called with the cotangent and the arguments, or None."""
        found = self.counterpart("hand", of=self.derivative)
        if found is None or self.derivative is None:
            return found
        return lambda cotangent, *arguments: found(*arguments)

    def with_numpy(self, numpy: ModuleType) -> Callable:
        """The function with its module's `np` replaced, as Autograd wants it."""
        spec = importlib.util.find_spec(self.function.__module__)
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(spec.name, module)
        spec.loader.exec_module(module)
        module.np = numpy
        return getattr(module, self.function.__name__)


def copied(arguments: tuple) -> tuple:
    """The arguments with arrays of their own, for functions that write into them."""
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)


def objective(function: Callable, numpy: ModuleType = np) -> Callable:
    """The scalar function whose gradient is measured: output times cotangent, summed."""

    def total(cotangent, *arguments):
        return numpy.sum(function(*arguments) * cotangent)

    return total
