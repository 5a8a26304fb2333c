"""Derivatives of programs against central differences, first and second order, run by the interpreter."""
import numpy as np

from chainrule.autodiff import forward, reverse, split
from chainrule.codegen.core import FLOAT, INT, ArrayType
from chainrule.codegen.evaluate import evaluate
from chainrule.codegen.specialise import Parameter, specialise
from tests.autodiff.scoping import check_scopes


def parameter_of(value):
    if isinstance(value, (bool, np.bool_)):
        raise TypeError("no booleans")
    if type(value) is int:
        return Parameter(INT, "n")
    if type(value) is float:
        return Parameter(FLOAT, "x")
    return Parameter(ArrayType(value.dtype, tuple(s if s < 2 else None for s in value.shape)), "x")


def program_of(function, *arguments):
    return specialise(function, [parameter_of(a) for a in arguments]).program


def activity(arguments):
    return tuple(np.asarray(a).dtype.kind in "fc" for a in arguments)


def run(program, arguments):
    """The results, as a tuple, none of the arguments changed."""
    copies = tuple(np.array(a) if isinstance(a, np.ndarray) else a for a in arguments)
    results = evaluate(program, copies)
    for a, b in zip(arguments, copies):
        assert not isinstance(a, np.ndarray) or np.array_equal(a, b, equal_nan=True)
    return results if isinstance(results, tuple) else (results,)


def same_kind(value, like):
    return float(value) if type(like) is float else np.asarray(value, np.asarray(like).dtype)


def random_like(rng, values):
    return [same_kind(rng.standard_normal(np.shape(v)), v) for v in values]


def along(program, arguments, direction, active, step=1e-6):
    """The directional derivative of the inexact results by central differences."""
    moved = []
    for sign in (step, -step):
        tangents = iter(direction)
        moved.append(run(program, [same_kind(a + sign * next(tangents), a) if on else a
                                   for a, on in zip(arguments, active)]))
    pairs = [(np.asarray(p), np.asarray(m)) for p, m in zip(*moved)]
    return [(p - m) / (2 * step) for p, m in pairs if p.dtype.kind in "fc"]


def dot(a, b):
    return sum(np.sum(np.asarray(x) * np.asarray(y)) for x, y in zip(a, b, strict=True))


def inexact(values):
    return [v for v in values if np.asarray(v).dtype.kind in "fc"]


def check(function, *arguments, order=2, tolerance=1e-5, seed=0):
    """Forward and reverse agree with differences, and so do the derivatives of both."""
    check_program(program_of(function, *arguments), arguments, order, tolerance, np.random.default_rng(seed))


def check_program(program, arguments, order, tolerance, rng):
    check_scopes(program)
    active = activity(arguments)
    results = run(program, arguments)
    chosen = [a for a, on in zip(arguments, active) if on]
    direction = random_like(rng, chosen)
    cotangents = random_like(rng, inexact(results))
    wanted = along(program, arguments, direction, active)
    pushed = forward(program, active)
    tangents = run(pushed, [*arguments, *direction])[len(results):]
    for got, want in zip(tangents, wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance, err_msg="forward")
    pulled = reverse(program, active)
    check_scopes(pushed)
    check_scopes(pulled)
    given = run(pulled, [*arguments, *cotangents])
    for got, want in zip(given, results):
        np.testing.assert_array_equal(got, want)
    bars = given[len(results):]
    for bar, a in zip(bars, chosen, strict=True):
        assert np.shape(bar) == np.shape(a) and np.asarray(bar).dtype == np.asarray(a).dtype
    np.testing.assert_allclose(dot(bars, direction), dot(cotangents, wanted), rtol=tolerance, atol=tolerance,
                               err_msg="reverse")
    check_split(program, active, arguments, cotangents, given)
    if order > 1:
        for first, more in ((pushed, direction), (pulled, cotangents)):
            check_program(first, [*arguments, *more], order - 1, 10 * tolerance, rng)


def check_split(program, active, arguments, cotangents, wanted):
    """The two halves of reverse mode give what the whole gives."""
    first, second = split(program, active)
    check_scopes(first)
    check_scopes(second)
    count = len(program.results)
    kept = run(first, arguments)
    bars = run(second, [*kept[count:], *cotangents])
    for got, want in zip((*kept[:count], *bars), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, err_msg="split")
