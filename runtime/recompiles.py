"""Why a transformed function has more than one program: what was new in the signature of each."""

from __future__ import annotations

import types
from dataclasses import dataclass
from typing import Any

from ..codegen.specialise.places import Place, get_item
from .arguments import StaticKey


@dataclass(frozen=True)
class Making:
    """One program that was made: its signature, what of it must be known, and what outside had changed."""

    structure: Any
    leaves: tuple
    static: Any
    names: tuple[str, ...]
    known: dict[tuple[int, int | None], int]
    exact: bool
    changed: tuple[str, ...]


def making(names: list, key: Any, pins: frozenset, values: tuple, exact: bool, before: list) -> Making:
    """The record of a program that is made now; `before` are those of the same signature."""
    order = sorted(pins, key=lambda pin: (pin[0], -1 if pin[1] is None else pin[1]))
    named = tuple(name or f"argument {k + 1}" for k, name in enumerate(names))
    known = dict(zip(order, values, strict=True))
    return Making(key[0], key[1], key[2], named, known, exact, changed_outside(before))


def describe(history: list[Making], name: str, what: str) -> str:
    """All programs in the order in which they were made, and why."""
    if not history:
        return f"{name} has not been {what} yet"
    count = len(history)
    lines = [f"{name} was {what} {'once' if count == 1 else f'{count} times'}"]
    for k, making in enumerate(history):
        lines.append(f"{k + 1}. {signature(making)}")
        lines += [f"   {reason}" for reason in (why(making, history[:k]) if k else ())]
    return "\n".join(lines)


def signature(making: Making) -> str:
    pairs = zip(making.names, making.leaves, strict=True)
    shown = [f"{name}: {leaf_text(leaf)}" for name, leaf in pairs]
    shown += [f"{name} = {value}" for name, value in static_values(making.static).items()]
    shown += [f"{known_name(making, place)} = {value}" for place, value in making.known.items()]
    return ", ".join(shown) or "no arguments"


def static_values(static: Any) -> dict[str, str]:
    """The arguments that are part of the signature."""
    if static is None:
        return {}
    positions, keywords = static
    named = {f"argument {number}": value for number, value in positions} | dict(keywords)
    return {name: repr(value.value) for name, value in named.items()}


def leaf_text(leaf: Any) -> str:
    """An argument's part of the signature in words."""
    if isinstance(leaf, StaticKey):
        return f"{leaf.value!r}"
    if isinstance(leaf, type):
        return f"Python {leaf.__name__}"
    dtype, sizes, *contiguous = leaf
    if sizes == "scalar":
        return f"{dtype} scalar"
    text = f"{dtype}[{', '.join('n' if size == 2 else str(size) for size in sizes)}]"
    return text if contiguous == [True] else f"{text} not C-contiguous"


def known_name(making: Making, place: tuple[int, int | None]) -> str:
    """What is known of an argument: its value, or the size of an axis."""
    number, axis = place
    dynamic = [n for n, leaf in zip(making.names, making.leaves, strict=True) if not is_static(leaf)]
    return dynamic[number] if axis is None else f"{dynamic[number]}.shape[{axis}]"


def is_static(leaf: Any) -> bool:
    return isinstance(leaf, StaticKey)


def why(making: Making, before: list[Making]) -> list[str]:
    """What is different from the earlier program that it is most like."""
    return differences(making, min(reversed(before), key=lambda other: distance(making, other)))


def distance(now: Making, before: Making) -> int:
    """How many parts of two signatures differ."""
    nested = 0 if now.structure == before.structure else 100
    pairs = zip(now.leaves, before.leaves, strict=False)
    known = len(now.known.items() - before.known.items())
    return nested + sum(leaf_distance(*pair) for pair in pairs) + known


def leaf_distance(now: Any, before: Any) -> int:
    if isinstance(now, tuple) and isinstance(before, tuple) and len(now) == len(before):
        return sum(a != b for a, b in zip(now, before, strict=True))
    return 0 if now == before else 3


def differences(now: Making, before: Making) -> list[str]:
    given, other = (dict(zip(m.names, m.leaves, strict=True)) for m in (now, before))
    found = [f"{name} is given, and was not" for name in given if name not in other]
    found += [f"{name} is not given, and was" for name in other if name not in given]
    if now.structure != before.structure and not found:
        found = ["the arguments are nested in another way"]
    for name in given:
        if name in other and given[name] != other[name]:
            leaf, old = given[name], other[name]
            found.append(f"{name} is {leaf_text(leaf)}, and was {leaf_text(old)}{remark(leaf, old)}")
    statics = static_values(now.static), static_values(before.static)
    for name, value in statics[0].items():
        if statics[1].get(name) != value:
            found.append(f"the static {name} is {value}, and was {statics[1].get(name, 'not given')}")
    for place, value in now.known.items():
        if before.known.get(place, value) != value:
            name = known_name(now, place)
            found.append(f"{name} is {value}, and was {before.known[place]}: the program depends on it")
    if now.exact and not before.exact:
        found.append("two sizes differ that the program took to be equal: this one is for these sizes only")
    found += [f"{name} has changed" for name in now.changed]
    return found or ["more had to be known before the function runs than at the first call"]


def remark(now: Any, before: Any) -> str:
    """What is behind a difference in sizes that looks like none."""
    if not (isinstance(now, tuple) and isinstance(before, tuple) and len(now) == len(before) == 3):
        return ""
    alike = now[0] == before[0] and now[1] != before[1] and len(now[1]) == len(before[1])
    return " (sizes of 0 and 1 have programs of their own, for 1 broadcasts)" if alike else ""


def changed_outside(programs: list[Any]) -> tuple[str, ...]:
    """What these programs were made from that is no longer as it was."""
    found: dict[str, None] = {}
    for compiled in programs[:1]:
        for guard in compiled.guards:
            if not guard.holds():
                found[place_text(guard.fetch)] = None
        if not found:
            for capture, known in zip(compiled.captures, compiled.capture_types, strict=True):
                found[f"the type of {place_text(capture.fetch)}, which was {known},"] = None
    return tuple(found)


def place_text(place: Any) -> str:
    """A value outside of the function, as the user may call it."""
    if not isinstance(place, Place):
        return "something that the function reads from outside"
    root, steps = place.root, list(place.steps)
    if isinstance(root, dict) and "__name__" in root and steps:
        text, steps = f"{steps[0][1]}", steps[1:]
    elif isinstance(root, types.CellType):
        text, steps = "a variable of the enclosing function", steps[1:]
    elif steps and steps[0][1] == "__code__":
        return f"the code of {getattr(root, '__name__', root)}"
    else:
        text = getattr(root, "__name__", None) or f"the {type(root).__name__}"
    for step, key in steps:
        text += f"[{key!r}]" if step is get_item else f".{key}"
    return text
