"""Recursions over tables, trees and time, and a loop whose end the values decide."""
from __future__ import annotations

import math

import numpy as np

from .row import Row


def soft_dtw(x, y, gamma):
    """Soft dynamic time warping of two series, by elements."""
    n, m = x.shape[0], y.shape[0]
    table = np.full((n + 1, m + 1), 1e10)
    table[0, 0] = 0.0
    for i in range(n):
        for j in range(m):
            a, b, c = -table[i, j] / gamma, -table[i, j + 1] / gamma, -table[i + 1, j] / gamma
            largest = max(a, b, c)
            total = math.exp(a - largest) + math.exp(b - largest) + math.exp(c - largest)
            table[i + 1, j + 1] = (x[i] - y[j]) ** 2 - gamma * (math.log(total) + largest)
    return table[n, m]


def binomial_tree(spot, strike, rate, volatility, steps):
    """An American put over one year, rolled back through the tree."""
    up = math.exp(volatility * math.sqrt(1 / steps))
    discount = math.exp(-rate / steps)
    chance = (1 / discount - 1 / up) / (up - 1 / up)
    ups = np.arange(steps + 1)
    value = np.maximum(strike - spot * up ** (2.0 * ups - steps), 0)
    for i in range(steps - 1, -1, -1):
        price = spot * up ** (2.0 * ups[: i + 1] - i)
        held = discount * (chance * value[1 : i + 2] + (1 - chance) * value[: i + 1])
        value[: i + 1] = np.maximum(strike - price, held)
    return value[0]


def kalman(transition, emission, process, noise, observations):
    """Negative log-likelihood of a linear Gaussian state space model."""
    mean = np.zeros(transition.shape[0])
    covariance = np.eye(transition.shape[0])
    total = 0.0
    for t in range(observations.shape[0]):
        mean = transition @ mean
        covariance = transition @ covariance @ transition.T + process
        surprise = observations[t] - emission @ mean
        spread = emission @ covariance @ emission.T + noise
        gain = np.linalg.solve(spread, emission @ covariance).T
        total += surprise @ np.linalg.solve(spread, surprise) + np.log(np.linalg.det(spread))
        mean = mean + gain @ surprise
        covariance = covariance - gain @ emission @ covariance
    return 0.5 * total


def newton(c):
    """The root of x exp(x) = c."""
    x = 1.0
    error = x * math.exp(x) - c
    while abs(error) > 1e-12:
        x -= error / ((1 + x) * math.exp(x))
        error = x * math.exp(x) - c
    return x


def series(rng, n, m):
    return rng.standard_normal(n), rng.standard_normal(m), 0.7


def option(rng, steps):
    return 100.0, 105.0, 0.04, 0.3, steps


def tracking(rng, steps, states, seen):
    return (
        0.9 * np.eye(states) + 0.05 * rng.standard_normal((states, states)),
        rng.standard_normal((seen, states)), 0.1 * np.eye(states), 0.5 * np.eye(seen),
        rng.standard_normal((steps, seen)),
    )  # fmt: skip


def number(rng):
    return (7.5,)


ROWS = [
    Row(soft_dtw, series, (100, 120), (5, 6), (0, 1)),
    Row(binomial_tree, option, (500,), (12,), (0, 2, 3)),
    Row(kalman, tracking, (200, 4, 2), (4, 3, 2), (0, 1, 2, 3), autograd=True),
    Row(newton, number, (), (), (0,)),
]
