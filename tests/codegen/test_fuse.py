"""The loop program computes what the program does, with the loops and the memory that it should have."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.codegen.core import Assign, For, walk
from chainrule.codegen.printing import print_program

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "backends" / "numba"))
from programs import fused, program  # noqa: E402

from chainrule.backends.numba.emit import compiled_form  # noqa: E402

R = np.random.default_rng(3)
X, Y, V = R.standard_normal((4, 5)), R.random((4, 5)), R.standard_normal(5)


def loops(made):
    """The number of outermost loops."""
    return sum(isinstance(statement, For) for statement in made.body.statements)


def allocations(made):
    return [
        s for s in walk(made.body) if isinstance(s, Assign) and s.primitive.name in ("empty", "copy", "zeros")
    ]


def text(function, *arguments):
    return print_program(compiled_form(program(function, *arguments))).split("\n\n\n")[1]


def test_a_chain_is_one_loop_without_temporaries():
    made = fused(
        lambda call, x, y: call("sum", call("multiply", call("exp", call("negative", x)), y), axis=(0, 1)),
        X,
        Y,
    )
    assert loops(made) == 1 and not allocations(made)


def test_views_are_index_arithmetic():
    assert (
        text(
            lambda call, x: call(
                "add", call("getitem", x, (slice(None, -1),)), call("getitem", x, (slice(1, None),))
            ),
            V,
        )
        == """\
def f(x):
    difference = x.shape[0] - 1
    result = np.empty(difference)
    for i in range(difference):
        result[i] = x[i] + x[i + 1]
    return result
"""
    )


def test_several_results_share_a_nest():
    made = fused(
        lambda call, x, y: (
            call("add", x, y),
            call("multiply", x, y),
            call("sum", x, axis=(1,)),
            call("max", y, axis=(0, 1)),
        ),
        X,
        Y,
    )
    assert loops(made) == 1


def test_outer_work_is_done_outside():
    shown = text(
        lambda call, x, y: call("multiply", call("getitem", call("exp", x), (slice(None), None)), y), V[:4], X
    )
    assert shown.endswith("""\
    for i in range(n):
        exp = np.exp(x[i])
        for j in range(m):
            result[i, j] = exp * y[i, j]
    return result
