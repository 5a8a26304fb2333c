"""The reverse sweeps of the stencils as one would write them: sequential Numba, one loop nest a statement.

All are linear, so none needs the values; the results never share memory with the cotangent.
"""
import numba
import numpy as np


@numba.njit(error_model="numpy")
def gather_1d(source, target, padded):
    """The adjoint of target's sweep into source: source's inner cotangents go to their three neighbours."""
    n = source.shape[0]
    for i in range(1, n - 1):
        padded[i + 1] = 0.33333 * source[i]
        source[i] = 0.0
    for i in range(n):
        target[i] += padded[i] + padded[i + 1] + padded[i + 2]


@numba.njit(error_model="numpy")
def jacobi_1d(cotangent, steps, a, b):
    a_bar, b_bar = cotangent.copy(), np.zeros_like(b)
    padded = np.zeros(a.shape[0] + 2)
    for _ in range(1, steps):
        gather_1d(a_bar, b_bar, padded)
        gather_1d(b_bar, a_bar, padded)
    return a_bar, b_bar


@numba.njit(error_model="numpy")
def gather_2d(source, target, padded):
    n, m = source.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            padded[i + 1, j + 1] = 0.2 * source[i, j]
            source[i, j] = 0.0
    for i in range(n):
        for j in range(m):
            target[i, j] += (
                padded[i + 1, j + 1] + padded[i, j + 1] + padded[i + 2, j + 1]
                + padded[i + 1, j] + padded[i + 1, j + 2]
            )  # fmt: skip


@numba.njit(error_model="numpy")
def jacobi_2d(cotangent, steps, a, b):
    a_bar, b_bar = cotangent.copy(), np.zeros_like(b)
    padded = np.zeros((a.shape[0] + 2, a.shape[1] + 2))
    for _ in range(1, steps):
        gather_2d(a_bar, b_bar, padded)
        gather_2d(b_bar, a_bar, padded)
    return a_bar, b_bar


@numba.njit(error_model="numpy")
def gather_3d(source, target, padded):
    n, m, o = source.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            for k in range(1, o - 1):
                padded[i + 1, j + 1, k + 1] = source[i, j, k]
                source[i, j, k] = 0.0
    for i in range(n):
        for j in range(m):
            for k in range(o):
                target[i, j, k] += 0.25 * padded[i + 1, j + 1, k + 1] + 0.125 * (
                    padded[i, j + 1, k + 1] + padded[i + 2, j + 1, k + 1]
                    + padded[i + 1, j, k + 1] + padded[i + 1, j + 2, k + 1]
                    + padded[i + 1, j + 1, k] + padded[i + 1, j + 1, k + 2]
                )  # fmt: skip


@numba.njit(error_model="numpy")
def heat_3d(cotangent, steps, a, b):
    a_bar, b_bar = cotangent.copy(), np.zeros_like(b)
    padded = np.zeros((a.shape[0] + 2, a.shape[1] + 2, a.shape[2] + 2))
    for _ in range(1, steps):
        gather_3d(a_bar, b_bar, padded)
        gather_3d(b_bar, a_bar, padded)
    return a_bar, b_bar


@numba.njit(error_model="numpy")
def fdtd_2d(cotangent, steps, ex, ey, hz, source):
    n, m = hz.shape
    ex_bar, ey_bar, hz_bar = np.zeros_like(ex), np.zeros_like(ey), cotangent.copy()
    source_bar = np.zeros_like(source)
    for t in range(steps - 1, -1, -1):
        for i in range(n - 1):
            for j in range(m - 1):
                part = 0.7 * hz_bar[i, j]
                ex_bar[i, j + 1] -= part
                ex_bar[i, j] += part
                ey_bar[i + 1, j] -= part
                ey_bar[i, j] += part
        for i in range(n):
            for j in range(1, m):
                part = 0.5 * ex_bar[i, j]
                hz_bar[i, j] -= part
                hz_bar[i, j - 1] += part
        for i in range(1, n):
            for j in range(m):
                part = 0.5 * ey_bar[i, j]
                hz_bar[i, j] -= part
                hz_bar[i - 1, j] += part
        for j in range(m):
            source_bar[t] += ey_bar[0, j]
            ey_bar[0, j] = 0.0
    return ex_bar, ey_bar, hz_bar, source_bar


@numba.njit(error_model="numpy")
def gauss_seidel_2d(cotangent, steps, a):
    n = a.shape[0]
    a_bar = cotangent.copy()
    for _ in range(steps):
        for i in range(n - 2, 0, -1):
            for j in range(n - 2, 0, -1):
                part = a_bar[i, j] / 9
                a_bar[i, j] = 0.0
                for row in range(i - 1, i + 2):
                    for column in range(j - 1, j + 2):
                        a_bar[row, column] += part
    return (a_bar,)
