"""What is outside the language is refused at its line, with what to write instead."""

import asyncio
import contextlib
import ctypes
import itertools
import random
import time

import numpy as np
import pytest

import chainrule as cr
from chainrule.codegen.errors import TypeMismatchError, UnsupportedError
from tests.small_programs import refused

X = np.array([0.3, -1.2, 2.0, 0.7])
TOTAL = 0.0
LIST = [1.0]
TABLE = {}
ARRAY = np.ones(3)


class Thing:
    value = 1.0


THING = Thing()


class Failure(Exception):
    def __init__(self, step):
        super().__init__(f"failed at step {step}")


def values(x):
    yield x


async def later(x):
    return x


@refused("try/except around operations on arrays", "test for the condition with if", 1.0)
def test_try(x):
    try:  # here
        y = np.log(x)
    except ValueError:
        y = x
    return y


@refused("async def", "write an ordinary function", 1.0)
def test_async_function_inside(x):
    async def f(y):  # here
        return y
    return asyncio.run(f(x))


@refused("later is an async function", "write", 1.0)
def test_call_of_an_async_function(x):
    return later(x)  # here


@refused("values is a generator function", "write a function that returns a list", 1.0)
def test_generator_function(x):
    return sum(values(x))  # here


@refused("inner is a generator function", "write a function that returns a list", 1.0)
def test_generator_function_inside(x):
    def inner():
        yield x
    return sum(inner())  # here


@refused("with nullcontext", "use it outside of the function", 1.0)
def test_with(x):
    with contextlib.nullcontext():  # here
        return x * 2


@refused("a class defined inside a function", "define the class at the top of its module", 1.0)
def test_class_inside(x):
    class Local:  # here
        k = 2.0
    return x * Local.k


@refused("assigning to the global name 'TOTAL'", "return the value", 1.0)
def test_global_assignment(x):
    global TOTAL
    TOTAL = x  # here
    return x * 2


@refused("", "call it outside of the function and pass the result as an argument", 1.0)
def test_numpy_random(x):
    return x * np.random.rand()  # here


@refused("", "call it outside of the function and pass the result as an argument", 1.0)
def test_python_random(x):
    return x * random.random()  # here


@refused("", "call it outside of the function and pass the result as an argument", 1.0)
def test_generator_of_numpy(x):
    return x * np.random.default_rng(0).normal()  # here


@refused("time", "call it outside of the function and pass the result as an argument", 1.0)
def test_time(x):
    return x * time.time()  # here


@refused("has no rule", "use a NumPy function that chainrule knows, or register a rule for it", 1.0)
def test_c_function_without_a_rule(x):
    return ctypes.sizeof(x)  # here


@refused("as_strided has no rule", "use a NumPy function that chainrule knows, or register a rule for it", X)
def test_numpy_function_without_a_rule(x):
    return np.lib.stride_tricks.as_strided(x, (2,), (8,)).sum()  # here


@refused("a key of a dictionary or set must be known", "make it an argument", 1.0)
def test_key_that_depends_on_data(x):
    table = {1: 2.0}
    return x * table[int(x)]  # here


@refused("an index into a list must be known", "make it an argument", 1.0)
def test_list_index_that_depends_on_data(x):
    items = [x, None]
    return items[int(x)]  # here


@refused("must be known before the function runs", "choose items of an array with a mask", 3.0)
def test_comprehension_condition_that_depends_on_data(x):
    return sum([v for v in (1.0, x) if v > 2])  # here


@refused("must be known before the function runs", "choose the items with a mask: x[x * 2 > 1.0]", X)
def test_items_of_an_array_that_depend_on_data(x):
    return sum(v**2 for v in x if v * 2 > 1.0)  # here


@refused("must be known before the function runs", "choose items of an array with a mask, as in x[x > 0]", X)
def test_filter_that_depends_on_data(x):
    return sum(filter(lambda v: v > 0, x))  # here


@refused("changing a list that exists outside of the function", "make a copy", 1.0)
def test_outside_list(x):
    LIST.append(x)  # here
    return x


@refused("writing to a dict that exists outside of the function", "make a copy inside the function", 1.0)
def test_outside_dict(x):
    TABLE["k"] = x  # here
    return x


@refused("assigning to the attribute .value of an object that exists outside", "return the new value", 1.0)
def test_outside_object(x):
    THING.value = x  # here
    return x


@refused("this array is written in place, but it exists outside of the function", "copy the array", 1.0)
def test_outside_array(x):
    ARRAY[0] = x  # here
    return np.sum(ARRAY)


