"""Products, sums and carried arrays of loops over rows: the values of the loops as they are written."""

import numpy as np
import pytest

import chainrule as cr

R = np.random.default_rng(5)
X, A, B = R.standard_normal((6, 3)), R.standard_normal((4, 3)) / 2, R.standard_normal((4, 4)) / 2
C = R.standard_normal(4)


def text(function, *arguments):
    return cr.source(cr.jit(function), stage="loops")(*arguments)


def in_loops(function, *arguments):
    """The lines of a compiled function that are in loops."""
    lines = [line for line in text(function, *arguments).splitlines() if line.startswith(" " * 8)]
    return "\n".join(line for line in lines if "#" not in line and '"' not in line)


def recurrent(inner, outer, bias, x):
    state = np.zeros(bias.shape, bias.dtype)
    for k in range(len(x)):
        state = np.tanh(inner @ state + outer @ x[k] + bias)
    return state


def from_the_left(inner, outer, bias, x):
    state = bias
    for k in range(len(x) - 1, -1, -1):
        state = np.tanh(state @ inner + x[k] @ outer.T)
    return state


def all_but_one(inner, outer, bias, x):
    state = bias
    for k in range(1, len(x)):
        state = np.sin(inner @ state + outer @ x[k])
    return state


def with_numbers(inner, outer, bias, x):
    state = bias
    for k in range(len(x)):
        state = np.cos(inner @ state) * (x[k] @ outer[0])
    return state


def pairs(inner, outer, bias, x):
    """What is carried is handed on a turn later too."""
    state, before = bias, bias
    for k in range(len(x)):
        state, before = np.tanh(inner @ state + 0.5 * before + outer @ x[k]), state
    return state + before


def written(inner, outer, bias, x):
    state = bias.copy()
    for k in range(len(x)):
        state[1:] = np.sin(state[:-1] + (inner @ state)[1:])
        state = state * (outer @ x[k])
    return state


def sometimes(inner, outer, bias, x):
    state = bias
    for k in range(len(x)):
        if x[k, 0] > 0:
            state = np.tanh(inner @ state + outer @ x[k])
    return state


def every_state(inner, outer, bias, x):
    def step(state, row):
        state = np.tanh(inner @ state + outer @ row + bias)
        return state, state

    state, states = cr.lax.scan(step, bias * 0, x)
    return state * np.sum(states, axis=0)


def sums(inner, outer, bias, x):
    """Sums of outer products that the program itself has."""
    total, rows = inner * 1.0, np.empty((x.shape[0], bias.shape[0]), bias.dtype)
    for k in range(len(x)):
        rows[k] = np.tanh(outer @ x[k])
    for k in range(len(x)):
        change = rows[k] * bias
        total = total + change[:, None] * rows[k]
        total = total + rows[k][:, None] * np.exp(change)[None]
    return total @ bias


