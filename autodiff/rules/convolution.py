"""Derivatives of convolution: full and valid convolutions are each other's transposes."""
from __future__ import annotations

import numpy as np

from ...codegen.primitives.convolution import convolve
from ...codegen.registry import derivative


def convolve_vjp_left(ct, out, a, v, mode="full"):
    return convolve(ct, np.flip(v), mode="valid" if mode == "full" else "full")


def convolve_vjp_right(ct, out, a, v, mode="full"):
    if mode == "full":
        return convolve(ct, np.flip(a), mode="valid")
    return np.flip(convolve(a, np.flip(ct), mode="valid"))


derivative(
    convolve,
    0,
    jvp=lambda t, out, a, v, mode="full": convolve(t, v, mode=mode),
    vjp=convolve_vjp_left,
)
derivative(
    convolve,
    1,
    jvp=lambda t, out, a, v, mode="full": convolve(a, t, mode=mode),
    vjp=convolve_vjp_right,
)
