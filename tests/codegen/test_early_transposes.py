"""What products of many matrices read lies as they read it: the values are NumPy's, and nothing is copied."""

import numpy as np

import chainrule as cr

R = np.random.default_rng(0)
X, MEANS, FACTORS = R.normal(size=(7, 4)), R.normal(size=(3, 4)), R.normal(size=(3, 4, 4))


def distances(x, means, factors):
    centred = np.transpose(x[:, None, :] - means, (1, 2, 0))
    return np.sum((factors @ centred) ** 2, axis=1)


def test_no_matrix_of_a_product_is_copied():
    f = cr.jit(distances)
    np.testing.assert_allclose(f(X, MEANS, FACTORS), distances(X, MEANS, FACTORS), rtol=1e-12)
    text = cr.source(f, stage="numba")(X, MEANS, FACTORS)
    assert ", centred, out=product)" in text


def test_gradients():
    weights = R.normal(size=(3, 7))
    loss = lambda x, means, factors: np.sum(distances(x, means, factors) * weights)
    found = cr.jit(cr.grad(loss, argnums=(0, 1, 2)))(X, MEANS, FACTORS)
    centred = np.transpose(X[:, None, :] - MEANS, (1, 2, 0))
    product_bar = 2 * (FACTORS @ centred) * weights[:, None, :]
    centred_bar = np.swapaxes(FACTORS, 1, 2) @ product_bar
    np.testing.assert_allclose(found[0], centred_bar.sum(0).T, rtol=1e-12)
    np.testing.assert_allclose(found[1], -centred_bar.sum(2), rtol=1e-12)
    np.testing.assert_allclose(found[2], product_bar @ np.swapaxes(centred, 1, 2), rtol=1e-12)


def test_in_a_loop_and_in_a_branch():
    def f(x, w):
        total = np.zeros((x.shape[1], 2, x.shape[2]))
        y = np.exp(x)
        for k in range(3):
            if k < 2:
                total += w @ np.transpose(y * k, (1, 0, 2))
            else:
                total += w @ np.transpose(y, (1, 0, 2)) - np.max(np.transpose(x, (1, 0, 2)), axis=1)[:, None]
        return total

    x, w = R.normal(size=(4, 3, 5)), R.normal(size=(3, 2, 4))
    np.testing.assert_allclose(cr.jit(f)(x, w), f(x, w), rtol=1e-12)
