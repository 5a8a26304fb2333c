"""Simple values that several nests read are computed in each, unless what they are made from is gone."""

import numpy as np

import chainrule as cr

X, Y = np.array([0.5, -1.5, 2.0]), np.array([1.0, 0.25, -0.5])


def compiled(f, *arguments):
    found = cr.jit(f)
    return found(*arguments), cr.source(found, stage="numba")(*arguments)


def test_a_value_that_a_sum_parts_is_not_stored():
    def f(x, y):
        v = -x
        return v * np.sum(v * y)

    found, text = compiled(f, X, Y)
    np.testing.assert_allclose(found, X * (X @ Y), rtol=1e-15)
    assert text.count("np.empty(") == 1


def test_what_takes_long_or_reads_two_arrays_is_stored():
    def f(x, y):
        v, w = np.exp(x), x - y
        return (v * w) / np.sum(v + w)

    found, text = compiled(f, X, Y)
    v, w = np.exp(X), X - Y
    np.testing.assert_allclose(found, v * w / np.sum(v + w), rtol=1e-14)
    assert text.count("np.empty(") == 3


def test_a_value_of_an_array_that_is_written_between_is_stored():
    def f(x, y):
        x = x.copy()
        v = -x
        s = np.sum(v * y)
        x[1:] = x[:-1] * s
        return v * s, x

    (found, written), _ = compiled(f, X, Y)
    s = -(X @ Y)
    np.testing.assert_allclose(found, -X * s, rtol=1e-14)
    np.testing.assert_allclose(written, np.concatenate([X[:1], X[:-1] * s]), rtol=1e-14)


def test_a_value_that_is_given_back_is_stored_once():
    def f(x, y):
        v = -x
        return v, v * np.sum(v * y)

    (v, found), text = compiled(f, X, Y)
    np.testing.assert_array_equal(v, -X)
    np.testing.assert_allclose(found, X * (X @ Y), rtol=1e-15)
    assert text.count("np.empty(") == 2
