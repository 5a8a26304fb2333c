"""Functions of one example on vectors of a few numbers, taken apart: one loop, without arrays."""

import re

import numpy as np
import pytest

import chainrule as cr

RNG = np.random.default_rng(11)
COUNT = 5
CAMERAS = RNG.standard_normal((COUNT, 8))
CAMERAS[1, :3] = 0  # the other branch
POINTS = RNG.standard_normal((COUNT, 3)) + [0.0, 0.0, 5.0]


def turned(rotation, x):
    square = np.sum(rotation**2)
    if square > 1e-8:
        angle = np.sqrt(square)
        axis = rotation / angle
        return np.cos(angle) * x + np.sin(angle) * np.cross(axis, x) + np.dot(axis, x) * axis
    return x + np.cross(rotation, x)


def seen(camera, point):
    x = turned(camera[:3], point - camera[3:6])
    return x[:2] / x[2] * camera[6] + camera[7]


def unpacked(camera, point):
    x, y, z = turned(camera[:3], point)
    return np.stack([x * y, camera[7] * z, np.linalg.norm(point)])


def joined(camera, point):
    return np.concatenate([camera[5:] * point, np.array([point[0], camera[1] ** 2])])[1:4]


def looped(camera, point):
    for k in range(4):
        point = np.sin(point) * camera[k] + camera[3:6]
    return point[:2]


def until(camera, point):
    while np.sum(point**2) > 1.0:
        point = 0.5 * point * np.cos(camera[:3])
    return point * camera[6]


def straight(camera, point):
    x = np.cross(camera[:3], point - camera[3:6]) + (4 + np.dot(camera[:3], point)) * point
    return x[:2] / x[2] * camera[6] + camera[7]


FUNCTIONS = [seen, unpacked, joined, looped, until, straight]


def differences(function, which, arguments, step=1e-6):
    """The Jacobian of each example by central differences."""
    tables = []
    for row in zip(*arguments, strict=True):
        columns = []
        for at in range(len(row[which])):
            ends = []
            for sign in (step, -step):
                moved = [part.copy() for part in row]
                moved[which][at] += sign
                ends.append(function(*moved))
            columns.append((ends[0] - ends[1]) / (2 * step))
        tables.append(np.stack(columns, axis=-1))
    return np.stack(tables)


@pytest.mark.parametrize("mode", [cr.jacrev, cr.jacfwd])
@pytest.mark.parametrize("compile", [cr.jit, lambda f: f], ids=["jit", "numpy"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_jacobians_agree_with_differences(function, compile, mode):
    got = compile(cr.vmap(mode(function, argnums=(0, 1))))(CAMERAS, POINTS)
    for which in (0, 1):
        wanted = differences(function, which, (CAMERAS, POINTS))
        np.testing.assert_allclose(got[which], wanted, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradients_agree_with_differences(function):
    got = cr.jit(cr.vmap(cr.grad(lambda c, p: np.sum(function(c, p)), (0, 1))))(CAMERAS, POINTS)
    for which in (0, 1):
        wanted = differences(function, which, (CAMERAS, POINTS)).sum(axis=1)
        np.testing.assert_allclose(got[which], wanted, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("function", [seen, straight], ids=lambda f: f.__name__)
def test_a_jacobian_is_one_loop_of_numbers(function):
    text = cr.source(cr.jit(cr.vmap(cr.jacrev(function, (0, 1)))), stage="numba")(CAMERAS, POINTS)
    loop = text[text.index("for lane in range") :]
    assert "for" not in loop[3:]
    assert not re.search(r"np\.(empty|zeros|array|stack)|copy\(", loop)


def test_without_compilation_the_examples_are_done_together():
    text = cr.source(cr.vmap(cr.jacrev(straight, (0, 1))), stage="numpy")(CAMERAS, POINTS)
    assert "for lane in" not in text


def test_a_derivative_of_a_batch_is_of_whole_arrays():
    def total(cameras, points):
        return np.sum(cr.vmap(straight)(cameras, points))

    text = cr.source(cr.jit(cr.grad(total)), stage="core")(CAMERAS, POINTS)
    assert "for lane in" not in text
    got = cr.jit(cr.grad(total))(CAMERAS, POINTS)
    wanted = differences(straight, 0, (CAMERAS, POINTS)).sum(axis=1)
    np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-7)


def test_small_sizes_that_are_taken_apart_are_known():
    function = cr.jit(cr.vmap(cr.jacrev(lambda c, p: seen(c, p) * 2)))
    for more in (0, 1):
        wider = np.concatenate([CAMERAS, np.ones((COUNT, more))], axis=1)
        got = function(wider, POINTS)
        assert got.shape == (COUNT, 2, 8 + more)
        np.testing.assert_allclose(got[:, :, :8], function(CAMERAS, POINTS))
    assert "c.shape[1] = 9" in cr.explain_recompiles(function)


def test_large_sizes_stay_open():
    function = cr.jit(cr.vmap(cr.jacrev(lambda c, p: seen(c, p) * 3)))
    for more in (40, 50):
        wider = np.concatenate([CAMERAS, np.ones((COUNT, more))], axis=1)
        got = function(wider, POINTS)
        np.testing.assert_allclose(
            got[:, :, :8], differences(seen, 0, (CAMERAS, POINTS)) * 3, rtol=1e-6, atol=1e-6
        )
        np.testing.assert_array_equal(got[:, :, 8:], 0.0)
    assert "compiled once" in cr.explain_recompiles(function)


def test_too_few_numbers_are_refused_in_numpy_words():
    with pytest.raises(IndexError, match="index 6 is out of bounds for axis 0 with size 6"):
        cr.jit(cr.vmap(cr.jacrev(seen)))(CAMERAS[:, :6], POINTS)
    with pytest.raises(ValueError, match="could not be broadcast"):
        cr.jit(cr.vmap(cr.jacrev(seen)))(CAMERAS[:, :5], POINTS)
