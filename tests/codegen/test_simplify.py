"""Simplify: each rewrite on a case of its own, control flow, dead code, and random programs."""

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import chainrule as cr
from chainrule.codegen.algebra import apply_algebra
from chainrule.codegen.build import Builder
from chainrule.codegen.core import BOOL, FLOAT, INT, ArrayType, Assign, Block, If, Variable, While, walk
from chainrule.codegen.dead_code import remove_dead_code
from chainrule.codegen.evaluate import evaluate
from chainrule.codegen.identities import TABLE
from chainrule.codegen.primitives import (
    effects,
    elementwise,
    indexing,
    stacks,
    structural,
)
from chainrule.codegen.printing import print_program
from chainrule.codegen.registry import PRIMITIVES
from chainrule.codegen.rewrites import REWRITES
from chainrule.codegen.simplify import simplify
from tests.codegen.random_programs import Writer, for_loop, program

VALUES = np.array([1.5, -2.0, 0.0, -0.0]), np.array([-0.0, 3.0, 0.5, -1.0])


class Maker:
    """Writes `m.add(x, y)` for `builder.emit(add, x, y)`."""

    def __init__(self, builder):
        self.builder = builder

    def __getattr__(self, name):
        return lambda *operands, **static: self.builder.emit(PRIMITIVES[name], *operands, **static)


def result_of(make, dtype=float, shape=(4,)):
    """The function that `make` writes, before and after, and the expression it comes to."""
    b = Builder()
    x, y = (Variable(name, ArrayType(np.dtype(dtype), shape)) for name in "xy")
    f = program(b, (x, y), make(Maker(b), x, y))
    simple = simplify(f, keep_sizes=False)
    text = print_program(simple).partition("def f(x, y):\n")[2]
    return f, simple, text.strip().removeprefix("return ")


