"""What transforms and loops by itself: batches, solvers in lanes, scans, matrices of derivatives, keys."""
from __future__ import annotations

import math

import numpy as np

import chainrule as cr

from .row import Row


def example_loss(parameters, x, label):
    """The cross-entropy of one example under a network with one hidden layer."""
    first, first_bias, second, second_bias = parameters
    scores = np.tanh(x @ first + first_bias) @ second + second_bias
    largest = np.max(scores)
    return np.log(np.sum(np.exp(scores - largest))) + largest - scores[label]


def clipped_gradients(first, first_bias, second, second_bias, x, labels):
    """The mean of the gradients of all examples, each cut to length 1 before, in one vector."""
    parameters = first, first_bias, second, second_bias
    gradients = cr.vmap(cr.grad(example_loss), in_axes=(None, 0, 0))(parameters, x, labels)
    rows = np.concatenate([part.reshape(x.shape[0], -1) for part in gradients], axis=1)
    lengths = np.sqrt(np.sum(rows**2, axis=1))
    return np.mean(rows / np.maximum(lengths, 1.0)[:, np.newaxis], axis=0)


def rates(t, place, speed, stiffness):
    return speed, math.cos(t) - 0.1 * speed - stiffness * place


def spring(stiffness, start):
    """Where a driven spring is at time 1, by the pair of Bogacki and Shampine with adaptive steps."""
    t, h, place, speed = 0.0, 0.01, start, 0.0
    a, b = rates(t, place, speed, stiffness)
    while t < 1.0 - 1e-12:
        h = min(h, 1.0 - t)
        a2, b2 = rates(t + 0.5 * h, place + 0.5 * h * a, speed + 0.5 * h * b, stiffness)
        a3, b3 = rates(t + 0.75 * h, place + 0.75 * h * a2, speed + 0.75 * h * b2, stiffness)
        new_place = place + h * (2.0 / 9.0 * a + 1.0 / 3.0 * a2 + 4.0 / 9.0 * a3)
        new_speed = speed + h * (2.0 / 9.0 * b + 1.0 / 3.0 * b2 + 4.0 / 9.0 * b3)
        a4, b4 = rates(t + h, new_place, new_speed, stiffness)
        of_place = h * (-5.0 / 72.0 * a + 1.0 / 12.0 * a2 + 1.0 / 9.0 * a3 - 0.125 * a4)
        of_speed = h * (-5.0 / 72.0 * b + 1.0 / 12.0 * b2 + 1.0 / 9.0 * b3 - 0.125 * b4)
        error = math.sqrt(of_place**2 + of_speed**2) / 1e-4 + 1e-10
        if error <= 1.0:
            t, place, speed, a, b = t + h, new_place, new_speed, a4, b4
        h = h * min(5.0, max(0.2, 0.9 * error ** (-1.0 / 3.0)))
    return place


def adaptive_ode(stiffness, start):
    """Many springs, of which the stiff ones take many times the steps of the others."""
    return cr.vmap(spring)(stiffness, start)


def lambert(c):
    """The root of x exp(x) = c by Newton's method; from far away, a step for each unit."""
    x = 1.0
    error = x * math.exp(x) - c
    while abs(error) > 1e-12 * c:
        x -= error / ((1.0 + x) * math.exp(x))
        error = x * math.exp(x) - c
    return x


def newton_lanes(c):
    return cr.vmap(lambert)(c)


def recurrent_network(inner, outer, bias, sequence):
    """The last state of a recurrent network."""

    def step(state, x):
        return np.tanh(state @ inner + x @ outer + bias), None

    return cr.lax.scan(step, np.zeros(inner.shape[0]), sequence)[0]


def logistic_loss(weights, x, labels):
    return np.mean(np.logaddexp(0.0, -labels * (x @ weights))) + 0.005 * np.sum(weights**2)


def hessian_matrix(weights, x, labels):
    return cr.hessian(logistic_loss)(weights, x, labels)


def responses(x, matrix):
    return np.tanh(matrix @ x) * np.sum(x**2)


def jacobian_matrix(x, matrix):
    return cr.jacfwd(responses)(x, matrix)


def random_normals(scale, key, n):
    return scale * cr.random.normal(key, (n,))


def images(rng, n, inputs, hidden, classes):
    return (
        rng.standard_normal((inputs, hidden)) / math.sqrt(inputs), np.zeros(hidden),
        rng.standard_normal((hidden, classes)) / math.sqrt(hidden), np.zeros(classes),
        rng.standard_normal((n, inputs)), rng.integers(0, classes, n),
    )  # fmt: skip


def stiffnesses(rng, n, largest):
    return largest ** rng.uniform(0, 1, n), rng.uniform(-1, 1, n)


def right_sides(rng, n, largest):
    return (largest ** rng.uniform(-0.5, 1, n),)


def words(rng, length, inputs, hidden):
    return (
        rng.standard_normal((hidden, hidden)) / math.sqrt(hidden),
        rng.standard_normal((inputs, hidden)) / math.sqrt(inputs), np.zeros(hidden),
        rng.standard_normal((length, inputs)),
    )  # fmt: skip


def classified(rng, n, d):
    return rng.standard_normal(d) / math.sqrt(d), rng.standard_normal((n, d)), rng.choice([-1.0, 1.0], n)


def sensors(rng, outputs, inputs):
    return rng.standard_normal(inputs), rng.standard_normal((outputs, inputs)) / math.sqrt(inputs)


def seeded(rng, n):
    return 1.5, cr.random.key(7), n


ROWS = [
    Row(clipped_gradients, images, (1000, 64, 32, 10), (7, 4, 5, 3), (0, 1, 2, 3)),
    Row(adaptive_ode, stiffnesses, (10_000, 1e4), (6, 1e3), (0, 1)),
    Row(newton_lanes, right_sides, (10_000, 1000.0), (6, 30.0), (0,)),
    Row(recurrent_network, words, (500, 32, 64), (5, 3, 4), (0, 1, 2, 3)),
    Row(hessian_matrix, classified, (500, 200), (7, 4), (0,)),
    Row(jacobian_matrix, sensors, (1000, 100), (6, 4), (0, 1)),
    Row(random_normals, seeded, (10_000_000,), (9,), (0,)),
]
