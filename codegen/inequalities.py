"""Whether linear inequalities between integers can hold together.

An inequality is a `Form`, read as `form >= 0`. Fourier and Motzkin's elimination: a variable goes by adding
each inequality that bounds it from below to each that bounds it from above (A. Schrijver, Theory of Linear
and Integer Programming, Wiley 1986, section 12.2).

>>> i, k = Form({"i": 1}), Form({"k": 1})
>>> impossible([i - k - 1, k - i])  # i > k and k >= i
True
>>> impossible([i - k - 1, k])
False
"""
from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from math import gcd

MOST = 200  # inequalities; more than so many are taken to be possible


@dataclass(frozen=True)
class Form:
    """A sum of integer variables times integers, and a constant."""

    terms: Mapping[Hashable, int] = field(default_factory=dict)
    constant: int = 0

    def plus(self, other: Form | int, factor: int = 1) -> Form:
        other = Form({}, other) if isinstance(other, int) else other
        terms = dict(self.terms)
        for variable, number in other.terms.items():
            terms[variable] = terms.get(variable, 0) + factor * number
        constant = self.constant + factor * other.constant
        return Form({v: number for v, number in terms.items() if number}, constant)

    def __add__(self, other: Form | int) -> Form:
        return self.plus(other)

    def __sub__(self, other: Form | int) -> Form:
        return self.plus(other, -1)

    def times(self, factor: int) -> Form:
        return Form({}, 0).plus(self, factor)

    def key(self) -> tuple[frozenset, int]:
        return frozenset(self.terms.items()), self.constant


def impossible(inequalities: Iterable[Form]) -> bool:
    """Whether no integers satisfy all of the inequalities; False also where that is not known."""
    system = bounded_twice([tightened(form) for form in inequalities])
    while True:
        if any(not form.terms and form.constant < 0 for form in system):
            return True
        system = [form for form in system if form.terms]
        if not system or len(system) > MOST:
            return False
        system = bounded_twice(list(without(cheapest(system), system).values()))


def bounded_twice(system: list[Form]) -> list[Form]:
    """Without the inequalities that hold for some value of a variable with no bound on its other side."""
    while True:
        below = {v for form in system for v, number in form.terms.items() if number > 0}
        above = {v for form in system for v, number in form.terms.items() if number < 0}
        if below == above:
            return system
        loose = below ^ above
        system = [form for form in system if loose.isdisjoint(form.terms)]


def tightened(form: Form) -> Form:
    """The same inequality, for integers, with the least factors."""
    divisor = gcd(*form.terms.values()) if form.terms else 1
    return Form({v: number // divisor for v, number in form.terms.items()}, form.constant // divisor)


def cheapest(system: list[Form]) -> Hashable:
    """The variable whose elimination leaves the fewest inequalities."""

    def products(variable: Hashable) -> int:
        numbers = [form.terms[variable] for form in system if variable in form.terms]
        below = sum(number > 0 for number in numbers)
        return below * (len(numbers) - below)

    return min(dict.fromkeys(v for form in system for v in form.terms), key=products)


def without(variable: Hashable, system: list[Form]) -> dict[tuple, Form]:
    """What inequalities say of the other variables."""
    left = [form for form in system if variable not in form.terms]
    below = [form for form in system if form.terms.get(variable, 0) > 0]
    above = [form for form in system if form.terms.get(variable, 0) < 0]
    for one in below:
        for other in above:
            joined = one.times(-other.terms[variable]).plus(other, one.terms[variable])
            left.append(tightened(joined))
    return {form.key(): form for form in left}
