"""The gradient of a determinant, and its derivatives, for every matrix: singular, repeated, defective.

In the bases of its singular vectors a matrix is diagonal, and the cofactors of a diagonal matrix are
products of all its entries but one: no division, so no rank is special.

>>> cofactor_matrix(np.array([[1.0, 2.0], [2.0, 4.0]])).round(12)
array([[ 4., -2.],
       [-2.,  1.]])
"""
from __future__ import annotations

import numpy as np


def cofactor_matrix(a):
    """The derivative of det(a) by each entry."""
    u, s, vh = np.linalg.svd(a)
    turn = np.linalg.det(u) * np.linalg.det(vh)
    inner = turn[..., None] * products_without(s)
    return u.conj() * inner[..., None, :] @ vh.conj()


def products_without(s):
    """For each i the product of all s but s[i]."""
    n = s.shape[-1]
    return np.prod(np.where(np.eye(n, dtype=bool), s.dtype.type(1), s[..., None, :]), axis=-1)


def cofactor_slope(a, *directions):
    """The derivative of the matrix of cofactors along each of some directions."""
    if len(directions) > 1:
        return along_circle(a, *directions)
    u, s, vh = np.linalg.svd(a)
    left, right = np.swapaxes(u.conj(), -1, -2), np.swapaxes(vh.conj(), -1, -2)
    turn = np.linalg.det(u) * np.linalg.det(vh)
    inner = diagonal_slope(s, left @ directions[0] @ right)
    return turn[..., None, None] * np.swapaxes(right @ inner @ left, -1, -2)


def diagonal_slope(s, p):
    """The derivative of the adjugate of diag(s) in the direction p: products of all s but two, times p."""
    n = s.shape[-1]
    eye = np.eye(n, dtype=bool)
    pairs = np.where(eye, 0, products_without(np.where(eye, s.dtype.type(1), s[..., None, :])))
    diagonal = pairs @ np.diagonal(p, axis1=-2, axis2=-1)[..., None]
    return np.where(eye, diagonal, -pairs * p)


def along_circle(a, *directions):
    """Higher derivatives: along the last direction the cofactors are a polynomial of degree below n, whose
    linear coefficient is an average over a circle of points."""
    *others, last = directions
    points = max(a.shape[-1] + 1, 2)
    size = np.linalg.norm(last, axis=(-2, -1), keepdims=True)
    radius = np.maximum(np.linalg.norm(a, axis=(-2, -1), keepdims=True), 1) / np.where(size > 0, size, 1)
    total = 0
    for turn in np.exp(2j * np.pi * np.arange(points) / points):
        total = total + cofactor_slope(a + radius * turn * last, *others) / turn
    total = total / (points * radius)
    dtype = np.result_type(a, *directions)
    return (total if dtype.kind == "c" else total.real).astype(dtype)
