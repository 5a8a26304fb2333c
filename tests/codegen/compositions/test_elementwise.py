import numpy as np
import pytest

from tests.codegen.compositions.comparing import agree, rows

x = np.array([-2.5, -1.0, 0.0, 0.5, 1.5, 2.5])
f = x.astype(np.float32)
i = np.arange(-3, 4)
odd = np.array([1.0, np.nan, np.inf, -np.inf])
z = x + 1j * x[::-1]
knots, heights = np.array([-1.0, 0.0, 1.0, 2.5]), np.array([1.0, 3.0, -2.0, 0.5])

CASES = rows(
    (np.clip, x, -1, 1), (np.clip, x, None, 1), (np.clip, x, -1, None), (np.clip, f, -1.0, 1.0),
    (np.clip, i, 0.5, 2), (np.clip, x, x[::-1], 2),
    (np.clip, 3.0, 0, 1), (np.clip, x, {"min": 0}), (np.clip, x, {"min": 0, "max": 1}),
    (np.clip, odd, 0, 1), (np.clip, [1, 5], 2, 3),
    (np.where, x > 0, x, 0), (np.where, x > 0), (np.where, x > 0, f, 0),
    (np.where, [True, False], [1, 2], 3.5), (np.where, True, 1, 2.0),
    (np.where, x > 0, 1), (np.where, i, 1, 2), (np.where, x[:, None] > 0, x, f),
    (np.select, [x < 0, x > 1], [x, x**2]), (np.select, [x < 0, x > 1], [f, 2], 5),
    (np.select, [x < 0], [x, x]), (np.select, [i], [x]),
    (np.select, [x < 0, x < 1], [1, 2], 3.5), (np.select, [x < 0], [f], np.float64(1)), (np.select, [], []),
    (np.piecewise, x, [x < 0, x >= 0], [lambda v: -v, lambda v: v * 2]),
    (np.piecewise, x, [x < 0], [1, lambda v: v * 2]),
    (np.piecewise, x, x < 0, [lambda v, k: v * k, 0.5], 3),
    (np.piecewise, 3.0, [True], [lambda v: v + 1]), (np.piecewise, x, [x < 0], [1, 2, 3]),
    (np.sinc, x), (np.sinc, f), (np.sinc, i), (np.sinc, np.linspace(-1, 1, 101)), (np.sinc, z),
    (np.sinc, 0.0), (np.sinc, 3),
    (np.nan_to_num, odd), (np.nan_to_num, odd.astype("f4")), (np.nan_to_num, i),
    (np.nan_to_num, odd, {"nan": 7, "posinf": 1.0, "neginf": -1}),
    (np.nan_to_num, odd + 1j * odd[::-1]), (np.nan_to_num, np.nan), (np.nan_to_num, x > 0),
    (np.nan_to_num, [1, np.nan]),
    (np.isclose, x, x + 1e-9), (np.isclose, odd, odd), (np.isclose, odd, odd, {"equal_nan": True}),
    (np.isclose, i, i + 1), (np.isclose, z, z),
    (np.allclose, x, x), (np.allclose, x, f), (np.allclose, odd, odd),
    (np.allclose, odd, odd, {"equal_nan": True}), (np.allclose, 1, 1.1),
    (np.array_equal, x, x), (np.array_equal, x, x[1:]), (np.array_equal, odd, odd),
    (np.array_equal, odd, odd, True), (np.array_equal, [1], 1),
    (np.fix, x), (np.fix, i), (np.fix, f), (np.round, x), (np.round, x * 1.11111, 2),
    (np.round, x * 111, -1), (np.round, i), (np.round, i * 7, -1),
    (np.round, z * 1.333, 1), (np.round, f, 1), (np.round, 2.5), (np.around, x), (np.round, x > 0),
    (np.round, i, 1), (np.round, 12345, -2),
    (np.radians, x), (np.degrees, f), (np.deg2rad, i), (np.fabs, i), (np.fabs, f), (np.fabs, z),
    (np.float_power, i, 2), (np.float_power, f, 0.5),
    (np.divmod, x, 2), (np.divmod, i, 2), (np.modf, x), (np.modf, odd), (np.modf, i), (np.modf, f),
    (np.isposinf, odd), (np.isneginf, odd),
    (np.isreal, z), (np.isreal, x), (np.iscomplex, z), (np.iscomplex, 1j), (np.isrealobj, z),
    (np.iscomplexobj, z), (np.iscomplexobj, 1),
    (np.angle, z), (np.angle, z, True), (np.angle, x), (np.angle, f, True), (np.angle, 1j),
    (np.unwrap, x * 4), (np.unwrap, np.outer(x, x)), (np.unwrap, np.outer(x, x), {"axis": 0}),
    (np.unwrap, i * 3, {"period": 4}), (np.unwrap, f * 4),
    (np.unwrap, i * 3, {"period": 5}), (np.unwrap, x * 4, 4.0), (np.unwrap, i),
    (np.unwrap, [0.0, np.pi, 0.0]),
    (np.polyval, [1, 2, 3], x), (np.polyval, [1, 2, 3], 2), (np.polyval, x, f), (np.polyval, [], x),
    (np.polyval, f, x), (np.polyval, [1.5, 2], i),
    (np.polyval, np.array([1, 2]), 3.0), (np.polyval, [np.float32(1), 2], f),
    (np.interp, x, knots, heights), (np.interp, 0.3, knots, heights),
    (np.interp, x, knots, heights, -9, 9), (np.interp, f, knots, heights),
    (np.interp, knots, knots, heights, -9, 9), (np.interp, x, knots, heights, {"period": 3}),
    (np.interp, x, [1.0], [5.0]), (np.interp, x, [1.0], [5.0], 0, 1),
    (np.interp, odd, knots, heights), (np.interp, x, knots, heights * 1j),
    (np.interp, x, knots, heights[1:]), (np.interp, x, [], []),
    (np.interp, x[:, None] * x, knots, heights), (np.interp, 2, [1, 2, 3], [3, 2, 0]),
    (np.interp, x, [0.0, 0, 1], [1.0, 2, 3]),
    (np.interp, x, [0.0, 1, 1], [1.0, 2, 3]), (np.interp, x, knots, heights, {"period": 0}),
    (np.interp, x, knots, heights, {"period": -3}),
)


@pytest.mark.parametrize("function, args, kwargs", CASES)
def test_elementwise(function, args, kwargs):
    agree(function, args, kwargs)
