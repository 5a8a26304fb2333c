"""Printed programs read well, are formatted, and compute what the reference interpreter computes."""

import random
import shutil
import subprocess
import sys

import gast
import numpy as np
import pytest

from chainrule.backends.numpy.emit import emit, load
from chainrule.codegen import primitives  # noqa: F401
from chainrule.codegen.build import Builder
from chainrule.codegen.core import INT, ArrayType, Block, For, If, Program, StackType, Variable, While
from chainrule.codegen.errors import Location
from chainrule.codegen.evaluate import evaluate
from chainrule.codegen.printing import print_program
from chainrule.codegen.registry import PRIMITIVES
from chainrule.codegen.unparse import unparse

N = Variable("n", INT)
VECTOR = ArrayType(np.dtype(float), (3,))
MATRIX = ArrayType(np.dtype(float), (3, 3))
SCALAR = ArrayType(np.dtype(float))
HEADER = "import numpy as np\n\n\n"


class Maker(Builder):
    """A builder that calls primitives by name."""

    def __getattr__(self, name):
        return lambda *operands, **static: self.emit(PRIMITIVES[name], *operands, **static)

    def program(self, parameters, *results, name="f"):
        self.block.results = results
        return Program(name, tuple(parameters), self.scopes[0].block)


def same(a, b):
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    return np.asarray(a).dtype == np.asarray(b).dtype and np.array_equal(a, b, equal_nan=True)


def check(program, *arguments):
    """The text, which must compute what the program means and leave the arguments alone."""
    copies = tuple(np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments)
    wanted = evaluate(program, copies)
    text = emit(program)
    function = load(text, program.name)
    with np.errstate(all="ignore"):
        assert same(function(*arguments), wanted), text
    assert all(map(same, arguments, copies)), text
    return text.removeprefix(HEADER)


def formatted(text):
    ruff = shutil.which("ruff", path=sys.prefix + "/bin") or shutil.which("ruff")
    if ruff is None:
        pytest.skip("ruff is not installed")
    command = [ruff, "format", "--isolated", "--diff", "-"]
    done = subprocess.run(command, input=text, text=True, capture_output=True)
    assert not done.returncode, done.stdout + done.stderr


X = np.array([0.5, -1.5, 2.0])


def test_expressions_come_together():
    b, x, w = Maker(), Variable("x", MATRIX), Variable("w", VECTOR)
    p = b.divide(1, b.add(1, b.exp(b.negative(b.matmul(x, w)))), name="p")
    text = check(b.program((w, x), p, name="logistic"), X, np.eye(3))
    assert text == "def logistic(w, x):\n    p = 1 / (1 + np.exp(-(x @ w)))\n    return p\n"


def test_long_expressions_are_cut():
    b, x = Maker(), Variable("x", VECTOR)
    t = x
    for k in range(30):
        t = b.add(b.sin(b.multiply(t, k + 2.5)), x)
    text = check(b.program((x,), t), X)
    assert all(len(line) <= 88 for line in text.splitlines()) and text.count("\n") < 25
    formatted(HEADER + text)


def test_a_view_does_not_move_past_a_write():
    b, x = Maker(), Variable("x", VECTOR)
    y = b.copy(x, name="y")
    first = b.getitem(y, (0,))
    z = b.setitem(y, (0,), 5.0)
    z.name = "y"
    text = check(b.program((x,), b.multiply(first, z)), X)
    assert text == "def f(x):\n    y = x.copy()\n    part = y[0]\n    y[0] = 5.0\n    return part * y\n"


def test_writes_before_they_are_in_place_copy():
    b, x = Maker(), Variable("x", VECTOR)
    y = b.setitem(x, (slice(1, None),), 0.0, name="y")
    text = check(b.program((x,), b.add(x, y)), X)
    assert text == "def f(x):\n    y = x.copy()\n    y[1:] = 0.0\n    return x + y\n"


@pytest.mark.parametrize("commuted", [False, True])
def test_augmented(commuted):
    b, x = Maker(), Variable("x", VECTOR)
    y = b.copy(x, name="y")
    part = b.getitem(y, (slice(None, -1),))
    total = b.add(2.0, part) if commuted else b.add(part, 2.0)
    z = b.setitem(y, (slice(None, -1),), total)
    assert "    y[:-1] += 2.0\n" in check(b.program((x,), z), X)


