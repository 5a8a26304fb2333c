"""The transformed functions for JAX. Where it cannot reverse a loop, it has a derivative of another kind."""
import jax
import jax.numpy as jnp
from jax import lax


def example_loss(parameters, x, label):
    first, first_bias, second, second_bias = parameters
    scores = jnp.tanh(x @ first + first_bias) @ second + second_bias
    return jax.nn.logsumexp(scores) - scores[label]


def clipped_gradients(first, first_bias, second, second_bias, x, labels):
    parameters = first, first_bias, second, second_bias
    gradients = jax.vmap(jax.grad(example_loss), in_axes=(None, 0, 0))(parameters, x, labels)
    rows = jnp.concatenate([part.reshape(x.shape[0], -1) for part in gradients], axis=1)
    lengths = jnp.sqrt(jnp.sum(rows**2, axis=1))
    return jnp.mean(rows / jnp.maximum(lengths, 1.0)[:, jnp.newaxis], axis=0)


def spring(stiffness, start):
    def rates(t, y):
        place, speed = y
        return jnp.stack([speed, jnp.cos(t) - 0.1 * speed - stiffness * place])

    def step(state):
        t, h, y, k = state
        h = jnp.minimum(h, 1.0 - t)
        second = rates(t + 0.5 * h, y + 0.5 * h * k)
        third = rates(t + 0.75 * h, y + 0.75 * h * second)
        new = y + h * (2.0 / 9.0 * k + 1.0 / 3.0 * second + 4.0 / 9.0 * third)
        last = rates(t + h, new)
        parts = h * (-5.0 / 72.0 * k + 1.0 / 12.0 * second + 1.0 / 9.0 * third - 0.125 * last)
        error = jnp.sqrt(jnp.sum(parts**2)) / 1e-4 + 1e-10
        good = error <= 1.0
        next_h = h * jnp.minimum(5.0, jnp.maximum(0.2, 0.9 * error ** (-1.0 / 3.0)))
        return jnp.where(good, t + h, t), next_h, jnp.where(good, new, y), jnp.where(good, last, k)

    y = jnp.stack([start, 0.0 * start])
    state = 0.0 * start, 0.01 + 0.0 * start, y, rates(0.0, y)
    return lax.while_loop(lambda state: state[0] < 1.0 - 1e-12, step, state)[2][0]


@jax.custom_vjp
def adaptive_ode(stiffness, start):
    """In reverse mode two tangents go forward beside each solution, for JAX does not reverse a while_loop."""
    return jax.vmap(spring)(stiffness, start)


def ode_forward(stiffness, start):
    def both(*arguments):
        value = spring(*arguments)
        return value, value

    slopes, values = jax.vmap(jax.jacfwd(both, (0, 1), has_aux=True))(stiffness, start)
    return values, slopes


def ode_backward(slopes, cotangent):
    return tuple(slope * cotangent for slope in slopes)


adaptive_ode.defvjp(ode_forward, ode_backward)


def newton_lanes(c):
    """Differentiated implicitly."""

    def root(c):
        def error(x):
            return x * jnp.exp(x) - c

        def solve(f, x):
            def far(x):
                return jnp.abs(f(x)) > 1e-12 * c

            return lax.while_loop(far, lambda x: x - f(x) / ((1.0 + x) * jnp.exp(x)), x)

        return lax.custom_root(error, 1.0 + 0.0 * c, solve, lambda g, y: y / g(1.0))

    return jax.vmap(root)(c)


def recurrent_network(inner, outer, bias, sequence):
    def step(state, x):
        return jnp.tanh(state @ inner + x + bias), None

    return lax.scan(step, jnp.zeros(inner.shape[0]), sequence @ outer)[0]


def logistic_loss(weights, x, labels):
    return jnp.mean(jnp.logaddexp(0.0, -labels * (x @ weights))) + 0.005 * jnp.sum(weights**2)


def hessian_matrix(weights, x, labels):
    return jax.hessian(logistic_loss)(weights, x, labels)


def responses(x, matrix):
    return jnp.tanh(matrix @ x) * jnp.sum(x**2)


def jacobian_matrix(x, matrix):
    return jax.jacfwd(responses)(x, matrix)


def random_normals(scale, key, n):
    return scale * jax.random.normal(key, (n,))
