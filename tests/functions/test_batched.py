"""vmap of every function, and of its gradient, is the function done for one example after the other."""

import numpy as np
import pytest

import chainrule as cr
from chainrule.runtime.pullbacks import Plain
from tests.functions.checks import chosen, leaves, outcome, same_value
from tests.functions.every_row import ROWS, parameters

SIZE = 3


def examples_of(row):
    """The row's operands, several times over, each time other values."""
    rng = row.generator()
    return [[operand.make(rng) for operand in row.operands] for _ in range(SIZE)]


def stacked(results):
    """The results of the examples, leaf by leaf along a new first axis."""
    return [np.stack(parts) for parts in zip(*map(leaves, results), strict=True)]


def ways(row):
    """Which operands are mapped: all of them, and each one alone."""
    count = len(row.operands)
    alone = [tuple(0 if k == j else None for j in range(count)) for k in range(count)] if count > 1 else []
    return [(0,) * count, *alone]


def mapped(examples, axes):
    """The arguments of the mapped function, and of each example."""
    given = [
        np.stack([e[k] for e in examples]) if axis == 0 else examples[0][k] for k, axis in enumerate(axes)
    ]
    each = [[e[k] if axis == 0 else examples[0][k] for k, axis in enumerate(axes)] for e in examples]
    return given, each


def check_batched(function, examples, axes, tolerance, transform=lambda f: f):
    given, each = mapped(examples, axes)
    one = transform(Plain(function))
    wanted = [outcome(one, arguments) for arguments in each]
    if any(isinstance(result, Exception) for result in wanted):
        return
    shapes = {tuple(map(np.shape, leaves(result))) for result in wanted}
    actual = outcome(cr.vmap(transform(function), in_axes=axes), given)
    if isinstance(actual, NotImplementedError) and "shape" in str(actual):
        # A size that depends on the data, whether or not it was the same for these examples.
        assert len(shapes) > 1 or function_of_data(function, each)
        return
    if isinstance(actual, Exception):
        raise actual
    same_value(leaves(actual), stacked(wanted), tolerance)


def function_of_data(function, each):
    """Whether the size of a result is not told by the sizes of the arguments."""
    zeros = [[np.zeros_like(a) for a in arguments] for arguments in each[:1]]
    one, other = outcome(Plain(function), each[0]), outcome(Plain(function), zeros[0])
    if isinstance(other, Exception):
        return True
    return list(map(np.shape, leaves(one))) != list(map(np.shape, leaves(other)))


@pytest.mark.parametrize("row", **parameters(ROWS))
def test_batched(row):
    examples = examples_of(row)
    for axes in ways(row):
        check_batched(row.function, examples, axes, 10 * row.tolerance)


@pytest.mark.parametrize("row", **parameters(ROWS, lambda row: row.order > 0))
def test_gradients(row):
    examples = examples_of(row)

    def total(*arguments):
        return sum(np.sum(np.real(leaf * leaf)) for leaf in inexact_leaves(row.function(*arguments)))

    positions = row.positions
    if any(row.operands[k].kind == "complex" for k in positions):
        return
    check_batched(total, examples, (0,) * len(row.operands), 1e4, lambda f: cr.grad(f, argnums=positions))


def inexact_leaves(result):
    found = result if isinstance(result, (tuple, list)) else [result]
    return [leaf for leaf in found if np.asarray(leaf).dtype.kind in "fc"]


assert chosen