def test_index_add():
    b, x = Maker(), Variable("x", VECTOR)
    i = Variable("i", ArrayType(np.dtype(int), (4,)))
    y = b.index_add(b.zeros((3,)), (0,), 2.0)
    y = b.index_add(y, (i,), 1.0)
    y.name = "y"
    text = check(b.program((x, i), b.add(x, y)), X, np.array([0, 1, 1, 2]))
    assert "    y = np.zeros(3)\n    y[0] += 2.0\n    np.add.at(y, i, 1.0)\n    return x + y\n" in text


def fibonacci(names=("u", "v")):
    b, n = Maker(), Variable("n", INT)
    u, v = (Variable(name, INT) for name in names)
    i, targets = Variable("i", INT), (Variable(None, INT), Variable(None, INT))
    body = Block()
    with b.inside(body):
        body.results = (v, b.add(u, v, name=names[1]))
    b.append(For(targets, i, 0, n, 1, (u, v), (0, 1), body))
    return b.program((n,), targets[0])


def test_a_swap_is_one_assignment():
    text = check(fibonacci(), 10)
    assert text == ("def f(n):\n    u = 0\n    v = 1\n    for _ in range(n):\n        u, v = v, u + v\n"
                    "    return u\n")


def test_loops_and_branches_share_names():
    b, x = Maker(), Variable("x", SCALAR)
    c, t, y = Variable("c", SCALAR), Variable("c", SCALAR), Variable("y", SCALAR)
    start = b.multiply(x, 2.0, name="c")
    test, body = Block(), Block()
    with b.inside(test):
        test.results = (b.less(b.absolute(c), 100.0),)
    with b.inside(body):
        body.results = (b.multiply(c, c),)
    b.append(While((t,), (c,), (start,), test, body))
    yes, no = Block(), Block()
    with b.inside(yes):
        yes.results = (b.sin(t),)
    no.results = (t,)
    b.append(If((y,), b.greater(t, 0.0), yes, no))
    text = check(b.program((x,), y), np.float64(1.5))
    assert text == ("def f(x):\n    c = x * 2.0\n    while np.abs(c) < 100.0:\n        c = c * c\n"
                    "    if c > 0.0:\n        y = np.sin(c)\n    else:\n        y = c\n    return y\n")


def test_a_test_with_statements():
    b, x = Maker(), Variable("x", SCALAR)
    c, t = Variable("c", SCALAR), Variable(None, SCALAR)
    test, body = Block(), Block()
    with b.inside(test):
        d = b.multiply(c, c, name="d")
        test.results = (b.less(d, 100.0),)
        with b.inside(body):
            body.results = (b.add(d, 1.0),)
    b.append(While((t,), (c,), (x,), test, body))
    text = check(b.program((x,), t), np.float64(1.5))
    assert "    while True:\n        d = c * c\n        if not d < 100.0:\n            break\n" in text


def test_stacks():
    b, n = Maker(), Variable("n", INT)
    s = b.stack(element=INT)
    for k in (1, 2):
        s = b.push(s, b.multiply(n, k))
    s, value = b.pop(s)
    s, other = b.pop(s)
    text = check(b.program((n,), value, other), 7)
    assert text.count("saved.append(") == 2 and "value = saved.pop()\n" in text and "saved = []\n" in text
    assert isinstance(s.type, StackType)


def test_checks():
    b, n, m, x = Maker(), Variable("n", INT), Variable("m", INT), Variable("x", VECTOR)
    b.check_same(n, m, message='sizes "differ"')
    b.check_index(m, n)
    b.check(b.greater(n, 0), exception="ValueError", message="empty")
    program = b.program((n, m, x), b.getitem(x, (m,)))
    text = emit(program)
    formatted(text)
    function = load(text, "f")
    with pytest.raises(ValueError, match='sizes "differ"'):
        function(2, 3, X)
    with pytest.raises(IndexError, match="index 2 is out of bounds for axis 0 with size 2"):
        function(2, 2, X)
    assert "if n != m:" in text and "if not -n <= m < n:" in text and "if n <= 0:" in text


