"""Statistical models and the layers of networks."""
from __future__ import annotations

import math

import numpy as np

from .row import Row


def softmax(x):
    shifted = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return shifted / np.sum(shifted, axis=-1, keepdims=True)


def convolution(images, weights, bias):
    """Images (count, height, width, channels) with filters (side, side, channels, filters)."""
    side = weights.shape[0]
    height = images.shape[1] - side + 1
    width = images.shape[2] - side + 1
    out = np.empty((images.shape[0], height, width, weights.shape[3]))
    for i in range(height):
        for j in range(width):
            patch = images[:, i : i + side, j : j + side, :, np.newaxis]
            out[:, i, j, :] = np.sum(patch * weights, axis=(1, 2, 3)) + bias
    return out


def log_sum_exp(x):
    largest = np.max(x, axis=-1, keepdims=True)
    return np.log(np.sum(np.exp(x - largest), axis=-1)) + largest[..., 0]


def gmm(x, alphas, means, log_diagonal, triangle, place, below):
    """Negative log-likelihood of a Gaussian mixture with a Wishart prior.

    An inverse square root of each covariance has exp(log_diagonal) on its diagonal and, where `below` is 1,
    element `place` of `triangle` under it.
    """
    n, d = x.shape
    centred = np.transpose(x[:, None, :] - means, (1, 2, 0))
    factor = triangle[:, place] * below + np.exp(log_diagonal)[:, :, None] * np.eye(d)
    mahalanobis = np.sum((factor @ centred) ** 2, axis=1)
    terms = alphas + np.sum(log_diagonal, axis=1) - 0.5 * mahalanobis.T
    likelihood = np.sum(log_sum_exp(terms)) - n * log_sum_exp(alphas)
    prior = 0.5 * (np.sum(np.exp(2 * log_diagonal)) + np.sum(triangle**2)) - np.sum(log_diagonal)
    return prior - likelihood


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(main, extra, state, sequence):
    """Mean log-likelihood of the next symbol under layers of diagonal LSTM cells; overwrites the state."""
    layers, width = main.shape[0], sequence.shape[1]
    total = 0.0
    for t in range(sequence.shape[0] - 1):
        signal = sequence[t] * extra[0]
        for k in range(layers):
            weight, bias = main[k, 0], main[k, 1]
            hidden, cell = state[k, 0], state[k, 1]
            forget = sigmoid(signal * weight[:width] + bias[:width])
            admit = sigmoid(hidden * weight[width : 2 * width] + bias[width : 2 * width])
            emit = sigmoid(signal * weight[2 * width : 3 * width] + bias[2 * width : 3 * width])
            change = np.tanh(hidden * weight[3 * width :] + bias[3 * width :])
            state[k, 1] = cell * forget + admit * change
            signal = emit * np.tanh(state[k, 1])
            state[k, 0] = signal
        prediction = signal * extra[1] + extra[2]
        total += np.sum(sequence[t + 1] * (prediction - np.log(2 + np.sum(np.exp(prediction)))))
    return -total / ((sequence.shape[0] - 1) * width)


def logistic_regression(weights, bias, x, labels):
    margin = labels * (x @ weights + bias)
    return np.mean(np.logaddexp(0, -margin)) + 0.005 * np.sum(weights**2)


def mlp(first, first_bias, second, second_bias, third, third_bias, x, labels):
    hidden = np.tanh(x @ first + first_bias)
    hidden = np.tanh(hidden @ second + second_bias)
    scores = hidden @ third + third_bias
    return np.mean(log_sum_exp(scores) - np.sum(scores * labels, axis=1))


def rnn(recurrent, entering, bias, inputs):
    hidden = np.zeros(bias.shape)
    for t in range(inputs.shape[0]):
        hidden = np.tanh(recurrent @ hidden + entering @ inputs[t] + bias)
    return hidden


