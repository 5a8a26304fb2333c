"""Values that are written and read later are read from where they were written."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.codegen.core import Assign, walk

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "backends" / "numba"))
from programs import fused  # noqa: E402

R = np.random.default_rng(11)
INNER = (slice(1, -1),)


def arrays(made):
    """How many arrays a program makes."""
    names = [s.primitive.name for s in walk(made.body) if isinstance(s, Assign)]
    return sum(names.count(name) for name in ("empty", "zeros", "copy"))


def stencil(call, x, y):
    """The value that y's inside gets is needed beside its neighbours."""
    y = call("multiply", y, 1.5)
    value = call("sin", call("getitem", x, INNER))
    y = call("setitem", y, INNER, value)
    around = call("add", call("getitem", y, (slice(None, -2),)), call("getitem", y, (slice(2, None),)))
    return call("subtract", around, call("multiply", value, 2.0)), y


@pytest.mark.parametrize("shape", [(7,), (3,), (2,), (1,), (4, 3)])
def test_a_stencil_stores_its_values_once(shape):
    made = fused(stencil, *R.standard_normal((2, *shape)))
    fused(stencil, *R.standard_normal((2, *shape)), merge=False)
    if shape[0] > 3:
        assert arrays(made) == 2  # y, and the first result


def test_a_value_that_is_a_result_is_an_array():
    def f(call, x, y):
        value = call("sin", call("getitem", x, INNER))
        y = call("setitem", call("multiply", y, 1.5), INNER, value)
        return value, call("add", call("getitem", y, (slice(None, -2),)), value)

    fused(f, *R.standard_normal((2, 6)))


def test_a_value_of_another_dtype_is_an_array():
    """What is written is rounded."""

    def f(call, x, y):
        value = call("sin", call("getitem", x, INNER))
        y = call("setitem", call("multiply", y, 1.5), INNER, value)
        return call("add", call("getitem", y, (slice(None, -2),)), value), y

    fused(f, R.standard_normal(6), R.standard_normal(6).astype(np.float32))


def test_a_value_that_is_broadcast_is_an_array():
    def f(call, x, y):
        value = call("sin", x)
        y = call("setitem", call("multiply", y, 1.5), INNER, value)
        return call("add", call("getitem", y, (slice(None, -2),)), value), y

    fused(f, R.standard_normal(3), R.standard_normal((6, 3)))
    fused(f, R.standard_normal(1), R.standard_normal((6, 3)))


def test_what_is_overwritten_before_it_is_read():
    def f(call, x, y):
        value = call("sin", call("getitem", x, INNER))
        y = call("setitem", call("multiply", y, 1.5), INNER, value)
        around = call("getitem", y, (slice(None, -2),))
        z = call("setitem", y, (slice(0, 2),), 0.0)
        return call("add", around, value), call("multiply", value, call("getitem", z, INNER)), z

    fused(f, *R.standard_normal((2, 6)))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.booleans()), min_size=1, max_size=4),
    st.sampled_from([(3,), (7,), (5, 2), (2,), (1,)]),
)
def test_any_sweeps(steps, shape):
    """Each reads the values of the one before, and what was written around them."""

    def f(call, x, y):
        x, y = call("multiply", x, 2.0), call("add", y, 1.0)
        value = call("getitem", x, INNER)
        for left, right, swap in steps:
            shifted = (call("getitem", x, (slice(k or None, k - 2 or None),)) for k in (left, right))
            value = call("add", call("multiply", next(shifted), 0.5), call("subtract", value, next(shifted)))
            x = call("setitem", x, INNER, value)
            x, y = (y, x) if swap else (x, y)
        return x, y, call("multiply", value, 3.0)

    fused(f, *R.standard_normal((2, *shape)))
