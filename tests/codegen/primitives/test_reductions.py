"""Types of reductions, scans and sorting."""

import numpy as np
import pytest

from chainrule.codegen import primitives  # noqa: F401
from chainrule.codegen.build import Builder
from chainrule.codegen.core import INT, ArrayType, Variable
from chainrule.codegen.primitives import reductions as r
from chainrule.codegen.primitives import scans, sorting
from tests.codegen.primitives.checks import check_type

DTYPES = ["?", "i1", "u1", "i8", "u8", "e", "f", "d", "F", "D"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("primitive", [r.sum, r.prod, r.any, r.all, r.max, r.min])
def test_reductions(primitive, dtype):
    x = np.ones((2, 1, 3), dtype)
    for axis in ((), (0,), (1,), (0, 2), (0, 1, 2)):
        check_type(primitive, x, axis=axis, keepdims=True)
        check_type(primitive, x, axis=axis, keepdims=False)
    check_type(primitive, np.array(1, dtype), axis=(), keepdims=False)
    check_type(primitive, np.ones((3, 0), dtype), axis=(0,), keepdims=False)


@pytest.mark.parametrize("dtype", DTYPES)
def test_positions_scans_and_sorts(dtype):
    x = np.ones((2, 3), dtype)
    for axis in (0, 1):
        check_type(r.argmax, x, axis=axis)
        check_type(r.argmin, x, axis=axis, keepdims=True)
        for primitive in (scans.cumsum, scans.cumprod, sorting.sort, sorting.argsort):
            check_type(primitive, x, axis=axis)
    check_type(sorting.searchsorted, x[0], x, side="right")
    check_type(sorting.searchsorted, x[0], x[0, 0], side="left")


@pytest.mark.parametrize("primitive, shape, axis",
                         [(r.max, (0,), (0,)), (r.min, (3, 0), (1,)), (r.argmax, (0,), 0)])
def test_nothing_to_reduce(primitive, shape, axis):
    with pytest.raises(ValueError) as ours:
        primitive.type_rule(Builder(), Variable("x", ArrayType(np.dtype("d"), shape)), axis=axis)
    with pytest.raises(ValueError) as theirs:
        primitive(np.zeros(shape), axis=axis)
    assert str(ours.value) == str(theirs.value)


def test_what_may_be_empty_is_checked_at_run_time():
    n, builder = Variable("n", INT), Builder()
    r.max.type_rule(builder, Variable("x", ArrayType(np.dtype("d"), (n,))), axis=(0,))
    assert [str(s.primitive) for s in builder.block.statements] == ["greater", "check"]
    builder.lower_bounds[n] = 2
    r.max.type_rule(builder, Variable("x", ArrayType(np.dtype("d"), (n,))), axis=(0,))
    assert len(builder.block.statements) == 2
