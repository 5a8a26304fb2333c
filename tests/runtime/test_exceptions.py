"""An exception is the one that Python or NumPy raises, in its words, and names the user's line."""

import inspect
import math
import traceback

import numpy as np
import pytest

import chainrule as cr
from chainrule.codegen.errors import SharedMemoryError
from tests.runtime.asserting import (
    asserted,
    asserted_by_arrays,
    asserted_by_containers,
    asserted_of_single_precision,
    asserted_with_a_computed_message,
)
from tests.small_programs import Eager

FIVE, FOUR = np.arange(1.0, 6.0), np.ones(4)
SINGULAR = np.zeros((2, 2))
TRANSFORMS = {"eager": Eager, "compiled": cr.jit}


def place(function):
    """The line marked `# here`, as errors name it."""
    lines, first = inspect.getsourcelines(function)
    (at,) = (k for k, line in enumerate(lines) if line.rstrip().endswith("# here"))
    line = lines[at].split("# here")[0].strip()
    return f'File "{inspect.getsourcefile(function)}", line {first + at}', line


def raised(function, arguments):
    with pytest.raises(Exception) as caught, np.errstate(all="ignore"):
        function(*(a.copy() if isinstance(a, np.ndarray) else a for a in arguments))
    return caught.value


def assert_names(error, function):
    """The exception shows the marked line and where it is."""
    where, line = place(function)
    shown = "".join(traceback.format_exception_only(error))
    short = where.replace('File "', "").replace('", line ', ":")
    assert (where in shown or f"in your code: {short}: " in shown) and line in shown, shown


def assert_same(function, arguments, transform):
    plain, error = raised(function, arguments), raised(transform(function), arguments)
    assert isinstance(error, type(plain)), error
    assert str(plain).strip() in str(error), (str(plain), str(error))
    assert_names(error, function)


# while it runs


def one(x, i):
    y = x * 2
    return y[i]  # here


def several(x, i):
    y = x[i]  # here
    return np.sum(y)


def written(x, i):
    x = x.copy()
    x[i] = 3.0  # here
    return np.sum(x)


def in_a_loop(x, n):
    total = 0.0
    for i in range(n):
        total = total + x[i]  # here
    return total


def added(x, y):
    z = np.exp(x)
    return np.sum(z + y)  # here


def multiplied(x, y):
    return x @ y  # here


def assigned(x, y):
    x = x.copy()
    x[1:3] = y  # here
    return np.sum(x)


def divided(x, y):
    z = x + 1 - 1
    return z / y  # here


def floored(x, y):
    return x // y  # here


def remainder(x, y):
    return x % y  # here


def raised_to(x, y):
    return x**y  # here


def inverse(a):
    b = np.linalg.inv(a)  # here
    return np.sum(b)


def solved(a):
    b = np.linalg.solve(a, np.ones(2))  # here
    return np.sum(b)


def factor(a):
    b = np.linalg.cholesky(a)  # here
    return np.sum(b)


def logarithm(x):
    return math.log(x) + 1.0  # here


def root(x):
    return math.sqrt(x) + 1.0  # here


def inverse_cosine(x):
    return math.acos(x)  # here


def largest(x):
    return max(x[x > 100.0])  # here


def refused(x):
    if x > 0:
        raise ValueError(f"bad value {x} and {x:.1f}, {x!r:>8}")  # here
    return x


def refused_by_a_known_exception(x):
    error = KeyError("small", 3)
    if x > 0:
        raise error  # here
    return x


def refused_by_shape(x, y):
    if len(x) != len(y):
        raise TypeError("%d and %d of %s" % (len(x), len(y), x.shape))  # here
    return np.sum(x)


def refused_in_a_loop(x):
    for i in range(5):
        if x[i] > 3:
            raise RuntimeError("item {} of {}: {:8.3e}".format(i, len(x), x[i]))  # here
    return x[0]