LITERALS = [0.1, 1e300, -0.0, float("inf"), float("-inf"), float("nan"), 5e-324, -3, 10**20, True]
LITERALS += [2j, -2j, -1.5 + 2j, complex("-0-0j"), complex("infj"), np.float32(0.1), np.float64(-0.3)]
LITERALS += [np.int8(-4), np.bool_(True), np.complex64(1 - 2j), np.array([[1.5, -2.0]])]
LITERALS += [np.array([0.1], "f4"), np.zeros((0, 2)), np.arange(200)]
LITERALS += [np.linspace(0, 1, 99).reshape(9, 11).astype("f4")]


@pytest.mark.parametrize("value", LITERALS, ids=lambda value: f"{value!r}"[:24])
def test_literals_are_exact(value):
    if isinstance(value, np.ndarray):
        b = Maker()
        program = b.program((), b.constant(value=value))
    else:
        program = Program("f", (), Block([], (value,)))
    text = emit(program)
    result = load(text, "f")()
    assert type(result) is type(value) and repr(result) == repr(value)
    assert isinstance(value, int) or np.asarray(result).tobytes() == np.asarray(value).tobytes()
    formatted(text)


def test_a_numpy_constant_keeps_its_type_where_it_matters():
    b, x = Maker(), Variable("x", ArrayType(np.dtype("float32"), (3,)))
    y = Variable("y", VECTOR)
    program = b.program((x, y), b.multiply(x, np.float64(2)), b.multiply(y, np.float64(2)))
    text = check(program, X.astype("f4"), X)
    assert "return x * np.float64(2.0), y * 2.0" in text


def test_comments_name_each_line_once():
    b, x = Maker(), Variable("x", VECTOR)
    b.location = Location("fit.py", 3, text="    y = f(x) * 2")
    y = b.sin(x, name="y")
    z = b.multiply(y, 2.0, name="z")
    b.location = Location("other.py", 9, text="  return y - 1")
    r = b.subtract(z, y, name="r")
    text = check(b.program((x,), r), X)
    assert text == ("def f(x):\n    # line 3: y = f(x) * 2\n    y = np.sin(x)\n    z = y * 2.0\n"
                    "    # other.py, line 9: return y - 1\n    r = z - y\n    return r\n")


def test_wrapped_lines():
    b = Maker()
    names = [f"a_rather_long_name_{i}" for i in range(9)]
    xs = [Variable(name, VECTOR) for name in names]
    joined = b.concatenate(tuple(xs), axis=0)
    b.check(b.less(1, N), message="far too long a message " * 6)
    program = b.program((N, *xs), *xs, joined)
    check(program, 3, *[X] * 9)
    formatted(print_program(program))


SOURCE = '''
def f(a, /, b=1, *args, c: int = 2, **kwargs):
    """A docstring."""
    x[i, : n - 1, None] = -(x**2) ** -3 if (a := b) else (lambda: (1,))
    x[f(n) :], x[-1:], x[a.b : c], x[::2] = not (a and (b or c)), a < b <= c, a - (b - c), (a**b) ** c
    assert x, "no"
    try:
        y = {**a, "k": [*b]}
    except (ValueError, TypeError) as error:
        raise error from None
    with open("it's") as g, h:
        del y
    for i, j in zip(a, b):
        continue
    else:
        pass

    @decorated(1)
    def inner():
        nonlocal b
        yield (a, b)
        return {k: v for k, v in b if k}, (e for e in c), f"{a + 1:>{b}}{c!r}"

    class C(B, k=1):
        x: int = 1

    while i := next(a):
        break
    if a:
        return 2 .real, (1.5).imag, 1j
    elif b:
        return
    return await_(x)[a @ b % c, ~d], 'say "hi"', -a @ b, 2**-a, a.b.c**2, a[0] ** 2
'''


def test_unparse_keeps_the_tree():
    tree = gast.parse(SOURCE)
    text = unparse(tree)
    assert gast.dump(gast.parse(text)) == gast.dump(tree), text


