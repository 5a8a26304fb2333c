"""The registry's primitives: name, type rule, NumPy implementation."""
from . import (
    convolution,
    creation,
    effects,
    einsum,
    elementwise,
    fft,
    indexing,
    linalg,
    promotion,
    reductions,
    scans,
    slices,
    sorting,
    special,
    stacks,
    structural,
)
