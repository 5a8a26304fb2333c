"""A function written with chainrule.lax, held against plain Python in every way that it can be run."""

import numpy as np

import chainrule as cr
from chainrule.runtime.pullbacks import Plain


def leaves(tree):
    return cr.tree.leaves(tree)


def same(got, want, dtypes=True, tolerance=1e-10):
    assert cr.tree.structure(got) == cr.tree.structure(want)
    for a, b in zip(leaves(got), leaves(want), strict=True):
        assert np.shape(a) == np.shape(b)
        assert not dtypes or np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def moved(arguments, seed):
    """Arguments of the same structure, shapes and dtypes, with other floats."""
    rng = np.random.default_rng(seed)
    inexact = lambda leaf: np.asarray(leaf).dtype.kind == "f"
    shift = lambda leaf: leaf + 0.1 * rng.random(np.shape(leaf)) if inexact(leaf) else leaf
    return cr.tree.map(shift, arguments)


def check_values(function, reference, *arguments):
    """As ordinary Python, as a program, compiled: the values of the reference."""
    want = reference(*arguments)
    before = cr.tree.map(np.copy, arguments)
    for run in (function, Plain(function), cr.jit(function)):
        same(run(*arguments), want)
    same(arguments, before, dtypes=False, tolerance=0)


def check_batched(function, *arguments):
    """A batch of three is what three calls give."""
    several = [moved(arguments, seed) for seed in range(3)]
    batch = cr.tree.map(lambda *parts: np.stack(parts), *several)
    one_by_one = [function(*one) for one in several]
    want = cr.tree.map(lambda *parts: np.stack(parts), *one_by_one)
    same(cr.vmap(function)(*batch), want)
    same(cr.jit(cr.vmap(function))(*batch), want)


def check_derivatives(function, *arguments, order=2):
    """Forward and reverse against differences, compiled against not."""
    cr.check_grads(function, arguments, order=order)
    total = lambda *given: sum(np.sum(np.sin(leaf)) for leaf in leaves(function(*given)))
    argnums = tuple(range(len(arguments)))
    gradient = cr.grad(total, argnums)
    found = gradient(*arguments)
    same(cr.jit(gradient)(*arguments), found, dtypes=False)
    batch = cr.tree.map(lambda *parts: np.stack(parts), *[moved(arguments, seed) for seed in range(2)])
    rows = [gradient(*moved(arguments, seed)) for seed in range(2)]
    same(cr.jit(cr.vmap(gradient))(*batch), cr.tree.map(lambda *parts: np.stack(parts), *rows), dtypes=False)


def check(function, reference, *arguments, order=2):
    check_values(function, reference, *arguments)
    check_batched(function, *arguments)
    check_derivatives(function, *arguments, order=order)
