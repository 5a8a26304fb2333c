"""Holds a small program against plain NumPy and central differences.

@program(1.5, np.ones(3))
def test_name(x, y): ...          a test: values, both kinds of derivative, nothing of the caller's changed

@refused("what is wrong", "what to write instead", 1.5)
def test_name(x): ...  # here     a test: the refusal, and that it names the line marked `# here`
"""
import copy
import inspect
import warnings

import numpy as np
import pytest

import chainrule as cr
from chainrule.codegen.errors import UnsupportedError
from chainrule.codegen.specialise.calls import call
from chainrule.runtime.transformation import Transformation


class Eager(Transformation):
    """The function itself, specialised and run by NumPy."""

    def expand(self, s, arguments, keywords, node):
        return call(s, self.function, arguments, keywords, node)


def program(*arguments, **options):
    """Make a function a test that `check`s it at these arguments."""
    def register(function):
        return test_of(function, lambda: check(function, *arguments, **options))
    return register


def refused(what, remedy, *arguments, error=UnsupportedError, transform=cr.grad):
    """Make a function a test that it is refused with this text, at the line marked `# here`."""

    def register(function):
        return test_of(function, lambda: check_refused(function, arguments, what, remedy, error, transform))
    return register


def test_of(function, run):
    def test():
        run()
    test.__name__, test.__doc__ = function.__name__, function.__doc__
    return test


test_of.__test__ = False


def check(function, *arguments, compiled=False, derivatives=True, tolerance=1e-5, step=1e-6):
    """The value is NumPy's; forward, reverse and central differences agree along random directions."""
    rng = np.random.default_rng(3)
    given = lambda: copy.deepcopy(arguments)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        plain = function(*given())
        for transform in (Eager, cr.jit) if compiled else (Eager,):
            after = given()
            same_value(transform(function)(*after), plain)
        if not derivatives:
            return
        places = [k for k, a in enumerate(arguments) if isinstance(a, (float, np.ndarray)) and inexact(a)]
        of = Moved(function, arguments, places)
        primals = [copy.deepcopy(arguments[k]) for k in places]
        directions = [random_like(rng, p) for p in primals]
        seeds = [random_like(rng, np.asarray(leaf)) for leaf in leaves_of(plain) if inexact(leaf)]
        wanted = of.along(directions, seeds, step)
        out, pull = cr.vjp(of.function, *primals)
        same_value(out, plain)
        pulled = pull(like_structure(plain, iter(seeds)))
        untouched(primals, [arguments[k] for k in places])
        reverse = sum(np.sum(b * d) for b, d in zip(pulled, directions, strict=True))
        np.testing.assert_allclose(reverse, wanted, rtol=tolerance, atol=tolerance, err_msg="reverse")
        for bar, primal in zip(pulled, primals, strict=True):
            assert np.shape(bar) == np.shape(primal)
        out, pushed = cr.jvp(of.function, tuple(primals), tuple(directions))
        same_value(out, plain)
        dots = [dot for dot, leaf in zip(leaves_of(pushed), leaves_of(plain), strict=True) if inexact(leaf)]
        forward = sum(np.sum(s * t) for s, t in zip(seeds, dots, strict=True))
        close = tolerance * 1e-3
        np.testing.assert_allclose(
            forward, reverse, rtol=close, atol=close, err_msg="forward against reverse"
        )


class Moved:
    """A function of the arguments that are differentiated; the others stay as they are."""

    def __init__(self, function, arguments, places):
        self.arguments = arguments
        self.places = places
        self.plain = function
        if len(places) == len(arguments):
            self.function = function
            return
        def of_chosen(*chosen):
            given = list(arguments)
            for k, value in zip(places, chosen):
                given[k] = value
            return function(*given)
        self.function = of_chosen

    def along(self, directions, seeds, step):
        """The derivative along the directions of the results weighted by the seeds."""
        ends = []
        for sign in (step, -step):
            moved = copy.deepcopy(list(self.arguments))
            for k, direction in zip(self.places, directions, strict=True):
                moved[k] = moved[k] + sign * direction
            leaves = [leaf for leaf in leaves_of(self.plain(*moved)) if inexact(leaf)]
            ends.append(sum(np.sum(s * leaf) for s, leaf in zip(seeds, leaves, strict=True)))
        return (ends[0] - ends[1]) / (2 * step)


def inexact(value):
    return np.asarray(value).dtype.kind in "fc"


def random_like(rng, value):
    drawn = rng.standard_normal(np.shape(value))
    return drawn.astype(value.dtype) if isinstance(value, (np.ndarray, np.generic)) else float(drawn)


def leaves_of(value):
    """The arrays and numbers in a nesting of tuples, lists and dicts (as optree orders them)."""
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves_of(item)]
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in leaves_of(value[key])]
    return [] if value is None or isinstance(value, str) else [value]


def like_structure(value, seeds):
    """The value with its inexact leaves replaced by seeds, and zeros for integers."""
    if isinstance(value, (tuple, list)):
        items = [like_structure(item, seeds) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: like_structure(value[key], seeds) for key in sorted(value)}
    if value is None or isinstance(value, str):
        return value
    return next(seeds) if inexact(value) else np.zeros_like(value)[()]


def same_value(got, want):
    """Same structure, shape, dtype and numbers."""
    assert type(got) is type(want) or isinstance(want, (float, int, np.generic, np.ndarray)), (
        type(got),
        type(want),
    )
    have, wanted = leaves_of(got), leaves_of(want)
    assert len(have) == len(wanted), (got, want)
    for a, b in zip(have, wanted, strict=True):
        assert np.shape(a) == np.shape(b), f"shape {np.shape(a)}, NumPy gives {np.shape(b)}"
        assert np.asarray(a).dtype == np.asarray(b).dtype, (
            f"{np.asarray(a).dtype}, NumPy gives {np.asarray(b).dtype}"
        )
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def untouched(now, before):
    for a, b in zip(now, before, strict=True):
        np.testing.assert_array_equal(a, b, err_msg="an argument was changed")


def check_refused(function, arguments, what, remedy, error, transform):
    lines, first = inspect.getsourcelines(function)
    marked = [k for k, line in enumerate(lines) if line.rstrip().endswith("# here")]
    with pytest.raises(error) as caught:
        transform(function)(*copy.deepcopy(arguments))
    text = str(caught.value)
    assert what in text, text
    assert f"Instead: {remedy}" in text, text
    (at,) = marked
    assert f'File "{inspect.getsourcefile(function)}", line {first + at}' in text, text
    assert lines[at].strip() in text, text
    assert "^" in text, text