half = slice(0, 2)
CASES = [
    ("x", lambda m, x, y: m.multiply(m.divide(m.multiply(1, x), 1.0), m.ones((4,), dtype=float))),
    ("x", lambda m, x, y: m.subtract(m.add(m.zeros((4,), dtype=float), x), 0.0)),
    ("x", lambda m, x, y: m.power(m.positive(x), 1)),
    ("x", lambda m, x, y: m.negative(m.negative(x))),
    ("-x", lambda m, x, y: m.multiply(-1.0, x)),
    ("-x", lambda m, x, y: m.divide(x, -1.0)),
    ("x - y", lambda m, x, y: m.add(x, m.negative(y))),
    ("y - x", lambda m, x, y: m.add(m.negative(x), y)),
    ("x + y", lambda m, x, y: m.subtract(x, m.negative(y))),
    ("x * y", lambda m, x, y: m.multiply(m.negative(x), m.negative(y))),
    ("np.abs(x)", lambda m, x, y: m.absolute(m.absolute(m.negative(x)))),
    ("x", lambda m, x, y: m.conjugate(m.real(x))),
    ("y", lambda m, x, y: m.where(m.less(x, y), y, y)),
    ("y", lambda m, x, y: m.where(False, x, y)),
    ("x", lambda m, x, y: m.maximum(m.minimum(x, x), x)),
    ("x < y", lambda m, x, y: m.logical_not(m.logical_not(m.less(x, y)))),
    ("x < y", lambda m, x, y: m.logical_and(m.less(x, y), True)),
    ("x.copy()", lambda m, x, y: m.copy(m.copy(x))),
    ("x + y", lambda m, x, y: m.copy(m.add(x, y))),
    ("x + 0.0", lambda m, x, y: m.add(x, 0.0)),
    ("x * 0.0", lambda m, x, y: m.multiply(x, 0.0)),
    ("x**2", lambda m, x, y: m.power(x, 2)),
    ("x", lambda m, x, y: m.reshape(m.reshape(x, (2, 2)), (4,))),
    ("x", lambda m, x, y: m.transpose(m.broadcast_to(m.astype(x, dtype=np.dtype(float)), (4,)), axes=(0,))),
    ("x", lambda m, x, y: m.astype(m.astype(x, dtype=np.dtype(complex)), dtype=np.dtype(float))),
    ("np.ones((2, 2))", lambda m, x, y: m.reshape(m.broadcast_to(1.0, (4,)), (2, 2))),
    ("y", lambda m, x, y: m.multiply(m.broadcast_to(np.float64(1.0), (4,)), y)),
    ("2.0 * y", lambda m, x, y: m.multiply(m.full((4,), 2.0), y)),
    ("x", lambda m, x, y: m.sum(x, axis=(), keepdims=False)),
    ("x", lambda m, x, y: m.sum(m.reshape(x, (1, 4)), axis=(0,), keepdims=False)),
    ("x", lambda m, x, y: m.getitem(x, (slice(0, 4),))),
    ("x", lambda m, x, y: m.multiply(m.reshape(np.float64(1.0), (1,)), x)),
    ("x", lambda m, x, y: m.setitem(x, (half,), m.getitem(x, (half,)))),
    ("x", lambda m, x, y: m.index_add(m.setitem(x, (1,), 0.0), (1,), m.getitem(x, (1,)))),
    ("y + 2.0", lambda m, x, y: m.add(y, m.getitem(m.setitem(x, (1,), 2.0), (1,)))),
    ("y", lambda m, x, y: m.setitem(x, (slice(None),), y)),
    ("y[::-1]", lambda m, x, y: m.setitem(x, (slice(None, None, -1),), y)),
    ("y", lambda m, x, y: m.index_add(m.zeros((4,), dtype=float), (slice(None),), y)),
    ("4", lambda m, x, y: m.size(x, axis=0)),
    ("x * y / y", lambda m, x, y: m.negative(m.divide(m.multiply(m.negative(x), y), y))),
    ("x - y * y / x", lambda m, x, y: m.add(x, m.divide(m.multiply(m.negative(y), y), x))),
    ("200 * x", lambda m, x, y: m.multiply(100, m.multiply(2, x))),
    ("-x", lambda m, x, y: m.multiply(m.multiply(x, 2.0), -0.5)),
    ("3 * (5 * x)", lambda m, x, y: m.multiply(3, m.multiply(5, x))),
    ("0.75 * y", lambda m, x, y: m.multiply(m.multiply(m.ones((4,), dtype=float), 0.75), y)),
    ("np.ones(4)", lambda m, x, y: m.power(x, 0)),
    ("x - np.sum(y)", lambda m, x, y: m.add(x, m.sum(m.negative(y), axis=(0,), keepdims=False))),
    ("x", lambda m, x, y: m.multiply(m.getitem(np.float64(1.0), (None,)), x)),
    ("x.reshape(1, 4)", lambda m, x, y: m.setitem(m.zeros((1, 4), dtype=float), (0,), x)),
    ("x", lambda m, x, y: m.multiply(m.broadcast_to(m.ones((1,), dtype=float), (4,)), x)),
    ("5.0 * x", lambda m, x, y: m.multiply(m.getitem(m.array((3, 5), dtype=float), (1,)), x)),
]


@pytest.mark.parametrize(("expected", "make"), CASES, ids=[text for text, _ in CASES])
def test_rewrites(expected, make):
    f, simple, text = result_of(make)
    assert text == expected
    np.testing.assert_array_equal(evaluate(simple, VALUES), evaluate(f, VALUES))


def test_writes_over_writes():
    _, simple, _ = result_of(lambda m, x, y: m.setitem(m.setitem(x, (half,), 1.0), (half,), 2.0))
    assert [s.primitive.name for s in simple.body.statements] == ["setitem"]
    _, simple, _ = result_of(lambda m, x, y: m.index_add(m.zeros((4,), dtype=float), (2,), 1.0))
    assert [s.primitive.name for s in simple.body.statements] == ["zeros", "setitem"]


def test_types_stay():
    make = lambda m, x, y: m.multiply(x, np.float64(1.0))
    assert result_of(make, np.float32)[1].results[0].type.dtype == np.float64
    wider = lambda m, x, y: m.multiply(m.ones((3, 4), dtype=float), x)
    assert result_of(wider)[1].results[0].type.shape == (3, 4)
    assert result_of(lambda m, x, y: m.divide(x, 1), int)[1].results[0].type.dtype == np.float64
    assert result_of(lambda m, x, y: m.multiply(x, True), bool)[2] == "x * True"


