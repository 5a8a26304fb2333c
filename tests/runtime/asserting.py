"""Functions with assertions, as they are: pytest rewrites those of test files."""

import numpy as np


def asserted(x):
    assert x < 0, f"not {x}"  # here
    return x


def asserted_by_arrays(x):
    assert np.all(x < 3), x  # here
    return np.sum(x)


def asserted_by_containers(x):
    assert x < 0, (x, {"x": [x, 2.0]})  # here
    return x


def asserted_with_a_computed_message(x):
    assert x.sum() < 0, f"the sum of {x[0]}... is {x.sum() / 2:.3f}"  # here
    return x


def asserted_of_single_precision(x):
    assert x < 0, f"{x} {x!r}"  # here
    return x