RUNNING = {
    "index": (one, FIVE, 7),
    "negative index": (one, FIVE, -6),
    "indices": (several, FIVE, np.array([1, 7, -9])),
    "write": (written, FIVE, 9),
    "writes": (written, FIVE, np.array([1, -9])),
    "index in a loop": (in_a_loop, FIVE, 8),
    "sum of shapes": (added, FIVE, FOUR),
    "product of shapes": (multiplied, FIVE, FOUR),
    "write of a shape": (assigned, FIVE, FOUR),
    "division": (divided, 1.0, 0.0),
    "division of ints": (divided, 1, 0),
    "floor division": (floored, 1.0, 0.0),
    "floor division of ints": (floored, 3, 0),
    "remainder": (remainder, 1.0, 0.0),
    "remainder of ints": (remainder, 3, 0),
    "power": (raised_to, 0.0, -1.5),
    "inverse": (inverse, SINGULAR),
    "solve": (solved, SINGULAR),
    "cholesky": (factor, -np.eye(2)),
    "log": (logarithm, 0.0),
    "sqrt": (root, -1.0),
    "acos": (inverse_cosine, 2.0),
    "max of nothing": (largest, FIVE),
    "raise": (refused, 1.5),
    "raise what is known": (refused_by_a_known_exception, 1.5),
    "raise with sizes": (refused_by_shape, FIVE, FOUR),
    "raise in a loop": (refused_in_a_loop, FIVE),
    "assert": (asserted, 1.5),
    "assert with an array": (asserted_by_arrays, FIVE),
    "assert with containers": (asserted_by_containers, 1.5),
    "assert with a computed message": (asserted_with_a_computed_message, FIVE),
    "assert in single precision": (asserted_of_single_precision, np.float32(0.1)),
}


@pytest.mark.parametrize("how", TRANSFORMS)
@pytest.mark.parametrize("name", RUNNING)
def test_while_running(name, how):
    function, *arguments = RUNNING[name]
    assert_same(function, arguments, TRANSFORMS[how])


@pytest.mark.parametrize("name", ["raise", "assert with an array", "raise in a loop", "index"])
def test_in_a_gradient(name):
    function, *arguments = RUNNING[name]
    for transform in (cr.value_and_grad, lambda f: cr.jit(cr.value_and_grad(f))):
        assert_same(function, arguments, transform)


def test_a_condition_decides_whether_it_is_raised():
    for transform in (Eager, cr.jit):
        assert transform(refused_by_a_known_exception)(-1.5) == -1.5
        assert transform(refused)(-1.5) == transform(asserted)(-1.5) == -1.5


def test_the_first_example_of_a_batch_that_fails_is_shown():
    error = raised(cr.vmap(refused), [np.array([-1.0, 2.0, 3.0])])
    assert str(error).startswith("bad value 2.0 and 2.0")


def test_a_traceback_ends_with_the_users_line():
    error = raised(Eager(one), (FIVE, 7))
    frame = traceback.extract_tb(error.__traceback__)[-1]
    assert frame.filename.startswith("<chainrule one") and frame.line.startswith("return ")
    assert error.__notes__ == [f"in your code: {__file__}:{place(one)[0].split()[-1]}: return y[i]  # here"]


# while it is specialised


class Holder:
    def __init__(self, value):
        self.value = value


def helper(a, b=1.0, *, c=0.0):
    return a * b + c


def needs(a, b, c, d):
    return a + b + c + d


def missing_key(x):
    return x * {"a": 1.0}["b"]  # here


def missing_argument(x):
    return needs(x, x)  # here


def missing_arguments(x):
    return needs(x)  # here


def unexpected(x):
    return helper(x, d=x)  # here


def twice(x):
    return helper(x, a=x)  # here


def too_many(x):
    return helper(x, x, x)  # here


def missing_in_a_class(x):
    return Holder().value  # here


def no_attribute(x):
    return x.foo  # here


def no_name(x):
    return x + undefined_name  # noqa: F821  # here


def no_operation(x):
    return x + None  # here


def text_and_number(x):
    return x + "a"  # here


def not_callable(x):
    return x()  # here


def no_number(x):
    return x * int("a")  # here


def no_length(x):
    return len(x)  # here


def too_few_values(x):
    a, (b, c) = x, (x,)  # here
    return a


def too_many_values(x):
    a, b = (x, x, x)  # here
    return a


def not_unpacked(x):
    a, b = x  # here
    return a


def out_of_a_list(x):
    return [x, x][2]  # here


SPECIALISING = [
    missing_key, missing_argument, missing_arguments, unexpected, twice, too_many, missing_in_a_class,
    no_attribute, no_name, no_operation, text_and_number, not_callable, no_number, no_length, too_few_values,
    too_many_values, not_unpacked, out_of_a_list,
]  # fmt: skip


@pytest.mark.parametrize("function", SPECIALISING)
def test_while_specialising(function):
    assert_same(function, (1.5,), Eager)
    assert_same(function, (1.5,), cr.grad)


