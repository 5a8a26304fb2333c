"""Shapes of the structural and creating primitives, stacks and effects."""
import numpy as np
import pytest

from chainrule.codegen.build import Builder
from chainrule.codegen.core import INT, StackType, Variable, type_of
from chainrule.codegen.errors import ShapeMismatchError, TypeMismatchError
from chainrule.codegen.primitives import creation, effects, stacks, structural

F4 = np.ones((2, 3), "f4")
E = np.ones((0, 3))
I8 = np.ones((4, 3), "i8")


def hidden(operand):
    if isinstance(operand, np.ndarray):
        return Variable("x", type_of(operand))
    return tuple(map(hidden, operand)) if isinstance(operand, tuple) else operand


@pytest.mark.parametrize("primitive, operands, static", [
    (structural.reshape, (F4, (3, 2)), {}), (structural.reshape, (F4, (6,)), {}),
    (structural.reshape, (E, (0,)), {}),
    (structural.reshape, (E, (5, 0)), {}), (structural.transpose, (np.ones((2, 3, 4)),), {"axes": (2, 0, 1)}),
    (structural.broadcast_to, (F4, (5, 2, 3)), {}), (structural.broadcast_to, (np.ones((1, 3)), (0, 3)), {}),
    (structural.concatenate, ((F4, I8),), {"axis": 0}), (structural.concatenate, ((E, F4, E),), {"axis": 0}),
    (structural.concatenate, ((np.ones(2, "i4"), np.ones(0, "f4")),), {"axis": 0}),
    (structural.copy, (F4,), {}), (structural.size, (F4,), {"axis": 1}),
    (structural.count_nonzero, (F4,), {}),
    (creation.zeros, ((2, 0),), {"dtype": "f4"}), (creation.ones, (3,), {}),
    (creation.empty, ((),), {"dtype": int}),
    (creation.full, ((2,), 1), {}), (creation.full, ((2,), 1.5), {"dtype": "f4"}),
    (creation.full, ((2,), np.float32(1)), {}),
    (creation.arange, (0, 5, 1), {}), (creation.arange, (0, 1, 0.3), {}), (creation.arange, (5, 0, -2), {}),
    (creation.arange, (2, -4, 1), {}), (creation.arange, (0, 3, 1), {"dtype": "f4"}),
    (creation.array, (((1, 2.0), (3, True)),), {}), (creation.array, ((),), {}),
    (creation.array, ((1, 2),), {}),
    (creation.array, ((np.float32(1), 2.5),), {}), (creation.array, ((1, 1j),), {"dtype": "c8"}),
    (creation.constant, (), {"value": F4}),
], ids=str)
def test_type_is_numpys(primitive, operands, static):
    expected = type_of(primitive(*operands, **static))
    assert primitive.type_rule(Builder(), *hidden(operands), **static) == expected


@pytest.mark.parametrize("primitive, operands, static", [
    (structural.reshape, (F4, (4, 2)), {}), (structural.reshape, (F4, (-3, -2)), {}),
    (structural.broadcast_to, (F4, (2, 4)), {}), (structural.broadcast_to, (F4, (3,)), {}),
    (structural.concatenate, ((F4, I8),), {"axis": 1}),
    (structural.concatenate, ((F4, np.ones(3)),), {"axis": 0}),
    (structural.concatenate, ((),), {"axis": 0}), (creation.array, (((1, 2), (3,)),), {}),
    (creation.zeros, ((-1,),), {}),
], ids=str)
def test_shapes_that_do_not_fit_are_refused(primitive, operands, static):
    with pytest.raises(ValueError):
        primitive(*operands, **static)
    with pytest.raises(ShapeMismatchError):
        primitive.type_rule(Builder(), *hidden(operands), **static)


def test_reshape_message_is_numpys():
    with pytest.raises(ValueError) as theirs:
        F4.reshape(4, 2)
    with pytest.raises(ShapeMismatchError) as ours:
        structural.reshape.type_rule(Builder(), hidden(F4), (4, 2))
    assert str(ours.value) == str(theirs.value)


def symbolic(*shape):
    return Variable("x", type_of(F4).with_shape(shape))


def names(builder):
    return [s.primitive.name for s in builder.block.statements]


def test_reshape_of_symbolic_sizes():
    builder, n, m = Builder(), Variable("n", INT), Variable("m", INT)
    flat = builder.emit(structural.reshape, symbolic(n, m, 2), (builder.product((n, m, 2)),))
    assert builder.emit(structural.reshape, flat, (2, m, n)).type.shape == (2, m, n)
    assert "check_same" not in names(builder)
    builder.emit(structural.reshape, flat, (n, n))
    assert "check_same" in names(builder)


def test_concatenate_and_broadcast_of_symbolic_sizes():
    builder, n, m = Builder(), Variable("n", INT), Variable("m", INT)
    joined = structural.concatenate.type_rule(builder, (symbolic(n, m), symbolic(2, m)), axis=0)
    assert joined.shape == (builder.dimension_add(n, 2), m)
    assert structural.broadcast_to.type_rule(builder, symbolic(1, m), (n, m)).shape == (n, m)
    assert "check_same" not in names(builder)
    structural.concatenate.type_rule(builder, (symbolic(n, m), symbolic(n, n)), axis=0)
    assert names(builder)[-2:].count("check_same") == 1


def test_positions_are_all_of_one_size():
    builder, n = Builder(), Variable("n", INT)
    rows, columns = builder.emit(structural.nonzero, symbolic(n, 3))
    assert rows.type.shape == columns.type.shape and rows.type.dtype == np.intp
    assert names(builder) == ["count_nonzero", "nonzero"]


def test_arange_of_symbolic_sizes():
    builder, n = Builder(), Variable("n", INT)
    builder.lower_bounds[n] = 2
    shape = lambda *operands: creation.arange.type_rule(builder, *operands).shape[0]
    assert shape(0, n, 1) is n
    assert shape(1, n, 1) is builder.dimension_add(n, -1)
    assert shape(builder.dimension_add(n, -1), -1, -1) is n
    assert shape(0.0, n, 0.5) is None


def test_unsupported_dtype_and_size():
    with pytest.raises(TypeMismatchError):
        creation.zeros.type_rule(Builder(), 2.5)


def test_stacks_are_functional():
    element = type_of(F4)
    empty = stacks.stack(element=element)
    one = stacks.push(empty, F4)
    assert empty == [] and len(one) == 1
    assert stacks.pop(one)[0] == [] and stacks.pop(one)[1] is F4 and len(one) == 1
    of = stacks.stack.type_rule(Builder(), element=element)
    held = Variable("s", of)
    assert of == StackType(element) and stacks.push.type_rule(Builder(), held, hidden(F4)) == of
    assert stacks.pop.type_rule(Builder(), held) == (of, element)


def test_effects(capsys):
    effects.check_same(2, 2, message="no")
    effects.check_index(-3, 3)
    effects.check(True)
    effects.print_("a", 1, sep="-")
    assert capsys.readouterr().out == "a-1\n"
    with pytest.raises(ValueError, match="differ"):
        effects.check_same(2, 3, message="differ")
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 1 with size 3"):
        effects.check_index(3, 3, axis=1)
    with pytest.raises(IndexError):
        effects.check_index(-4, 3)
    with pytest.raises(ZeroDivisionError, match="by zero"):
        effects.check(False, exception="ZeroDivisionError", message="by zero")
