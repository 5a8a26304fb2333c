"""Compiled programs free what they allocate."""

import numpy as np
import pytest
from numba.core.runtime import _nrt_python as runtime
from numba.core.runtime import rtsys

import chainrule as cr

MATRIX, VECTOR = np.random.default_rng(0).standard_normal((5, 5)), np.arange(5.0)


def products(a, x):
    return np.sum((a @ a).T @ x) + (a[0] @ x) + np.sum(a[:, ::2].T @ a)


def steps(a, x):
    state, total = x, 0.0
    while np.sum(np.abs(state)) > 0.1:
        state = np.tanh(a @ state) * 0.05
        total += np.transpose(a)[1] @ state
    return total


def in_place(a, x):
    rows = np.zeros((4, 5))
    for k in range(4):
        rows[k] = np.dot(a, x) * k
        x = np.sort(rows[k])[::-1]
    return np.sum(rows**2)


def solved(a, x):
    return np.sum(np.linalg.solve(a @ a.T + np.eye(5), x)) + np.linalg.det(a)


def unpaired():
    """How many allocations have not been freed since statistics were begun."""
    counts = rtsys.get_allocation_stats()
    return counts.alloc - counts.free


@pytest.mark.parametrize("function", [products, steps, in_place, solved])
@pytest.mark.parametrize(
    "transform", [cr.jit, lambda f: cr.jit(cr.grad(f, (0, 1)))], ids=["value", "gradient"]
)
def test_nothing_is_left(function, transform):
    jitted = transform(function)
    jitted(MATRIX, VECTOR)
    runtime.memsys_enable_stats()
    try:
        before = unpaired()
        for _ in range(20):
            jitted(MATRIX, VECTOR)
        assert unpaired() - before < 20
    finally:
        runtime.memsys_disable_stats()
