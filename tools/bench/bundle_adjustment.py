"""Bundle adjustment after ADBench: how far observations of points by cameras are from where they should be.

A camera is 11 numbers: its rotation as a vector, its centre, its focal length, its principal point, and two
coefficients of radial distortion.
"""

from __future__ import annotations

import numpy as np

import chainrule as cr

from .row import Row


def rotated(rotation, x):
    """A vector turned about an axis, by the axis's length as an angle (Rodrigues)."""
    square = np.sum(rotation**2)
    if square > 1e-10:
        angle = np.sqrt(square)
        axis = rotation / angle
        cosine = np.cos(angle)
        return cosine * x + np.sin(angle) * np.cross(axis, x) + (1 - cosine) * np.dot(axis, x) * axis
    return x + np.cross(rotation, x)


def projected(camera, point):
    x = rotated(camera[:3], point - camera[3:6])
    flat = x[:2] / x[2]
    square = np.sum(flat**2)
    return flat * (1 + camera[9] * square + camera[10] * square**2) * camera[6] + camera[7:9]


def reprojection(camera, point, weight, feature):
    """The weighted error of one observation, two numbers."""
    return weight * (projected(camera, point) - feature)


def weight_error(weight):
    return 1 - weight**2


def bundle_adjustment(cameras, points, weights, features, seen):
    """All errors in one vector; `seen` has the numbers of the camera and the point of each observation."""
    errors = cr.vmap(reprojection)(cameras[seen[:, 0]], points[seen[:, 1]], weights, features)
    return np.concatenate([np.ravel(errors), cr.vmap(weight_error)(weights)])


def bundle_adjustment_jacobian(cameras, points, weights, features, seen):
    """The blocks of the sparse Jacobian: by camera, by point, by weight; and those of the weights' errors."""
    blocks = cr.vmap(cr.jacrev(reprojection, (0, 1, 2)))
    found = blocks(cameras[seen[:, 0]], points[seen[:, 1]], weights, features)
    return *found, cr.vmap(cr.grad(weight_error))(weights)


def observations(rng, count, cameras, points):
    """As many observations, the points in front of the cameras."""
    scales = np.repeat([0.3, 0.2, 1.0, 0.1, 0.05], [3, 3, 1, 2, 2])
    place = np.array([0.0, 0.0, 4.0])
    return (
        np.repeat([0.0, 1.0, 0.0], [6, 1, 4]) + scales * rng.standard_normal((cameras, 11)),
        place + rng.standard_normal((points, 3)) / 2, rng.random(count),
        rng.standard_normal((count, 2)) / 4,
        np.stack([rng.integers(0, cameras, count), rng.integers(0, points, count)], axis=1),
    )  # fmt: skip


ROWS = [
    Row(
        bundle_adjustment, observations, (31_843, 49, 7_776), (9, 3, 4), (0, 1, 2),
        derivative=bundle_adjustment_jacobian,
    ),
]  # fmt: skip
