"""Where a derivative differs from central differences: which argument, which element, by how much."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .arguments import flatten
from .derivatives import Pushforward
from .transformation import innermost


def found(
    function: Any, arguments: tuple, mode: str, cotangent: Any, bars: Any, difference: Callable, near: dict
) -> list[str]:
    """A line for each argument in which a derivative is off, about the element where it is most so."""
    leaves, structure = flatten(arguments)
    push = Pushforward(function)
    lines = []
    for place, (leaf, path) in enumerate(zip(leaves, structure.paths(), strict=True)):
        if np.asarray(leaf).dtype.kind not in "fc":
            continue
        worst = Worst(near)
        for index, direction in units(leaf):
            tangents = [direction if k == place else zero(other) for k, other in enumerate(leaves)]
            tangents = structure.unflatten(tangents)
            wanted = difference(tangents)
            if mode == "fwd":
                got = flatten(push(arguments, tangents)[1])[0]
                for number, (one, other) in enumerate(zip(got, wanted, strict=True)):
                    worst.compare(one, other, index, number)
            else:
                total = sum(np.sum(c * w) for c, w in zip(flatten(cotangent)[0], wanted, strict=True))
                bar = np.asarray(flatten(bars)[0][place])[index] * np.sum(direction)
                worst.compare(bar, total, index, None)
        if worst.off:
            several = len(wanted) > 1
            name = parameter_name(function, path)
            lines.append(worst.line(name, path[0], mode, several, np.ndim(leaf) > 0, cotangent))
    return lines


class Worst:
    """The greatest difference met so far."""

    def __init__(self, near: dict):
        self.near, self.off = near, 0.0

    def compare(self, got: Any, wanted: Any, index: tuple, number: int | None) -> None:
        got, wanted = np.asarray(got), np.asarray(wanted)
        with np.errstate(all="ignore"):
            off = np.where(
                np.isclose(got, wanted, **self.near), 0.0, np.nan_to_num(np.abs(got - wanted), nan=np.inf)
            )
        if off.size and off.max() > self.off:
            at = np.unravel_index(off.argmax(), off.shape)
            self.off, self.index, self.number, self.at = off.max(), index, number, tuple(map(int, at))
            self.got, self.wanted = got[at], wanted[at]

    def line(self, name: str, position: int, mode: str, several: bool, array: bool, cotangent: Any) -> str:
        element = f", element {shown(self.index)}" if array else ""
        text = f"argument {position} ({name}){element}: "
        if mode == "fwd":
            result = f"result {self.number}" if several else "the result"
            result += f", element {shown(self.at)}," if self.at else ""
            text += f"the derivative of {result} by it"
        else:
            text += "its cotangent" + ("" if is_one(cotangent) else " for a random cotangent of the result")
        return f"{text} is expected to be {self.wanted:.8g}, and is {self.got:.8g}"


def is_one(cotangent: Any) -> bool:
    leaves = flatten(cotangent)[0]
    return len(leaves) == 1 and np.ndim(leaves[0]) == 0 and leaves[0] == 1


def shown(index: tuple) -> str:
    return "[" + ", ".join(map(str, index)) + "]"


def units(leaf: Any) -> Iterator[tuple[tuple, Any]]:
    """Directions along one element of a leaf; along its imaginary part too."""
    dtype = np.asarray(leaf).dtype
    for index in np.ndindex(np.shape(leaf)):
        for step in (1, 1j) if dtype.kind == "c" else (1,):
            direction = np.zeros(np.shape(leaf), dtype)
            direction[index] = step
            yield index, type(leaf)(direction) if type(leaf) in (float, complex) else direction[()]


def zero(leaf: Any) -> Any:
    if np.asarray(leaf).dtype.kind not in "fc":
        return 0
    return type(leaf)(0) if type(leaf) in (float, complex) else np.zeros_like(leaf)[()]


def parameter_name(function: Any, path: tuple) -> str:
    """What an argument's leaf is called: its parameter, and the way to it."""
    try:
        parameters = list(inspect.signature(innermost(function)).parameters)
    except (TypeError, ValueError):
        parameters = []
    first, *rest = path
    name = parameters[first] if first < len(parameters) else f"argument {first}"
    return name + "".join(f"[{part!r}]" for part in rest)
