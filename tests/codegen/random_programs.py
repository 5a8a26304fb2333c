"""Random core programs, and the small things that programs in tests are made with."""

import numpy as np

from chainrule.codegen.build import Builder
from chainrule.codegen.core import INT, ArrayType, Block, For, If, Program, Variable, While, type_of
from chainrule.codegen.primitives import creation, elementwise, indexing, stacks, structural

VECTOR = ArrayType(np.dtype(float), (4,))
MATRIX = ArrayType(np.dtype(float), (3, 4))


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
