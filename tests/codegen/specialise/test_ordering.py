"""max, min, any, all and sorted over arrays are Python's builtins, not NumPy's functions."""

import numpy as np
import pytest

import chainrule as cr
from tests.small_programs import Eager, program, refused

X = np.array([3.0, -1.0, 2.5, 0.5])
TRANSFORMS = [Eager, cr.jit]


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("builtin", [max, min])
@pytest.mark.parametrize(
    "x",
    [[1.0, np.nan, 3.0], [np.nan, 1.0, 3.0], [1.0, np.nan, 0.5], [np.nan, np.nan], [2.0, np.nan], [1, 5, 3]],
)
def test_nan_is_passed_over_as_comparisons_do(builtin, x, transform):
    x = np.array(x)
    np.testing.assert_equal(transform(lambda x: builtin(x))(x), builtin(x))


@program(X)
def test_extremes(x):
    return max(x) * 2 + min(x) ** 2


def test_derivatives_pass_over_nan():
    x = np.array([1.0, np.nan, 3.0])
    np.testing.assert_array_equal(cr.grad(lambda x: max(x))(x), [0, 0, 1])
    np.testing.assert_array_equal(cr.grad(lambda x: max(x) * 2)(np.array([4.0, np.nan, 3.0])), [2, 0, 0])


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("builtin", [any, all])
def test_truth_is_a_python_bool(builtin, transform):
    for x in (X > 0, X > -9, X > 9, X):
        found = transform(lambda x: builtin(x))(x)
        assert found is builtin(x)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("backwards", [False, True])
def test_sorted_gives_a_list(transform, backwards):
    found = transform(lambda x: sorted(x, reverse=backwards))(X)
    assert type(found) is list and found == sorted(X, reverse=backwards)
    assert transform(lambda x: sorted(x) + [1.0])(X) == [*sorted(X), 1.0]


@program(X)
def test_a_sorted_list_of_any_length(x):
    items = sorted(x, reverse=True)
    items.append(x[0] * 2)
    total = items[1] * len(items) + items[-1]
    for k, item in enumerate(items):
        total = total + k * item
    return total + np.sum(np.array(items[1:3]))


def test_one_program_sorts_lists_of_all_lengths():
    f = cr.jit(lambda x: sorted(x)[0] + sorted(x)[-1])
    for count in (2, 3, 4):
        assert f(X[:count]) == min(X[:count]) + max(X[:count])
    assert len(f.programs) == 1


@pytest.mark.parametrize("builtin", [max, min])
def test_nothing_has_no_extreme(builtin):
    for f in (lambda x: builtin(x), lambda x: builtin(x[x > 100])):
        for transform in TRANSFORMS:
            with pytest.raises(ValueError, match=rf"{builtin.__name__}\(\) arg is an empty sequence"):
                transform(f)(X[:0])
    assert Eager(lambda x: builtin(x, default=7.0))(X[:0]) == 7.0


@refused("the truth value of an array with more than one element is ambiguous", "use np.max", np.eye(2))
def test_rows_are_not_ordered(x):
    return max(x)  # here


@refused("the truth value of an array with more than one element is ambiguous", "use np.max", np.eye(2))
def test_rows_have_no_truth(x):
    return 1.0 * any(x)  # here
