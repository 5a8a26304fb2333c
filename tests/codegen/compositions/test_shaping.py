import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from chainrule.codegen.registry import FUNCTIONS, METHODS
from tests.codegen.compositions.comparing import agree, rows

x = np.arange(12.0).reshape(3, 4)
t = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
v = np.array([3, 1, 2])

CASES = rows(
    (sliding_window_view, v, 2), (sliding_window_view, t, (1, 2, 3)),
    (sliding_window_view, t, (2, 2), (2, 0)), (sliding_window_view, t, (2, 3), (-1, -1)),
    (sliding_window_view, x, 0, 1), (sliding_window_view, x, -1, 1), (sliding_window_view, x, 2),
    (sliding_window_view, x, (2, 2), 0), (sliding_window_view, x, 4, 0),
    (sliding_window_view, x, 2, 2),
    (np.reshape, x, 12), (np.reshape, x, (2, -1)), (np.reshape, x, (-1,)), (np.reshape, x, [4, 3]),
    (np.reshape, x, (5, -1)),
    (np.reshape, x, (-1, -1)), (np.reshape, x, (2, 6), "F"), (np.reshape, x, (2, -1), "F"),
    (np.reshape, 3.0, (1, 1)),
    (np.reshape, np.zeros((0, 3)), (0, -1)), (np.reshape, np.zeros((0, 3)), (-1, 3)), (np.reshape, x, (7,)),
    (np.ravel, t), (np.ravel, x, "F"), (np.ravel, 3), (np.shape, x), (np.shape, [[1, 2]]), (np.shape, 3),
    (np.transpose, t), (np.transpose, t, (1, 0, 2)), (np.transpose, t, (-1, 0, 1)), (np.transpose, v),
    (np.transpose, t, (0, 0, 1)),
    (np.transpose, t, (1, 0)), (np.matrix_transpose, t), (np.matrix_transpose, v),
    (np.moveaxis, t, 0, -1), (np.moveaxis, t, (0, 1), (2, 0)), (np.moveaxis, t, 5, 0),
    (np.moveaxis, t, (0, 0), (1, 2)),
    (np.moveaxis, t, (0, 1), 2), (np.rollaxis, t, 2), (np.rollaxis, t, 0, 2), (np.rollaxis, t, 0, 3),
    (np.rollaxis, t, 0, 5),
    (np.swapaxes, t, 0, 2), (np.swapaxes, t, -1, -2), (np.swapaxes, t, 0, 3), (np.expand_dims, x, 0),
    (np.expand_dims, x, (0, -1)),
    (np.expand_dims, x, 5), (np.squeeze, x[None, :, None]), (np.squeeze, x[None, :, None], 0),
    (np.squeeze, x, 0),
    (np.squeeze, x[None, :, None], (0, 2)), (np.squeeze, np.ones((1, 1))), (np.squeeze, 3.0),
    (np.broadcast_to, v, (2, 3)), (np.broadcast_to, 3, (2,)), (np.broadcast_to, v, (2, 4)),
    (np.broadcast_shapes, (2, 1), (3,), 1),
    (np.broadcast_shapes, (2,), (3,)), (np.broadcast_arrays, v, x[:, :1], 3),
    (np.broadcast_arrays, v, np.ones((0, 3))),
    (np.atleast_1d, 3), (np.atleast_1d, 3, v), (np.atleast_2d, v), (np.atleast_2d, 3, x),
    (np.atleast_3d, 3), (np.atleast_3d, v),
    (np.atleast_3d, x), (np.atleast_3d, t), (np.flip, t), (np.flip, t, 1), (np.flip, t, (0, -1)),
    (np.flip, t, 3), (np.fliplr, x),
    (np.fliplr, v), (np.flipud, v), (np.flipud, 3), *[(np.rot90, x, k) for k in range(-1, 5)],
    (np.rot90, t, 1, (1, 2)),
    (np.rot90, t, 1, (2, 0)), (np.rot90, t, 3, (2, 0)), (np.rot90, x, 1, (0, 0)), (np.rot90, x, 1, (0, 2)),
    *[(np.roll, v, shift) for shift in (0, 1, -1, 2, 3, 4, -7)], (np.roll, x, 5), (np.roll, x, 1, 1),
     (np.roll, x, (1, 2), (0, 1)),
    (np.roll, x, (1, 2), 0), (np.roll, x, 2, (0, 1)), (np.roll, x, 1, 2), (np.roll, np.zeros(0), 1),
    (np.roll, t, -1, -1),
    (np.tile, v, 2), (np.tile, v, (2, 2)), (np.tile, x, 2), (np.tile, t, (2, 1)), (np.tile, 3, 2),
    (np.tile, v, 0),
    (np.repeat, v, 2), (np.repeat, x, 2, 0), (np.repeat, x, 3, -1), (np.repeat, v, [1, 0, 2]),
    (np.repeat, x, [1, 0, 2], 0),
    (np.repeat, v, [2]), (np.repeat, v, [1, 2]), (np.repeat, 3, 2), (np.repeat, v, 0),
    (np.resize, v, (2, 4)),
    (np.resize, np.zeros(0), 3), (np.resize, x, 5), (np.diagonal, x), (np.diagonal, x, 1),
    (np.diagonal, x, -1), (np.diagonal, x, 7),
    (np.diagonal, t, 0, 1, 2), (np.diagonal, t, 1, -1, 0), (np.diagonal, v), (np.diagonal, x, 0, 1, 1),
    (np.unravel_index, 7, (3, 4)), (np.unravel_index, [7, 11], (3, 4)), (np.unravel_index, 12, (3, 4)),
    (np.unravel_index, 7, (3, 4), "F"),
    (np.ravel_multi_index, (1, 2), (3, 4)), (np.ravel_multi_index, ([1, 2], [0, 3]), (3, 4)),
    (np.ravel_multi_index, (3, 2), (3, 4)),
    (np.ravel_multi_index, ([4, -1], [5, 1]), (3, 4), "wrap"),
    (np.ravel_multi_index, ([4, 1], [5, 1]), (3, 4), ("clip", "wrap")),
    (np.ravel_multi_index, (1, 2), (3, 4), "raise", "F"),
    (np.pad, v, 1), (np.pad, v, (2,)), (np.pad, v, (1, 2)), (np.pad, x, ((1, 0), (0, 2))),
    (np.pad, x, ((1, 2),)), (np.pad, x, ((1,), (2,))),
    (np.pad, v, 1, {"constant_values": 5}), (np.pad, x, 1, {"constant_values": ((1, 2), (3, 4))}),
    (np.pad, x, 1, {"constant_values": (1, 2)}),
    (np.pad, v, 1, {"constant_values": 1.7}), (np.pad, x, np.array([[1, 1], [2, 0]])),
    (np.pad, np.float32([1]), 2),
    *[(np.pad, x, width, mode) for width in (1, ((2, 9), (7, 0)), 0) for mode in ("edge", "reflect",
     "symmetric", "wrap")],
    *[(np.pad, np.array([5]), 3, mode) for mode in ("edge", "reflect", "symmetric", "wrap")], (np.pad,
     np.zeros(0), 1, "edge"),
    (np.pad, np.zeros(0), 1),
)


