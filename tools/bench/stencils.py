"""Stencils that sweep over a grid in place, many times."""
from __future__ import annotations

import numpy as np

from .row import Row

BETA_MINUS, BETA_PLUS = 0.5 * (1 - 0.1), 0.5 * (1 + 0.1)  # off-centring of vertical advection
RATE = 3 / 20  # one over its time step


def jacobi_1d(steps, a, b):
    for _ in range(1, steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])
    return a


def jacobi_2d(steps, a, b):
    for _ in range(1, steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return a


def heated(a):
    inner = a[1:-1, 1:-1, 1:-1]
    return (
        inner
        + 0.125 * (a[2:, 1:-1, 1:-1] - 2 * inner + a[:-2, 1:-1, 1:-1])
        + 0.125 * (a[1:-1, 2:, 1:-1] - 2 * inner + a[1:-1, :-2, 1:-1])
        + 0.125 * (a[1:-1, 1:-1, 2:] - 2 * inner + a[1:-1, 1:-1, :-2])
    )


def heat_3d(steps, a, b):
    for _ in range(1, steps):
        b[1:-1, 1:-1, 1:-1] = heated(a)
        a[1:-1, 1:-1, 1:-1] = heated(b)
    return a


def fdtd_2d(steps, ex, ey, hz, source):
    for t in range(steps):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return hz


def gauss_seidel_2d(steps, a):
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = (
                    a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1]
                    + a[i, j - 1] + a[i, j] + a[i, j + 1]
                    + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]
                ) / 9  # fmt: skip
    return a


def horizontal_diffusion(field, coefficient):
    laplacian = 4 * field[1:-1, 1:-1] - (
        field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2]
    )
    east = laplacian[1:, 1:-1] - laplacian[:-1, 1:-1]
    east = np.where(east * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0, 0, east)
    north = laplacian[1:-1, 1:] - laplacian[1:-1, :-1]
    north = np.where(north * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0, 0, north)
    return field[2:-2, 2:-2] - coefficient * (east[1:] - east[:-1] + north[:, 1:] - north[:, :-1])


def vertical_advection(tendency, stage, wind, position):
    """Implicit advection along the last axis: a tridiagonal system for each column."""
    last = stage.shape[2] - 1
    upper, right = np.empty_like(stage), np.empty_like(stage)
    above = 0.25 * (wind[1:, :, 1] + wind[:-1, :, 1])
    known = RATE * position[:, :, 0] + tendency[:, :, 0]
    known = known - above * BETA_MINUS * (stage[:, :, 1] - stage[:, :, 0])
    upper[:, :, 0] = above * BETA_PLUS / (RATE - above * BETA_PLUS)
    right[:, :, 0] = known / (RATE - above * BETA_PLUS)
    for k in range(1, last):
        below = -0.25 * (wind[1:, :, k] + wind[:-1, :, k])
        above = 0.25 * (wind[1:, :, k + 1] + wind[:-1, :, k + 1])
        change = below * (stage[:, :, k - 1] - stage[:, :, k]) + above * (stage[:, :, k + 1] - stage[:, :, k])
        known = RATE * position[:, :, k] + tendency[:, :, k] - BETA_MINUS * change
        lower = below * BETA_PLUS
        divisor = RATE - lower - above * BETA_PLUS - upper[:, :, k - 1] * lower
        upper[:, :, k] = above * BETA_PLUS / divisor
        right[:, :, k] = (known - right[:, :, k - 1] * lower) / divisor
    below = -0.25 * (wind[1:, :, last] + wind[:-1, :, last])
    known = RATE * position[:, :, last] + tendency[:, :, last]
    known = known - BETA_MINUS * below * (stage[:, :, last - 1] - stage[:, :, last])
    lower = below * BETA_PLUS
    divisor = RATE - lower - upper[:, :, last - 1] * lower
    right[:, :, last] = (known - right[:, :, last - 1] * lower) / divisor
    for k in range(last - 1, -1, -1):
        right[:, :, k] -= upper[:, :, k] * right[:, :, k + 1]
    return RATE * (right - position)


def half_step(u, out, p, q, near, far):
    """Half a step of alternating directions: implicit along columns of `out`, explicit along rows of `u`."""
    n = u.shape[0]
    out[0, 1:-1] = 1
    p[1:-1, 0] = 0
    q[1:-1, 0] = out[0, 1:-1]
    for j in range(1, n - 1):
        below = -near * p[1:-1, j - 1] + 1 + 2 * near
        p[1:-1, j] = near / below
        q[1:-1, j] = (
            far * u[j, :-2] + (1 - 2 * far) * u[j, 1:-1] + far * u[j, 2:] + near * q[1:-1, j - 1]
        ) / below
    out[n - 1, 1:-1] = 1
    for j in range(n - 2, 0, -1):
        out[j, 1:-1] = p[1:-1, j] * out[j + 1, 1:-1] + q[1:-1, j]


def alternating_directions(steps, u):
    """Diffusion on the unit square, with boundary values of one."""
    n = u.shape[0]
    near, far = 0.5 * n / steps, 0.25 * n / steps
    v, p, q = np.zeros_like(u), np.zeros_like(u), np.zeros_like(u)
    for _ in range(steps):
        half_step(u.T, v, p, q, near, far)
        half_step(v.T, u, p, q, near, far)
    return u


def grids(count):
    """Makes a number of steps and `count` random arrays."""

    def arguments(rng, steps, *shape):
        return (steps, *(rng.standard_normal(shape) for _ in range(count)))

    return arguments


def fields(rng, steps, n, m):
    return (*grids(3)(rng, steps, n, m), rng.standard_normal(steps))


def diffusion_fields(rng, n, m, levels):
    return rng.standard_normal((n, m, levels)), 0.1 * rng.random((n - 4, m - 4, levels))


def columns(rng, n, m, levels):
    shape = n, m, levels
    return (
        rng.standard_normal(shape), rng.standard_normal(shape),
        0.1 * rng.standard_normal((n + 1, m, levels)), rng.standard_normal(shape),
    )  # fmt: skip


ROWS = [
    Row(jacobi_1d, grids(2), (800, 3200), (5, 20), (1, 2)),
    Row(jacobi_2d, grids(2), (50, 150, 150), (4, 8, 9), (1, 2)),
    Row(heat_3d, grids(2), (25, 25, 25, 25), (3, 5, 6, 7), (1, 2)),
    Row(fdtd_2d, fields, (20, 200, 220), (3, 6, 7), (1, 2, 3, 4)),
    Row(gauss_seidel_2d, grids(1), (8, 50, 50), (2, 6, 6), (1,)),
    Row(vertical_advection, columns, (60, 60, 40), (3, 4, 5), (0, 1, 2, 3)),
    Row(horizontal_diffusion, diffusion_fields, (64, 64, 60), (8, 9, 3), (0, 1), autograd=True),
    Row(alternating_directions, grids(1), (5, 100, 100), (2, 6, 6), (1,)),
]