def attention(queries, keys, values):
    """Heads (heads, length, width) of scaled dot-product attention."""
    scores = queries @ np.transpose(keys, (0, 2, 1)) / math.sqrt(queries.shape[2])
    return softmax(scores) @ values


def chain(x):
    y = np.sin(x) * np.exp(-0.1 * x * x)
    z = np.tanh(y + 0.5 * x)
    return np.log1p(z * z) + y / (1 + z * z)


def normal(*shapes, scale=1.0):
    def arguments(rng, *sizes):
        return tuple(scale * rng.standard_normal(shape) for shape in (make(*sizes) for make in shapes))

    return arguments


def mixture(rng, n, d, count):
    rows, columns = np.tril_indices(d, -1)
    place, below = np.zeros((d, d), int), np.zeros((d, d))
    place[rows, columns], below[rows, columns] = np.arange(rows.size), 1
    return (
        rng.standard_normal((n, d)), rng.standard_normal(count), rng.standard_normal((count, d)),
        0.1 * rng.standard_normal((count, d)), 0.1 * rng.standard_normal((count, rows.size)), place, below,
    )  # fmt: skip


def symbols(rng, steps, layers, width):
    return (
        rng.standard_normal((layers, 2, 4 * width)), rng.standard_normal((3, width)),
        rng.standard_normal((layers, 2, width)), (rng.random((steps, width)) < 0.3).astype(float),
    )  # fmt: skip


def labelled(rng, n, d):
    return (
        rng.standard_normal(d), 0.5, rng.standard_normal((n, d)),
        np.where(rng.random(n) < 0.5, -1.0, 1.0),
    )  # fmt: skip


def network(rng, n, *widths):
    layers = []
    for below, above in zip(widths, widths[1:]):
        layers += [rng.standard_normal((below, above)) / math.sqrt(below), 0.1 * rng.standard_normal(above)]
    return *layers, rng.standard_normal((n, widths[0])), np.eye(widths[-1])[rng.integers(0, widths[-1], n)]


def recurrent_network(rng, steps, inputs, width):
    return (
        rng.standard_normal((width, width)) / math.sqrt(width), rng.standard_normal((width, inputs)),
        rng.standard_normal(width), rng.standard_normal((steps, inputs)),
    )  # fmt: skip


def images(rng, count, side, channels, filters, window):
    return (
        rng.standard_normal((count, side, side, channels)),
        rng.standard_normal((window, window, channels, filters)), rng.standard_normal(filters),
    )  # fmt: skip


def single(rng, n):
    return (rng.standard_normal(n, dtype=np.float32),)


HEAD = normal(*[lambda heads, length, width: (heads, length, width)] * 3)

ROWS = [
    Row(softmax, normal(lambda *shape: shape), (16, 16, 128, 128), (2, 3, 4, 5), (0,), autograd=True),
    Row(convolution, images, (8, 32, 3, 16, 2), (2, 5, 2, 3, 2), (0, 1, 2)),
    Row(gmm, mixture, (1000, 10, 25), (6, 3, 4), (1, 2, 3, 4), name="gmm_10", autograd=True),
    Row(gmm, mixture, (1000, 20, 25), (6, 4, 3), (1, 2, 3, 4), name="gmm_20", autograd=True),
    Row(lstm, symbols, (1024, 2, 14), (5, 2, 3), (0, 1)),
    Row(logistic_regression, labelled, (10000, 100), (20, 4), (0, 1), autograd=True),
    Row(mlp, network, (256, 784, 256, 128, 10), (7, 6, 5, 4, 3), tuple(range(6)), autograd=True),
    Row(rnn, recurrent_network, (1000, 16, 64), (6, 3, 4), (0, 1, 2), autograd=True),
    Row(attention, HEAD, (8, 256, 64), (2, 5, 3), (0, 1, 2), autograd=True),
    Row(chain, normal(lambda n: (n,)), (10_000_000,), (50,), (0,), name="chain_float64", autograd=True),
    Row(chain, single, (10_000_000,), (50,), (0,), name="chain_float32", autograd=True),
]
