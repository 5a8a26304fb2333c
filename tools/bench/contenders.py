"""The ways to compute one row: each a call without arguments, ready to be timed."""
from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import chainrule as cr

from .row import Row, copied, objective


def installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def positions(row: Row) -> tuple[int, ...]:
    """The row's argnums behind the cotangent."""
    return tuple(1 + k for k in row.argnums)


def measured_derivative(row: Row) -> Callable:
    """What chainrule is measured with: a function of the cotangent and the arguments."""
    if row.derivative is not None:
        return lambda cotangent, *arguments: row.derivative(*arguments)
    return cr.grad(objective(row.function), argnums=positions(row))


def chainrule_calls(row: Row, cotangent: Any, arguments: tuple) -> dict[str, Callable]:
    primal = InPlace(cr.jit(row.function), own_arrays(row, arguments))
    gradient = cr.jit(measured_derivative(row))
    return {"primal": primal, "gradient": lambda: gradient(cotangent, *arguments)}


@dataclass(frozen=True)
class InPlace:
    """A call of a function that may write into its arguments, of which it is given copies."""

    function: Callable
    arguments: Callable[[], tuple]

    def prepared(self) -> Callable:
        """One call, whose copies are made."""
        return partial(self.function, *self.arguments())

    def __call__(self) -> Any:
        return self.prepared()()


def own_arrays(row: Row, arguments: tuple) -> Callable[[], tuple]:
    """What gives the arguments for one call of the row's function: those that it writes into are copies."""
    given = copied(arguments)
    row.function(*given)
    pairs = zip(arguments, given, strict=True)
    written = [isinstance(a, np.ndarray) and not np.array_equal(a, b, equal_nan=True) for a, b in pairs]
    return lambda: tuple(a.copy() if is_written else a for a, is_written in zip(arguments, written))


def hand_calls(row: Row, cotangent: Any, arguments: tuple) -> dict[str, Callable]:
    by_hand = row.by_hand()
    return {} if by_hand is None else {"hand_gradient": lambda: by_hand(cotangent, *arguments)}


def jax_calls(row: Row, cotangent: Any, arguments: tuple, ports: bool) -> dict[str, Callable]:
    """Whatever JAX formulations the row has, jitted, on arrays that are JAX's already."""
    if not installed("jax"):
        return {}
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    static = tuple(k for k, a in enumerate(arguments) if isinstance(a, int))
    moved = tuple(jax.numpy.asarray(a) if isinstance(a, np.ndarray) else a for a in arguments)
    weight = jax.numpy.asarray(cotangent)

    def calls(function, name, suffix=""):
        primal = jax.jit(function, static_argnums=static)
        total = jax.grad(objective(function, jax.numpy), argnums=positions(row))
        if row.derivative is not None:
            derivative = row.counterpart("jax", suffix, of=row.derivative)
            total = lambda cotangent, *arguments: derivative(*arguments)
        gradient = jax.jit(total, static_argnums=tuple(1 + k for k in static))
        return {
            f"{name}_primal": lambda: jax.block_until_ready(primal(*moved)),
            f"{name}_gradient": lambda: jax.block_until_ready(gradient(weight, *moved)),
        }

    found = {}
    if best := row.counterpart("jax"):
        found |= calls(best, "jax")
    if ports and (port := row.counterpart("jax", "_port")):
        found |= calls(port, "jax_port", "_port")
    return found


def autograd_calls(row: Row, cotangent: Any, arguments: tuple) -> dict[str, Callable]:
    if not (row.autograd and installed("autograd")):
        return {}
    numpy = importlib.import_module("autograd.numpy")
    gradient = importlib.import_module("autograd").grad(
        objective(row.with_numpy(numpy), numpy), argnum=positions(row)
    )
    return {"autograd_gradient": lambda: gradient(cotangent, *arguments)}


def all_calls(row: Row, quick: bool, ports: bool) -> dict[str, Callable]:
    """Every contender of a row; those that are not installed are absent."""
    cotangent, arguments = row.make(quick)
    own = own_arrays(row, copied(arguments))
    found = chainrule_calls(row, cotangent, arguments) | hand_calls(row, cotangent, arguments)
    found |= jax_calls(row, cotangent, arguments, ports)
    if ports:
        found |= autograd_calls(row, cotangent, arguments)
        found["numpy_primal"] = InPlace(row.function, own)
    return found