class Writer:
    """Random programs: arithmetic, branches, loops, writes in place, names that collide."""

    def __init__(self, seed):
        self.random, self.b = random.Random(seed), Maker()
        self.x, self.s = Variable("x", ArrayType(np.dtype(float), (3,))), Variable("s", SCALAR)

    def program(self):
        values = self.statements([self.x, self.s, 0.5], 10, 0)
        chosen = self.random.sample(values, min(3, len(values)))
        return self.b.program((self.x, self.s), *(v for v in chosen if isinstance(v, Variable)), self.x)

    def pick(self, values, rank=None):
        fit = [v for v in values if rank is None or (isinstance(v, Variable) and len(v.type.shape) == rank)]
        return self.random.choice(fit[-4:] if self.random.random() < 0.6 else fit)

    def wish(self):
        return self.random.choice([None, None, None, "x", "y", "z", "c"])

    def statements(self, values, count, depth):
        values = list(values)
        for _ in range(count):
            kinds = ["operate"] * 5 + ["write", "reduce", "item"] + ["branch", "loop", "until"] * (depth < 2)
            getattr(self, self.random.choice(kinds))(values, depth)
        return values

    def operate(self, values, depth):
        operation = self.random.choice([self.b.add, self.b.subtract, self.b.multiply, self.b.maximum])
        result = operation(self.pick(values), self.pick(values), name=self.wish())
        values.append(self.b.tanh(result) if self.random.random() < 0.3 else result)

    def reduce(self, values, depth):
        values.append(self.b.sum(self.pick(values, 1), axis=(0,), name=self.wish()))

    def item(self, values, depth):
        values.append(self.b.getitem(self.pick(values, 1), (self.random.randrange(3),), name=self.wish()))

    def write(self, values, depth):
        array = self.b.copy(self.pick(values, 1), name=self.wish())
        for _ in range(self.random.randrange(1, 3)):
            self.operate(values, depth)
            index, value = (self.random.randrange(3),), self.pick(values, 0)
            if self.random.random() < 0.5:
                array = self.b.setitem(array, index, self.b.add(self.b.getitem(array, index), value))
            else:
                array = self.b.index_add(array, index, value)
            array.name = self.wish()
        values.append(array)

    def block(self, values, depth, types):
        block = Block()
        with self.b.inside(block):
            inner = self.statements(values, 4, depth + 1)
            block.results = tuple(self.pick(inner, len(t.shape)) for t in types)
        return block

    def types(self):
        return [self.random.choice([self.x.type, SCALAR]) for _ in range(self.random.randrange(1, 4))]

    def branch(self, values, depth):
        types = self.types()
        targets = tuple(Variable(self.wish(), t) for t in types)
        test = self.b.greater(self.pick(values, 0), 0.1)
        blocks = [self.block(values, depth, types) for _ in range(2)]
        self.b.append(If(targets, test, *blocks))
        values += targets

    def loop(self, values, depth):
        types = self.types()
        carried, targets = (tuple(Variable(self.wish(), t) for t in types) for _ in range(2))
        initial = tuple(self.pick(values, len(t.shape)) for t in types)
        index = Variable("i", INT)
        body = self.block([*values, index, *carried], depth, types)
        self.b.append(For(targets, index, 0, self.random.randrange(3), 1, carried, initial, body))
        values += targets

    def until(self, values, depth):
        types = self.types()
        carried, targets = (tuple(Variable(self.wish(), t) for t in types) for _ in range(2))
        initial = tuple(self.pick(values, len(t.shape)) for t in types)
        count, end = Variable(self.wish(), INT), Variable(self.wish(), INT)
        test = Block()
        with self.b.inside(test):
            extra = self.b.multiply(count, 2, name=self.wish())
            test.results = (self.b.less(extra, 4),)
            body = self.block([*values, *carried], depth, types)
            with self.b.inside(body):
                again = self.b.add(count, 1, name=self.wish())
            body.results = (*body.results, again)
        self.b.append(While((*targets, end), (*carried, count), (*initial, 0), test, body))
        values += targets


@pytest.mark.parametrize("start", range(0, 400, 50))
def test_random_programs(start):
    texts = []
    for seed in range(start, start + 50):
        with np.errstate(all="ignore"):
            program = Writer(seed).program()
            check(program, X, np.float64(0.3))
        texts.append(print_program(program).removeprefix(HEADER))
    formatted(HEADER + "\n\n".join(texts))
