"""Which writes and reads of one array may stand in one nest."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.codegen.core import Assign, walk

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "backends" / "numba"))
from programs import fused  # noqa: E402

R = np.random.default_rng(7)


def copies(made):
    names = [s.primitive.name for s in walk(made.body) if isinstance(s, Assign)]
    return names.count("copy") + names.count("empty")


def shifted(offset, margin):
    return slice(offset or None, offset - margin or None)


def additions(places, values):
    """A program that adds to parts of an array, shifted by rows."""

    def f(call, x, v):
        x, v = call("multiply", x, 2.0), call("getitem", v, (shifted(1, 2),))
        for place, value in zip(places, values):
            x = call("index_add", x, (shifted(place, 2),), call("multiply", v, value))
        return x

    return f


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=4),
    st.lists(st.floats(-2, 2), min_size=4, max_size=4),
    st.sampled_from([(3, 4), (7, 2), (2, 3), (1, 5), (1, 1)]),
)
def test_any_additions(places, values, shape):
    arguments = R.standard_normal((2, *shape))
    fused(additions(places, values), *arguments)
    fused(additions(places, values), *arguments, merge=False)


def test_an_addition_that_reads_what_was_added_to():
    def f(call, x, v):
        x = call("index_add", call("multiply", x, 2.0), (slice(None, -1),), v)
        return call("index_add", x, (slice(1, None),), call("getitem", x, (slice(None, -1),)))

    fused(f, R.standard_normal((5, 3)), R.standard_normal((4, 3)))


def test_a_version_in_between_that_is_a_result():
    def f(call, x, v):
        y = call("index_add", x, (slice(None, -1),), v)
        return y, call("index_add", y, (slice(1, None),), v)

    fused(f, R.standard_normal((5, 3)), R.standard_normal((4, 3)))


@pytest.mark.parametrize("read, alone", [(0, True), (1, False), (2, True), (-1, False), (-2, False)])
def test_a_column_written_while_another_is_read(read, alone):
    """Column 1 from another: in one nest, without a temporary, if the two cannot be the same."""

    def f(call, x):
        x = call("multiply", x, 2.0)
        value = call("getitem", x, (slice(None, None, -1), read))
        return call("setitem", x, (slice(None), 1), call("sin", value))

    made = fused(f, R.standard_normal((4, 3)))
    assert (copies(made) == 1) is alone


def test_columns_that_a_loop_counts():
    """Column j from column j - 1: they never meet, for j - 1 is not below zero."""
    import chainrule as cr

    def swept(p):
        for j in range(1, p.shape[1]):
            p[:, j] = 0.5 * p[::-1, j - 1] + p[:, j]
        return p

    p = R.standard_normal((4, 5))
    text = cr.source(cr.jit(swept), stage="loops")(p)
    assert "np.empty" not in text, text
    np.testing.assert_allclose(cr.jit(swept)(p.copy()), swept(p.copy()), rtol=1e-14)


def test_columns_that_may_be_the_same():
    """Column j from column j - 1 from the end of the array on."""
    import chainrule as cr

    def swept(p):
        for j in range(p.shape[1]):
            p[:, j] = 0.5 * p[::-1, j - 1] + p[:, j]
        return p

    for shape in ((4, 5), (3, 1)):
        p = R.standard_normal(shape)
        np.testing.assert_allclose(cr.jit(swept)(p.copy()), swept(p.copy()), rtol=1e-14)


def test_a_total_that_fills_an_array_as_long_as_what_is_summed():
    """The total is complete only after the nest that sums."""
    import chainrule as cr

    def filled(a, n):
        p = np.broadcast_to(np.sum(a), a.shape[0])
        q = np.full(a.shape[0], np.max(a))
        p = p.copy()
        for i in range(n):
            p[i] = q[i] + i
        return p, q

    a = R.standard_normal(5)
    for got, expected in zip(cr.jit(filled)(a, 2), filled(a, 2), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-14)
