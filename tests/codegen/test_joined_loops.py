"""Nests over the same rows become one where that gives what the separate ones give, and only there."""

import sys
from pathlib import Path

import numpy as np
import pytest

from chainrule.codegen.core import Assign, For, walk

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "backends" / "numba"))
from programs import compiled, fused  # noqa: E402

R = np.random.default_rng(5)
SHAPES = [(4, 5), (1, 5), (4, 1), (0, 5), (2, 3, 7)]


def loops(made):
    """The number of outermost loops."""
    return sum(isinstance(statement, For) for statement in made.body.statements)


def ranks(made):
    """The ranks of the arrays that are made."""
    return sorted(
        s.targets[0].type.ndim for s in walk(made.body) if isinstance(s, Assign) and s.primitive.allocates
    )


def softmax(call, x):
    last = (x.type.ndim - 1,)
    shifted = call("exp", call("subtract", x, call("max", x, axis=last, keepdims=True)))
    return call("divide", shifted, call("sum", shifted, axis=last, keepdims=True))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_softmax(shape, dtype):
    x = R.standard_normal(shape).astype(dtype)
    fused(softmax, x)
    compiled(softmax, x)


def test_rows_share_a_loop_and_keep_one_row():
    made = fused(softmax, R.standard_normal((4, 5)))
    assert loops(made) == 1 and ranks(made) == [1, 2]


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf, 0.0])
def test_special_values(special):
    x = R.standard_normal((5, 9))
    x[1, 3], x[2, :], x[4, [0, 8]] = special, special, -special
    compiled(softmax, x)


def test_maximum_of_long_rows():
    x = R.standard_normal((6, 131))
    x[1, 130], x[2, 0], x[3, 64], x[4] = np.nan, np.inf, np.nan, -np.inf
    last = {"axis": (1,), "keepdims": False}
    for y in (x, x.astype("f4"), R.integers(-9, 9, x.shape)):
        compiled(lambda call, x: (call("max", x, **last), call("min", x, **last)), y)


def test_neighbouring_rows_stay_apart():
    """The second nest reads the row after its own: the first has to have ended."""

    def f(call, x):
        y = call("add", call("sin", x), call("sum", x, axis=(1,), keepdims=True))
        below = call("getitem", y, (slice(1, None),))
        above = call("getitem", y, (slice(None, -1),))
        wide = call("multiply", below, call("sum", above, axis=(1,), keepdims=True))
        return y, wide

    fused(f, R.standard_normal((6, 5)))


def test_columns_stay_apart():
    def f(call, x):
        y = call("exp", call("subtract", x, call("sum", x, axis=(1,), keepdims=True)))
        turned = call("transpose", y, axes=(1, 0))
        return call("multiply", turned, call("sum", turned, axis=(1,), keepdims=True))

    x = R.standard_normal((4, 4))
    fused(f, x)
    fused(lambda call, x: call("add", f(call, x), x), x)


def test_what_is_overwritten_is_read_first():
    def f(call, x):
        z = call("copy", x)
        largest = call("max", z, axis=(1,), keepdims=True)
        shifted = call("exp", call("subtract", z, largest))
        total = call("sum", shifted, axis=(1,), keepdims=True)
        z = call("setitem", z, (slice(None), slice(None)), call("divide", shifted, total))
        again = call("sum", call("multiply", z, shifted), axis=(1,), keepdims=True)
        return call("setitem", z, (slice(1, None),), call("getitem", again, (slice(1, None),))), total

    fused(f, R.standard_normal((5, 4)))


def test_a_result_of_a_whole_nest_is_waited_for():
    def f(call, x):
        y = call("subtract", x, call("sum", x, axis=(1,), keepdims=True))
        total = call("sum", y, axis=(0, 1), keepdims=False)
        return call("sum", call("multiply", y, total), axis=(1,), keepdims=False)

    assert loops(fused(f, R.standard_normal((5, 4)))) == 2


@pytest.mark.parametrize("count", [0, 1, 3])
def test_products_of_stacks_share_a_loop(count):
    """One matrix of each stack is kept, and no product is copied."""

    def f(call, x, y):
        scores = call("matmul", x, call("transpose", y, axes=(0, 2, 1)))
        return call("matmul", softmax(call, scores), y)

    x, y = R.standard_normal((2, count, 4, 3))
    y = np.concatenate([y, y], axis=1)
    made = fused(f, x, y)
    if count == 3:
        assert loops(made) == 1 and ranks(made) == [1, 2, 2, 3]
    compiled(f, x, y)
    compiled(f, x[:, ::2], y[..., ::-1])
    compiled(f, np.asfortranarray(x), np.asfortranarray(y))


def test_products_of_turned_stacks():
    def f(call, x, y):
        turned = call("transpose", x, axes=(1, 2, 0))
        return call("matmul", y, turned), call("matmul", call("transpose", x, axes=(1, 0, 2)), y)

    compiled(f, R.standard_normal((4, 3, 5)), R.standard_normal((3, 5, 5)))


def test_the_second_loop_moves_up():
    """What is between the two needs the first one whole."""

    def f(call, x):
        y = call("subtract", x, call("max", x, axis=(1,), keepdims=True))
        columns = call("sum", y, axis=(0,), keepdims=True)
        spread = call("multiply", columns, call("sum", columns, axis=(0, 1), keepdims=True))
        rows = call("divide", y, call("sum", y, axis=(1,), keepdims=True))
        return spread, rows

    fused(f, R.standard_normal((5, 4)))
