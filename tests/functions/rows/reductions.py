"""Reductions, and the statistics made of them."""
import numpy as np

from tests.functions.table import booleans, complexes, integers, positive, real, row

PLAIN = (np.sum, np.prod, np.max, np.min, np.mean, np.var, np.std, np.ptp, np.median)
WITH_GAPS = (np.nansum, np.nanprod, np.nanmax, np.nanmin, np.nanmean, np.nanvar, np.nanstd)
METHODS = ("sum", "prod", "max", "min", "mean", "var", "std")
WHICH = (np.any, np.all, np.argmax, np.argmin, np.count_nonzero)

ROWS = [
    *[row(f.__name__, f, real(3, 4)) for f in (*PLAIN, *WITH_GAPS)],
    *[row(f"{f.__name__} of one axis", lambda x, f=f: f(x, axis=0), real(3, 4))
      for f in (*PLAIN, *WITH_GAPS)],
    *[row(f"{f.__name__} of the last axis", lambda x, f=f: f(x, axis=-1, keepdims=True), real(3, 4),
          compiled=False)
      for f in (*PLAIN, *WITH_GAPS)],
    *[row(f"{f.__name__} of two axes", lambda x, f=f: f(x, axis=(0, -1)), real(2, 3, 4),
          resized=f is not np.median, compiled=False)
      for f in PLAIN],
    *[row(f"{f.__name__} of a number", lambda x, f=f: f(x), real(), compiled=False) for f in PLAIN],
    *[row(f"x.{name}", lambda x, name=name: getattr(x, name)(axis=1), real(3, 4),
          compiled=False) for name in METHODS],
    *[row(f"{f.__name__}", lambda x, f=f: f(x), real(3, 4), order=0) for f in WHICH],
    *[row(f"{f.__name__} of an axis", lambda x, f=f: f(x, axis=1), real(3, 4), order=0) for f in WHICH],
    *[row(f"x.{name}", lambda x, name=name: getattr(x, name)(), real(3, 4), order=0)
      for name in ("any", "all", "argmax", "argmin")],
    row("any of truths", lambda x: np.any(x, axis=0, keepdims=True), booleans(3, 4), any_dtype=False),
    row("sum of truths", lambda x: np.sum(x, axis=0), booleans(3, 4), any_dtype=False),
    row("sum of integers", lambda x: np.sum(x), integers(3, 4), any_dtype=False),
    row("mean of integers", lambda x: np.mean(x, axis=0), integers(3, 4), any_dtype=False),
    row("sum in float32", lambda x: np.sum(x, dtype=np.float32), real(3, 4), order=0),
    row("amax", lambda x: np.amax(x, axis=0), real(3, 4)),
    row("amin", lambda x: np.amin(x, axis=0), real(3, 4)),
    row("sum over no axis", lambda x: np.sum(x, axis=()), real(3, 4)),
    row("add.reduce", lambda x: np.add.reduce(x), real(3, 4)),
    row("multiply.reduce", lambda x: np.multiply.reduce(x, axis=1), real(3, 4)),
    row("maximum.reduce", lambda x: np.maximum.reduce(x, axis=1), real(3, 4)),
    row("minimum.reduce", lambda x: np.minimum.reduce(x, axis=None), real(3, 4)),
    row("logaddexp.reduce", lambda x: np.logaddexp.reduce(x, axis=1), real(3, 4)),
    row("subtract.reduce", lambda x: np.subtract.reduce(x, axis=-1, keepdims=True), real(3, 4)),
    row("hypot.reduce", lambda x: np.hypot.reduce(x), real(3, 4)),
    row("maximum.accumulate", lambda x: np.maximum.accumulate(x, axis=1), real(3, 4)),
    row("logaddexp.accumulate", lambda x: np.logaddexp.accumulate(x), real(4)),
    row("logical_and.reduce", lambda x: np.logical_and.reduce(x > 0), real(3, 4), order=0),
    row("logical_or.reduce", lambda x: np.logical_or.reduce(x > 0), real(3, 4), order=0),
    row("var with ddof", lambda x: np.var(x, axis=0, ddof=1), real(3, 4)),
    row("std with ddof", lambda x: np.std(x, ddof=1, keepdims=True), real(3, 4)),
    row("average", lambda x: np.average(x, axis=0), real(3, 4), resized=False),
    row("average with weights", lambda x, w: np.average(x, axis=1, weights=w), real(3, 4), positive(4)),
    row("average with weights of every element", lambda x, w: np.average(x, weights=w), real(3, 4),
        positive(3, 4),
        resized=False),
    row("average and the sum of weights", lambda x, w: np.average(x, 1, w, returned=True), real(3, 4),
        positive(4)),
    *[row(f"{f.__name__} of what a mask selects", lambda x, f=f: f(x, axis=1, where=x > -1.5), real(3, 4),
          resized=False) for f in (np.sum, np.prod, np.mean, np.var, np.std)],
    *[row(f"{f.__name__} with a number more", lambda x, y, f=f: f(x, axis=0, initial=y, where=x > 0),
          real(3, 4), real()) for f in (np.sum, np.prod, np.max, np.min)],
    *[row(f"{f.__name__} of what a mask selects", lambda x, f=f: f(x > 0, axis=0, where=x < 1), real(3, 4),
          order=0) for f in (np.any, np.all)],
    row("max of nothing and a number", lambda x: np.max(x[:0], initial=1.5) * x, real(4)),
    row("median of an even axis", lambda x: np.median(x, axis=1, keepdims=True), real(3, 4)),
    row("quantile", lambda x: np.quantile(x, 0.3), real(3, 4)),
    row("quantiles of an axis", lambda x: np.quantile(x, [0.2, 0.7], axis=0), real(5, 2)),
    row("quantile by its weight", lambda x, q: np.quantile(x, q), real(7), real(low=0.3, high=0.5),
        any_dtype=False,
        resized=False, order=0),
    row("percentile", lambda x: np.percentile(x, 40, axis=1), real(3, 4)),
    row("cov", lambda x: np.cov(x), real(3, 4)),
    row("cov of columns", lambda x: np.cov(x, rowvar=False, ddof=0), real(4, 3)),
    row("corrcoef", lambda x: np.corrcoef(x), real(3, 4)),
    row("bincount", lambda w: np.bincount(np.array([0, 2, 1, 2]), weights=w), real(4), any_dtype=False,
        resized=False),
    *[row(f"{f.__name__} of complex", lambda z, f=f: f(z, axis=0), complexes(3, 4), any_dtype=False)
      for f in (np.sum, np.prod, np.mean, np.var, np.std)],
    *[row(f"{f.__name__} with a gap", lambda x, f=f: f(np.where(np.abs(x) > 1.5, np.nan, x), axis=0),
          real(5, 3),
          any_dtype=False, resized=False) for f in WITH_GAPS],
    row("nanargmax", lambda x: np.nanargmax(x), real(3, 4), order=0),
    row("nanargmin", lambda x: np.nanargmin(x, axis=1), real(3, 4), order=0),
    row("builtin sum", lambda x: sum(x), real(4), resized=False),
    row("builtin max", lambda x: max(x[0], x[1]) * min(x[2], x[3]), real(4), resized=False),
]
