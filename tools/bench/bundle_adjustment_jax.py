"""Bundle adjustment for JAX. Where the angle is small, both ways to turn a vector are computed."""

import jax
import jax.numpy as jnp


def rotated(rotation, x):
    square = jnp.sum(rotation**2)
    turns = square > 1e-10
    angle = jnp.sqrt(jnp.where(turns, square, 1.0))
    axis = rotation / angle
    cosine = jnp.cos(angle)
    far = cosine * x + jnp.sin(angle) * jnp.cross(axis, x) + (1 - cosine) * jnp.dot(axis, x) * axis
    return jnp.where(turns, far, x + jnp.cross(rotation, x))


def projected(camera, point):
    x = rotated(camera[:3], point - camera[3:6])
    flat = x[:2] / x[2]
    square = jnp.sum(flat**2)
    return flat * (1 + camera[9] * square + camera[10] * square**2) * camera[6] + camera[7:9]


def reprojection(camera, point, weight, feature):
    return weight * (projected(camera, point) - feature)


def bundle_adjustment(cameras, points, weights, features, seen):
    errors = jax.vmap(reprojection)(cameras[seen[:, 0]], points[seen[:, 1]], weights, features)
    return jnp.concatenate([jnp.ravel(errors), 1 - weights**2])


def bundle_adjustment_jacobian(cameras, points, weights, features, seen):
    blocks = jax.vmap(jax.jacrev(reprojection, (0, 1, 2)))
    found = blocks(cameras[seen[:, 0]], points[seen[:, 1]], weights, features)
    return *found, jax.vmap(jax.grad(lambda weight: 1 - weight**2))(weights)