@pytest.mark.parametrize("function, args, kwargs", CASES)
def test_shaping(function, args, kwargs):
    agree(function, args, kwargs)


def test_axis_error_is_worded_as_numpy_words_it():
    with pytest.raises(np.exceptions.AxisError, match="axis 5 is out of bounds for array of dimension 3"):
        FUNCTIONS[np.moveaxis](t, 5, 0)


def test_refusals():
    for call in (lambda: FUNCTIONS[np.reshape](x, 12, "A"), lambda: FUNCTIONS[np.ravel](x, "K"),
                 lambda: FUNCTIONS[np.pad](x, 1, "linear_ramp"), lambda: FUNCTIONS[np.zeros](3, order="F")):
        with pytest.raises(NotImplementedError):
            call()


METHOD_CASES = [
    ("reshape", (4, 3)), ("reshape", ((2, -1),)), ("ravel", ()), ("flatten", ()), ("flatten", ("F",)),
    ("transpose", ()),
    ("transpose", (1, 0)), ("transpose", ((1, 0),)), ("swapaxes", (0, 1)), ("squeeze", ()),
    ("repeat", (2, 1)), ("diagonal", (1,)),
    ("astype", (np.float32,)), ("astype", ("c16",)), ("copy", ()), ("clip", (2, 5)), ("round", (1,)),
    ("sum", (0,)), ("mean", ()),
    ("std", (1,)), ("var", ()), ("prod", ()), ("min", (0,)), ("max", ()), ("any", ()), ("all", (0,)),
    ("argmax", ()), ("argmin", (1,)),
    ("cumsum", ()), ("cumprod", (0,)), ("argsort", ()), ("take", ([0, 1], 1)),
    ("compress", ([True, False, True], 0)),
    ("nonzero", ()), ("item", (5,)), ("item", (1, 2)), ("tolist", ()),
]


@pytest.mark.parametrize("name, args", METHOD_CASES)
def test_methods(name, args):
    expected = getattr(x, name)(*args)
    actual = METHODS[name](x, *args)
    np.testing.assert_allclose(actual, expected)
    assert np.shape(actual) == np.shape(expected) and np.asarray(actual).dtype == np.asarray(expected).dtype


def test_other_methods():
    assert METHODS["searchsorted"](np.array([1, 2, 3]), 2) == 1
    assert METHODS["choose"](np.array([0, 1]), [[1, 2], [3, 4]]).tolist() == [1, 4]
    with pytest.raises(TypeError):
        METHODS["astype"](x, int, casting="safe")
