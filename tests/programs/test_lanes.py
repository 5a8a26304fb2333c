"""Lanes in step give what a Python loop over the lanes gives, of random programs with a loop of their own.

The loop programs are run by the interpreter: it is quick where there is nothing to compile.
"""

from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import chainrule as cr
from chainrule.backends.numba.emit import compiled_form
from chainrule.codegen.evaluate import evaluate
from chainrule.codegen.lane_slots import Writer
from chainrule.codegen.lane_tapes import BackwardsWriter
from chainrule.codegen.parse import parse_text
from chainrule.runtime.arguments import flatten, leaf_key
from chainrule.runtime.compiled import loops_of

R = np.random.default_rng(7)
X, Y = R.uniform(-1.5, 1.5, (2, 50))
N = R.integers(-1, 7, 50)
N[20] = 30
SLOW = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
LOOPS = ("while k < n and {}:", "while {} and k < 6:", "while True:", "for k in range(n):")
LOOPS += ("for k in range(n + 1, 0, -2):", "for k in range(1, n, 3):")


@st.composite
def lanes(draw) -> str:
    """The text of a function f(x, y, n) of three numbers, which loops n times or fewer."""
    loop = draw(st.sampled_from(LOOPS)).format(draw(condition()))
    lines = ["a, b, k, odd = x, 0.5 * y, 0, x > y", *draw(block(1)), loop]
    inside = draw(block(2, True))
    if loop.startswith("while"):
        inside = ["k += 1", "if k > n:", "    break", *inside]
    lines += [*indented(inside), *draw(block(1)), "return a + b * x, k, odd"]
    return "\n".join(["def f(x, y, n):", *indented(lines), ""])


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


@st.composite
def block(draw, depth: int, in_loop: bool = False) -> list[str]:
    return [line for _ in range(draw(st.integers(1, 3))) for line in draw(statement(depth, in_loop))]


@st.composite
def statement(draw, depth: int, in_loop: bool) -> list[str]:
    kinds = ["number"] * 3 + ["truth"] + ["branch"] * bool(depth) + ["jump"] * in_loop
    match draw(st.sampled_from(kinds)):
        case "number":
            return [f"{draw(st.sampled_from('ab'))} = {draw(number())}"]
        case "truth":
            return [f"odd = {draw(condition())}"]
        case "branch":
            lines = [f"if {draw(condition())}:", *indented(draw(block(depth - 1, in_loop)))]
            return [*lines, "else:", *indented(draw(block(depth - 1, in_loop)))]
        case _:
            jumps = ["break", "continue", "return b, k, odd", "raise ValueError(k)"]
            return [f"if {draw(condition())} and b > 0.4:", f"    {draw(st.sampled_from(jumps))}"]


def number() -> st.SearchStrategy[str]:
    leaves = st.sampled_from(["a", "b", "x", "y", "0.3 * k", "0.7"])
    forms = ["np.sin({}) + 0.1 * {}", "{} * np.cos({})", "0.5 * ({} - {})", "np.where({} > 0.2, {}, -b)"]
    return st.builds(lambda form, *of: form.format(*of), st.sampled_from(forms), leaves, leaves)


def condition() -> st.SearchStrategy[str]:
    return st.sampled_from(["odd", "a > 0.31", "b < 0.23", "a * b > x", "k % 3 == 1", "n > 3 or a < b"])


def in_step(batched, *columns):
    """What the lanes give in step, in blocks of a few."""
    made = cr.jit(batched)
    leaves, structure = flatten((columns, {}))
    key = (structure, tuple(map(leaf_key, leaves)), None)
    with (
        mock.patch.object(Writer, "most", 30),
        mock.patch.object(BackwardsWriter, "most", 30),
        np.errstate(all="ignore"),
    ):
        program = loops_of(made.specialised(key, leaves, structure).program)
        return evaluate(compiled_form(program, shared=True), tuple(leaves))


def outcome(function):
    """What a function gives, or the exception that it raises."""
    try:
        return function()
    except ValueError as error:
        return error


@SLOW
@given(lanes())
def test_values_and_gradients(text):
    f = parse_text(text, {"np": np})
    slopes = cr.grad(lambda x, y, n: f(x, y, n)[0], argnums=(0, 1))
    for function in (f, slopes):
        columns = (X, Y, N)
        want = outcome(lambda: [function(*one) for one in zip(*columns)])  # noqa: B023
        got = outcome(lambda: in_step(cr.vmap(function), *columns))  # noqa: B023
        if isinstance(want, ValueError):
            assert str(got) == str(want), text
            continue
        for values, expected in zip(got, zip(*want)):
            np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-11, err_msg=text)


def test_lanes_are_in_step():
    """Or else this file tests nothing."""
    with mock.patch.object(Writer, "write_all", side_effect=KeyError), pytest.raises(KeyError):
        in_step(cr.vmap(parse_text("def f(x):\n    while x < 3.0:\n        x += 1.0\n    return x\n", {})), X)
