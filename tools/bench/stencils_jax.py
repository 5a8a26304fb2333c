"""The stencils for JAX: the best formulation found, and a literal port where that is another one."""
import jax.numpy as jnp
import numpy as np
from jax import lax

from .stencils import BETA_MINUS, BETA_PLUS, RATE, heated


def repeated(step, state, steps):
    return lax.scan(lambda carry, _: (step(*carry), None), state, None, length=steps)[0]


def framed(whole, inner):
    """`whole` with its inner part replaced."""
    return whole.at[(slice(1, -1),) * whole.ndim].set(inner)


def two_sweeps(sweep):
    """Best: the steps in a scan; port: all of them traced."""

    def step(a, b):
        b = framed(b, sweep(a))
        return framed(a, sweep(b)), b

    def best(steps, a, b):
        return repeated(step, (a, b), steps - 1)[0]

    def port(steps, a, b):
        for _ in range(1, steps):
            a, b = step(a, b)
        return a

    return best, port


jacobi_1d, jacobi_1d_port = two_sweeps(lambda a: 0.33333 * (a[:-2] + a[1:-1] + a[2:]))
jacobi_2d, jacobi_2d_port = two_sweeps(
    lambda a: 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
)
heat_3d, heat_3d_port = two_sweeps(heated)


def fdtd_step(ex, ey, hz, value):
    ey = ey.at[0, :].set(value)
    ey = ey.at[1:, :].add(-0.5 * (hz[1:, :] - hz[:-1, :]))
    ex = ex.at[:, 1:].add(-0.5 * (hz[:, 1:] - hz[:, :-1]))
    hz = hz.at[:-1, :-1].add(-0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]))
    return ex, ey, hz


def fdtd_2d(steps, ex, ey, hz, source):
    return lax.scan(lambda carry, value: (fdtd_step(*carry, value), None), (ex, ey, hz), source)[0][2]


def fdtd_2d_port(steps, ex, ey, hz, source):
    for t in range(steps):
        ex, ey, hz = fdtd_step(ex, ey, hz, source[t])
    return hz


def gauss_seidel_2d(steps, a):
    """A row depends on itself through a recurrence with one constant: a triangular matrix solves it."""
    n = a.shape[0]
    distance = np.arange(n - 2)[:, None] - np.arange(n - 2)
    solve = jnp.asarray(np.where(distance >= 0, 9.0 ** -np.maximum(distance, 0), 0) / 9)

    def row(above, rows):
        here, below = rows
        known = above[:-2] + above[1:-1] + above[2:] + below[:-2] + below[1:-1] + below[2:]
        known = known + here[1:-1] + here[2:]
        new = here.at[1:-1].set(solve @ known.at[0].add(here[0]))
        return new, new

    def sweep(a):
        return (a.at[1:-1].set(lax.scan(row, a[0], (a[1:-1], a[2:]))[1]),)

    return repeated(sweep, (a,), steps)[0]


def gauss_seidel_2d_port(steps, a):
    n = a.shape[0]
    rows, columns = (index.ravel() for index in np.mgrid[1 : n - 1, 1 : n - 1])

    def point(a, place):
        i, j = place
        return a.at[i, j].set(jnp.sum(lax.dynamic_slice(a, (i - 1, j - 1), (3, 3))) / 9), None

    def sweep(a):
        return (lax.scan(point, a, (rows, columns))[0],)

    return repeated(sweep, (a,), steps)[0]


def horizontal_diffusion(field, coefficient):
    laplacian = 4 * field[1:-1, 1:-1] - (
        field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2]
    )
    east = laplacian[1:, 1:-1] - laplacian[:-1, 1:-1]
    east = jnp.where(east * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0, 0, east)
    north = laplacian[1:-1, 1:] - laplacian[1:-1, :-1]
    north = jnp.where(north * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0, 0, north)
    return field[2:-2, 2:-2] - coefficient * (east[1:] - east[:-1] + north[:, 1:] - north[:, :-1])


def vertical_advection(tendency, stage, wind, position):
    """The columns' systems with levels first, assembled at once and solved by two scans."""
    tendency, stage, wind, position = (jnp.moveaxis(a, 2, 0) for a in (tendency, stage, wind, position))
    flow = 0.25 * (wind[1:, 1:] + wind[1:, :-1])
    edge = jnp.zeros_like(flow[:1])
    below, above = jnp.concatenate([edge, -flow]), jnp.concatenate([flow, edge])
    step = jnp.concatenate([stage[1:] - stage[:-1], edge])
    step_below = jnp.concatenate([edge, stage[:-1] - stage[1:]])
    known = RATE * position + tendency - BETA_MINUS * (above * step + below * step_below)
    lower, upper = BETA_PLUS * below, BETA_PLUS * above

    def eliminate(carry, row):
        lower, upper, known = row
        divisor = RATE - lower - upper - carry[0] * lower
        new = upper / divisor, (known - carry[1] * lower) / divisor
        return new, new

    def substitute(solved, row):
        solved = row[1] - row[0] * solved
        return solved, solved

    zero = edge[0], edge[0]
    rows = lax.scan(eliminate, zero, (lower, upper, known))[1]
    solved = lax.scan(substitute, edge[0], rows, reverse=True)[1]
    return jnp.moveaxis(RATE * (solved - position), 0, 2)


