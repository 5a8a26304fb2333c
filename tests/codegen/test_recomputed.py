"""Values that cost less to compute again than to store have no array; the others have one."""

import sys
from pathlib import Path

import numpy as np
import pytest

from chainrule.codegen.core import Assign, walk

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "backends" / "numba"))
from programs import fused  # noqa: E402

X = np.random.default_rng(3).standard_normal((7, 5))
LATER, EARLIER = (slice(1, None),), (slice(None, -1),)


def arrays(made):
    return sum(isinstance(s, Assign) and s.primitive.name == "empty" for s in walk(made.body))


def difference(call, x):
    return call("subtract", call("getitem", x, LATER), call("getitem", x, EARLIER))


@pytest.mark.parametrize("primitive, count", [("negative", 1), ("exp", 2)])
def test_a_flux_is_stored_only_if_it_costs_much(primitive, count):
    made = fused(lambda call, x: difference(call, call(primitive, difference(call, x))), X)
    assert arrays(made) == count


def limited(call, x):
    flux = difference(call, x)
    test = call("greater", call("multiply", flux, flux), 1.0)
    return call("where", test, 0.0, flux), test


def test_a_limited_flux_is_stored_if_the_limit_is_too():
    def f(call, x):
        flux, test = limited(call, x)
        return difference(call, flux), test

    assert arrays(fused(lambda call, x: f(call, x)[0], X)) == 1
    assert arrays(fused(f, X)) == 3


def test_all_that_makes_a_flux_counts():
    def f(call, x, terms):
        flux = difference(call, x)
        for _ in range(terms):
            flux = call("add", call("multiply", flux, 0.5), 1.0)
        return difference(call, flux)

    assert [arrays(fused(lambda call, x: f(call, x, terms), X)) for terms in (2, 10)] == [1, 2]  # noqa: B023


def test_an_element_that_is_read_through_two_slices_counts_once():
    def f(call, x):
        for _ in range(4):
            x = call("add", call("multiply", x, 0.5), 1.0)
        return difference(call, difference(call, x))

    # Eight operations at i, i + 1 and i + 2: 16 more than in an array, of which two slices take i + 1.
    assert arrays(fused(f, X)) == 1


def test_what_fewer_loops_need_is_stored():
    def f(call, x):
        y = call("multiply", x, 2.0)
        return call("multiply", call("getitem", y, (slice(None), None)), call("getitem", y, (None,)))

    assert arrays(fused(f, X[0])) == 2
