"""The type rules of elementwise primitives say what NumPy and Python give."""
import inspect

import numpy as np
import pytest

from chainrule.codegen.build import Builder
from chainrule.codegen.core import Variable, type_of
from chainrule.codegen.errors import ShapeMismatchError, TypeMismatchError
from chainrule.codegen.primitives import elementwise, special
from chainrule.codegen.primitives.promotion import OPERATORS
from chainrule.codegen.registry import PRIMITIVES
from tests.own_primitives import OWN

ELEMENTWISE = [p for p in OWN.values() if p.elementwise and p.name not in ("astype", "where")]
NOT_SPECIAL = [p for p in ELEMENTWISE if p.type_rule.__module__ == elementwise.__name__
               and p.name not in vars(special)]

BOOLS = np.array([True, False, True])
SAMPLES = [
    np.full((2, 3), 0.5, "f4"), np.full((2, 1), 0.5), np.full((3,), 2, "i8"), np.full((1, 3), 2, "u1"), BOOLS,
    np.full((2, 3), 0.5 + 0.25j), np.zeros((0, 3)), np.float32(0.5),
    np.float64(0.5), np.int64(2), np.int32(2), np.bool_(True), np.complex64(0.5j), np.ones((1, 1, 3), "f4"),
    True, 2, 0.5, 0.5j,
]


def number_of_operands(primitive):
    """How many operands the NumPy function takes."""
    ufunc = getattr(np, primitive.name, None)
    return ufunc.nin if isinstance(ufunc, np.ufunc) else 1


def operand(value):
    """A variable of the value's type, so that nothing can look at the value."""
    return Variable("x", type_of(value))


def described(value):
    """The core type of a value that NumPy or Python computed."""
    return type_of(value)


def fit(*values):
    """Whether the shapes of the values broadcast."""
    try:
        np.broadcast_shapes(*map(np.shape, values))
    except ValueError:
        return False
    return True


def compare(primitive, *values, **static):
    with np.errstate(all="ignore"):
        try:
            expected = described(primitive(*values, **static))
        except (TypeError, OverflowError):
            expected = None
    builder, operands = Builder(), [operand(v) for v in values]
    builder.lower_bounds = dict.fromkeys(operands, 0)
    if expected is None:
        with pytest.raises(TypeMismatchError):
            primitive.type_rule(builder, *operands, **static)
        return
    given = primitive.type_rule(builder, *operands, **static)
    assert given == expected, (values, given, expected)


@pytest.mark.parametrize("primitive", [p for p in NOT_SPECIAL if number_of_operands(p) == 1], ids=str)
def test_one_operand(primitive):
    for value in SAMPLES:
        if primitive.name == "sign" and type_of(value).dtype.kind == "c":
            continue
        compare(primitive, value)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("primitive", [p for p in NOT_SPECIAL if number_of_operands(p) == 2], ids=str)
def test_two_operands(primitive):
    for a in SAMPLES:
        for b in SAMPLES:
            if primitive.name == "power" and a is BOOLS and type(b) is int:
                continue  # int8 for a known 2: below
            # Python's complex takes np.float64 for a float of its own, and gives a Python complex.
            if fit(a, b) and not (type(a) is complex and type(b) is np.float64):
                compare(primitive, a, b)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("primitive", NOT_SPECIAL, ids=str)
def test_implementation_of_an_operator_is_weak_only_on_python_scalars(primitive):
    values = (1,) * number_of_operands(primitive)
    result = primitive(*values)
    assert type_of(result).weak == (primitive.name in OPERATORS)


@pytest.mark.parametrize("name", ["sin", "hypot", "floor", "maximum", "isnan", "gcd"])
def test_weak_makes_a_python_scalar(name):
    primitive = PRIMITIVES[name]
    for value in (2, np.int64(2)) if name == "gcd" else (0.5, 2, np.float32(0.5)):
        compare(primitive, *(value,) * number_of_operands(primitive), weak=True)


def test_weak_result_of_an_array_is_refused():
    with pytest.raises(ShapeMismatchError):
        elementwise.sin.type_rule(Builder(), operand(np.ones(3)), weak=True)


@pytest.mark.filterwarnings("ignore")
def test_where_and_astype():
    for a in SAMPLES:
        for b in SAMPLES:
            for test in (np.array([[True], [False]]), True):
                if fit(test, a, b):
                    compare(elementwise.where, test, a, b)
        for dtype in ("f4", "f8", "i8", "?", "c16"):
            compare(elementwise.astype, a, dtype=dtype)
    for value in (True, 2, 0.5, np.float32(0.5)):
        for dtype in ("f8", "i8", "?", "c16"):
            compare(elementwise.astype, value, dtype=dtype, weak=True)


def test_shapes_that_do_not_broadcast_are_refused_in_numpys_words():
    with pytest.raises(ValueError) as theirs:
        np.ones((2, 3)) + np.ones(4)
    with pytest.raises(ShapeMismatchError) as ours:
        elementwise.add.type_rule(Builder(), operand(np.ones((2, 3))), operand(np.ones(4)))
    assert str(theirs.value).strip() == str(ours.value)


def test_dynamic_int_power_is_checked_to_stay_an_int():
    builder, k = Builder(), operand(2)
    assert elementwise.power.type_rule(builder, 2, k) == type_of(1)
    assert [s.primitive.name for s in builder.block.statements] == ["greater_equal", "check"]
    builder = Builder()
    builder.lower_bounds[k] = 0
    elementwise.power.type_rule(builder, 2, k)
    assert not builder.block.statements
    assert elementwise.power.type_rule(builder, k, -1) == type_of(0.5)
    for exponent in (1, 2, 3):
        assert elementwise.power.type_rule(builder, operand(BOOLS), exponent) == type_of(BOOLS ** exponent)


def test_every_elementwise_primitive_takes_weak():
    for primitive in ELEMENTWISE:
        # of random blocks and numbers: of arrays and NumPy scalars only
        if "_word" in primitive.name or primitive.name in ("multiply_add", "xla_log"):
            continue
        assert "weak" in inspect.signature(primitive.implementation).parameters, primitive
