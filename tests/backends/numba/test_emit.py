"""Compiled programs: control flow, errors, files; and fused against unfused."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.backends.numba.emit import MODULES, emit, load, save
from chainrule.backends.numba.failures import told
from chainrule.backends.numpy.emit import annotate
from chainrule.codegen.build import Builder
from chainrule.codegen.core import (
    BOOL,
    FLOAT,
    INT,
    ArrayType,
    Assign,
    Block,
    For,
    If,
    Program,
    Variable,
    While,
)
from chainrule.codegen.errors import Location, UnsupportedError
from chainrule.codegen.evaluate import evaluate
from chainrule.codegen.registry import PRIMITIVES

sys.path.insert(0, str(Path(__file__).parent))
from programs import compiled, program, same  # noqa: E402

R = np.random.default_rng(7)
V, A = R.standard_normal(6), R.standard_normal((3, 4))
SINGLE = ArrayType(np.dtype("float32"))


def test_a_loop_that_carries_a_view_and_a_fresh_array():
    """A parameter in any memory order meets a contiguous array under one name."""
    made = program(lambda call, x: call("multiply", x, 1.0), V)
    (x,) = made.parameters
    carried, final, index, new = (Variable("u", x.type) for _ in range(2)), None, Variable("i", INT), None
    carried, final = carried
    builder = Builder()
    with builder.inside(Block()) as body:
        body.results = (builder.emit(PRIMITIVES["multiply"], carried, 0.5),)
    loop = For((final,), index, 0, 3, 1, (carried,), (x,), body)
    made = Program("f", made.parameters, Block([*made.body.statements, loop], (final,)))
    run = load(emit(made), "f")
    for argument in (V, V[::-1], np.repeat(V, 2)[::2]):
        same(run(argument), argument * 0.125)


def test_branches_of_unlike_scalars():
    x, t, a, result = Variable("x", SINGLE), Variable("t", BOOL), Variable("a", SINGLE), Variable("r", SINGLE)
    body = Block([Assign((a,), PRIMITIVES["multiply"], (x, 0.1))], (a,))
    statements = [
        Assign((t,), PRIMITIVES["greater"], (x, 0.5)),
        If((result,), t, body, Block([], (np.float32(2),))),
    ]
    made = Program("f", (x,), Block(statements, (result,)))
    run = load(emit(made), "f")
    for value in (np.float32(0.7), np.float32(0.3)):
        same(run(value), np.float32(evaluate(made, (value,))))


def test_a_while_loop():
    x, y, t, z, final = (Variable(n, FLOAT) for n in "xytzw")
    t.type = BOOL
    loop = While(
        (final,),
        (y,),
        (x,),
        Block([Assign((t,), PRIMITIVES["greater"], (y, 1))], (t,)),
        Block([Assign((z,), PRIMITIVES["divide"], (y, 2))], (z,)),
    )
    run = load(emit(Program("f", (x,), Block([loop], (final,)))), "f")
    assert run(9.0) == 0.5625 and type(run(9.0)) is float


def located(made, line=12):
    for statement in made.body.statements:
        statement.location = Location("/somewhere/model.py", line, text="    y = x[i]")
    return made


def test_a_bad_index_names_the_line():
    def f(call, x, i):
        call("check_index", i, x.type.shape[0], axis=0)
        return call("getitem", x, (i,))

    run = load(emit(located(program(f, V, 3))), "f")
    assert run(V, -6) == V[0]
    for bad in (6, -7):
        with pytest.raises(IndexError) as caught:
            run(V, bad)
        error = annotate(told(caught.value))
        assert str(error) == f"index {bad} is out of bounds for axis 0 with size 6"
        assert error.__notes__ == ["in your code: /somewhere/model.py:12: y = x[i]"]


def test_bad_index_arrays():
    run = load(emit(located(program(lambda call, x, i: call("getitem", x, (i,)), V, np.array([0, 1])))), "f")
    with pytest.raises(IndexError) as caught:
        run(V, np.array([0, 6, -9]))
    assert str(told(caught.value)) == "index 6 is out of bounds for axis 0 with size 6"
    assert ":12: " in annotate(caught.value).__notes__[0]
    run = load(emit(program(lambda call, x, i: call("index_add", x, (i,), 1.0), V, np.array([0, 1]))), "f")
    with pytest.raises(IndexError):
        run(V, np.array([0, -7]))


def test_shapes_that_do_not_fit():
    run = load(emit(located(program(lambda call, x, y: call("add", x, y), V, V))), "f")
    with pytest.raises(ValueError, match="could not be broadcast") as caught:
        run(V, V[1:])
    assert ":12: " in annotate(caught.value).__notes__[0]


def test_python_divides_by_zero():
    run = load(emit(located(program(lambda call, x, y: call("divide", x, y), 1.0, 2.0))), "f")
    with pytest.raises(ZeroDivisionError) as caught:
        run(1.0, 0.0)
    assert ":12: " in annotate(caught.value).__notes__[0]


@pytest.mark.parametrize(
    "name, operator, left, right",
    [
        ("divide", "/", 1.0, 0.0),
        ("divide", "/", 1, 0),
        ("divide", "/", 1j, 0.0),
        ("floor_divide", "//", 1, 0),
        ("floor_divide", "//", 1, 0.0),
        ("remainder", "%", 1, 0),
        ("remainder", "%", 1.0, 0),
        ("power", "**", 0.0, -1.0),
        ("power", "**", 0.0, -2),
    ],
)
def test_divisions_by_zero_say_what_python_says(name, operator, left, right):
    def f(call, x, y):
        return call(name, x, y)

    with pytest.raises(ZeroDivisionError) as said:
        eval(f"{left} {operator} {right}")
    with pytest.raises(ZeroDivisionError) as caught:
        load(emit(program(f, left, right)), "f")(left, right)
    assert str(caught.value) == str(said.value)


@pytest.mark.parametrize("x", [math.nan, math.inf, -math.inf])
def test_no_integer_is_made_of_what_is_none(x):
    made = program(lambda call, x: call("astype", x, dtype=np.dtype(np.int64), weak=True), 2.5)
    run = load(emit(located(made)), "f")
    assert run(2.5) == 2 and run(-2.5) == -2
    with pytest.raises((ValueError, OverflowError)) as said:
        int(x)
    with pytest.raises(said.type) as caught:
        run(x)
    assert str(caught.value) == str(said.value)
    assert ":12: " in annotate(caught.value).__notes__[0]


def test_a_power_that_would_be_complex():
    run = load(emit(program(lambda call, x, y: call("power", x, y), 1.0, 2.0)), "f")
    assert run(-2.0, 3.0) == -8.0 and run(4.0, 0.5) == 2.0 and run(0.0, 0.5) == 0.0
    with pytest.raises(ValueError, match="a negative number to a fractional power is complex"):
        run(-2.0, 0.5)


def test_no_half_precision():
    with pytest.raises(UnsupportedError):
        emit(program(lambda call, x: call("add", x, 1), V.astype("f2")))


def test_singular_matrix():
    run = load(emit(program(lambda call, a: call("inv", a), np.eye(2))), "f")
    with pytest.raises(np.linalg.LinAlgError):
        run(np.zeros((2, 2)))


def test_a_saved_module_runs_by_itself(tmp_path):
    text = emit(program(lambda call, x: call("sum", call("erf", call("erfc", x)), axis=(0,)), V))
    save(text, tmp_path / "model.py")
    files = {"model.py", "chainrule_support.py", "chainrule_elementary"}
    assert {p.name for p in tmp_path.iterdir()} == files
    code = "import sys, numpy as np; from model import f; print(f(np.ones(3)), 'chainrule' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    value, loaded = done.stdout.split()
    assert float(value) == pytest.approx(3 * math.erf(math.erfc(1.0)), rel=1e-15)
    assert loaded == "False"


def test_the_cache_is_used(tmp_path):
    made = program(lambda call, x: call("exp", x), V)
    for _ in range(2):
        MODULES.clear()  # as a second process has none
        run = load(emit(made, cache=True), "f", tmp_path)
        run(V)
    assert run.stats.cache_hits


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_random_programs(data):
    """Fused, unfused and interpreted agree."""
    names = st.sampled_from("sin tanh negative exp absolute".split())
    pairs = st.sampled_from("add multiply maximum subtract".split())
    steps = data.draw(
        st.lists(
            st.tuples(names, pairs, st.integers(0, 9), st.integers(0, 9), st.integers(0, 3)),
            min_size=1,
            max_size=6,
        )
    )

    def f(call, x, y):
        y.type = y.type.with_shape((y.type.shape[0],))
        pool = [
            x,
            call("getitem", x, (slice(None), slice(None, None, -1))),
            call("getitem", y, (slice(None), None)),
        ]
        for name, pair, i, j, kind in steps:
            a, b = pool[i % len(pool)], pool[j % len(pool)]
            z = call(pair, call(name, call("tanh", a)), b)
            if kind == 1:
                z = call("add", x, call("sum", z, axis=(1,), keepdims=True))
            elif kind == 2:
                z = call("index_add", call("add", x, 0.0), (slice(None), slice(None)), z)
            pool.append(z)
        return pool[-1], call("sum", pool[-2], axis=(0,))

    arguments = A, V[:3]
    for merge in (True, False):
        compiled(f, *arguments, merge=merge)
