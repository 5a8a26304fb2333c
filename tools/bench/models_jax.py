"""The models for JAX, with its own functions where it has them; most are the NumPy code with jax.numpy."""
import math

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.special import logsumexp


def softmax(x):
    return jax.nn.softmax(x, axis=-1)


def softmax_port(x):
    shifted = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
    return shifted / jnp.sum(shifted, axis=-1, keepdims=True)


def convolution(images, weights, bias):
    layout = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(images, weights, (1, 1), "VALID", dimension_numbers=layout) + bias


def convolution_port(images, weights, bias):
    side = weights.shape[0]
    height, width = images.shape[1] - side + 1, images.shape[2] - side + 1

    def pixel(place, out):
        i, j = place // width, place % width
        sizes = (images.shape[0], side, side, images.shape[3])
        patch = lax.dynamic_slice(images, (0, i, j, 0), sizes)[..., None]
        return out.at[:, i, j, :].set(jnp.sum(patch * weights, axis=(1, 2, 3)) + bias)

    shape = images.shape[0], height, width, weights.shape[3]
    return lax.fori_loop(0, height * width, pixel, jnp.zeros(shape))


def gmm(x, alphas, means, log_diagonal, triangle, place, below):
    n, d = x.shape
    centred = jnp.transpose(x[:, None, :] - means, (1, 2, 0))
    factor = triangle[:, place] * below + jnp.exp(log_diagonal)[:, :, None] * jnp.eye(d)
    mahalanobis = jnp.sum((factor @ centred) ** 2, axis=1)
    terms = alphas + jnp.sum(log_diagonal, axis=1) - 0.5 * mahalanobis.T
    likelihood = jnp.sum(logsumexp(terms, axis=1)) - n * logsumexp(alphas)
    prior = 0.5 * (jnp.sum(jnp.exp(2 * log_diagonal)) + jnp.sum(triangle**2)) - jnp.sum(log_diagonal)
    return prior - likelihood


def lstm(main, extra, state, sequence):
    layers, width = main.shape[0], sequence.shape[1]

    def layer(signal, state, weight, bias):
        weight, bias = weight.reshape(4, width), bias.reshape(4, width)
        hidden, cell = state
        forget, emit = (jax.nn.sigmoid(signal * weight[k] + bias[k]) for k in (0, 2))
        cell = cell * forget + jax.nn.sigmoid(hidden * weight[1] + bias[1]) * jnp.tanh(
            hidden * weight[3] + bias[3]
        )
        return emit * jnp.tanh(cell), cell

    def step(state, pair):
        signal, new = pair[0] * extra[0], []
        for k in range(layers):
            new.append(layer(signal, state[k], main[k, 0], main[k, 1]))
            signal = new[k][0]
        prediction = signal * extra[1] + extra[2]
        return new, jnp.sum(pair[1] * (prediction - jnp.log(2 + jnp.sum(jnp.exp(prediction)))))

    start = [(state[k, 0], state[k, 1]) for k in range(layers)]
    return -jnp.mean(lax.scan(step, start, (sequence[:-1], sequence[1:]))[1]) / width


def logistic_regression(weights, bias, x, labels):
    margin = labels * (x @ weights + bias)
    return jnp.mean(jnp.logaddexp(0, -margin)) + 0.005 * jnp.sum(weights**2)


def mlp(first, first_bias, second, second_bias, third, third_bias, x, labels):
    hidden = jnp.tanh(x @ first + first_bias)
    hidden = jnp.tanh(hidden @ second + second_bias)
    scores = hidden @ third + third_bias
    return jnp.mean(logsumexp(scores, axis=1) - jnp.sum(scores * labels, axis=1))


def rnn(recurrent, entering, bias, inputs):
    """The products with the inputs are made at once, before the scan."""

    def step(hidden, entered):
        return jnp.tanh(recurrent @ hidden + entered), None

    return lax.scan(step, jnp.zeros(bias.shape), inputs @ entering.T + bias)[0]


def rnn_port(recurrent, entering, bias, inputs):
    def step(hidden, entered):
        return jnp.tanh(recurrent @ hidden + entering @ entered + bias), None

    return lax.scan(step, jnp.zeros(bias.shape), inputs)[0]


def attention(queries, keys, values):
    scores = jnp.einsum("hqd,hkd->hqk", queries, keys) / math.sqrt(queries.shape[2])
    return jax.nn.softmax(scores, axis=-1) @ values


def chain(x):
    y = jnp.sin(x) * jnp.exp(-0.1 * x * x)
    z = jnp.tanh(y + 0.5 * x)
    return jnp.log1p(z * z) + y / (1 + z * z)
