"""Factorisations and solvers written as loops."""
from __future__ import annotations

import numpy as np

from .row import Row


def lu(a):
    """Both factors in place of the matrix, without pivoting."""
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return a


def cholesky(a):
    """The lower factor in place of the lower triangle; what stands above stays."""
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = np.sqrt(a[i, i])
    return a


def durbin(r):
    """The Toeplitz system of Yule and Walker, by N. Levinson's and J. Durbin's recursion."""
    n = r.shape[0]
    y = np.zeros_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = alpha
    for k in range(1, n):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


def triangular_solve(lower, b):
    n = b.shape[0]
    x = np.zeros_like(b)
    for i in range(n):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]
    return x


def gram_schmidt(a):
    """The orthonormal factor and, below it, the triangular one; modified, so each column leaves the rest."""
    n, m = a.shape
    out = np.zeros((n + m, m))
    for k in range(m):
        norm = np.sqrt(np.dot(a[:, k], a[:, k]))
        out[n + k, k] = norm
        out[:n, k] = a[:, k] / norm
        for j in range(k + 1, m):
            out[n + k, j] = np.dot(out[:n, k], a[:, j])
            a[:, j] -= out[:n, k] * out[n + k, j]
    return out


def dominant(rng, n):
    """A matrix that needs no pivoting."""
    return (rng.standard_normal((n, n)) + 2 * n * np.eye(n),)


def positive(rng, n):
    half = rng.standard_normal((n, n))
    return (half @ half.T / n + np.eye(n),)


def correlations(rng, n):
    return (0.3 * rng.standard_normal(n) / np.arange(1, n + 1) ** 1.5,)


def triangle(rng, n):
    return np.tril(rng.standard_normal((n, n))) / n + 2 * np.eye(n), rng.standard_normal(n)


def matrix(rng, n, m):
    return (rng.standard_normal((n, m)),)


ROWS = [
    Row(lu, dominant, (60,), (6,), (0,)),
    Row(cholesky, positive, (100,), (6,), (0,)),
    Row(durbin, correlations, (1000,), (8,), (0,)),
    Row(triangular_solve, triangle, (2000,), (7,), (0, 1)),
    Row(gram_schmidt, matrix, (70, 60), (7, 5), (0,)),
]
