"""Derivatives of products, inverses and determinants (M. Giles, "Collected matrix derivative results", 2008).

Cotangents are plain transposes, as in JAX; on real matrices `adjoint` is `transposed`.
"""
from __future__ import annotations

import numpy as np

from ...codegen.primitives import linalg
from ...codegen.registry import derivative


def transposed(a):
    return np.swapaxes(a, -1, -2)


def adjoint(a):
    return np.conj(transposed(a)) if a.dtype.kind == "c" else transposed(a)


def conjugated(a):
    return np.conj(a) if a.dtype.kind == "c" else a


def diagonal(a):
    return np.diagonal(a, axis1=-2, axis2=-1)


def real_diagonal(a):
    return np.real(diagonal(a)) if a.dtype.kind == "c" else diagonal(a)


def embedded(values):
    """Diagonal matrices of these values."""
    return values[..., None] * np.eye(values.shape[-1], dtype=values.dtype)


# Products


def matmul_vjp_left(ct, out, a, b):
    if b.ndim == 1:
        return ct[..., None] * b
    if a.ndim == 1:
        return b @ ct if b.ndim == 2 else np.squeeze(b @ ct[..., None], -1)
    return ct @ transposed(b)


def matmul_vjp_right(ct, out, a, b):
    if a.ndim == 1:
        return a * ct if b.ndim == 1 else a[:, None] * ct[..., None, :]
    if b.ndim == 1:
        return ct @ a if a.ndim == 2 else np.squeeze(transposed(a) @ ct[..., None], -1)
    if b.ndim == 2 and a.ndim > 2:
        leading = tuple(range(a.ndim - 1))
        return np.tensordot(a, ct, axes=(leading, leading))
    return transposed(a) @ ct


derivative(linalg.matmul, 0, jvp=lambda t, out, a, b: t @ b, vjp=matmul_vjp_left)
derivative(linalg.matmul, 1, jvp=lambda t, out, a, b: a @ t, vjp=matmul_vjp_right)


# Inverses


def solve_jvp(t, out, a, b):
    if b.ndim == 1:
        return np.squeeze(-np.linalg.solve(a, t @ out[..., None]), -1)
    return -np.linalg.solve(a, t @ out)


def solve_columns(a, ct, b):
    """The solution for a transposed matrix and a cotangent of the shape of the result."""
    if b.ndim == 1 and a.ndim > 2:
        return np.squeeze(np.linalg.solve(transposed(a), ct[..., None]), -1)
    return np.linalg.solve(transposed(a), ct)


def solve_vjp(ct, out, a, b):
    right = solve_columns(a, ct, b)
    if b.ndim == 1:
        return -right[..., None] * out[..., None, :]
    return -right @ transposed(out)


derivative(linalg.solve, 0, jvp=solve_jvp, vjp=solve_vjp)
derivative(
    linalg.solve,
    1,
    jvp=lambda t, out, a, b: np.linalg.solve(a, t),
    vjp=lambda ct, out, a, b: solve_columns(a, ct, b),
)
derivative(
    linalg.inv,
    jvp=lambda t, out, a: -out @ t @ out,
    vjp=lambda ct, out, a: -transposed(out) @ ct @ transposed(out),
)


def pinv_jvp(t, out, a, rcond):
    """G. Golub and V. Pereyra, "The differentiation of pseudo-inverses", 1973, for a constant rank."""
    outside = (t - a @ (out @ t)) @ out  # what `a` does not reach
    inside = out @ (t - (t @ out) @ a)  # what `a` sends to 0
    return out @ (adjoint(outside) - t @ out) + adjoint(inside) @ out


def pinv_vjp(ct, out, a, rcond):
    """The transpose of the same three terms."""
    back = transposed(out)
    outside = adjoint(back @ ct)
    inside = adjoint(ct @ back)
    outside = outside - back @ (transposed(a) @ outside)
    inside = inside - (inside @ transposed(a)) @ back
    return (outside - back @ ct) @ back + back @ inside


derivative(linalg.pinv, jvp=pinv_jvp, vjp=pinv_vjp)


# Determinants


derivative(
    linalg.det,
    jvp=lambda t, out, a: np.sum(linalg.cofactor(a) * t, axis=(-2, -1)),
    vjp=lambda ct, out, a: ct[..., None, None] * linalg.cofactor(a),
)


def cofactor_tangent(position):
    def jvp(t, out, a, *directions):
        if position == 0:
            return linalg.cofactor_along(a, *directions, t)
        return linalg.cofactor_along(a, *directions[:position - 1], t, *directions[position:])
    return jvp


# A derivative of a scalar is symmetric in all its directions, so the transpose takes the same form.
derivative(linalg.cofactor, jvp=cofactor_tangent(0), vjp=cofactor_tangent(0))
for position in range(5):
    tangent = cofactor_tangent(position)
    derivative(linalg.cofactor_along, position, jvp=tangent, vjp=tangent)


def slogdet_jvp(t, out, a):
    sign, _ = out
    change = np.einsum("...ij,...ji->...", np.linalg.inv(a), t)
    if a.dtype.kind == "c":
        return (change - np.real(change)) * sign, np.real(change)
    return None, change


def slogdet_vjp(ct, out, a):
    (sign, _), (sign_ct, log_ct) = out, ct
    if a.dtype.kind == "c":
        turn = sign_ct * sign
        log_ct = log_ct + turn - np.real(turn)
    return log_ct[..., None, None] * transposed(np.linalg.inv(a))


derivative(linalg.slogdet, jvp=slogdet_jvp, vjp=slogdet_vjp)