def vertical_advection_port(tendency, stage, wind, position):
    last = stage.shape[2] - 1
    upper, right = jnp.zeros_like(stage), jnp.zeros_like(stage)
    above = 0.25 * (wind[1:, :, 1] + wind[:-1, :, 1])
    known = RATE * position[:, :, 0] + tendency[:, :, 0]
    known = known - above * BETA_MINUS * (stage[:, :, 1] - stage[:, :, 0])
    upper = upper.at[:, :, 0].set(above * BETA_PLUS / (RATE - above * BETA_PLUS))
    right = right.at[:, :, 0].set(known / (RATE - above * BETA_PLUS))
    for k in range(1, last):
        below = -0.25 * (wind[1:, :, k] + wind[:-1, :, k])
        above = 0.25 * (wind[1:, :, k + 1] + wind[:-1, :, k + 1])
        change = below * (stage[:, :, k - 1] - stage[:, :, k]) + above * (stage[:, :, k + 1] - stage[:, :, k])
        known = RATE * position[:, :, k] + tendency[:, :, k] - BETA_MINUS * change
        lower = below * BETA_PLUS
        divisor = RATE - lower - above * BETA_PLUS - upper[:, :, k - 1] * lower
        upper = upper.at[:, :, k].set(above * BETA_PLUS / divisor)
        right = right.at[:, :, k].set((known - right[:, :, k - 1] * lower) / divisor)
    below = -0.25 * (wind[1:, :, last] + wind[:-1, :, last])
    known = RATE * position[:, :, last] + tendency[:, :, last]
    known = known - BETA_MINUS * below * (stage[:, :, last - 1] - stage[:, :, last])
    lower = below * BETA_PLUS
    divisor = RATE - lower - upper[:, :, last - 1] * lower
    right = right.at[:, :, last].set((known - right[:, :, last - 1] * lower) / divisor)
    for k in range(last - 1, -1, -1):
        right = right.at[:, :, k].subtract(upper[:, :, k] * right[:, :, k + 1])
    return RATE * (right - position)


def half_step(u, near, far, unroll=1):
    """One half step with the implicit direction scanned; returns all of its inner columns."""
    known = far * u[1:-1, :-2] + (1 - 2 * far) * u[1:-1, 1:-1] + far * u[1:-1, 2:]

    def eliminate(carry, row):
        p, q = carry
        below = -near * p + 1 + 2 * near
        new = near / below, (row + near * q) / below
        return new, new

    def substitute(value, row):
        value = row[0] * value + row[1]
        return value, value

    ones = jnp.ones(u.shape[1] - 2)
    rows = lax.scan(eliminate, (jnp.zeros_like(ones), ones), known)[1]
    inner = lax.scan(substitute, ones, rows, reverse=True)[1]
    return jnp.concatenate([ones[None], inner, ones[None]])


def alternating_directions(steps, u):
    n = u.shape[0]
    near, far = 0.5 * n / steps, 0.25 * n / steps

    def step(u, v):
        v = v.at[:, 1:-1].set(half_step(u.T, near, far))
        return u.at[:, 1:-1].set(half_step(v.T, near, far)), v

    return repeated(step, (u, jnp.zeros_like(u)), steps)[0]


def swept(u, out, p, q, near, far):
    """The NumPy function's half step with its loops as fori_loop."""
    n = u.shape[0]
    out = out.at[0, 1:-1].set(1)
    p, q = p.at[1:-1, 0].set(0), q.at[1:-1, 0].set(out[0, 1:-1])

    def eliminate(j, carry):
        p, q = carry
        below = -near * p[1:-1, j - 1] + 1 + 2 * near
        known = far * u[j, :-2] + (1 - 2 * far) * u[j, 1:-1] + far * u[j, 2:] + near * q[1:-1, j - 1]
        return p.at[1:-1, j].set(near / below), q.at[1:-1, j].set(known / below)

    p, q = lax.fori_loop(1, n - 1, eliminate, (p, q))
    out = out.at[n - 1, 1:-1].set(1)

    def substitute(k, out):
        j = n - 1 - k
        return out.at[j, 1:-1].set(p[1:-1, j] * out[j + 1, 1:-1] + q[1:-1, j])

    return lax.fori_loop(1, n - 1, substitute, out), p, q


def alternating_directions_port(steps, u):
    n = u.shape[0]
    near, far = 0.5 * n / steps, 0.25 * n / steps
    v, p, q = jnp.zeros_like(u), jnp.zeros_like(u), jnp.zeros_like(u)
    for _ in range(steps):
        v, p, q = swept(u.T, v, p, q, near, far)
        u, p, q = swept(v.T, u, p, q, near, far)
    return u
