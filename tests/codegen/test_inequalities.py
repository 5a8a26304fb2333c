"""What is called impossible has no solution among small integers."""

import itertools

import numpy as np
import pytest

from chainrule.codegen.inequalities import Form, impossible

BOX = range(-3, 4)


def holds(form, point):
    return form.constant + sum(number * point[v] for v, number in form.terms.items()) >= 0


@pytest.mark.parametrize("seed", range(40))
def test_against_every_point(seed):
    rng = np.random.default_rng(seed)
    box = [form for v in "ijk" for form in (Form({v: 1}, 3), Form({v: -1}, 3))]
    found = set()
    for _ in range(20):
        system = [
            Form({v: int(n) for v, n in zip("ijk", rng.integers(-2, 3, 3)) if n}, int(rng.integers(-6, 4)))
            for _ in range(4)
        ]
        points = (dict(zip("ijk", point)) for point in itertools.product(BOX, repeat=3))
        possible = any(all(holds(form, point) for form in system) for point in points)
        found.add(possible)
        assert not (possible and impossible([*box, *system]))


def test_bounds_of_integers_are_tightened():
    i = Form({"i": 2}, -1)  # 2 i >= 1, hence i >= 1
    assert impossible([i, Form({"i": -3}, 2)])  # 3 i <= 2, hence i <= 0
    assert not impossible([i])
    assert not impossible([])


def test_many_inequalities_are_taken_to_be_possible():
    names = [f"v{k}" for k in range(12)]
    system = [Form({a: 1, b: -1, c: 1}, -1) for a, b, c in itertools.permutations(names, 3)]
    assert not impossible(system)
