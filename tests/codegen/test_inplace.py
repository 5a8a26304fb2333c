"""Writing in place: copies where they are needed, none where they are not, and the same values."""

import random

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chainrule.codegen.build import Builder
from chainrule.codegen.core import BOOL, ArrayType, Assign, Block, For, If, Variable, map_variables, walk
from chainrule.codegen.inplace import write_in_place
from chainrule.codegen.primitives import creation, elementwise, indexing, stacks, structural
from chainrule.codegen.simplify import simplify
from tests.codegen.random_programs import VECTOR, Writer, for_loop, program

# Two interpreters: every value a new one; every write in place, every view a view.

def run(program, arguments, in_place=False):
    known = dict(zip(program.parameters, arguments))
    value = lambda operand: map_variables(known.__getitem__, operand)

    def destroy(name, operands, static):
        target = operands[0]
        match name:
            case "setitem":
                target[operands[1]] = operands[2]
            case "index_add":
                np.add.at(target, operands[1], operands[2])
            case "push":
                target.append(operands[1])
            case "pop":
                return target, target.pop()
        return target

    def block(b):
        for s in b.statements:
            statement(s)
        return value(b.results)

    def statement(s):
        if isinstance(s, Assign):
            operands = value(s.operands)
            if in_place and s.primitive.destructive:
                result = destroy(s.primitive.name, operands, s.static)
            else:
                result = s.primitive.implementation(*operands, **s.static)
            known.update(zip(s.targets, result if isinstance(result, tuple) else (result,)))
        elif isinstance(s, If):
            known.update(zip(s.targets, block(s.body if value(s.test) else s.orelse)))
        else:
            carried = value(s.initial)
            if isinstance(s, For):
                for known[s.index] in range(value(s.start), value(s.stop), value(s.step)):
                    known.update(zip(s.carried, carried))
                    carried = block(s.body)
            else:
                known.update(zip(s.carried, carried))
                while block(s.test)[0]:
                    carried = block(s.body)
                    known.update(zip(s.carried, carried))
            known.update(zip(s.targets, carried))

    return [np.array(r) for r in block(program.body)]


def check(program, *arguments):
    """The program in place gives what it gives without, and leaves its arguments alone."""
    wanted = run(program, [np.array(a) for a in arguments])
    given_arguments = [np.array(a) for a in arguments]
    found = run(write_in_place(program), given_arguments, in_place=True)
    for w, f in zip(wanted, found):
        np.testing.assert_array_equal(f, w)
    for a, g in zip(arguments, given_arguments):
        np.testing.assert_array_equal(g, a)
    return program


def copies(program, **options):
    return sum(isinstance(s, Assign) and s.primitive.name == "copy"
               for s in walk(write_in_place(program, **options).body))


def test_filling_an_array_copies_nothing():
    b = Builder()
    c = b.emit(creation.zeros, (3, 4), dtype=float)
    rows = lambda i, c: for_loop(b, 4, (c,), lambda j, d: b.emit(indexing.setitem, d, (i, j), 2.0))
    (c,) = for_loop(b, 3, (c,), rows)
    assert copies(check(program(b, (), c))) == 0


def test_two_writes_to_one_array_copy_it_once():
    b = Builder()
    y = b.emit(creation.zeros, (4,), dtype=float)
    one, two = (b.emit(indexing.setitem, y, (k,), 1.0) for k in (0, 1))
    assert copies(check(program(b, (), one, two))) == 1


def test_a_parameter_is_copied_before_the_loop_unless_it_is_ours():
    b, x = Builder(), Variable("x", VECTOR)
    (y,) = for_loop(b, 4, (x,), lambda i, c: b.emit(indexing.setitem, c, (i,), 1.0))
    f = check(program(b, (x,), y), np.ones(4))
    assert copies(f) == 1
    assert isinstance(write_in_place(f).body.statements[0], Assign)
    assert copies(f, owned_parameters=(x,)) == 0


def test_swapping_two_buffers_copies_nothing():
    b, x = Builder(), Variable("x", VECTOR)
    old, new = (b.emit(elementwise.multiply, x, k) for k in (1.0, 2.0))

    def step(i, old, new):
        head = b.emit(indexing.getitem, old, (slice(None, -1),))
        return b.emit(indexing.setitem, new, (slice(1, None),), head), old

    old, new = for_loop(b, 5, (old, new), step)
    assert copies(check(program(b, (x,), old, new), np.arange(4.0))) == 0


