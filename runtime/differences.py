"""Derivatives held against central differences, along random directions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..codegen.specialise.calls import call
from .arguments import flatten
from .derivatives import Pushforward
from .disagreements import found
from .pullbacks import InnerReverse
from .transformation import Transformation


class Along(Transformation):
    """The derivative of a function along fixed tangents, as a function of its arguments."""

    def __init__(self, function: Any, tangents: tuple):
        super().__init__(function)
        self.tangents = tangents

    def expand(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        return Pushforward(self.function).expand(s, [tuple(arguments), self.tangents], keywords, node)[1]


class Against(Transformation):
    """The cotangents of a function's arguments for a fixed cotangent, as a function of its arguments."""

    def __init__(self, function: Any, cotangent: Any):
        super().__init__(function)
        self.cotangent = cotangent

    def expand(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        _, pullback = InnerReverse(self.function).expand(s, arguments, keywords, node)
        return call(s, pullback, [self.cotangent], {}, node)


def check(
    function: Any,
    arguments: tuple,
    order: int,
    modes: Iterable[str],
    atol: float | None,
    rtol: float | None,
    eps: float | None,
    rng: Any,
) -> None:
    """Raise AssertionError where a derivative of an order up to `order` is not what differences say."""
    single = any(
        np.asarray(leaf).dtype.itemsize < (16 if np.iscomplexobj(leaf) else 8)
        for leaf in leaves_of(arguments)
    )
    near = {
        "atol": (1e-2 if single else 1e-5) if atol is None else atol,
        "rtol": (1e-2 if single else 1e-5) if rtol is None else rtol,
    }
    step = (1e-2 if single else 1e-5) if eps is None else eps
    tangents = random_like(rng, arguments)
    wanted = difference(function, arguments, tangents, step)
    for mode in modes:
        if mode == "fwd":
            derivative = Along(function, tangents)
            pairs = list(zip(leaves_of(derivative(*arguments)), wanted, strict=True))
        else:
            cotangent = random_like(rng, function(*copied(arguments)))
            derivative = Against(function, cotangent)
            bars = derivative(*arguments)
            pairs = [
                (
                    product(bars, tangents),
                    sum(np.sum(c * w) for c, w in zip(leaves_of(cotangent), wanted, strict=True)),
                )
            ]
        if not all(np.allclose(got, want, **near, equal_nan=True) for got, want in pairs):
            raise AssertionError(report(function, arguments, mode, derivative, pairs, near, step))
        if order > 1:
            check(derivative, arguments, order - 1, modes, atol, rtol, eps, rng)


def report(
    function: Any, arguments: tuple, mode: str, derivative: Any, pairs: list, near: dict, step: float
) -> str:
    """What is off: the mode, and each argument with the element in which it is most so."""
    cotangent = bars = None
    if mode == "rev":
        cotangent = one_like(derivative.cotangent)
        bars = Against(function, cotangent)(*arguments)
    along = lambda tangents: difference(function, arguments, tangents, step)
    lines = found(function, arguments, mode, cotangent, bars, along, near)
    if not lines:
        got, want = next(pair for pair in pairs if not np.allclose(*pair, **near, equal_nan=True))
        lines = [f"along a random direction: expected {want}, got {got}"]
    name = {"fwd": "forward", "rev": "reverse"}[mode]
    head = f"the derivative of {derivative.program_name()} in {name} mode is not what central differences say"
    orders = order_of(function)
    if orders:
        head += f" (differentiated before in {orders} mode)"
    return "\n".join([head, *lines])


def order_of(function: Any) -> str:
    """The modes in which a function has been differentiated so far."""
    modes = []
    while isinstance(function, (Along, Against)):
        modes.append("forward" if isinstance(function, Along) else "reverse")
        function = function.function
    return ", then ".join(reversed(modes))


def one_like(cotangent: Any) -> Any:
    """The cotangent 1, where there is one number."""
    leaves, structure = flatten(cotangent)
    if len(leaves) == 1 and np.ndim(leaves[0]) == 0 and np.asarray(leaves[0]).dtype.kind in "fc":
        return structure.unflatten([type(leaves[0])(1)])
    return cotangent


def leaves_of(tree: Any) -> list[Any]:
    return flatten(tree)[0]


def copied(tree: Any) -> Any:
    leaves, structure = flatten(tree)
    return structure.unflatten([np.array(leaf) if isinstance(leaf, np.ndarray) else leaf for leaf in leaves])


def random_like(rng: Any, tree: Any) -> Any:
    """A random direction; 0 for what has no derivative."""
    leaves, structure = flatten(tree)
    return structure.unflatten([random_leaf(rng, leaf) for leaf in leaves])


def random_leaf(rng: Any, leaf: Any) -> Any:
    dtype = np.asarray(leaf).dtype
    if dtype.kind not in "fc":
        return 0
    drawn = rng.standard_normal(np.shape(leaf))
    drawn = drawn + 1j * rng.standard_normal(np.shape(leaf)) if dtype.kind == "c" else drawn
    return type(leaf)(drawn) if type(leaf) in (float, complex) else np.asarray(drawn, dtype)[()]


def difference(function: Any, arguments: tuple, tangents: tuple, step: float) -> list[Any]:
    """The leaves of the derivative along the tangents, by central differences."""
    leaves, structure = flatten(arguments)
    directions = leaves_of(tangents)
    ends = []
    for sign in (step, -step):
        moved = [moved_by(leaf, sign, d) for leaf, d in zip(leaves, directions, strict=True)]
        ends.append(leaves_of(function(*structure.unflatten(moved))))
    return [
        (a - b) / (2 * step) if np.asarray(a).dtype.kind in "fc" else np.zeros(np.shape(a))
        for a, b in zip(*ends, strict=True)
    ]


def moved_by(leaf: Any, step: float, direction: Any) -> Any:
    """A leaf, moved; of the same kind and dtype."""
    moved = leaf + step * direction
    return moved if type(leaf) in (float, complex) else np.asarray(moved, np.asarray(leaf).dtype)[()]


def product(bars: Any, tangents: Any) -> Any:
    return sum(np.sum(b * t) for b, t in zip(leaves_of(bars), leaves_of(tangents), strict=True))
