"""Loops over rows go around the loops that they were in, where that gives the same, and only there."""

import ast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as cr
from chainrule.codegen.parse import parse_text

R = np.random.default_rng(3)
SIZES = [(4, 5, 6), (1, 5, 6), (4, 1, 6), (4, 5, 1), (0, 3, 4), (3, 4, 2), (2, 2, 0)]


def nests(call, *arguments):
    """The loops of the program as they are nested, upwards or downwards: `[("up", [("down", [])]), ...]`."""

    def within(body):
        return [
            ("up" if len(one.iter.args) < 3 else "down", within(one.body))
            for one in body
            if isinstance(one, ast.For)
        ]

    (function,) = (
        node
        for node in ast.parse(cr.source(call, stage="loops")(*arguments)).body
        if isinstance(node, ast.FunctionDef)
    )
    return within(function.body)


def agrees(function, *arguments):
    """The compiled function gives what NumPy gives."""
    expected = function(*(a.copy() for a in arguments))
    np.testing.assert_allclose(cr.jit(function)(*arguments), expected, rtol=1e-13, atol=1e-13)


def gradient_agrees(function, *arguments):
    """The gradient by the first argument is what central differences say."""
    weights = np.random.default_rng(8).standard_normal(np.shape(function(*(a.copy() for a in arguments))))

    def weighted(*arguments):
        return np.sum(function(*arguments) * weights)

    x, *others = arguments
    found, expected = cr.jit(cr.grad(weighted))(x, *others), np.zeros_like(x)
    for place in np.ndindex(x.shape):
        ends = []
        for step in (1e-5, -1e-5):
            moved = x.copy()
            moved[place] += step
            ends.append(weighted(moved, *(o.copy() for o in others)))
        expected[place] = (ends[0] - ends[1]) / 2e-5
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def running(x):
    y = np.zeros_like(x)
    for k in range(x.shape[2] - 2, -1, -1):
        y[:, :, k] = 0.5 * y[:, :, k + 1] + np.sin(x[:, :, k])
    return y


@pytest.mark.parametrize("shape", SIZES)
def test_a_recurrence_along_the_last_axis(shape):
    agrees(running, R.standard_normal(shape))
    gradient_agrees(running, R.standard_normal(shape))


def test_the_rows_are_outside():
    assert nests(running, np.ones((3, 4, 5))) == [("up", [("down", [("up", [])])])]


def test_nests_over_the_same_rows_are_joined():
    """Forwards, backwards, and what is before and after."""

    def swept(x):
        y = np.empty_like(x)
        y[:, :, 0] = x[:, :, 0] ** 2
        for k in range(1, x.shape[2]):
            y[:, :, k] = y[:, :, k - 1] * x[:, :, k]
        for k in range(x.shape[2] - 2, -1, -1):
            y[:, :, k] -= 0.3 * y[:, :, k + 1]
        return 2 * y

    assert len(nests(swept, np.ones((3, 4, 5)))) == 1
    agrees(swept, R.standard_normal((3, 4, 5)))
    gradient_agrees(swept, R.standard_normal((3, 4, 5)))


def test_rows_that_need_their_neighbours_stay_inside():
    def spread(x):
        for k in range(1, x.shape[2]):
            x[1:, :, k] += x[:-1, :, k - 1]
        return x

    assert nests(spread, np.ones((3, 4, 5))) == [("up", [("up", [("up", [])])])]
    agrees(spread, R.standard_normal((4, 3, 5)))
    gradient_agrees(spread, R.standard_normal((4, 3, 5)))


def test_a_loop_over_the_first_axis_stays_outside():
    def steps(x):
        for k in range(x.shape[0] - 2, -1, -1):
            x[k] += 0.1 * x[k + 1] * x[k]
        return x

    assert nests(steps, np.ones((3, 4, 5)))[0][0] == "down"
    agrees(steps, R.standard_normal((5, 3, 4)))


def test_numbers_that_a_loop_carries_keep_it_outside():
    def scaled(x):
        total = 1.0
        for k in range(x.shape[2]):
            x[:, :, k] *= total
            total = total * 0.5 + k
        return x

    agrees(scaled, R.standard_normal((3, 4, 5)))
    gradient_agrees(scaled, R.standard_normal((3, 4, 5)))


def between(x, y):
    """Each row of the result is made of two of x."""
    last = x.shape[2] - 1
    out = np.empty_like(y)
    out[:, :, last] = (x[1:, :, last] + x[:-1, :, last]) * y[:, :, last]
    for k in range(last - 1, -1, -1):
        out[:, :, k] = (x[1:, :, k] * x[:-1, :, k]) * y[:, :, k] + out[:, :, k + 1]
    return out


def test_rows_that_are_added_to_by_their_neighbours():
    """The cotangent of x begins with what is written into zeros: the neighbour has to find it there."""
    x, y = R.standard_normal((5, 3, 4)), R.standard_normal((4, 3, 4))
    gradient = cr.grad(lambda x, y: np.sum(between(x, y) ** 2))
    assert len(nests(gradient, x, y)) == 1
    gradient_agrees(between, x, y)


def test_an_array_of_a_turn_that_the_next_turn_reads():
    def delayed(x):
        held, out = np.zeros((x.shape[0], x.shape[1])), np.empty_like(x)
        for k in range(x.shape[2]):
            out[:, :, k] = held
            held[:] = x[:, :, k] * 2
        return out

    agrees(delayed, R.standard_normal((3, 4, 5)))
    gradient_agrees(delayed, R.standard_normal((3, 4, 5)))


CUTS = {-1: slice(0, -2), 0: slice(1, -1), 1: slice(2, None)}
WHERE = st.tuples(st.sampled_from([-1, 0, 1]), st.sampled_from([-1, 0, 1]), st.sampled_from([-1, 0, 1]))
STEP = st.tuples(st.sampled_from("xyz"), WHERE, st.sampled_from("xyz"), WHERE, st.booleans())


@settings(max_examples=6, deadline=None)
@given(st.lists(STEP, min_size=1, max_size=4), st.booleans())
def test_shifted_rows(steps, down):
    lines = ["def f(x, y, z):", f"    for k in range({'4, 0, -1' if down else '1, 5'}):"]
    for target, (a, b, c), source, (d, e, g), adds in steps:
        place = lambda one, a, b, c: f"{one}[CUTS[{a}], CUTS[{b}], k + {c}]"
        value = f"0.5 * {place(source, d, e, g)}"
        lines.append(f"        {place(target, a, b, c)} {'+=' if adds else '='} {value}")
    text = "\n".join([*lines, "    return x + y + z"])
    f = parse_text(text, {"CUTS": CUTS, "np": np})
    x, y, z = R.standard_normal((3, 4, 4, 6))
    agrees(f, x, y, z)
    gradient_agrees(f, x, y, z)
