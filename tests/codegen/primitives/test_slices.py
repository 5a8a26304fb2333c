"""Sizes of slices: Python's, whatever is known; and equal where they must be known to be equal."""
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainrule.codegen.build import Builder
from chainrule.codegen.core import INT, Variable, map_variables
from chainrule.codegen.errors import ShapeMismatchError
from chainrule.codegen.primitives.slices import slice_size

BOUNDS = st.none() | st.integers(-6, 6)
STEPS = st.none() | st.integers(-3, 3).filter(bool)


def run(builder, result, values):
    """The value of an operand, from the values of the free variables."""
    values = dict(values)
    for statement in builder.block.statements:
        operands = map_variables(values.__getitem__, statement.operands)
        (values[statement.targets[0]],) = [statement.primitive(*operands, **statement.static)]
    return map_variables(values.__getitem__, result)


DYNAMIC = st.tuples(*[st.booleans()] * 4)


@given(st.integers(0, 7), BOUNDS, BOUNDS, STEPS, DYNAMIC, st.integers(0, 3), st.booleans())
def test_is_pythons(size, start, stop, step, dynamic, slack, bounded):
    builder, values = Builder(), {}

    def hide(value, away):
        if value is None or not away:
            return value
        variable = Variable(None, INT)
        values[variable] = value
        if bounded and value >= 0:
            builder.lower_bounds[variable] = max(value - slack, 0)
        return variable

    parts = [hide(v, d) for v, d in zip((size, start, stop, step), dynamic, strict=True)]
    if dynamic[0]:
        builder.lower_bounds[parts[0]] = max(size - slack, 0)
    result = slice_size(builder, parts[0], slice(*parts[1:]))
    assert run(builder, result, values) == len(range(*slice(start, stop, step).indices(size)))
    bound = builder.lower_bound(result)
    assert bound is None or 0 <= bound <= run(builder, result, values)


@pytest.mark.parametrize("bound, slices", [
    (2, "1:, :-1, -1:0:-1, -2::-1"),
    (2, "2:, :-2, 1:-1"),
    (4, "3:-1, 2:-2, 4:, :-4"),
    (2, ":, ::-1, 0:, -1::-1"),
    (2, "::2, ::-2"),
    (3, "-2:, :2, 1:3, 0:2, -3:-1, 1::-1"),
])
def test_equal_sizes_are_known_to_be_equal(bound, slices):
    builder, n = Builder(), Variable("n", INT)
    builder.lower_bounds[n] = bound
    sizes = [slice_size(builder, n, part) for part in eval(f"np.s_[{slices}]", {"np": np})]
    assert all(builder.same(sizes[0], size) for size in sizes), sizes
    assert not any(s.primitive.name in ("slice_size", "maximum", "minimum") for s in builder.block.statements)


def test_parts_of_a_joined_axis():
    builder, n, m = Builder(), Variable("n", INT), Variable("m", INT)
    builder.lower_bounds.update({n: 2, m: 0})
    total = builder.dimension_add(n, m)
    assert slice_size(builder, total, slice(0, n)) is n
    assert slice_size(builder, total, slice(n, total)) is m
    assert slice_size(builder, total, slice(n, None)) is m


def test_step_zero_is_refused():
    with pytest.raises(ShapeMismatchError, match="slice step cannot be zero"):
        slice_size(Builder(), 3, slice(None, None, 0))
