"""The Jacobian of bundle adjustment by hand: a reverse sweep for each of the two errors, sequential Numba."""

import numba
import numpy as np


@numba.njit(error_model="numpy")
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@numba.njit(error_model="numpy")
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@numba.njit(error_model="numpy")
def combined(a, x, b, y, c, z):
    return a * x[0] + b * y[0] + c * z[0], a * x[1] + b * y[1] + c * z[1], a * x[2] + b * y[2] + c * z[2]


@numba.njit(error_model="numpy")
def observation(camera, point, weight, feature, by_camera, by_point, by_weight):
    rotation = camera[0], camera[1], camera[2]
    d = point[0] - camera[3], point[1] - camera[4], point[2] - camera[5]
    square = dot(rotation, rotation)
    turns = square > 1e-10
    angle = np.sqrt(square) if turns else 1.0
    axis = rotation[0] / angle, rotation[1] / angle, rotation[2] / angle
    cosine, sine = (np.cos(angle), np.sin(angle)) if turns else (1.0, 1.0)
    turned, along = cross(axis, d), dot(axis, d)
    x = combined(cosine, d, sine, turned, (1 - cosine) * along, axis)
    flat = x[0] / x[2], x[1] / x[2]
    square = flat[0] ** 2 + flat[1] ** 2
    stretch = 1 + camera[9] * square + camera[10] * square**2
    for k in range(2):
        u = flat[k] * stretch
        by_weight[k] = u * camera[6] + camera[7 + k] - feature[k]
        u_bar = weight * camera[6]
        stretch_bar = u_bar * flat[k]
        square_bar = stretch_bar * (camera[9] + 2 * camera[10] * square)
        first = 2 * square_bar * flat[0] + (u_bar * stretch if k == 0 else 0.0)
        second = 2 * square_bar * flat[1] + (u_bar * stretch if k == 1 else 0.0)
        x_bar = first / x[2], second / x[2], -(first * flat[0] + second * flat[1]) / x[2]
        back, swept = dot(axis, x_bar), cross(d, x_bar)
        d_bar = combined(cosine, x_bar, -sine, cross(axis, x_bar), (1 - cosine) * back, axis)
        axis_bar = combined(sine, swept, (1 - cosine) * along, x_bar, (1 - cosine) * back, d)
        angle_bar = 0.0
        if turns:
            angle_bar = cosine * dot(x_bar, turned) - sine * (dot(x_bar, d) - back * along)
            angle_bar -= dot(axis_bar, axis) / angle
        for j in range(3):
            by_camera[k, j] = axis_bar[j] / angle + angle_bar * axis[j]
            by_camera[k, 3 + j] = -d_bar[j]
            by_point[k, j] = d_bar[j]
        by_camera[k, 6] = weight * u
        by_camera[k, 7] = weight if k == 0 else 0.0
        by_camera[k, 8] = weight if k == 1 else 0.0
        by_camera[k, 9] = stretch_bar * square
        by_camera[k, 10] = stretch_bar * square**2


@numba.njit(error_model="numpy")
def bundle_adjustment_jacobian(cameras, points, weights, features, seen):
    count = len(seen)
    by_camera, by_point, by_weight = np.empty((count, 2, 11)), np.empty((count, 2, 3)), np.empty((count, 2))
    of_weights = np.empty(count)
    for k in range(count):
        camera, point = cameras[seen[k, 0]], points[seen[k, 1]]
        observation(camera, point, weights[k], features[k], by_camera[k], by_point[k], by_weight[k])
        of_weights[k] = -2 * weights[k]
    return by_camera, by_point, by_weight, of_weights
