"""Derivatives of the matrix factorisations.

The factors of a matrix with repeated eigenvalues or singular values have no derivative in the directions
that split these; there the rules leave out the terms that would divide by 0, and stay finite.
"""
from __future__ import annotations

import numpy as np

from ...codegen.primitives import linalg
from ...codegen.registry import derivative
from .linalg import adjoint, conjugated, diagonal, embedded, real_diagonal, transposed


def hermitian_from(t, uplo):
    """The Hermitian matrix of which one triangle is read, as LAPACK does; the diagonal is real."""
    lower = t if uplo == "L" else adjoint(t)
    strict = np.tril(lower, -1)
    return strict + adjoint(strict) + embedded(real_diagonal(lower))


def triangle_of(ct, uplo):
    """The transpose of `hermitian_from`."""
    lower = np.tril(ct, -1) + np.tril(adjoint(ct), -1) + embedded(real_diagonal(ct))
    return lower if uplo == "L" else adjoint(lower)


# Cholesky (I. Murray, "Differentiation of the Cholesky decomposition", 2016)


def half_diagonal(a):
    """The lower triangle with half its diagonal."""
    return np.tril(a, -1) + embedded(diagonal(a)) / 2


def cholesky_jvp(t, out, a):
    inverse = np.linalg.inv(out)
    return out @ half_diagonal(inverse @ hermitian_from(t, "L") @ adjoint(inverse))


def cholesky_vjp(ct, out, a):
    inverse = np.linalg.inv(out)
    inner = half_diagonal(transposed(out) @ ct)
    return triangle_of(transposed(inverse) @ inner @ conjugated(inverse), "L")


derivative(linalg.cholesky, jvp=cholesky_jvp, vjp=cholesky_vjp)


# QR, of tall and of wide matrices (the leading square block of R is inverted)


def skew(w):
    """The skew-Hermitian matrix with the strict lower triangle of w, and its imaginary diagonal."""
    strict = np.tril(w, -1)
    if w.dtype.kind == "c":
        return strict - adjoint(strict) + embedded(diagonal(w) - np.real(diagonal(w)))
    return strict - adjoint(strict)


def qr_jvp(t, out, a):
    q, r = out
    rank = q.shape[-1]
    change = transposed(np.linalg.solve(transposed(r[..., :rank]), transposed(t[..., :rank])))
    inner = adjoint(q) @ change
    turn = skew(inner)
    return change + q @ (turn - inner), adjoint(q) @ t - turn @ r


def qr_vjp(ct, out, a):
    (q, r), (q_ct, r_ct) = out, ct
    rank = q.shape[-1]
    inner = transposed(q) @ q_ct
    turn = inner - r_ct @ transposed(r)
    turn = np.tril(turn - adjoint(turn), -1) + embedded(diagonal(turn) - real_diagonal(turn)) - inner
    change = q_ct + conjugated(q) @ turn
    square = transposed(np.linalg.solve(r[..., :rank], transposed(change)))
    whole = conjugated(q) @ r_ct
    return np.concatenate((whole[..., :rank] + square, whole[..., rank:]), axis=-1)


derivative(linalg.qr, jvp=qr_jvp, vjp=qr_vjp)


# Eigenvalues of Hermitian matrices


def inverse_gaps(values):
    """1 / (values[j] - values[i]), and 0 where these are equal to within rounding."""
    gaps = values[..., None, :] - values[..., :, None]
    scale = np.sum(np.abs(values), axis=-1)[..., None, None]
    equal = np.abs(gaps) <= np.finfo(values.dtype).eps * scale
    return np.where(equal, 0, 1 / np.where(equal, 1, gaps))


def eigh_jvp(t, out, a, UPLO="L"):
    values, vectors = out
    inner = adjoint(vectors) @ hermitian_from(t, UPLO) @ vectors
    return real_diagonal(inner), vectors @ (inverse_gaps(values) * inner)


