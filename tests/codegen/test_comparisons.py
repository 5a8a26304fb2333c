"""Comparisons of tuples, lists and dictionaries whose items are known only at run time."""
import itertools
import operator

import numpy as np
import pytest

import chainrule as cr

OPERATORS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]
TRIPLES = list(itertools.product([1.0, 2.0], repeat=3))


@pytest.mark.parametrize("compare", OPERATORS)
@pytest.mark.parametrize("pair", [
    lambda a, b, c: ((a, b), (b, c)), lambda a, b, c: ([a], [b, c]),
    lambda a, b, c: ((a, (b, c)), (a, (c, b))),
    lambda a, b, c: ((1.0, a), (b, 2.0)), lambda a, b, c: ((), (a,))])
def test_sequences(compare, pair):
    compared = cr.jit(lambda a, b, c: compare(*pair(a, b, c)))
    for triple in TRIPLES:
        assert compared(*triple) == compare(*pair(*triple))


@pytest.mark.parametrize("compare", [operator.eq, operator.ne])
@pytest.mark.parametrize("pair", [
    lambda a, b, c: ({"x": a, "y": b}, {"y": c, "x": a}), lambda a, b, c: ({"x": a}, {"y": a}),
    lambda a, b, c: ([a, b], (a, b)), lambda a, b, c: ((a, b), (a, b, c)),
    lambda a, b, c: ([{"x": (a,)}], [{"x": (b,)}])])
def test_mappings_and_mixtures(compare, pair):
    compared = cr.jit(lambda a, b, c: compare(*pair(a, b, c)))
    for triple in TRIPLES:
        assert compared(*triple) == compare(*pair(*triple))


def test_other_orders_are_refused_as_python_refuses_them():
    for pair in (lambda a: ([a], (a,)), lambda a: ({"x": a}, {"x": a})):
        with pytest.raises(TypeError, match="'<' not supported"):
            cr.jit(lambda a: operator.lt(*pair(a)))(1.0)


@pytest.mark.parametrize("transform", [cr.jit, cr.grad])
def test_shapes(transform):
    def f(x):
        if x.shape == (3,):
            return np.sum(x * 2)
        if np.shape(x) != (4, 2):
            raise ValueError("another shape")
        return np.sum(x * 3)

    g = transform(f)
    for shape, factor in (((3,), 2.0), ((4, 2), 3.0)):
        expected = factor * np.ones(shape) if transform is cr.grad else factor * np.prod(shape)
        np.testing.assert_array_equal(g(np.ones(shape)), expected)
    with pytest.raises(ValueError, match="another shape"):
        g(np.ones(5))


def test_the_operator_module_on_sequences():
    joined = cr.jit(lambda a, b: (operator.add((a,), (b, 1.0)), operator.mul([a], 2), operator.sub(a, b)))
    assert joined(1.0, 2.0) == ((1.0, 2.0, 1.0), [1.0, 1.0], -1.0)
