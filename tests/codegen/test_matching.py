"""match statements: known subjects choose now, run-time ones become branches; values are Python's."""

import dataclasses

import numpy as np
import pytest

import chainrule as cr
from tests.small_programs import Eager, refused


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0


def by_name(x, mode):
    match mode:
        case "sum":
            return np.sum(x)
        case "mean" | "average":
            return np.mean(x)
        case None:
            return x[0]
        case _:
            return x[1]


def by_value(x):
    match x:
        case 0:
            y = x + 1
        case 1 | 2.0:
            y = x * 2
        case n if n > 10:
            y = n * 5
        case n:
            y = n * n
    return y


def by_shape(value):
    match value:
        case []:
            return 0.0
        case [a]:
            return a
        case [a, (b, c), *rest] if len(rest) > 1:
            return a * b + c * len(rest)
        case (a, *rest, b):
            return a * b + sum(v for v in rest)
        case {"scale": s, "kind": "linear"}:
            return s * 3
        case {"scale": s}:
            return s * s
        case Point(0.0):
            return 7.0
        case Point(x=a, y=b) if b > 1:
            return a + b
        case Point(a, b):
            return a * b
        case float(v):
            return v * 4
    return -1.0


def in_a_loop(x):
    total = 0.0
    for k in range(4):
        match k:
            case 0:
                continue
            case 3:
                break
            case odd if odd % 2:
                total += x * odd
            case even:
                total += x**even
    return total


def captured_again(pair):
    match pair:
        case (pair, other):
            return pair * other


@pytest.mark.parametrize("transform", [Eager, cr.jit])
@pytest.mark.parametrize("mode", ["sum", "mean", "average", None, "else"])
def test_known_subjects(transform, mode):
    x = np.array([1.0, 2.0, 4.0])
    assert transform(lambda x: by_name(x, mode))(x) == by_name(x, mode)


@pytest.mark.parametrize("transform", [Eager, cr.jit])
@pytest.mark.parametrize("x", [0.0, 1.0, 2.0, 3.5, 20.0])
def test_subjects_known_at_run_time(transform, x):
    assert transform(by_value)(x) == by_value(x)


@pytest.mark.parametrize("x, slope", [(0.0, 1.0), (1.0, 2.0), (3.5, 7.0), (20.0, 5.0)])
def test_derivatives_are_of_the_case_taken(x, slope):
    assert cr.grad(by_value)(x) == slope


@pytest.mark.parametrize("transform", [Eager, cr.jit])
@pytest.mark.parametrize(
    "value",
    [
        [],
        [2.0],
        [2.0, (3.0, 4.0), 1.0, 1.0],
        (2.0, 3.0, 4.0, 5.0),
        (2.0, 5.0),
        {"scale": 3.0, "kind": "linear"},
        {"scale": 3.0, "kind": "other"},
        {"other": 1.0},
        Point(2.0, 3.0),
        Point(2.0, 0.5),
        1.5,
        None,
        "text",
    ],
)
def test_patterns_with_parts(transform, value):
    assert transform(by_shape)(value) == by_shape(value)


def test_jumps_in_cases():
    assert Eager(in_a_loop)(3.0) == in_a_loop(3.0)
    assert cr.grad(in_a_loop)(3.0) == 1 + 2 * 3.0


def test_a_pattern_may_capture_its_subject():
    assert Eager(captured_again)((3.0, 4.0)) == 12.0


@refused("a pattern with | that binds names", "write a case for each alternative", 1.0)
def test_alternatives_that_bind(x):
    match (x, 1):
        case (y, 1) | (1, y):  # here
            return y


def with_the_rest(value):
    match value:
        case {"a": y, "b": 1, **rest}:
            return y * len(rest) + rest["c"] * sum(rest.values())
        case {**rest}:
            rest["d"] = 2.0
            return rest["a"] + rest["d"] * len(rest)


def test_the_rest_of_a_dictionary():
    for value in ({"a": 3.0, "b": 1, "c": 2.0, "e": 0.5}, {"a": 3.0}):
        kept = dict(value)
        assert Eager(with_the_rest)(value) == with_the_rest(value)
        assert value == kept
