"""Nothing is compiled: the user's function runs as it is."""

import sys
import traceback

import numpy as np
import pytest

import chainrule as cr
from chainrule.runtime import configuration


@cr.jit
def add_note(x, notes):
    notes.append(type(x))
    return x + 1


def test_a_compiled_function_is_the_users_own():
    notes = []
    with cr.disable_jit():
        assert add_note(1, notes) == 2
    assert notes == [int]


def test_as_decorator_and_as_configuration():
    notes = []

    @cr.disable_jit()
    def run():
        return add_note(1.0, notes)

    @cr.disable_jit
    def run_too():
        return add_note(1.0, notes)

    assert run() == run_too() == 2.0
    with configuration.config(disable_jit=True):
        assert add_note(1.0, notes) == 2.0
        with cr.disable_jit(False), pytest.raises(cr.ChainruleError):
            add_note(1.0, notes)
    assert len(notes) == 3


def test_an_exception_is_at_the_users_line():
    @cr.jit
    def f(x):
        y = x + 1
        return np.linalg.inv(y)

    with cr.disable_jit(), pytest.raises(np.linalg.LinAlgError) as caught:
        f(np.full((2, 2), -1.0))
    lines = [frame.line for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert "return np.linalg.inv(y)" in lines


def test_a_derivative_is_the_readable_program_and_names_the_users_line():
    @cr.jit
    @cr.grad
    def f(x):
        y = np.linalg.inv(x)
        return np.sum(y * y)

    with cr.disable_jit():
        x = np.array([[2.0, 1.0], [0.0, 1.0]])
        assert np.allclose(f(x), cr.grad(f.function.function)(x))
        with pytest.raises(np.linalg.LinAlgError) as caught:
            f(np.zeros((2, 2)))
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert any(frame.line and "np.linalg.inv(x)" in frame.line for frame in frames)
    assert any("y = np.linalg.inv(x)" in note for note in caught.value.__notes__)


def test_vmap_calls_the_function_for_each_example():
    shapes = []

    def f(w, x, scale=1.0):
        shapes.append((np.shape(w), np.shape(x["a"])))
        return {"y": w @ x["a"] * scale, "n": x["b"]}

    w, x = np.ones((3, 2)), {"a": np.arange(8.0).reshape(2, 4), "b": 5.0}
    batched = cr.vmap(f, in_axes=(None, {"a": 1, "b": None}), out_axes={"y": 1, "n": None})
    with cr.disable_jit():
        plain = batched(w, x)
    assert shapes == [((3, 2), (2,))] * 4
    assert np.array_equal(plain["y"], w @ x["a"]) and plain["n"] == 5.0


def test_vmap_refuses_what_it_refuses_compiled():
    with cr.disable_jit():
        with pytest.raises(cr.ChainruleError, match="inconsistent sizes"):
            cr.vmap(lambda x, y: x + y)(np.ones(3), np.ones(2))
        with pytest.raises(cr.ChainruleError, match="out_axes is None"):
            cr.vmap(lambda x: x, out_axes=None)(np.arange(3.0))
        with pytest.raises(cr.ChainruleError, match="out_axes has 2, but the output has 2 axes"):
            cr.vmap(lambda x: x, out_axes=2)(np.ones((3, 2)))
        with pytest.raises(cr.ChainruleError, match="shape differs from one example to another"):
            cr.vmap(lambda x: x[x > 0])(np.array([[1.0, -1.0], [1.0, 1.0]]))
        with pytest.raises(cr.ChainruleError, match="structure from one example to another"):
            cr.vmap(lambda x: (x, x) if x > 0 else x)(np.array([1.0, -1.0]))


def test_collectives_still_work():
    with cr.disable_jit():
        got = cr.vmap(lambda v: v / cr.lax.psum(v, "i"), axis_name="i")(np.array([1.0, 3.0]))
    assert got.tolist() == [0.25, 0.75]


def test_a_breakpoint_is_pythons_own(monkeypatch):
    frames = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: frames.append(sys._getframe(1).f_code))

    @cr.jit
    def f(x):
        breakpoint()
        return x

    with cr.disable_jit():
        f(1.0)
    assert frames == [f.function.__code__]
