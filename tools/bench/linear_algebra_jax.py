"""The factorisations and solvers for JAX: library calls or a masked scan, and ports with masks for slices."""
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.linalg import solve_triangular


def lu(a):
    """Right-looking: each step takes a rank-one matrix off the rest."""
    index = jnp.arange(a.shape[0])

    def step(a, k):
        below = index > k
        column = jnp.where(below, a[:, k] / a[k, k], 0)
        a = a - jnp.outer(column, jnp.where(below, a[k], 0))
        return a.at[:, k].set(jnp.where(below, column, a[:, k])), None

    return lax.scan(step, a, index)[0]


def lu_port(a):
    n = a.shape[0]
    index = np.arange(n)

    def element(a, place):
        i, j = place
        total = jnp.sum(jnp.where(index < jnp.minimum(i, j), a[i] * a[:, j], 0))
        value = a[i, j] - total
        return a.at[i, j].set(jnp.where(j < i, value / jnp.where(j < i, a[j, j], 1), value)), None

    return lax.scan(element, a, tuple(part.ravel() for part in np.mgrid[:n, :n]))[0]


def cholesky(a):
    lower = jnp.tril(a)
    factor = jnp.linalg.cholesky(lower + jnp.tril(a, -1).T, symmetrize_input=False)
    return jnp.tril(factor) + jnp.triu(a, 1)


def cholesky_port(a):
    n = a.shape[0]
    index = np.arange(n)

    def element(a, place):
        i, j = place
        value = a[i, j] - jnp.sum(jnp.where(index < j, a[i] * a[j], 0))
        same = i == j
        root = jnp.sqrt(jnp.where(same, value, 1))
        return a.at[i, j].set(jnp.where(same, root, value / jnp.where(same, 1, a[j, j]))), None

    return lax.scan(element, a, np.tril_indices(n))[0]


def durbin(r):
    n = r.shape[0]
    index = jnp.arange(n)
    doubled = jnp.concatenate([jnp.flip(r), jnp.zeros(n)])

    def step(carry, k):
        y, alpha, beta = carry
        beta = beta * (1 - alpha * alpha)
        reversed_r = lax.dynamic_slice(doubled, (n - k,), (n,))
        alpha = -(r[k] + reversed_r @ y) / beta
        reversed_y = lax.dynamic_slice(jnp.concatenate([jnp.flip(y), jnp.zeros(n)]), (n - k,), (n,))
        y = (y + alpha * jnp.where(index < k, reversed_y, 0)).at[k].set(alpha)
        return (y, alpha, beta), None

    start = jnp.zeros_like(r).at[0].set(-r[0]), -r[0], jnp.ones((), r.dtype)
    return lax.scan(step, start, index[1:])[0][0]


def durbin_port(r):
    n = r.shape[0]
    index = jnp.arange(n)

    def step(k, carry):
        y, alpha, beta = carry
        beta = beta * (1 - alpha * alpha)
        back = jnp.where(index < k, k - 1 - index, 0)
        inside = index < k
        alpha = -(r[k] + jnp.sum(jnp.where(inside, r[back] * y, 0))) / beta
        y = jnp.where(inside, y + alpha * y[back], y)
        return y.at[k].set(alpha), alpha, beta

    return lax.fori_loop(1, n, step, (jnp.zeros_like(r).at[0].set(-r[0]), -r[0], jnp.ones((), r.dtype)))[0]


def triangular_solve(lower, b):
    return solve_triangular(lower, b, lower=True)


def triangular_solve_port(lower, b):
    index = jnp.arange(b.shape[0])

    def step(i, x):
        total = jnp.where(index < i, lower[i], 0) @ x
        return x.at[i].set((b[i] - total) / lower[i, i])

    return lax.fori_loop(0, b.shape[0], step, jnp.zeros_like(b))


def gram_schmidt(a):
    q, r = jnp.linalg.qr(a)
    sign = jnp.sign(jnp.diagonal(r))
    return jnp.concatenate([q * sign, r * sign[:, None]])


def gram_schmidt_port(a):
    n, m = a.shape
    pairs = [(k, j) for k in range(m) for j in range(k, m)]

    def step(carry, place):
        a, out = carry
        k, j = place
        first = k == j
        norm = jnp.sqrt(jnp.where(first, a[:, k] @ a[:, k], 1))
        column = jnp.where(first, a[:, k] / norm, out[:n, k])
        out = out.at[:n, k].set(column)
        weight = jnp.where(first, norm, column @ a[:, j])
        out = out.at[n + k, j].set(weight)
        return (a.at[:, j].add(jnp.where(first, 0, -column * weight)), out), None

    places = tuple(np.array(pairs).T)
    return lax.scan(step, (a, jnp.zeros((n + m, m))), places)[0][1]
