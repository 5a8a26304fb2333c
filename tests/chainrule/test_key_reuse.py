"""A random key that is used twice in one function is reported, with both lines."""

import warnings

import numpy as np
import pytest

import chainrule as cr
from chainrule import random
from chainrule.codegen.key_reuse import KeyReuseWarning
from chainrule.runtime.configuration import config


def twice(x, key):
    first = random.normal(key, (3,))
    second = random.uniform(key, (3,))
    return np.sum(first + second * x)


def in_a_loop(x, key):
    for i in range(len(x)):
        x = x + i * random.normal(key)
    return np.sum(x)


def after_split(x, key):
    keys = random.split(key, 3)
    return random.normal(keys[0]) + random.normal(keys[0]) + x[0]


def split_and_used(x, key):
    first, second = random.split(key)
    return random.normal(key) * x[0]


def same_seed(x, key):
    return x[0] * random.normal(random.key(1)) + random.normal(random.key(1))


def in_called_function(x, key):
    def draw():
        return random.normal(key)

    return x[0] * draw() + random.uniform(key)


def well(x, key):
    first, second = random.split(key)
    return np.sum(x) * random.normal(first) + random.normal(second)


def well_in_a_loop(x, key):
    for i in range(len(x)):
        x = x + random.normal(random.fold_in(key, i))
    for _ in range(4):
        key, sub = random.split(key)
        x = x * random.normal(sub)
    keys = random.split(key, 5)
    for k in range(5):
        x = x + random.normal(keys[k])
    return np.sum(x)


def one_branch(x, key):
    return random.normal(key) + x[0] if x[0] > 0 else random.uniform(key) + x[0]


def one_turn(x, key):
    for _ in range(1):
        x = x + random.normal(key)
    return np.sum(x)


X = np.array([1.0, 2.0, 3.0])
MAKE = {
    "jit": lambda f: lambda x, key: cr.jit(f)(x, key),
    "grad": lambda f: lambda x, key: cr.grad(f)(x, key),
    "jacrev": lambda f: lambda x, key: cr.jacrev(f)(x, key),
    "vmap": lambda f: lambda x, key: cr.vmap(f, in_axes=(0, None))(np.stack([x, -x]), key),
}


def warned(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(X, random.key(0))
    return [w for w in caught if issubclass(w.category, KeyReuseWarning)]


@pytest.mark.parametrize("make", MAKE)
@pytest.mark.parametrize(
    "function", [twice, in_a_loop, after_split, split_and_used, same_seed, in_called_function]
)
def test_reported(function, make):
    (warning,) = warned(MAKE[make](function))
    assert warning.filename == __file__


@pytest.mark.parametrize("make", MAKE)
@pytest.mark.parametrize("function", [well, well_in_a_loop, one_branch, one_turn])
def test_not_reported(function, make):
    assert warned(MAKE[make](function)) == []


def test_the_text_has_both_lines():
    (warning,) = warned(cr.jit(lambda x, key: twice(x, key)))
    text = str(warning.message)
    assert "a random key is used twice, and gives the same numbers: here\n" in text
    assert "first = random.normal(key, (3,))" in text and "\nand again here:\n" in text
    assert "second = random.uniform(key, (3,))" in text
    assert (
        "Instead: split the key, or fold_in the number of the turn; config.key_reuse = False is silent"
        in text
    )
    assert warning.lineno == twice.__code__.co_firstlineno + 2


def test_the_text_of_a_loop():
    (warning,) = warned(cr.jit(lambda x, key: in_a_loop(x, key)))
    text = str(warning.message)
    assert "x = x + i * random.normal(key)" in text and "in a loop, with the same key at each turn" in text


def test_off_by_option():
    with config(key_reuse=False):
        assert warned(cr.jit(lambda x, key: twice(x, key))) == []


def test_inside_and_outside_of_a_gradient():
    def f(x, key):
        noise = random.normal(key)
        return cr.grad(lambda x: np.sum(x * random.uniform(key, (3,))))(x) * noise

    assert len(warned(MAKE["jit"](f))) == 1
