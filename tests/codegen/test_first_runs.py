"""What a backward sweep runs again is run once where the first run gives nothing."""

import numpy as np
import pytest

import chainrule as cr

A = np.linspace(0.5, 60.0, 7)


def root(a):
    x = a
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    if x < 0.1:
        raise ValueError("too small")
    return x


def loops_in(function, *arguments):
    text = cr.source(function, stage="simplified")(*arguments)
    return sum(line.strip().startswith("while ") for line in text.splitlines())


def test_the_value_is_not_wanted():
    weights = np.cos(A)
    f = cr.grad(lambda a: np.sum(weights * cr.vmap(root)(a)))
    assert loops_in(f, A) == 1
    np.testing.assert_allclose(cr.jit(f)(A), 0.5 * weights / np.sqrt(A), rtol=1e-9)


def test_the_value_is_wanted():
    f = cr.value_and_grad(lambda a: np.sum(cr.vmap(root)(a) ** 3))
    assert loops_in(f, A) == 2
    value, slope = cr.jit(f)(A)
    np.testing.assert_allclose([value, *slope], [np.sum(A**1.5), *1.5 * np.sqrt(A)], rtol=1e-9)


def test_an_exception_of_the_run_that_is_left():
    f = cr.jit(cr.grad(lambda a: np.sum(cr.vmap(root)(a))))
    f(A)
    with pytest.raises(ValueError, match="too small") as caught:
        f(np.append(A, 1e-4))
    assert 'raise ValueError("too small")' in caught.value.__notes__[0]


def test_what_is_shown_is_shown_once(capfd):
    def shown(a):
        cr.debug.print("a = {}", a)
        return root(a)

    cr.jit(cr.grad(lambda a: np.sum(cr.vmap(shown)(a))))(A[:2])
    assert capfd.readouterr().out.split("\n") == [f"a = {A[0]}", f"a = {A[1]}", ""]


def test_a_checkpoint():
    f = cr.grad(cr.checkpoint(lambda x: np.sum(np.linalg.solve(np.diag(x), x * x))))
    np.testing.assert_allclose(cr.jit(f)(A), np.ones(7), rtol=1e-12)


def test_one_function_on_two_batches():
    both = lambda a, b: np.sum(cr.vmap(root)(a) * np.arange(7.0)) + np.sum(cr.vmap(root)(b))
    a_bar, b_bar = cr.jit(cr.grad(both, argnums=(0, 1)))(A, A + 1)
    np.testing.assert_allclose(a_bar, 0.5 * np.arange(7.0) / np.sqrt(A), rtol=1e-9)
    np.testing.assert_allclose(b_bar, 0.5 / np.sqrt(A + 1), rtol=1e-9)
    assert loops_in(cr.grad(both, argnums=1), A, A) == 2


def test_second_derivatives():
    f = cr.grad(lambda a: np.sum(cr.grad(lambda a: np.sum(cr.vmap(root)(a)))(a) * A))
    np.testing.assert_allclose(cr.jit(f)(A), -0.25 * A**-0.5, rtol=1e-6)
