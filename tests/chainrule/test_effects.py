"""What a function prints, calls and stops at: in order, once, wherever its program runs."""

import sys

import numpy as np
import pytest

import chainrule as cr

X = np.array([1.0, 2.0, -3.0])


def talkative(x):
    cr.debug.print("start {:.1f} of {n}", x[0], n=x.shape[0])
    for i in range(2):
        x = x * 2
        cr.debug.print("turn {} {}", i, x)
        if x[1] > 5:
            print("large", x[1])
    y = cr.checkpoint(lambda v: (cr.debug.print("inner {}", v[2]), np.sum(np.sin(v)))[1])(x)
    cr.debug.print("end")
    return y


SAID = """start 1.0 of 3
turn 0 [ 2.  4. -6.]
turn 1 [  4.   8. -12.]
large 8.0
inner -12.0
end
"""


def inner_pullback(x):
    value, pull = cr.vjp(talkative, x)
    return pull(1.0)[0] * value


WAYS = {
    "plain": lambda: talkative,
    "jit": lambda: cr.jit(talkative),
    "grad": lambda: cr.grad(talkative),
    "jit of grad": lambda: cr.jit(cr.grad(talkative)),
    "value_and_grad": lambda: cr.value_and_grad(talkative),
    "jacrev": lambda: cr.jacrev(talkative),
    "jacfwd": lambda: cr.jacfwd(talkative),
    "jacrev of a vector": lambda: cr.jacrev(lambda x: x * talkative(x)),
    "hessian": lambda: cr.hessian(talkative),
    "vjp": lambda: lambda x: cr.vjp(talkative, x)[1](1.0),
    "linearize": lambda: lambda x: cr.linearize(talkative, x)[1](x),
    "jvp": lambda: lambda x: cr.jvp(talkative, (x,), (x,)),
    "vjp inside": lambda: cr.jit(inner_pullback),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_effect_comes_once_and_in_order(way, capsys):
    WAYS[way]()(X.copy())
    assert capsys.readouterr().out == SAID


@pytest.mark.parametrize("compiled", [False, True])
def test_each_example_of_a_batch_has_its_effects(compiled, capsys):
    def f(x):
        cr.debug.print("a {}", x[0])
        cr.debug.print("once")
        cr.debug.print("b {}", x.sum())
        return 2 * x

    batched = cr.vmap(f)
    (cr.jit(batched) if compiled else batched)(np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert capsys.readouterr().out == "a 1.0\na 3.0\nonce\nb 3.0\nb 7.0\n"


def test_a_branch_of_a_batch_speaks_for_those_that_take_it(capsys):
    def f(x):
        if x > 0:
            cr.debug.print("positive {}", x)
        return x

    cr.jit(cr.vmap(f))(np.array([1.0, -2.0, 3.0]))
    assert capsys.readouterr().out == "positive 1.0\npositive 3.0\n"


def test_an_effect_alone_is_not_dead(capsys):
    def f(x):
        y = np.sin(x)
        cr.debug.print("{}", y)
        return 3.0

    assert cr.jit(f)(0.0) == 3.0
    assert capsys.readouterr().out == "0.0\n"


@pytest.mark.parametrize("make", [cr.jit, cr.grad], ids=["jit", "grad"])
def test_numbers_are_shown_as_python_shows_them(make, capsys):
    def f(x):
        cr.debug.print("{} {!r} {:.3f}", x[0], x[1], x[0])
        print(x[0], x[0] > 0, 2, "s", np.float32(1e-9) * x[1])
        return x[0] * x[1]

    x = np.array([0.1, 7e30], np.float32)
    f(x)
    said = capsys.readouterr().out
    make(f)(x)
    assert capsys.readouterr().out == said


def test_fields_with_attributes_and_items(capsys):
    cr.jit(lambda x: (cr.debug.print("{x.shape} {0[1]}", x, x=x), x)[1])(np.ones(2))
    assert capsys.readouterr().out == "(2,) 1.0\n"


def test_a_missing_field_is_an_error():
    with pytest.raises(KeyError, match="y"):
        cr.jit(lambda x: (cr.debug.print("{y}", x=x), x)[1])(1.0)


def test_a_callback_gets_structures_and_values_of_its_own():
    seen = []

    def note(step, tree, *, tag):
        seen.append((step, tree, tag))

    def f(x):
        for k in range(2):
            cr.debug.callback(note, k, {"x": x, "pair": (x[0], "text")}, tag=1.5)
            x[0] = x[0] + 10
        return x.sum()

    assert cr.jit(f)(np.array([1.0, 2.0])) == 23.0
    assert [(s, t["x"].tolist(), t["pair"], tag) for s, t, tag in seen] == [
        (0, [1.0, 2.0], (1.0, "text"), 1.5),
        (1, [11.0, 2.0], (11.0, "text"), 1.5),
    ]
    assert type(seen[0][1]["pair"][0]) is np.float64


def test_a_function_made_inside_may_be_called_back():
    seen = []

    def f(x):
        scale = 3
        cr.debug.callback(lambda value: seen.append(scale * value), x)
        return x

    cr.jit(cr.grad(f))(2.0)
    assert seen == [6.0]


def test_a_callback_that_reads_what_runs_is_refused():
    def f(x):
        y = x * 2
        cr.debug.callback(lambda: print(y))
        return y

    with pytest.raises(cr.ChainruleError) as caught:
        cr.jit(f)(1.0)
    text = str(caught.value)
    assert "a function called by Python code that reads 'y', known only as the program runs" in text
    assert "Instead: give it to the function as an argument" in text
    assert "cr.debug.callback(lambda: print(y))" in text


def test_an_exception_of_a_callback_arrives():
    def fail(x):
        raise RuntimeError(f"seen {x}")

    with pytest.raises(RuntimeError, match="seen 2.0"):
        cr.jit(lambda x: (cr.debug.callback(fail, x), x)[1])(2.0)


def test_repeated_programs_share_their_callbacks():
    from chainrule.codegen.primitives.callbacks import CALLBACKS

    def shared_note(x):
        pass

    def f(x):
        cr.debug.callback(shared_note, x)
        return x

    for _ in range(3):
        cr.jit(f)(1.0)
        cr.source(f)(1.0)
    assert len([name for name in CALLBACKS if name.startswith("shared_note")]) == 1


@pytest.mark.parametrize(
    "make", [lambda f: f, cr.jit, cr.grad, lambda f: cr.jit(cr.grad(f))], ids=["plain", "jit", "grad", "both"]
)
def test_a_breakpoint_stops_at_the_users_line_with_the_users_names(make, monkeypatch):
    stops = []

    def hook():
        frame = sys._getframe(1)
        stops.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, dict(frame.f_locals)))

    monkeypatch.setattr(sys, "breakpointhook", hook)

    def f(x):
        y = x * 2
        breakpoint()
        return np.sum(y)

    make(f)(np.array([1.0, 2.0]))
    ((file, line, name, names),) = stops
    assert (file, name) == (f.__code__.co_filename, "f")
    assert line == f.__code__.co_firstlineno + 2
    assert names["x"].tolist() == [1.0, 2.0]
    assert names["y"].tolist() == [2.0, 4.0]