def pair(x):
    a, b = x  # here
    return a + b


def ends(x):
    a, *_, b, c = x  # here
    return a + b + c


@pytest.mark.parametrize("how", TRANSFORMS)
@pytest.mark.parametrize("function, count", [(pair, 1), (pair, 3), (pair, 5), (ends, 1), (ends, 2)])
def test_unpacking_arrays(function, count, how):
    assert_same(function, (FIVE[:count],), TRANSFORMS[how])


def test_exceptions_of_what_is_known_can_be_caught():
    def f(x):
        try:
            return_value = {"a": 1.0}["b"]
        except KeyError:
            return_value = 2.0
        return x * return_value

    assert cr.grad(f)(3.0) == 2.0


def test_sizes_in_a_message_are_numbers():
    def f(x):
        if x.ndim != 2:
            raise ValueError(f"expected a matrix, got shape {x.shape}")
        return np.sum(x)

    for transform in (Eager, cr.jit, cr.grad):
        assert str(raised(transform(f), (FIVE,))) == "expected a matrix, got shape (5,)"


# two names for one array


def overwritten(x, y):
    x[0] = 10.0 * y[1]  # here
    return np.sum(x * y)


@pytest.mark.parametrize(
    "transform", [Eager, cr.jit, cr.grad, cr.value_and_grad, lambda f: cr.jit(cr.grad(f))]
)
def test_an_array_that_is_written_under_two_names(transform):
    x = FIVE.copy()
    with pytest.raises(SharedMemoryError) as caught:
        transform(overwritten)(x, x)
    text = str(caught.value)
    assert "x is written here, and shares memory with y\nInstead: pass a copy of one of them" in text
    assert_names(caught.value, overwritten)
    np.testing.assert_array_equal(x, FIVE)
    transform(overwritten)(x, x.copy())


def test_an_array_that_is_read_under_two_names():
    x = FIVE.copy()
    np.testing.assert_array_equal(cr.grad(lambda a, b: np.sum(a * b * b), (0, 1))(x, x), (x**2, 2 * x**2))


def test_a_tangent_may_be_the_array_that_is_written():
    def f(x):
        x[0] = x[1] * x[2]
        return np.sum(x * x)

    x = FIVE.copy()
    assert cr.jvp(f, (x,), (x,)) == cr.jvp(f, (x,), (x.copy(),))


# of the user's own


class NoConvergence(ArithmeticError):
    """Has attributes of its own class."""

    code = 3


class StillNoConvergence(NoConvergence):
    pass


def halved(x):
    steps = 0
    while x > 1.0:
        x = x * 0.5
        steps += 1
        if steps > 5:
            raise NoConvergence(f"still {x} after {steps} steps")  # here
    if x < 0:
        raise StillNoConvergence("negative", steps)
    return x


@pytest.mark.parametrize(
    "made, expected",
    [
        (cr.jit(halved), 0.75),
        (cr.grad(halved), 0.25),
        (cr.jit(cr.grad(halved)), 0.25),
        (cr.jit(cr.grad(cr.grad(halved))), 0.0),
    ],
)
def test_exceptions_of_the_users_own(made, expected):
    assert made(3.0) == expected
    for value in (3e9, -1.0):
        plain, error = raised(halved, [value]), raised(made, [value])
        assert type(error) is type(plain) and str(error) == str(plain) and error.code == 3
    assert_names(raised(made, [3e9]), halved)


def test_exceptions_of_the_users_own_in_a_batch():
    batch = np.array([3.0, 0.5, 3e9, -1.0])
    assert type(raised(cr.vmap(halved), [batch])) is type(raised(cr.jit(cr.vmap(halved)), [batch]))
    assert type(raised(cr.jit(cr.vmap(halved)), [batch[[0, 1, 3]]])) is StillNoConvergence


def test_an_exception_of_numpys():
    def positive(x):
        if np.any(x <= 0):
            raise np.linalg.LinAlgError("not positive")
        return np.sum(np.log(x))

    for made in (cr.grad(positive), cr.jit(cr.grad(positive))):
        np.testing.assert_allclose(made(np.array([1.0, 4.0])), [1.0, 0.25])
        error = raised(made, [np.array([1.0, -4.0])])
        assert type(error) is np.linalg.LinAlgError and error.args == ("not positive",)
    assert "raise np.linalg.LinAlgError" in cr.source(positive)(FIVE)