def test_zeros_of_another_dtype_and_numbers_of_another_kind():
    assert result_of(lambda m, x, y: m.add(m.zeros((4,), dtype="float32"), x), np.float32)[2] == "x"
    numbers = lambda m, x, y: m.add(m.astype(m.add(x, 2.0), dtype="float64"), m.add(x, np.float64(2.0)))
    f, simple, _ = result_of(numbers, np.float32)
    values = [v.astype(np.float32) / 3 for v in VALUES]
    np.testing.assert_array_equal(evaluate(simple, values), evaluate(f, values))


def test_integers():
    b, n = Builder(), Variable("n", INT)
    add, subtract = elementwise.add, elementwise.subtract
    one = b.emit(subtract, b.emit(add, b.emit(add, n, 3), -1), 2)
    difference = b.emit(subtract, b.emit(add, n, 3), b.emit(add, n, 1))
    none, same = b.emit(elementwise.multiply, n, 0), b.emit(elementwise.equal, n, n)
    f = simplify(program(b, (n,), one, difference, none, same))
    assert f.results == (n, 2, 0, True)


def test_every_line_of_the_table_names_primitives():
    assert not [name for name in [*TABLE, *REWRITES] if name not in PRIMITIVES]


# control flow


def branch(b, test, yes, no, of=FLOAT):
    target = Variable(None, of)
    b.append(If((target,), test, Block([], (yes,)), Block([], (no,))))
    return target


def test_a_known_branch_and_branches_that_agree():
    b, x, y = Builder(), Variable("x", FLOAT), Variable("y", FLOAT)
    test = Variable("test", BOOL)
    f = program(b, (x, y, test), branch(b, True, x, y), branch(b, False, x, y), branch(b, test, y, y))
    assert simplify(f).results == (x, y, y)
    assert not simplify(f).body.statements


def test_a_test_is_known_inside_its_branch():
    b, x, y, test = Builder(), Variable("x", FLOAT), Variable("y", FLOAT), Variable("test", BOOL)
    body, orelse, target = Block(), Block([], (y,)), Variable(None, FLOAT)
    with b.inside(body):
        body.results = (b.emit(elementwise.add, branch(b, test, x, y), 1.0),)
    b.append(If((target,), test, body, orelse))
    f = simplify(program(b, (x, y, test), target))
    assert sum(isinstance(s, If) for s in walk(f.body)) == 1


def test_loops_that_run_never_or_once():
    b, x = Builder(), Variable("x", FLOAT)
    step = lambda i, c: b.emit(elementwise.add, c, i)
    never, once = for_loop(b, 0, (x,), step), for_loop(b, 1, (x,), step)
    f = simplify(program(b, (x,), *never, *once))
    assert f.results[0] is x
    assert [s.primitive.name for s in f.body.statements] == ["add"]


def test_a_carried_variable_that_never_changes():
    b, x, y = Builder(), Variable("x", FLOAT), Variable("y", FLOAT)
    f = program(b, (x, y), *for_loop(b, 5, (x, y), lambda i, c, d: (b.emit(elementwise.multiply, c, d), d)))
    f = simplify(f)
    (loop,) = f.body.statements
    assert len(loop.carried) == 1 and f.results[1] is y


def test_invariants_leave_the_loop_but_not_what_may_raise():
    b, x, n = Builder(), Variable("x", FLOAT), Variable("n", INT)

    def step(i, c):
        moved = b.emit(elementwise.multiply, x, x)
        stays = b.emit(elementwise.divide, 1.0, x)
        return b.emit(elementwise.add, c, b.emit(elementwise.add, moved, stays))

    f = simplify(program(b, (x, n), *for_loop(b, n, (0.0,), step)))
    first, loop = f.body.statements
    assert first.primitive.name == "multiply"
    assert [s.primitive.name for s in loop.body.statements] == ["divide", "add", "add"]


