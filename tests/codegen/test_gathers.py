"""Additions to shifted parts become sums of shifted reads, and buffers of zeros outlast loops."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as cr
from chainrule.backends.numba.emit import compiled_form
from chainrule.codegen.core import INT, Assign, Block, For, Program, Variable, map_variables, walk
from chainrule.codegen.gathers import gather
from chainrule.codegen.lasting_arrays import make_once

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "backends" / "numba"))
from programs import fused, program, same  # noqa: E402

from chainrule.codegen.evaluate import evaluate  # noqa: E402

R = np.random.default_rng(5)


def names(block):
    return [s.primitive.name for s in walk(block) if isinstance(s, Assign)]


def repeated(function, *arguments):
    """The program that replaces x by `function(call, x, ...)` twice."""
    made = program(function, *arguments)
    x = made.parameters[0]
    again = Variable("x", x.type)
    sizes = [s for s in made.body.statements if s.primitive.name == "size"]
    inside = [
        replace(s, operands=map_variables(lambda v: again if v is x else v, s.operands))
        for s in made.body.statements
        if s not in sizes
    ]
    result = Variable("y", x.type)
    body = Block(inside, made.body.results)
    loop = For((result,), Variable("i", INT), 0, 2, 1, (again,), (x,), body)
    return Program("f", made.parameters, Block([*sizes, loop], (result,)))


def gathered(function, *arguments):
    """The gathered program gives what the program gives."""
    before = repeated(function, *arguments)
    after = gather(before)
    same(evaluate(after, arguments), evaluate(before, arguments))
    same(evaluate(compiled_form(before), arguments), evaluate(before, arguments))
    return names(after.body)


def slices(offset, margin):
    return slice(offset or None, offset - margin or None)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=5),
    st.lists(st.sampled_from(["value", "negative", "third", "other"]), min_size=5, max_size=5),
    st.sampled_from([(3, 3), (4, 7), (7, 4), (1, 5), (2, 2), (2, 7), (1, 1)]),
)
def test_any_shifts(shifts, kinds, shape):
    """With every size, also where the part that is added to is empty, or begins beyond the end."""

    def f(call, x, v, w):
        inner = tuple(slices(1, 2) for _ in shape)
        v, w = call("getitem", v, inner), call("getitem", w, inner)
        values = {
            "value": lambda: v,
            "negative": lambda: call("negative", call("multiply", v, 2.0)),
            "third": lambda: call("add", w, call("divide", v, 3.0)),
            "other": lambda: call("sin", w),
        }
        for offsets, kind in zip(shifts, kinds):
            index = tuple(slices(offset, 2) for offset in offsets)
            x = call("index_add", x, index, values[kind]())
        return x

    arguments = [R.standard_normal(shape) for _ in range(3)]
    gathered(f, *arguments)


def test_one_sum_for_a_stencil():
    def f(call, x, v):
        for offset in range(3):
            x = call("index_add", x, (slices(offset, 2),), v)
        return x

    assert gathered(f, R.standard_normal(8), R.standard_normal(6)).count("index_add") == 1


def three(call, x, *values):
    """Three values added to three thirds of x that overlap."""
    for offset, value in enumerate(values):
        x = call("index_add", x, (slices(offset, 2),), value)
    return x


def test_sums_over_one_part_become_one():
    """Rows and columns: the parts differ in shape, what they cover does not."""

    def f(call, x, v, w):
        x = three(call, x, v, call("negative", v), v)
        for offset in range(3):
            x = call("index_add", x, (slice(None), slices(offset, 2)), w)
        return x

    found = gathered(f, *(R.standard_normal(shape) for shape in ((4, 5), (2, 5), (4, 3))))
    assert found.count("index_add") == 1 and found.count("zeros") == 2


@pytest.mark.parametrize("index", [(slice(-3, None),), (slice(None, None, 2),), (np.array([0, 2, 1]),)])
def test_what_is_no_shift_stays(index):
    def f(call, x, v):
        for _ in range(3):
            x = call("index_add", x, index, v)
        return x

    assert gathered(f, R.standard_normal(5), R.standard_normal(3)).count("index_add") == 3


def test_two_additions_stay():
    def f(call, x, v):
        x = call("index_add", x, (slice(None, -1),), v)
        return call("index_add", x, (slice(1, None),), v)

    assert "zeros" not in gathered(f, R.standard_normal(5), R.standard_normal(4))


def test_unrelated_values_stay():
    """Padding each of them would write more than it saves."""
    assert "zeros" not in gathered(three, R.standard_normal(5), *R.standard_normal((3, 3)))


def test_a_value_that_is_broadcast_stays():
    def f(call, x, v):
        return three(call, x, v, v, v)

    assert "zeros" not in gathered(f, R.standard_normal((5, 2)), R.standard_normal(2))


def test_a_version_in_between_that_is_read_stays():
    def f(call, x, v):
        y = call("index_add", x, (slices(0, 2),), v)
        w = call("multiply", v, call("sum", y, axis=(0,)))
        return call("index_add", call("index_add", y, (slices(1, 2),), v), (slices(2, 2),), w)

    assert "zeros" not in gathered(f, R.standard_normal(5), R.standard_normal(3))


@pytest.mark.parametrize("size", [4, 7])
def test_additions_to_zeros_that_cover_them_are_the_sum(size):
    def f(call, x, v):
        y = call("zeros", x.type.shape, dtype="float64")
        y = call("setitem", y, (slices(0, 2),), v)
        y = call("index_add", y, (slices(1, 2),), call("negative", v))
        return call("add", x, call("sin", call("index_add", y, (slices(2, 2),), v)))

    found = gathered(f, R.standard_normal(size), R.standard_normal(size - 2))
    assert "index_add" not in found and found.count("setitem") == 1


def test_additions_to_a_part_of_zeros_are_written():
    def f(call, x, v):
        y = call("zeros", x.type.shape, dtype="float64")
        y = call("setitem", y, (slice(1, -3),), v)
        y = call("index_add", y, (slice(2, -2),), call("negative", v))
        return call("add", x, call("index_add", y, (slice(3, -1),), v))

    found = gathered(f, R.standard_normal(8), R.standard_normal(4))
    assert "index_add" not in found and found.count("setitem") == 2


def test_chosen_parts_of_opposite_sign_need_one_array():
    """where(c, 0, -v) is -where(c, 0, v)."""

    def f(call, x, v, c):
        test = call("greater", c, 0.0)
        less = call("where", test, 0.0, call("negative", v))
        return three(call, x, less, call("where", test, 0.0, v), less)

    found = gathered(f, R.standard_normal(7), *R.standard_normal((2, 5)))
    assert found.count("index_add") == 1 and found.count("zeros") == 1


def test_outside_of_a_loop_nothing_is_gathered():
    """There a padded array would serve once only."""

    def f(call, x, v):
        return three(call, x, v, v, v)

    assert "zeros" not in names(gather(program(f, R.standard_normal(6), R.standard_normal(4))).body)


def smoothed(steps, a, b):
    for _ in range(steps):
        b[1:-1] = 0.25 * (a[:-2] + 2 * a[1:-1] + a[2:])
        a[1:-1] = np.sin(b[1:-1]) * b[2:] - b[:-2]
    return a


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_the_gradient_of_a_stencil(size):
    """Against the rows of the Jacobian that forward mode gives, also with no interior."""
    a, b = R.standard_normal((2, size))
    weights = R.standard_normal(size)
    value = lambda a, b: np.sum(smoothed(3, a, b) * weights)
    gradients = cr.jit(cr.grad(value, argnums=(0, 1)))(a, b)
    for position, gradient in enumerate(gradients):
        for k in range(size):
            tangents = [np.zeros(size), np.zeros(size)]
            tangents[position][k] = 1.0
            _, slope = cr.jvp(value, (a, b), tuple(tangents))
            np.testing.assert_allclose(gradient[k], slope, rtol=1e-10, atol=1e-12)


def test_nothing_is_allocated_in_the_loop():
    a, b = R.standard_normal((2, 9))
    text = cr.source(cr.grad(lambda a, b: np.sum(jacobi(3, a, b)), argnums=(0, 1)), stage="loops")(a, b)
    before, loop = text.split("for _ in range(2, -1, -1):")
    assert "np.zeros" in before and not any(f"np.{name}" in loop for name in ("zeros", "empty")), text
    assert "copy" not in loop


def jacobi(steps, a, b):
    for _ in range(steps):
        b[1:-1] = 0.25 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.25 * (b[:-2] + b[1:-1] + b[2:])
    return a


def looped(fill):
    """A program with a loop in which an array of zeros is partly filled by `fill(call, zeros, x, i)`."""
    from chainrule.codegen.build import Builder
    from chainrule.codegen.core import FLOAT, INT, Block, Program, Variable
    from chainrule.codegen.registry import PRIMITIVES

    builder, body = Builder(), Block()
    x, i, total = Variable("x", FLOAT), Variable("i", INT), Variable("total", FLOAT)
    call = lambda name, *operands, **static: builder.emit(PRIMITIVES[name], *operands, **static)
    with builder.inside(body):
        array = fill(call, call("zeros", (4,), dtype="float64"), x, i)
        summed = call("sum", call("multiply", array, array), axis=(0,), keepdims=False)
        body.results = (call("add", total, summed),)
    result = Variable("result", FLOAT)
    builder.append(For((result,), i, 0, 3, 1, (total,), (0.0,), body))
    builder.block.results = (result,)
    return Program("f", (x,), builder.block)


def moved(made):
    after = make_once(made)
    same(evaluate(after, (2.0,)), evaluate(made, (2.0,)))
    (loop,) = (s for s in after.body.statements if isinstance(s, For))
    return "zeros" not in names(loop.body)


def test_zeros_that_are_filled_in_one_part_are_made_once():
    assert moved(looped(lambda call, z, x, i: call("setitem", z, (slice(1, 3),), x)))


def test_zeros_that_are_filled_elsewhere_each_time_are_made_each_time():
    assert not moved(looped(lambda call, z, x, i: call("setitem", z, (i,), x)))


def test_zeros_that_are_added_to_are_made_each_time():
    assert not moved(looped(lambda call, z, x, i: call("index_add", z, (1,), x)))


def test_what_is_read_and_overwritten_in_one_nest_is_read_first():
    """The clear comes before the product in the program: both are one loop, without a copy."""

    def f(call, x):
        x = call("multiply", x, 2.0)
        inner = call("copy", call("getitem", x, (slice(1, -1),)))
        y = call("setitem", x, (slice(1, -1),), 0.0)
        return call("multiply", inner, 3.0), y

    made = fused(f, R.standard_normal(7))
    assert "copy" not in names(made.body)
