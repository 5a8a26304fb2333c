"""What LLVM is told: which arrays share no memory, and its settings for one module."""

import llvmlite.binding
import numpy as np
import pytest

import chainrule as cr
from chainrule.backends.numba import llvm_settings
from chainrule.backends.numba.emit import load


def swept(steps, a, b):
    for _ in range(steps):
        b[1:-1] = a[:-2] + a[2:]
        a[1:-1] = b[:-2] - b[2:]
    return a


def test_loops_over_arrays_of_their_own_do_not_test_for_overlaps():
    a, b = np.linspace(0, 1, 40), np.zeros(40)
    made = load(cr.source(cr.jit(swept), stage="numba")(2, a, b), "swept")
    expected = swept(2, a.copy(), b.copy())
    np.testing.assert_allclose(made(2, a, b)[0], expected, rtol=1e-12)
    text = made.inspect_llvm(made.signatures[0])
    assert "vector.body" in text and "vector.memcheck" not in text


def test_arrays_that_a_function_gives_back_and_reads_as_well():
    def f(x, n):
        y = np.zeros(n)
        z = y[1:]
        for i in range(n - 1):
            y[i + 1] = x[i] + y[i]
        return y, z + 1, y[::2]

    x = np.arange(6.0)
    total = np.concatenate([[0.0], np.cumsum(x)])
    for one, other in zip(cr.jit(f)(x, 7), (total, total[1:] + 1, total[::2])):
        np.testing.assert_array_equal(one, other)


def test_settings_are_put_back(monkeypatch):
    told = []
    monkeypatch.setattr(llvmlite.binding, "set_option", lambda name, option: told.append(option))
    monkeypatch.setattr(llvm_settings, "KNOWN", True)
    with pytest.raises(KeyError), llvm_settings.set_to({"a": ("1", "2")}):
        raise KeyError
    assert told == ["-a=1", "-a=2"]
    monkeypatch.setattr(llvm_settings, "KNOWN", False)
    with llvm_settings.set_to({"a": ("1", "2")}):
        assert told == ["-a=1", "-a=2"]
