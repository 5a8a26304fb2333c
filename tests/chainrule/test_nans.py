"""debug.nans: the first operation that makes a NaN or an infinity is named, with its operands."""

import numpy as np
import pytest

import chainrule as cr


def forward(x):
    y = x - 1
    return np.sum(np.log(y))


def backward(x):
    return np.sum(np.sqrt(x))


def message(function, *arguments, **options):
    with pytest.raises(cr.debug.NotFiniteError) as caught, cr.debug.nans(**options):
        function(*arguments)
    assert isinstance(caught.value, FloatingPointError)
    return str(caught.value)


@pytest.mark.parametrize(
    "make",
    [cr.jit, cr.grad, lambda f: cr.jit(cr.grad(f)), cr.hessian],
    ids=["jit", "grad", "both", "hessian"],
)
def test_forward(make):
    text = message(make(forward), np.array([3.0, 1.0]))
    assert "return np.sum(np.log(y))" in text and "in forward" in text
    assert "np.log gave -inf at [1], of\n    y = [2., 0.], there 0.0" in text
    assert "backward" not in text


@pytest.mark.parametrize(
    "make",
    [cr.grad, lambda f: cr.jit(cr.grad(f)), lambda f: lambda x: cr.vjp(f, x)[1](1.0)],
    ids=["grad", "both", "vjp"],
)
def test_backward(make):
    text = message(make(backward), np.array([4.0, 0.0]))
    assert "return np.sum(np.sqrt(x))" in text
    assert "/ gave inf at [1], in the backward sweep, of" in text
    assert "[4., 0.], there 0.0" in text
    assert "Instead: keep the operands inside of the operation's domain" in text


def test_a_plain_function_is_watched_by_numpy():
    text = message(forward, np.array([3.0, 1.0]))
    assert "return np.sum(np.log(y))" in text
    assert "divide by zero encountered in log, where\n    y = [2., 0.]" in text


def test_as_a_decorator_a_plain_function_becomes_a_program():
    with pytest.raises(cr.debug.NotFiniteError, match=r"np.log gave -inf at \[1\]"):
        cr.debug.nans(forward)(np.array([3.0, 1.0]))


def test_infinities_may_be_left_out():
    with cr.debug.nans(inf=False):
        assert cr.jit(forward)(np.array([3.0, 1.0])) == -np.inf
    assert "np.log gave nan" in message(cr.jit(forward), np.array([3.0, 0.0]), inf=False)


def test_what_an_operation_was_given_is_not_its_fault():
    @cr.jit
    def least(x):
        best = np.inf
        for value in x:
            best = np.minimum(best, value)
        return best

    with cr.debug.nans():
        assert least(np.array([3.0, 2.0])) == 2.0


def test_a_nan_among_the_arguments():
    text = message(cr.jit(forward), np.array([2.0, np.nan]))
    assert "the argument x of forward has nan in it: [ 2., nan]" in text


def test_inside_a_loop():
    def f(x):
        for _ in range(400):
            x = x * x
        return x

    text = message(cr.jit(f), 2.0)
    assert "x = x * x" in text and f"* gave inf, of\n    x = {2.0**512}\n    x = {2.0**512}" in text


def test_values_are_as_without():
    x = np.array([3.0, 4.0])
    for function in (cr.jit(forward), cr.grad(forward), cr.hessian(forward)):
        with cr.debug.nans():
            watched = function(x)
        assert np.allclose(watched, function(x))


def test_arguments_written_in_place():
    @cr.jit
    def clear(x):
        x[0] = 0.0
        return x.sum()

    x = np.array([3.0, 4.0])
    with cr.debug.nans():
        assert clear(x) == 4.0
    assert x.tolist() == [0.0, 4.0]
