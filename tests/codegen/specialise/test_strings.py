"""Strings: known ones behave as in Python; those of run-time values are good for print and for exceptions."""
import numpy as np
import pytest

import chainrule as cr
from tests.small_programs import program


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