@refused(
    "raising Failure, which has a constructor of its own, under a condition known only at run time",
    "leave out Failure.__init__, and give the whole text where it is raised", 1.0,
)
def test_exception_with_a_constructor(x):
    if x < 0:
        raise Failure(3)  # here
    return x


@refused("raising KeyboardInterrupt under a condition known only at run time", "raise an Exception", 1.0)
def test_no_exception(x):
    if x < 0:
        raise KeyboardInterrupt  # here
    return x


def countdown(x):
    if x < 0:
        return x
    return countdown(x - 1)


@refused("calls itself to a depth that is not known", "write a loop", 3.0)
def test_recursion_of_unknown_depth(x):
    def inner(y):
        if y < 0:
            return y
        return inner(y - 1) * 2  # here
    return inner(x)


@refused("this array is written in place, but", "copy the array before writing to it", X)
def test_array_that_may_be_one_of_two(x):
    a, b = x * 2, x * 3
    c = a if x[0] > 0 else b
    c[0] = 1.0  # here
    return np.sum(a + b)


@refused("'y' is", "let both branches give it the same kind of value", 1.0)
def test_none_or_number(x):
    y = None
    if x > 2:
        y = x
    return y * 2  # here


@refused("'y' is an array or scalar of another rank", "let both branches give it the same kind of value", X)
def test_ranks_that_differ(x):
    if x[0] > 2:
        y = x
    else:
        y = x[0]
    return np.sum(y * 2)  # here


@refused("changes its number of dimensions", "keep its rank the same in every iteration", X)
def test_rank_that_grows_in_a_loop(x):
    y = x
    while np.sum(y) < 100.0:  # here
        y = np.stack([y, y * 2])
    return np.sum(y)


@refused("the truth value of an array with more than one element is ambiguous", "use a.any() or a.all()", X)
def test_truth_of_an_array(x):
    if x > 0:  # here
        return np.sum(x)
    return np.sum(x * 2)


@refused("this loop never ends", "add a break", 1.0)
def test_endless_loop(x):
    while True:  # here
        x = x * 2
    return x


@refused("<lambda> is a generator function", "write a function that returns a list", 1.0)
def test_yield_in_a_lambda(x):
    f = lambda: (yield x)
    return f()  # here


@refused(
    "a key of a dictionary or set must be known before the function runs: here it is 'a' or 'b' depending",
    "write the two cases out in the branches of an if statement",
    1.0,
)
def test_key_by_a_condition(x):
    both = {"a": x, "b": 2 * x}
    return both["a" if x > 2 else "b"]  # here


@refused(
    ".startswith of a string that depends on values known only at run time", "use the numbers themselves", 1.0
)
def test_method_of_a_text(x):
    return x * f"{x}".startswith("1")  # here


@refused(
    "an array or a number is needed, and this is of type str: 'text'",
    "pass arrays and numbers only",
    1.0,
    error=TypeMismatchError,
)
def test_function_of_a_text(x):
    return np.maximum(x, "text")  # here


@refused("pad(end_values=...)", "leave the keyword out", X)
def test_keyword_that_is_not_known(x):
    return np.pad(x, 1, mode="linear_ramp", end_values=2.0)[0]  # here


@refused("exp(where=...) without out=", "give out= an array of your own, or use np.where", X)
def test_where_without_out(x):
    return np.sum(np.exp(x, where=x > 0))  # here


@refused(
    "loadtxt may give another result at each call",
    "call it outside of the function and pass the result as an argument",
    X,
)
def test_reading_a_file(x):
    return x @ np.loadtxt("numbers.txt")  # here


class Odd:
    def __new__(cls, value):
        made = super().__new__(cls)
        made.value = 2 * value
        return made


@refused("Odd, a class that makes its instances itself", "use a class with an __init__ alone", 1.0)
def test_class_with_new(x):
    return Odd(x).value  # here


@refused("the condition of takewhile must be known", "write a loop with an if statement", [1.0, 2.0])
def test_takewhile(x):
    return sum(itertools.takewhile(lambda v: v < 1.5, x))  # here


@refused("making a groupby of values known only at run time", "use a class with an __init__ in Python", [1.0])
def test_groupby(x):
    return [sum(g) for _, g in itertools.groupby(x)][0]  # here


def test_generator_function_itself():
    with pytest.raises(UnsupportedError, match="is a generator function"):
        cr.grad(values)(1.0)


def test_async_function_itself():
    with pytest.raises(UnsupportedError, match="is an async function"):
        cr.grad(later)(1.0)


def test_nothing_outside_was_changed():
    assert (LIST, TABLE, THING.__dict__, TOTAL) == ([1.0], {}, {}, 0.0)
    np.testing.assert_array_equal(ARRAY, np.ones(3))
