"""What is known of sums of sizes: that (n + m) - n is m, and that n is at most n + m.

>>> from . import primitives
>>> from .build import Builder
>>> from .core import INT
>>> b, n, m = Builder(), Variable("n", INT), Variable("m", INT)
>>> total = b.dimension_add(b.dimension_add(n, m), 1)
>>> linear_form(b, total)
({n: 1, m: 1}, 1)
>>> b.dimension_subtract(total, n) is b.dimension_add(m, 1)
True
"""
from __future__ import annotations

from .core import Dimension, Variable


def linear_form(builder, size: Dimension) -> tuple[dict[Variable, int], int]:
    """A size as coefficients of variables and a constant, looking through what it was added up from.

    A size may be found equal to a sum that was made from it, which is then a variable of its own.
    """
    terms: dict[Variable, int] = {}
    constant = 0
    waiting: list[tuple[Dimension, int, tuple]] = [(size, 1, ())]
    while waiting:
        size, factor, sums = waiting.pop(0)
        size = builder.representative(size)
        if not isinstance(size, Variable):
            constant += factor * int(size)
            continue
        made = builder.definitions.get(size) if size not in sums else None
        sums = (*sums, size)
        match made and made.primitive.name:
            case "add":
                waiting[:0] = [(o, factor, sums) for o in made.operands]
            case "subtract":
                waiting[:0] = [(made.operands[0], factor, sums), (made.operands[1], -factor, sums)]
            case "negative":
                waiting.insert(0, (made.operands[0], -factor, sums))
            case "multiply" if any(type(o) is int for o in made.operands):
                number, other = made.operands if type(made.operands[0]) is int else made.operands[::-1]
                waiting.insert(0, (other, factor * number, sums))
            case _:
                terms[size] = terms.get(size, 0) + factor
    return {v: c for v, c in terms.items() if c}, constant


def difference(builder, a: Dimension, b: Dimension) -> tuple[dict[Variable, int], int]:
    """The linear form of a - b."""
    terms, constant = linear_form(builder, a)
    other, less = linear_form(builder, b)
    for variable, factor in other.items():
        terms[variable] = terms.get(variable, 0) - factor
    return {v: c for v, c in terms.items() if c}, constant - less


def least(builder, form: tuple[dict[Variable, int], int]) -> int | None:
    """A number that a linear form is known not to fall below, or None."""
    terms, total = form
    for variable, factor in terms.items():
        bound = builder.lower_bound(variable)
        if bound is None or factor < 0:
            return None
        total += factor * bound
    return total


def at_most(builder, a: Dimension, b: Dimension) -> bool:
    """Whether a <= b is known."""
    bound = least(builder, difference(builder, b, a))
    return bound is not None and bound >= 0
