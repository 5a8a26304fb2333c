"""Names: shared where values follow each other, distinct where both are wanted, never one that Python has."""

import numpy as np
import pytest

from chainrule.codegen import primitives  # noqa: F401
from chainrule.codegen.build import Builder
from chainrule.codegen.core import FLOAT, INT, ArrayType, Block, For, If, Program, Variable
from chainrule.codegen.inlining import reassemble
from chainrule.codegen.naming import name_variables
from chainrule.codegen.registry import PRIMITIVES

VECTOR = ArrayType(np.dtype(float), (3,))


def named(parameters, builder, *results):
    builder.block.results = results
    program = Program("f", tuple(parameters), builder.block)
    return name_variables(program, reassemble(program))


def emit(builder, kind, *operands, name=None, **static):
    return builder.emit(PRIMITIVES[kind], *operands, name=name, **static)


@pytest.mark.parametrize("wish", ["lambda", "np", "range", "ValueError", "_", "not a name", "1"])
def test_no_name_is_taken_from_python(wish):
    b, x = Builder(), Variable("x", FLOAT)
    y = emit(b, "multiply", x, 2.0, name=wish)
    name = named((x,), b, y, y).names[y]
    assert name.isidentifier() and name != wish


def test_parameters_keep_their_names_and_differ():
    x, y = Variable("x", FLOAT), Variable("x", FLOAT)
    names = named((x, y), Builder(), x, y).names
    assert (names[x], names[y]) == ("x", "x_2")


def test_a_reassigned_name_is_reused_once_its_value_is_gone():
    b, x = Builder(), Variable("x", FLOAT)
    first = emit(b, "multiply", x, 2.0, name="x")
    second = emit(b, "add", first, 1.0, name="x")
    names = named((x,), b, second).names
    assert names[first] == names[second] == "x"


def test_what_is_written_in_place_has_one_name():
    b, x = Builder(), Variable("x", VECTOR)
    y = emit(b, "copy", x, name="y")
    z = emit(b, "setitem", y, (0,), 1.0, name="z")
    naming = named((x,), b, z, x)
    assert naming.names[y] == naming.names[z] == "y" and not naming.overwrites


def test_what_is_read_after_a_write_is_copied():
    b, x = Builder(), Variable("x", VECTOR)
    y = emit(b, "setitem", x, (0,), 1.0, name="y")
    naming = named((x,), b, x, y)
    assert naming.names[x] != naming.names[y] and len(naming.overwrites) == 1


def test_a_bound_survives_the_values_a_loop_begins_with():
    b, n, m = Builder(), Variable("n", INT), Variable("m", INT)
    carried, target = Variable("n", INT), Variable("n", INT)
    body = Block()
    with b.inside(body):
        body.results = (emit(b, "add", carried, 1),)
    b.append(For((target,), Variable("i", INT), 0, n, 1, (carried,), (m,), body))
    names = named((n, m), b, target).names
    assert names[carried] != names[n]


def test_both_branches_give_the_name_of_their_result():
    b, x = Builder(), Variable("x", FLOAT)
    target, blocks = Variable("y", FLOAT), (Block(), Block())
    values = []
    for block, factor in zip(blocks, (2.0, 3.0)):
        with b.inside(block):
            values.append(emit(b, "multiply", x, factor))
            block.results = (values[-1],)
    b.append(If((target,), emit(b, "less", x, 0.0), *blocks))
    names = named((x,), b, target, x).names
    assert {names[value] for value in values} == {names[target]} == {"y"}


def test_temporaries_are_named_for_what_they_hold():
    b, x = Builder(), Variable("x", VECTOR)
    values = [emit(b, "sin", x), emit(b, "sum", x, axis=(0,))]
    values += [emit(b, "size", x, axis=0), emit(b, "less", x, 0.0)]
    names = named((x,), b, *values, *values).names
    assert [names[value] for value in values] == ["sin_x", "total", "n", "mask"]
