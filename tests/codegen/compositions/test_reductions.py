import numpy as np
import pytest

from tests.codegen.compositions.comparing import agree, rows

x = np.random.default_rng(0).normal(size=(3, 4))
t = np.random.default_rng(1).normal(size=(2, 3, 5)).astype(np.float32)
i = np.array([[3, 1, 2], [0, 5, 5]], np.int32)
b = i > 1
z = x + 1j * x[::-1]
h = x.astype(np.float16)
gaps = np.where(x > 0.3, np.nan, x)
empty = np.zeros((0, 3))

PLAIN = (np.sum, np.prod, np.max, np.min, np.any, np.all, np.mean, np.var, np.std, np.ptp, np.median,
 np.argmax, np.argmin,
         np.count_nonzero)
AXES = [{}, {"axis": 0}, {"axis": -1}, {"axis": (0, 1)}, {"axis": 5}, {"keepdims": True}, {"axis": 1,
 "keepdims": True},
        {"axis": (0, 0)}, {"axis": ()}]
NAN = (np.nansum, np.nanprod, np.nanmax, np.nanmin, np.nanmean, np.nanvar, np.nanstd)

CASES = rows(
    *[(f, a, k) for f in PLAIN for a in (x, t, i, h, empty) for k in AXES
      if not (k.get("axis") == () and f in (np.argmax, np.argmin, np.median, np.var, np.std))],
    *[(f, a, k) for f in PLAIN for a in (3.0, 2, [1, 2, 3]) for k in ({}, {"axis": 0}, {"axis": -1},
     {"axis": 1})
      if not (f is np.median and k)],
    *[(f, b) for f in PLAIN if f not in (np.ptp, np.median)],
    *[(f, z) for f in (np.sum, np.prod, np.mean, np.var, np.std)],
    *[(f, a, k) for f in NAN for a in (x, gaps, i, gaps.astype("f4")) for k in AXES[:-2]],
    (np.nansum, 3.0), (np.nanmax, [np.nan, np.nan]), (np.nanmean, np.full((2, 2), np.nan), {"axis": 0}),
    (np.nanargmax, gaps), (np.nanargmin, gaps, 1), (np.nanargmax, [np.nan]), (np.nancumsum, gaps),
    (np.nancumprod, gaps, 0),
    (np.sum, x, {"dtype": np.float32}), (np.sum, i, {"dtype": np.int8}), (np.sum, b, {"dtype": bool}),
    (np.prod, i, {"dtype": float}),
    (np.mean, i, {"dtype": np.float32}), (np.mean, x, {"dtype": np.float32}),
    (np.var, x, {"dtype": np.float32}),
    (np.mean, i, {"dtype": int}), (np.sum, i.astype(np.uint8)), (np.add.reduce, x.ravel()),
    (np.var, x, {"ddof": 1}), (np.std, t, {"ddof": 1, "axis": 0}), (np.std, x, {"ddof": 1.5}),
    (np.var, [2.0], {"ddof": 1}),
    (np.var, x, {"correction": 1}), (np.std, t, {"axis": (0, 2), "ddof": 1, "keepdims": True}),
    (np.var, i, {"ddof": 1}),
    (np.var, x, {"mean": np.mean(x, axis=0, keepdims=True), "axis": 0}),
    (np.average, x), (np.average, x, 0), (np.average, x, None, np.abs(x)),
    (np.average, x, 1, [1, 2, 3, 4]), (np.average, i, 0, [1, 2]),
    (np.average, x, 0, [1, -1, 0]), (np.average, x, 1, [1, 2, 3]), (np.average, x, None, [1, 2, 3]),
    (np.average, t, (0, 1), np.ones((2, 3))),
    (np.average, t, (1, 0), np.arange(6.0).reshape(3, 2)), (np.average, x, 0, None, True),
    (np.average, x, 1, [1, 2, 3, 4], True),
    (np.average, x, 1, [1, 2, 3, 4], {"keepdims": True}), (np.average, t, 0, np.float32([1, 2])),
    (np.average, i),
    (np.median, [1, np.nan, 3]), (np.median, gaps, 1), (np.median, []),
    (np.median, [[1, 2], [3, 4]], {"axis": 0}), (np.median, t, (0, 2)),
    *[(np.quantile, a, q, k) for a in (x, t, i, gaps) for q in (0.3, 0, 1, [0.1, 0.5], np.float64(0.7),
     [[0.2], [0.9]]) for k in AXES[:6]],
    *[(np.quantile, x, [0.0, 0.35, 0.5, 1.0], {"method": m, "axis": 1}) for m in ("lower", "higher",
     "midpoint", "nearest")],
    (np.quantile, x, 1.5), (np.percentile, x, 30), (np.percentile, t, [10, 90], 1),
    (np.percentile, i, 50), (np.percentile, t, 50),
    (np.percentile, x, 120), (np.quantile, h, 0.3),
    (np.cumsum, x), (np.cumsum, x, 0), (np.cumsum, i, -1), (np.cumsum, b), (np.cumsum, 3),
    (np.cumsum, x, 2), (np.cumsum, i, {"dtype": "f4"}),
    (np.cumprod, x, 1), (np.cumprod, i), (np.cumsum, h),
    (np.diff, x), (np.diff, x, 2), (np.diff, x, 1, 0), (np.diff, b), (np.diff, x, 0), (np.diff, x, -1),
    (np.diff, 3), (np.diff, [1, 4, 9]),
    (np.diff, x, {"prepend": 0}), (np.diff, x, {"append": x[:, :1]}),
    (np.diff, x, {"prepend": 0, "append": 1, "axis": 0}), (np.diff, x, 5),
    (np.ediff1d, x), (np.ediff1d, [1, 2, 4], 9, [7, 8]), (np.ediff1d, [1, 2], 1.5),
    (np.trapezoid, x), (np.trapezoid, x, {"axis": 0}), (np.trapezoid, x, {"dx": 0.5}),
    (np.trapezoid, x, [0, 1, 3, 4]),
    (np.trapezoid, x, [0, 1, 3], {"axis": 0}), (np.trapezoid, x, x), (np.trapezoid, i),
    (np.gradient, x[0]), (np.gradient, x), (np.gradient, x, 2.0), (np.gradient, x, 2.0, 0.5),
    (np.gradient, x, {"axis": 0}),
    (np.gradient, x[0], [0.0, 1, 3, 4]), (np.gradient, x, [0.0, 1, 3], [0.0, 1, 3, 4]),
    (np.gradient, x, {"edge_order": 2}),
    (np.gradient, x, [0.0, 1, 3], 0.5, {"edge_order": 2}), (np.gradient, t, {"axis": (1, 2)}),
    (np.gradient, i), (np.gradient, [1.0]),
    (np.gradient, x, 1.0, 2.0, 3.0), (np.gradient, x[:, :2], {"edge_order": 2}),
    (np.gradient, x[0], {"edge_order": 3}),
    (np.bincount, [1, 1, 3]), (np.bincount, [1, 1, 3], [0.5, 1, 2]),
    (np.bincount, [1, 1, 3], {"minlength": 6}), (np.bincount, np.zeros(0, int)),
    (np.bincount, [-1]), (np.bincount, [1, 2], [1.0]), (np.bincount, i),
    (np.cov, x), (np.cov, x, {"rowvar": False}), (np.cov, x[0], x[1]), (np.cov, x, {"ddof": 0}),
    (np.cov, x, {"bias": True}),
    (np.corrcoef, x), (np.corrcoef, x[0], x[1]),
)


@pytest.mark.parametrize("function, args, kwargs", CASES)
def test_reductions(function, args, kwargs):
    agree(function, args, kwargs)