def test_checks_known_to_hold_are_gone():
    b, n = Builder(), Variable("n", INT)
    x = Variable("x", ArrayType(np.dtype(float), (n,)))
    end = b.emit(elementwise.subtract, n, 1)

    def step(i, c):
        for k in (0, 1, 2):
            b.emit(effects.check_index, b.emit(elementwise.add, i, k), n)
        return b.emit(elementwise.add, c, b.emit(indexing.getitem, x, (i,)))

    f = simplify(program(b, (x, n), *for_loop(b, end, (0.0,), step)))
    kept = [s for s in walk(f.body) if isinstance(s, Assign) and s.primitive.effect]
    assert len(kept) == 1


# dead code


def test_carried_variables_that_feed_only_themselves_are_dead():
    b, x = Builder(), Variable("x", FLOAT)
    add = lambda *operands: b.emit(elementwise.add, *operands)
    step = lambda i, c, d, e: (add(c, x), add(d, e), add(e, 1.0))
    c, d, e = for_loop(b, 5, (x, x, x), step)
    (loop,) = remove_dead_code(program(b, (x,), c)).body.statements
    assert len(loop.carried) == 1 and len(loop.body.statements) == 1


def test_a_stack_nobody_reads_is_dead_and_effects_stay():
    b, x = Builder(), Variable("x", FLOAT)
    s = b.emit(stacks.stack, element=FLOAT)

    def step(i, c, s):
        b.emit(effects.print_, i)
        return b.emit(elementwise.add, c, x), b.emit(stacks.push, s, c)

    c, s = for_loop(b, 5, (x, s), step)
    b.emit(stacks.pop, s)
    (loop,) = remove_dead_code(program(b, (x,))).body.statements
    assert not loop.carried and [s.primitive.name for s in loop.body.statements] == ["print"]


def test_an_unused_while_loop_is_dead_and_a_used_one_keeps_its_test():
    b, x = Builder(), Variable("x", FLOAT)
    names = [Variable(None, FLOAT) for _ in range(4)]
    test, body = Block(), Block()
    with b.inside(test):
        test.results = (b.emit(elementwise.less, names[0], 3.0),)
        with b.inside(body):
            doubled = b.emit(elementwise.multiply, names[1], 2.0)
            body.results = (b.emit(elementwise.add, names[0], 1.0), doubled)
    b.append(While(tuple(names[2:]), tuple(names[:2]), (x, x), test, body))
    assert not remove_dead_code(program(b, (x,), x)).body.statements
    (loop,) = remove_dead_code(program(b, (x,), names[3])).body.statements
    assert len(loop.carried) == 2
    b.block.results = (names[2],)
    (loop,) = remove_dead_code(program(b, (x,), names[2])).body.statements
    assert len(loop.carried) == 1


def test_sizes_of_needed_arrays_stay_while_they_are_wanted():
    b, x = Builder(), Variable("x", ArrayType(np.dtype(float), (Variable("n", INT),)))
    b.append(Assign((x.type.shape[0],), structural.size, (x,), {"axis": 0}))
    f = program(b, (x,), b.emit(elementwise.sin, x))
    assert len(remove_dead_code(f).body.statements) == 2
    assert len(remove_dead_code(f, keep_sizes=False).body.statements) == 1


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32))
def test_random_programs(seed):
    f = Writer(random.Random(seed)).program()
    arguments = np.array([0.5, 2.0, -1.0, 3.0]), np.arange(12.0).reshape(3, 4)
    wanted = evaluate(f, arguments)
    for step in (apply_algebra, remove_dead_code, simplify):
        for one, other in zip(evaluate(step(f), arguments), wanted):
            np.testing.assert_array_equal(one, other)


def test_a_loop_that_never_runs():
    def f(x, y):
        for i in range(1):
            n = 0
            while n < 3 and i == 1:
                n, x = n + 1, np.sin(x) * x
        return np.sum(x) * y

    assert "while" not in cr.source(f, stage="simplified")(np.ones(3), 2.0)
    np.testing.assert_array_equal(cr.jit(cr.grad(f))(np.ones(3), 2.0), [2.0, 2.0, 2.0])


def test_what_holds_in_a_loop_does_not_hold_after_it():
    def f(x, n):
        for i in range(1, n):
            x = x * i
        return x + max(n - 1, 0)

    for n in (0, 1, 4):
        assert cr.jit(f)(0.5, n) == f(0.5, n)
