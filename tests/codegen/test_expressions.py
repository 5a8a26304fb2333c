"""Every primitive has a printed form, and it computes what the primitive computes, to the type."""

import numpy as np
import pytest

from chainrule.backends.numpy.emit import emit, load
from chainrule.codegen import (
    custom_calls,
    primitives,  # noqa: F401
)
from chainrule.codegen.build import Builder
from chainrule.codegen.core import BOOL, COMPLEX, FLOAT, INT, ArrayType, Program, Variable
from chainrule.codegen.errors import ChainruleError
from chainrule.codegen.evaluate import evaluate
from chainrule.codegen.forms import FORMS
from chainrule.codegen.primitives import collectives
from chainrule.codegen.registry import PRIMITIVES
from chainrule.codegen.statements import STATEMENTS

VALUES = {"weak float": 0.5, "weak int": 2, "weak bool": True, "weak complex": 0.5 + 1j,
          "double": np.float64(0.5), "single": np.float32(0.5),
          "integer": np.int64(2), "truth": np.bool_(True),
          "vector": np.array([0.5, 0.25]), "singles": np.array([0.5, 2.0], "f4"),
          "integers": np.array([1, 2]), "complexes": np.array([0.5 + 1j, -2.0]),
          "truths": np.array([True, False])}
WEAK = {bool: BOOL, int: INT, float: FLOAT, complex: COMPLEX}
ELEMENTWISE = [p for p in PRIMITIVES.values() if p.elementwise and p.name not in ("astype", "where")]


def typed(name, value):
    return Variable(name, WEAK.get(type(value)) or ArrayType(value.dtype, value.shape))


def compare(primitive, values, **static):
    """Whether the operation is allowed at all; if so, its text must agree with its implementation."""
    builder = Builder()
    parameters = [typed(f"x{k}", value) for k, value in enumerate(values)]
    try:
        result = builder.emit(primitive, *parameters, **static)
    except ChainruleError:
        return False
    builder.block.results = result if isinstance(result, tuple) else (result,)
    program = Program("f", tuple(parameters), builder.block)
    text = emit(program)
    with np.errstate(all="ignore"):
        try:
            wanted = evaluate(program, tuple(values))
        except (ArithmeticError, ValueError, TypeError) as error:
            with pytest.raises(type(error)):
                load(text, "f")(*values)
            return True
        found = load(text, "f")(*values)
    assert type(found) is type(wanted) and np.asarray(found).dtype == np.asarray(wanted).dtype, text
    assert np.array_equal(found, wanted, equal_nan=np.asarray(wanted).dtype.kind in "fc"), text
    return True


@pytest.mark.parametrize("primitive", PRIMITIVES.values(), ids=str)
def test_every_primitive_prints(primitive):
    if hasattr(collectives, primitive.name) or hasattr(custom_calls, primitive.name):
        pytest.skip("no program that runs has any of these")
    assert primitive.printed is not None or primitive.name in FORMS or primitive.name in STATEMENTS


@pytest.mark.parametrize("primitive", ELEMENTWISE, ids=str)
def test_elementwise(primitive):
    if takes(primitive, 1):
        allowed = [compare(primitive, [value]) for value in VALUES.values()]
    else:
        allowed = [compare(primitive, [a, b]) for a in VALUES.values() for b in VALUES.values()]
    assert any(allowed)


def takes(primitive, count):
    try:
        primitive.implementation(*[np.int64(1)] * count)
    except TypeError:
        return False
    return True


@pytest.mark.parametrize("name", ["sin", "exp", "sqrt", "absolute", "add", "floor_divide"])
@pytest.mark.parametrize("value", ["weak float", "double", "single"])
def test_weak_results(name, value):
    operands = [VALUES[value]] * (2 if name in ("add", "floor_divide") else 1)
    assert compare(PRIMITIVES[name], operands, weak=True)


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_sizes_are_python_integers(name):
    b, n, m = Builder(), Variable("n", INT), Variable("m", INT)
    result = b.emit(PRIMITIVES[name], n, m, weak=True)
    b.block.results = (result,)
    text = emit(Program("f", (n, m), b.block))
    assert f"return {name[:3]}(n, m)" in text and load(text, "f")(2, 3) in (2, 3)


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int8", "bool", "complex64"])
def test_astype(value, dtype):
    if np.asarray(VALUES[value]).dtype.kind != "c" or dtype.startswith("complex"):
        assert compare(PRIMITIVES["astype"], [VALUES[value]], dtype=dtype)


@pytest.mark.parametrize("a", VALUES)
@pytest.mark.parametrize("b", VALUES)
def test_where(a, b):
    for test in (VALUES["weak bool"], VALUES["truth"], VALUES["truths"]):
        assert compare(PRIMITIVES["where"], [test, VALUES[a], VALUES[b]])


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all"])
@pytest.mark.parametrize("axis", [(), (0,), (1,), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(name, axis, keepdims):
    assert compare(PRIMITIVES[name], [np.arange(24.0).reshape(2, 3, 4)], axis=axis, keepdims=keepdims)


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "sort", "argsort", "argmax", "argmin", "fft", "rfft"])
@pytest.mark.parametrize("axis", [0, 1])
def test_along_an_axis(name, axis):
    assert compare(PRIMITIVES[name], [np.array([[1.0, 3.0, 2.0], [5.0, -1.0, 0.0]])], axis=axis)
    assert axis or compare(PRIMITIVES[name], [np.array([1.0, 3.0, 2.0])], axis=0)
