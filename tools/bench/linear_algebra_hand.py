"""The reverse sweeps of the factorisations and solvers, sequential Numba.

LU and Cholesky read finished elements only, so their results are all their sweeps need.
"""
import numba
import numpy as np


@numba.njit(error_model="numpy")
def lu(cotangent, a):
    n = a.shape[0]
    a = a.copy()
    for i in range(n):
        for j in range(n):
            for k in range(min(i, j)):
                a[i, j] -= a[i, k] * a[k, j]
            if j < i:
                a[i, j] /= a[j, j]
    bar = cotangent.copy()
    for i in range(n - 1, -1, -1):
        for j in range(n - 1, -1, -1):
            if j < i:
                bar[i, j] /= a[j, j]
                bar[j, j] -= bar[i, j] * a[i, j]
            part = bar[i, j]
            for k in range(min(i, j)):
                bar[i, k] -= part * a[k, j]
                bar[k, j] -= part * a[i, k]
    return (bar,)


@numba.njit(error_model="numpy")
def cholesky(cotangent, a):
    n = a.shape[0]
    a = a.copy()
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = np.sqrt(a[i, i])
    bar = cotangent.copy()
    for i in range(n - 1, -1, -1):
        bar[i, i] /= 2 * a[i, i]
        part = bar[i, i]
        for k in range(i):
            bar[i, k] -= 2 * part * a[i, k]
        for j in range(i - 1, -1, -1):
            bar[i, j] /= a[j, j]
            bar[j, j] -= bar[i, j] * a[i, j]
            part = bar[i, j]
            for k in range(j):
                bar[i, k] -= part * a[j, k]
                bar[j, k] -= part * a[i, k]
    return (bar,)


@numba.njit(error_model="numpy")
def durbin(cotangent, r):
    n = r.shape[0]
    rows = np.zeros((n, n))
    alphas, betas = np.zeros(n), np.ones(n)
    alphas[0] = rows[0, 0] = -r[0]
    for k in range(1, n):
        betas[k] = betas[k - 1] * (1 - alphas[k - 1] * alphas[k - 1])
        total = r[k]
        for i in range(k):
            total += r[k - 1 - i] * rows[k - 1, i]
        alphas[k] = rows[k, k] = -total / betas[k]
        for i in range(k):
            rows[k, i] = rows[k - 1, i] + alphas[k] * rows[k - 1, k - 1 - i]
    bar, old, r_bar = cotangent.copy(), np.zeros(n), np.zeros(n)
    carried, beta_bar = 0.0, 0.0
    for k in range(n - 1, 0, -1):
        alpha_bar = bar[k] + carried
        for i in range(k):
            alpha_bar += bar[i] * rows[k - 1, k - 1 - i]
            old[i] = bar[i] + alphas[k] * bar[k - 1 - i]
        part = -alpha_bar / betas[k]
        beta_bar += part * alphas[k]
        r_bar[k] += part
        for i in range(k):
            r_bar[k - 1 - i] += part * rows[k - 1, i]
            bar[i] = old[i] + part * r[k - 1 - i]
        carried = -2 * alphas[k - 1] * betas[k - 1] * beta_bar
        beta_bar *= 1 - alphas[k - 1] * alphas[k - 1]
    r_bar[0] -= bar[0] + carried
    return (r_bar,)


@numba.njit(error_model="numpy")
def triangular_solve(cotangent, lower, b):
    n = b.shape[0]
    x = np.zeros(n)
    for i in range(n):
        total = b[i]
        for j in range(i):
            total -= lower[i, j] * x[j]
        x[i] = total / lower[i, i]
    x_bar, b_bar, lower_bar = cotangent.copy(), np.zeros(n), np.zeros_like(lower)
    for i in range(n - 1, -1, -1):
        part = x_bar[i] / lower[i, i]
        b_bar[i] = part
        lower_bar[i, i] = -part * x[i]
        for j in range(i):
            lower_bar[i, j] = -part * x[j]
            x_bar[j] -= part * lower[i, j]
    return lower_bar, b_bar
