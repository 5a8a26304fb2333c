"""Strings: known ones behave as in Python; those of run-time values are good for print and for exceptions."""
import dataclasses

import numpy as np
import pytest

import chainrule as cr
from tests.small_programs import Eager, program, refused


@program(1.3)
def test_known_strings(x):
    name = "alpha beta"
    parts = name.split()
    upper = name.upper().replace("A", "a")
    text = f"{parts[0]!r:>10}|{len(parts):03d}|{3.14159:.2f}|{'x'}"
    old = "%s-%d" % ("a", 3) + "{}{b}".format(1, b=2)
    return (x * len(text) + len(old) * x ** len(parts) + name.startswith("al") * x + upper.count("a")
            + ("beta" in name) * x + len(name[2:5]) + ord("a") + len("ab" * 3) + (name == "alpha beta"))


@program(1.3)
def test_strings_choose_functions(x):
    total = 0.0
    for kind in "sin cos tanh".split():
        total += getattr(np, kind)(x)
    table = {f"w{k}": x * k for k in range(3)}
    return total + table["w" + str(2)] + int("12") * x + float("1.5")


def test_f_strings_of_run_time_values(capsys):
    def f(x):
        y = x * x
        print(f"y={y} of {x}")
        print("plain %s" % "text", y)
        return y
    assert cr.grad(f)(2.0) == 4.0
    out = capsys.readouterr().out
    assert out == "y=4.0 of 2.0\nplain text 4.0\n"


def test_formats_of_run_time_values(capsys):
    def f(x):
        print(f"{x:.3f}|{x!r}|{x * 2:8.2e}", end="!")
        return x
    assert cr.grad(f)(2.0) == 1.0
    assert capsys.readouterr().out == "2.000|2.0|4.00e+00!"


def test_messages_with_run_time_values():
    def f(x):
        if x < 0:
            raise ValueError("x must be positive")
        assert x < 10, "too large"
        return x * x
    assert cr.grad(f)(2.0) == 4.0
    with pytest.raises(ValueError, match="x must be positive"):
        cr.grad(f)(-2.0)
    with pytest.raises(AssertionError, match="too large"):
        cr.grad(f)(20.0)


def test_strings_as_arguments_and_results():
    def f(x, mode):
        return {"value": x * len(mode), "mode": mode + "!"}
    value, push = cr.jvp(lambda x: f(x, "ab")["value"], (3.0,), (1.0,))
    assert (value, push) == (6.0, 2.0)


def formats(x, n):
    print(f"{x:.2f}", n, "{:>8.3e}|{n:^5}|".format(x, n=n), end=";")
    print("%5.1f|%-9.2e|%+d|%05d|%-4d|%x|%s|%r|%8s|%%" % (x, x, n, n, n, n, x, n, x), sep="-")
    print("x", f"{x!r:>10}", [x, n], (n,), {"a": x}, format(x, ".1f"), str(n) + "!", repr(x), x)
    for i in range(n):
        print("step", i, x * i, f"{i:03d}: {x * i:.3f}")
    return x * n


@pytest.mark.parametrize("x", [2.5, np.float32(0.1), np.float64(1 / 3)])
@pytest.mark.parametrize("transform", [Eager, cr.jit, cr.value_and_grad])
def test_what_is_printed_is_what_python_prints(x, transform, capfd):
    formats(x, 3)
    said = capfd.readouterr().out
    transform(formats)(x, 3)
    assert capfd.readouterr().out == said


class Named:
    def __init__(self, value):
        self.value = value

    def __str__(self):
        return f"<{self.value:.1f}>"


@dataclasses.dataclass
class Pair:
    first: float
    second: object


@pytest.mark.parametrize("transform", [Eager, cr.jit])
def test_objects_are_shown_as_they_show_themselves(transform, capfd):
    def f(x):
        print(Named(x), f"{Named(x)}", Pair(x, [x, "a"]))
        return x

    f(2.0)
    said = capfd.readouterr().out
    transform(f)(2.0)
    assert capfd.readouterr().out == said


def test_numbers_and_texts_are_not_added():
    for f in (lambda x: x + "a", lambda x: "a" + x):
        with pytest.raises(TypeError) as said:
            f(1.0)
        with pytest.raises(TypeError) as caught:
            Eager(f)(1.0)
        assert str(caught.value) == str(said.value)


@refused("the format %d of a value known only at run time", "use an f-string", 1.5)
def test_whole_numbers_of_floats(x):
    print("%d" % x)  # here
    return x