""")


def test_inner_work_is_not_repeated():
    """exp of the row would run once for every row: it is stored."""
    made = fused(
        lambda call, x, y: call("multiply", call("getitem", call("exp", x), (None, slice(None))), y), V, X
    )
    assert loops(made) == 2


def test_the_untaken_side_is_not_computed():
    made = fused(lambda call, x: call("where", call("greater", x, 0.0), call("log", x), 0.0), X)
    shown = print_program(made)
    assert "if part > 0.0" in shown and "np.where" not in shown


def test_a_write_in_place():
    made = fused(
        lambda call, x: call(
            "setitem",
            call("multiply", x, 2.0),
            (slice(1, -1),),
            call("multiply", call("getitem", call("multiply", x, 2.0), (slice(1, -1),)), 3.0),
        ),
        V,
    )
    assert len(allocations(made)) == 1


def shifted(call, x):
    z = call("copy", x)
    return call("setitem", z, (slice(1, None),), call("getitem", z, (slice(None, -1),)))


def test_a_write_that_reads_its_neighbours_reads_old_values():
    fused(shifted, V)
    fused(lambda call, x: call("setitem", x, (slice(None, None, -1),), call("add", x, 1)), V)
    fused(lambda call, x: call("index_add", x, (slice(1, None),), call("getitem", x, (slice(None, -1),))), V)
    fused(
        lambda call, x, i: call("setitem", x, (i,), call("negative", call("getitem", x, (i,)))),
        V,
        np.array([0, 0, 3]),
    )


def test_what_is_read_before_a_write_stays_before():
    def f(call, x):
        z = call("copy", x)
        before = call("multiply", z, 2.0)
        after = call("setitem", z, (slice(1, 3),), 0.0)
        return call("add", before, after), call("sum", before, axis=(0,))

    fused(f, V)


def test_what_is_copied_as_a_whole_is_an_array():
    def f(call, x):
        u = call("multiply", x, 1.5)
        turned = call("getitem", call("multiply", u, u), (slice(None, None, -1),))
        w = call("setitem", call("copy", u), (0,), 2.0)
        total = call("sum", call("multiply", w, turned), axis=(0,))
        return total, call("setitem", turned, (0,), 0.0)

    fused(f, V)


def test_duplicate_indices_accumulate():
    fused(
        lambda call, x, i: call("index_add", x, (i,), call("multiply", call("getitem", x, (i,)), 2)),
        V,
        np.array([1, 1, -1]),
    )


@pytest.mark.parametrize("axis", [(0,), (1,), (2,), (0, 2), (0, 1, 2), (1, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(axis, keepdims):
    x = R.standard_normal((2, 3, 4))
    fused(
        lambda call, x: tuple(
            call(name, call("sin", x), axis=axis, keepdims=keepdims) for name in ("sum", "prod", "max", "min")
        ),
        x,
    )


def test_nan_and_first_position():
    x = np.array([[1.0, np.nan, 2.0, np.nan], [3.0, 1.0, 3.0, -np.inf], [-np.inf] * 4])
    fused(
        lambda call, x: tuple(
            call(name, x, axis=axis, keepdims=False) for name in ("argmax", "argmin") for axis in (0, 1)
        ),
        x,
    )
    fused(lambda call, x: (call("max", x, axis=(1,)), call("min", x, axis=(0,))), x)


class Writer:
    """Draws a program step by step; `pool` holds arrays by shape."""

    def __init__(self, data, call, arrays):
        self.data, self.call, self.pool = data, call, list(arrays)

    def pick(self):
        return self.data.draw(st.sampled_from(self.pool))

    def like(self, x):
        fits = [y for y in self.pool if self.fits(x, y)]
        return self.data.draw(st.sampled_from(fits))

    def fits(self, x, y):
        def size(n):
            return n if isinstance(n, int) else id(n)

        a, b = [list(map(size, z.type.shape)) for z in (x, y)]
        return all(m == n or 1 in (m, n) for m, n in zip(a[::-1], b[::-1]))

    def step(self):
        call, x = self.call, self.pick()
        kind = self.data.draw(
            st.sampled_from("unary binary slice turn reduce spread write where store".split())
        )
        rank = x.type.ndim
        if kind == "unary":
            return call(
                self.data.draw(st.sampled_from(["sin", "exp", "negative", "absolute"])), call("tanh", x)
            )
        if kind == "binary":
            return call(self.data.draw(st.sampled_from(["add", "multiply", "maximum"])), x, self.like(x))
        if kind == "where":
            y = self.like(x)
            return call("where", call("greater", x, 0.1), call("tanh", x), y)
        if kind == "slice" and rank:
            part = self.data.draw(st.sampled_from([slice(1, None), slice(None, -1), slice(None, None, -1)]))
            return call("getitem", x, (slice(None),) * (rank - 1) + (part,))
        if kind == "turn" and rank == 2:
            return call("transpose", x, axes=(1, 0))
        if kind == "reduce" and rank:
            axis = self.data.draw(st.integers(0, rank - 1))
            return call("sum", x, axis=(axis,), keepdims=self.data.draw(st.booleans()))
        if kind == "spread" and rank == 1:
            return call("getitem", x, (slice(None), None))
        if kind == "write" and rank:
            y = self.like(x)
            if self.call("add", x, y).type.shape == x.type.shape and y.type.ndim <= rank:
                return call(
                    self.data.draw(st.sampled_from(["setitem", "index_add"])), x, (slice(None),) * rank, y
                )
        if kind == "store" and rank:
            part = (slice(None),) * (rank - 1) + (slice(1, None),)
            other = (slice(None),) * (rank - 1) + (slice(None, -1),)
            if not isinstance(x.type.shape[-1], int):
                return call("setitem", x, part, call("tanh", call("getitem", x, other)))
        return call("tanh", x)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_random_programs(data):
    arguments = X, X.T.copy(), V

    def f(call, x, y, v):
        n, m = x.type.shape
        y.type = y.type.with_shape((m, n))
        v.type = v.type.with_shape((m,))
        writer = Writer(data, call, (x, y, v))
        for _ in range(data.draw(st.integers(1, 12))):
            writer.pool.append(writer.step())
        return tuple(data.draw(st.lists(st.sampled_from(writer.pool), min_size=1, max_size=3)))

    fused(f, *arguments)