def eigh_vjp(ct, out, a, UPLO="L"):
    (values, vectors), (values_ct, vectors_ct) = out, ct
    inner = embedded(values_ct) + inverse_gaps(values) * (transposed(vectors) @ vectors_ct)
    return triangle_of(conjugated(vectors) @ inner @ transposed(vectors), UPLO)


derivative(linalg.eigh, jvp=eigh_jvp, vjp=eigh_vjp)


def eigvalsh_jvp(t, out, a, UPLO="L"):
    _, vectors = np.linalg.eigh(a, UPLO)
    return real_diagonal(adjoint(vectors) @ hermitian_from(t, UPLO) @ vectors)


def eigvalsh_vjp(ct, out, a, UPLO="L"):
    _, vectors = np.linalg.eigh(a, UPLO)
    return triangle_of(conjugated(vectors) * ct[..., None, :] @ transposed(vectors), UPLO)


derivative(linalg.eigvalsh, jvp=eigvalsh_jvp, vjp=eigvalsh_vjp)


# Singular values (J. Townsend, "Differentiating the singular value decomposition", 2016)


def refuse_incomplete(a, full_matrices):
    """The extra columns of a full factorisation may be any basis: they have no derivative."""
    if full_matrices and a.shape[-2] != a.shape[-1]:
        raise NotImplementedError("svd of a matrix that is not square has no derivative with full_matrices="
                                  "True; pass full_matrices=False, or compute_uv=False for the values alone")


def reciprocal_or_zero(values):
    return np.where(values == 0, 0, 1 / np.where(values == 0, 1, values))


def imaginary_turn(inner, values):
    """Half of the turn of each pair of singular vectors about its free phase."""
    return (diagonal(inner) - real_diagonal(inner)) * reciprocal_or_zero(values) / 2


def svd_jvp(t, out, a, full_matrices=False):
    refuse_incomplete(a, full_matrices)
    u, s, vh = out
    v = adjoint(vh)
    inner = adjoint(u) @ t @ v
    gaps = inverse_gaps(s * s)
    scaled, turned = inner * s[..., None, :], inner * s[..., :, None]
    left = gaps * (scaled + adjoint(scaled))
    right = gaps * (turned + adjoint(turned))
    if a.dtype.kind == "c":
        phase = embedded(imaginary_turn(inner, s))
        left, right = left + phase, right - phase
    inverse = reciprocal_or_zero(s)
    u_dot = u @ left + (t @ v - u @ inner) * inverse[..., None, :]
    vh_dot = -right @ vh + (adjoint(u) @ t - inner @ vh) * inverse[..., :, None]
    return u_dot, real_diagonal(inner), vh_dot


def svd_vjp(ct, out, a, full_matrices=False):
    refuse_incomplete(a, full_matrices)
    (u, s, vh), (u_ct, s_ct, vh_ct) = out, ct
    left, right = transposed(u) @ u_ct, -vh_ct @ transposed(vh)
    gaps = inverse_gaps(s * s)
    inner = embedded(s_ct)
    inner = inner + (gaps * left + adjoint(gaps * left)) * s[..., None, :]
    inner = inner + (gaps * right + adjoint(gaps * right)) * s[..., :, None]
    if a.dtype.kind == "c":
        inner = inner + embedded(imaginary_turn(left - right, s))
    inverse = reciprocal_or_zero(s)
    outside_left = (u_ct - conjugated(u) @ left) * inverse[..., None, :]
    outside_right = (vh_ct + right @ conjugated(vh)) * inverse[..., :, None]
    return (conjugated(u) @ inner + outside_left) @ conjugated(vh) + conjugated(u) @ outside_right


derivative(linalg.svd, jvp=svd_jvp, vjp=svd_vjp)


def svdvals_jvp(t, out, a):
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return real_diagonal(adjoint(u) @ t @ adjoint(vh))


def svdvals_vjp(ct, out, a):
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return conjugated(u) * ct[..., None, :] @ conjugated(vh)


derivative(linalg.svdvals, jvp=svdvals_jvp, vjp=svdvals_vjp)
