"""Arrays lose the axes that no turn shares with another, and what was zero then is cleared in every turn."""

import numpy as np
import pytest

import chainrule as cr

R = np.random.default_rng(9)


def agrees(function, *arguments):
    """The compiled function gives what NumPy gives."""
    expected = function(*(a.copy() for a in arguments))
    np.testing.assert_allclose(cr.jit(function)(*arguments), expected, rtol=1e-13, atol=1e-13)


def weighed(images, weights):
    out = np.empty((images.shape[0], images.shape[1] - 1, weights.shape[1]))
    for i in range(images.shape[1] - 1):
        out[:, i] = np.sum(images[:, i : i + 2, np.newaxis] * weights, axis=1) + 1
    return out


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_a_row_of_sums_is_cleared_in_every_turn(count):
    agrees(weighed, R.standard_normal((count, 6)), R.standard_normal((2, 3)))


def test_the_row_is_one_of_all():
    text = cr.source(cr.jit(weighed), stage="loops")(np.ones((4, 6)), np.ones((2, 3)))
    assert text.count("[:] = 0.0") == 1 and "np.zeros" not in text


def test_what_the_turn_before_has_left_is_kept():
    """Each turn of the outer loop reads what the last one wrote for the same row."""

    def smoothed(x):
        held = np.zeros((x.shape[1], x.shape[2]))
        total = np.zeros((x.shape[1], x.shape[2]))
        for k in range(x.shape[0]):
            held[:] = 0.5 * held + x[k]
            total[:] = total + held * np.sum(held, axis=1, keepdims=True)
        return total

    agrees(smoothed, R.standard_normal((4, 3, 5)))


def test_the_row_before_the_last_is_kept():
    """An element is written once in a turn, and read in a later one."""

    def delayed(x):
        rows, out = np.empty_like(x), np.empty_like(x)
        for k in range(x.shape[0]):
            for j in range(x.shape[1]):
                rows[k, j] = np.sin(x[k, j])
                out[k, j] = rows[k, j - 1] if j > 0 else rows[max(k - 1, 0), j]
        return out

    agrees(delayed, R.standard_normal((4, 5)))


def test_integers_and_booleans_are_cleared_too():
    def counted(x):
        out = np.empty((x.shape[0], x.shape[2]), dtype=np.int64)
        out[:] = np.sum(x[:, :, :], axis=1) + 1
        return out

    agrees(counted, R.integers(-9, 9, (3, 4, 5)))
    agrees(lambda x: np.any(x, axis=1) | (np.sum(x, axis=1) > 2), R.integers(0, 2, (3, 4, 5)) > 0)