def test_one_array_as_two_carried_variables_is_copied():
    b = Builder()
    x = b.emit(creation.zeros, (4,), dtype=float)
    step = lambda i, p, q: (b.emit(indexing.setitem, p, (i,), 1.0), b.emit(indexing.setitem, q, (0,), 5.0))
    assert copies(check(program(b, (), *for_loop(b, 4, (x, x), step)))) == 1


def test_a_small_view_is_copied_rather_than_the_array():
    b = Builder()
    x = b.emit(creation.ones, (4,), dtype=float)
    view = b.emit(indexing.getitem, x, (slice(1, 3),))
    y = b.emit(indexing.setitem, x, (1,), 5.0)
    f = check(program(b, (), y, view))
    names = [s.primitive.name for s in write_in_place(f).body.statements]
    assert names == ["ones", "getitem", "copy", "setitem"]


def test_the_previous_value_kept_over_a_turn_is_copied_once_a_turn():
    b = Builder()
    x = b.emit(creation.zeros, (4,), dtype=float)
    y = b.emit(creation.zeros, (4,), dtype=float)
    step = lambda i, c, previous: (b.emit(indexing.setitem, c, (i,), b.emit(elementwise.add, i, 1.5)), c)
    assert copies(check(program(b, (), *for_loop(b, 4, (x, y), step)))) == 1


def test_pushed_parts_of_a_written_array_are_copied_at_the_push():
    b = Builder()
    x = b.emit(creation.zeros, (4,), dtype=float)
    s = b.emit(stacks.stack, element=ArrayType(np.dtype(float), (2,)))

    def step(i, c, s):
        s = b.emit(stacks.push, s, b.emit(indexing.getitem, c, (slice(1, 3),)))
        return b.emit(indexing.setitem, c, (i,), 1.0), s

    c, s = for_loop(b, 4, (x, s), step)

    def back(i, c, s):
        s, v = b.emit(stacks.pop, s)
        return b.emit(indexing.index_add, c, (slice(1, 3),), v), s

    c, s = for_loop(b, 4, (c, s), back)
    assert copies(check(program(b, (), c))) == 1


def test_pushing_what_is_new_each_turn_copies_nothing():
    b, x = Builder(), Variable("x", VECTOR)
    s = b.emit(stacks.stack, element=VECTOR)

    def step(i, c, s):
        s = b.emit(stacks.push, s, c)
        new = b.emit(elementwise.multiply, c, 2.0)
        return b.emit(indexing.setitem, new, (i,), 1.0), s

    c, s = for_loop(b, 4, (x, s), step)
    s, v = b.emit(stacks.pop, s)
    assert copies(check(program(b, (x,), c, v), np.ones(4))) == 0


def test_a_write_in_a_branch():
    b, x, test = Builder(), Variable("x", VECTOR), Variable("test", BOOL)
    y = b.emit(elementwise.add, x, 1.0)
    body, orelse = Block(), Block((), (y,))
    with b.inside(body):
        body.results = (b.emit(indexing.setitem, y, (0,), 1.0),)
    target = Variable("z", VECTOR)
    b.append(If((target,), test, body, orelse))
    z = b.emit(indexing.setitem, target, (1,), 7.0)
    f = program(b, (x, test), z)
    assert copies(f) == 0
    for taken in (True, False):
        check(f, np.ones(4), taken)


def test_a_broadcast_view_is_copied_before_it_is_written():
    b = Builder()
    x = b.emit(structural.broadcast_to, 1.0, (4,))
    assert copies(check(program(b, (), b.emit(indexing.setitem, x, (0,), 5.0)))) == 1


def test_fresh_results_share_nothing():
    b, x = Builder(), Variable("x", VECTOR)
    y = b.emit(elementwise.add, x, 1.0)
    f = program(b, (x,), y, y, x)
    assert copies(f) == 0
    assert copies(f, fresh_results=True) == 2


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32))
def test_random_programs(seed):
    f = Writer(random.Random(seed)).program()
    check(f, np.array([0.5, 2.0, -1.0, 3.0]), np.arange(12.0).reshape(3, 4))
    check(simplify(f, keep_sizes=False), np.array([0.5, 2.0, -1.0, 3.0]), np.arange(12.0).reshape(3, 4))
