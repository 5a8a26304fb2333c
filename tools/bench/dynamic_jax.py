"""The recursions for JAX. Its reverse mode has no loops without a bound, so Newton's method gets one."""
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import logsumexp


def soft_dtw(x, y, gamma):
    """Along anti-diagonals, which hold no dependency: diagonal s has the elements (s - j, j)."""
    n, m = x.shape[0], y.shape[0]
    columns = np.arange(m)
    rows = np.arange(n + m - 1)[:, None] - columns
    cost = jnp.where((rows >= 0) & (rows < n), (x[np.clip(rows, 0, n - 1)] - y) ** 2, 1e10)
    outside = jnp.full(1, 1e10)

    def diagonal(carry, costs):
        corner, last = carry
        left = jnp.concatenate([outside, last[:-1]])
        new = costs - gamma * logsumexp(-jnp.stack([corner, left, last]) / gamma, axis=0)
        return (left, new), new

    first = jnp.full(m, 1e10).at[0].set(0.0), jnp.full(m, 1e10)
    return lax.scan(diagonal, first, cost)[1][-1, -1]


def soft_dtw_port(x, y, gamma):
    n, m = x.shape[0], y.shape[0]
    rows, columns = (index.ravel() for index in np.mgrid[:n, :m])

    def element(table, place):
        i, j = place
        near = -jnp.stack([table[i, j], table[i, j + 1], table[i + 1, j]]) / gamma
        return table.at[i + 1, j + 1].set((x[i] - y[j]) ** 2 - gamma * logsumexp(near)), None

    table = jnp.full((n + 1, m + 1), 1e10).at[0, 0].set(0.0)
    return lax.scan(element, table, (rows, columns))[0][n, m]


def binomial_tree(spot, strike, rate, volatility, steps):
    """All levels at the full width: what lies outside of the tree is never read by what lies inside."""
    up = jnp.exp(volatility * np.sqrt(1 / steps))
    discount = jnp.exp(-rate / steps)
    chance = (1 / discount - 1 / up) / (up - 1 / up)
    ups = np.arange(steps + 1)

    def level(value, i):
        price = spot * up ** (2.0 * ups - i)
        held = discount * (chance * jnp.append(value[1:], 0.0) + (1 - chance) * value)
        return jnp.maximum(strike - price, held), None

    value = jnp.maximum(strike - spot * up ** (2.0 * ups - steps), 0)
    return lax.scan(level, value, np.arange(steps - 1, -1, -1))[0][0]


def kalman(transition, emission, process, noise, observations):
    def step(carry, observation):
        mean, covariance = carry
        mean = transition @ mean
        covariance = transition @ covariance @ transition.T + process
        surprise = observation - emission @ mean
        spread = emission @ covariance @ emission.T + noise
        gain = jnp.linalg.solve(spread, emission @ covariance).T
        cost = surprise @ jnp.linalg.solve(spread, surprise) + jnp.log(jnp.linalg.det(spread))
        return (mean + gain @ surprise, covariance - gain @ emission @ covariance), cost

    states = transition.shape[0]
    return 0.5 * jnp.sum(lax.scan(step, (jnp.zeros(states), jnp.eye(states)), observations)[1])


def newton(c):
    def step(x, _):
        return x - (x * jnp.exp(x) - c) / ((1 + x) * jnp.exp(x)), None

    return lax.scan(step, 1.0 + 0.0 * c, None, length=8)[0]
