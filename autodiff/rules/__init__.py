"""Derivative rules, forward and reverse side by side."""
from . import (
    collectives,
    convolution,
    einsum,
    elementwise,
    factorisations,
    fft,
    indexing,
    linalg,
    reductions,
    scans,
    sorting,
    special,
    stacks,
    structural,
)
