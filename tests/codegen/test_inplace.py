"""Writing in place: copies where they are needed, none where they are not, and the same values."""

import random

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chainrule.codegen.build import Builder
from chainrule.codegen.core import (
    BOOL,
    INT,
    ArrayType,
    Assign,
    Block,
    For,
    If,
    Program,
    Variable,
    While,
    map_variables,
    type_of,
    walk,
)
from chainrule.codegen.inplace import write_in_place
from chainrule.codegen.primitives import creation, elementwise, indexing, stacks, structural

VECTOR = ArrayType(np.dtype(float), (4,))
MATRIX = ArrayType(np.dtype(float), (3, 4))


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


def for_loop(b, count, initial, body):
    """Emit a loop whose body is emitted by body(index, *carried)."""
    index = Variable("i", INT)
    carried = tuple(Variable(None, type_of(o)) for o in initial)
    targets = tuple(Variable(None, type_of(o)) for o in initial)
    inner = Block()
    with b.inside(inner):
        results = body(index, *carried)
        inner.results = results if isinstance(results, tuple) else (results,)
    b.append(For(targets, index, 0, count, 1, carried, tuple(initial), inner))
    return targets


def program(b, parameters, *results):
    b.block.results = results
    return Program("f", tuple(parameters), b.block)


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


# Random programs

class Writer:
    """Writes a random program over vectors of four, a matrix, and stacks."""

    def __init__(self, chance):
        self.chance, self.b = chance, Builder()

    def statements(self, vectors, matrices, count, depth):
        vectors, matrices = list(vectors), list(matrices)
        for _ in range(self.chance.randint(1, count)):
            self.statement(vectors, matrices, depth)
        return vectors, matrices

    def statement(self, vectors, matrices, depth):
        chance, b = self.chance, self.b
        x, y = chance.choice(vectors), chance.choice(vectors)
        kinds = ["write", "write", "add", "slice", "part", "view", "row", "fresh", "matrix"]
        kind = chance.choice(kinds + ["for", "for", "if", "while", "stack"] * (depth > 0))
        i = chance.randint(0, 2)
        if kind == "write":
            new = b.emit(indexing.setitem, x, (i,), b.emit(indexing.getitem, y, (chance.randint(0, 3),)))
        elif kind == "slice":
            value = b.emit(indexing.getitem, y, (slice(2, None),))
            new = b.emit(chance.choice([indexing.setitem, indexing.index_add]), x, (slice(None, 2),), value)
        elif kind == "add":
            new = b.emit(indexing.index_add, x, (np.array([0, 0, 3]),), 1.0)
        elif kind == "part":
            part = b.emit(indexing.getitem, x, (slice(1, 3),))
            new = b.emit(structural.concatenate, (part, part), axis=0)
        elif kind == "view":
            new = chance.choice([
                lambda: b.emit(indexing.getitem, x, (slice(None, None, -1),)),
                lambda: b.emit(structural.reshape, x, (4,)),
                lambda: b.emit(structural.transpose, x, axes=(0,)),
                lambda: b.emit(structural.broadcast_to, x, (4,)),
            ])()
        elif kind == "row":
            new = b.emit(indexing.getitem, chance.choice(matrices), (i,))
        elif kind == "fresh":
            new = b.emit(elementwise.subtract, x, y)
        elif kind == "matrix":
            matrices.append(b.emit(indexing.setitem, chance.choice(matrices), (i,), x))
            return
        else:
            getattr(self, kind + "_statement")(vectors, matrices, depth - 1)
            return
        vectors.append(new)

    def if_statement(self, vectors, matrices, depth):
        types = [VECTOR, VECTOR, MATRIX]
        blocks = Block(), Block()
        for block in blocks:
            with self.b.inside(block):
                inner = self.statements(vectors, matrices, 3, depth)
                block.results = self.pick(*inner)
        test = self.b.emit(elementwise.less, self.b.emit(indexing.getitem, vectors[-1], (0,)), 1.0)
        targets = tuple(Variable(None, t) for t in types)
        self.b.append(If(targets, test, *blocks))
        self.extend(vectors, matrices, targets)

    def pick(self, vectors, matrices):
        recent = lambda items: self.chance.choice(items[-3:])
        return recent(vectors), recent(vectors), recent(matrices)

    def extend(self, vectors, matrices, targets):
        vectors += targets[:2]
        matrices.append(targets[2])

    def for_statement(self, vectors, matrices, depth):
        def body(i, p, q, m):
            return self.pick(*self.statements([*vectors[-2:], p, q], [*matrices[-1:], m], 4, depth))

        targets = for_loop(self.b, self.chance.randint(0, 3), self.pick(vectors, matrices), body)
        self.extend(vectors, matrices, targets)

    def while_statement(self, vectors, matrices, depth):
        b = self.b
        initial = (0, *self.pick(vectors, matrices))
        carried, targets = (tuple(Variable(None, type_of(o)) for o in initial) for _ in range(2))
        test, body = Block(), Block()
        with b.inside(test):
            if self.chance.random() < 0.5:
                seen = b.emit(indexing.setitem, carried[1], (0,), 1.0)
                b.emit(indexing.getitem, seen, (0,))
            test.results = (b.emit(elementwise.less, carried[0], 2),)
            with b.inside(body):
                inner = self.statements([*vectors[-1:], *carried[1:3]], [carried[3]], 3, depth)
                body.results = (b.emit(elementwise.add, carried[0], 1), *self.pick(*inner))
        b.append(While(targets, carried, initial, test, body))
        self.extend(vectors, matrices, targets[1:])

    def stack_statement(self, vectors, matrices, depth):
        b, count = self.b, self.chance.randint(1, 3)
        s = b.emit(stacks.stack, element=VECTOR)

        def forth(i, p, q, m, s):
            inner = self.statements([p, q], [m], 2, depth)
            s = b.emit(stacks.push, s, self.chance.choice(inner[0]))
            inner = self.statements(*inner, 2, depth)
            return *self.pick(*inner), s

        def back(i, p, q, m, s):
            s, v = b.emit(stacks.pop, s)
            return *self.pick(*self.statements([p, q, v], [m], 3, depth)), s

        *targets, s = for_loop(b, count, (*self.pick(vectors, matrices), s), forth)
        self.extend(vectors, matrices, targets)
        self.statement(vectors, matrices, 0)
        if self.chance.random() < 0.5:
            s, v = b.emit(stacks.pop, s)
            vectors.append(v)
            count -= 1
        *targets, s = for_loop(b, count, (*self.pick(vectors, matrices), s), back)
        self.extend(vectors, matrices, targets)

    def program(self):
        x, m = Variable("x", VECTOR), Variable("m", MATRIX)
        zero = self.b.emit(creation.zeros, (4,), dtype=float)
        vectors, matrices = self.statements([x, zero], [m], 6, 2)
        return program(self.b, (x, m), *self.pick(vectors, matrices))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32))
def test_random_programs(seed):
    f = Writer(random.Random(seed)).program()
    check(f, np.array([0.5, 2.0, -1.0, 3.0]), np.arange(12.0).reshape(3, 4))
