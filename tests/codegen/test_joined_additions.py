"""Additions to one part of an array are made together, if only other elements are read between them."""

import numpy as np

import chainrule as cr


def gradient(f, x):
    compiled = cr.jit(cr.grad(f))
    return compiled(x), cr.source(compiled, stage="numba")(x)


def slopes(f, x, step=1e-6):
    found = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        ends = [x.copy(), x.copy()]
        ends[0][at] -= step
        ends[1][at] += step
        found[at] = (f(ends[1]) - f(ends[0])) / (2 * step)
    return found


def columns(a, last):
    """Each column gets a multiple of those before it, which depends on an element of it."""
    a = a.copy()
    m = a.shape[1]
    for k in range(m):
        for j in range(k + 1, m):
            a[-1, j] = np.dot(a[:last, k], a[:last, j])
            a[:last, j] -= a[:last, k] * a[-1, j]
    return np.sum(a * a * a)


A = np.random.default_rng(0).standard_normal((4, 3))


def test_elements_outside_the_part():
    found, _ = gradient(lambda a: columns(a, -1), A)
    np.testing.assert_allclose(found, slopes(lambda a: columns(a, -1), A), rtol=1e-6, atol=1e-8)


def test_elements_inside_the_part():
    found, _ = gradient(lambda a: columns(a, None), A)
    np.testing.assert_allclose(found, slopes(lambda a: columns(a, None), A), rtol=1e-6, atol=1e-8)


def test_one_write_where_a_column_is_orthogonal_to_those_before():
    def f(a):
        n, m = a.shape
        out = np.zeros((n + m, m))
        for k in range(m):
            out[:n, k] = a[:, k]
            for j in range(k + 1, m):
                out[n + k, j] = np.dot(out[:n, k], a[:, j])
                a[:, j] -= out[:n, k] * out[n + k, j]
        return np.sum(out * out * out)

    found, text = gradient(f, A)
    np.testing.assert_allclose(found, slopes(lambda a: f(a.copy()), A), rtol=1e-6)
    inner = text[text.index("range(difference, k, -1)") :]
    assert inner.count("for i in range(") <= 3 and ".append(" not in text