FUNCTIONS = [
    recurrent,
    from_the_left,
    all_but_one,
    with_numbers,
    pairs,
    written,
    sometimes,
    every_state,
    sums,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_and_derivatives(function):
    loss = lambda *arguments: np.sum(function(*arguments) * C)
    arguments = B, A, C, X
    np.testing.assert_allclose(cr.jit(function)(*arguments), function(*arguments), rtol=1e-12, atol=1e-13)
    found = cr.jit(cr.grad(loss, argnums=(0, 1, 2, 3)))(*arguments)
    for place, (one, argument) in enumerate(zip(found, arguments)):
        direction = np.random.default_rng(place).standard_normal(argument.shape)
        moved = lambda h, p=place, d=direction: [a + h * d if q == p else a for q, a in enumerate(arguments)]
        expected = (loss(*moved(1e-6)) - loss(*moved(-1e-6))) / 2e-6
        np.testing.assert_allclose(np.sum(one * direction), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("function", [recurrent, from_the_left, every_state, sums])
@pytest.mark.parametrize("dtype", ["f4", "c16"])
def test_dtypes(function, dtype):
    arguments = [a.astype(dtype) for a in (B, A, C, X)]
    loss = lambda *arguments: np.real(np.sum(function(*arguments) * C))
    gradient = cr.grad(loss, argnums=(0, 1, 2))
    for one, other in zip(cr.jit(gradient)(*arguments), gradient(*arguments)):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-4 if dtype == "f4" else 1e-10, atol=1e-5)


@pytest.mark.parametrize("turns", [0, 1, 2])
def test_few_turns(turns):
    loss = lambda *arguments: np.sum(recurrent(*arguments) * C)
    gradient = cr.grad(loss, argnums=(0, 1, 2))
    for one, other in zip(cr.jit(gradient)(B, A, C, X[:turns]), gradient(B, A, C, X[:turns])):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


def test_second_derivative():
    loss = lambda bias: np.sum(recurrent(B, A, bias, X) * C)
    np.testing.assert_allclose(cr.jit(cr.hessian(loss))(C), cr.hessian(loss)(C), rtol=1e-9, atol=1e-11)


def test_a_loop_over_rows_multiplies_them_once():
    gradient = cr.grad(lambda *arguments: np.sum(recurrent(*arguments)), argnums=(0, 1, 2, 3))
    lines = in_loops(gradient, B, A, C, X)
    assert lines.count("np.dot(") == 2 and "copy()" not in lines
    assert "for j in" not in lines


def test_rows_that_a_loop_leaves_out_are_not_multiplied():
    assert "np.dot(outer, x[k]" in in_loops(all_but_one, B, A, C, X)
    assert "x[k]" not in in_loops(recurrent, B, A, C, X)


def test_what_ends_is_no_part_of_what_is_kept():
    """A state that is returned does not hold on to the states of all turns."""

    def loss(inner):
        state = recurrent(inner, A, C, X)
        return np.sum(state), state

    gradient = cr.grad(loss, has_aux=True)
    lines = [line.strip() for line in text(gradient, B).splitlines()]
    assert "state = np.empty(n_3)" in lines and "state[i] = state_tape[n_4, i]" in lines
    for one, other in zip(cr.jit(gradient)(B), gradient(B)):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("wrong", [(B[:3], A, C), (B, A[:3], C), (B, A[:, :2], C), (B, A, C[:3])])
def test_sizes_that_differ(wrong):
    """The error is the one that the first operation of the first turn gives."""
    loss = lambda *arguments: np.sum(recurrent(*arguments))
    with pytest.raises(ValueError) as plain:
        recurrent(*wrong, X)
    for function in (cr.jit(recurrent), cr.jit(cr.grad(loss))):
        with pytest.raises(ValueError) as found:
            function(*wrong, X)
        assert str(plain.value).split(" with")[0].split("(")[0] in str(found.value)
        assert "state = np.tanh(inner @ state + outer @ x[k] + bias)" in str(found.value)


def test_no_turn_makes_no_check():
    np.testing.assert_array_equal(cr.jit(recurrent)(B[:3], A, C, X[:0]), np.zeros(4))


def test_a_print_before_a_check_is_seen(capfd):
    def shown(x, y):
        for k in range(len(x)):
            print("turn", k)
            x = x + y
        return x

    with pytest.raises(ValueError):
        cr.jit(shown)(np.ones(3), np.ones(4))
    assert "turn 0" in capfd.readouterr().out


def test_batched():
    loss = lambda bias: np.sum(recurrent(B, A, bias, X) * C)
    biases = R.standard_normal((3, 4))
    found = cr.jit(cr.vmap(cr.grad(loss)))(biases)
    np.testing.assert_allclose(found, [cr.grad(loss)(bias) for bias in biases], rtol=1e-10, atol=1e-12)


def nested(a, x):
    """A loop over rows inside another loop."""
    total = np.zeros(a.shape[0])
    for _ in range(3):
        state = total
        for k in range(len(x)):
            state = np.tanh(state + a @ x[k])
        total = total + state
    return np.sum(total)


def test_nested_loops():
    gradient = cr.grad(nested, argnums=(0, 1))
    np.testing.assert_allclose(cr.jit(nested)(A, X), nested(A, X), rtol=1e-12)
    for one, other in zip(cr.jit(gradient)(A, X), gradient(A, X)):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
