"""Cumulative functions and differences."""
import numpy as np

from tests.functions.table import complexes, positive, real, row

SCANS = (np.cumsum, np.cumprod, np.nancumsum, np.nancumprod)

ROWS = [
    *[row(f.__name__, f, real(3, 4)) for f in SCANS],
    *[row(f"{f.__name__} of an axis", lambda x, f=f: f(x, axis=0), real(3, 4)) for f in SCANS],
    *[row(f"{f.__name__} of the last axis", lambda x, f=f: f(x, axis=-1), real(2, 3, 4), compiled=False)
      for f in SCANS],
    *[row(f"{f.__name__} of complex", lambda x, f=f: f(x), complexes(4), any_dtype=False)
      for f in (np.cumsum, np.cumprod)],
    row("x.cumsum", lambda x: x.cumsum(), real(3, 4)),
    row("x.cumprod", lambda x: x.cumprod(axis=1), real(3, 4)),
    row("add.accumulate", lambda x: np.add.accumulate(x), real(3, 4)),
    row("multiply.accumulate", lambda x: np.multiply.accumulate(x, axis=1), real(3, 4)),
    row("diff", lambda x: np.diff(x), real(3, 4)),
    row("diff twice", lambda x: np.diff(x, n=2, axis=0), real(4, 3)),
    row("diff with ends", lambda x: np.diff(x, prepend=0.0, append=x[:, :1]), real(3, 4)),
    row("ediff1d", lambda x: np.ediff1d(x), real(3, 4)),
    row("ediff1d with ends", lambda x: np.ediff1d(x, to_begin=1.0, to_end=2.0), real(4)),
    row("trapezoid", lambda y: np.trapezoid(y), real(5)),
    row("trapezoid with a step", lambda y: np.trapezoid(y, dx=0.3, axis=0), real(4, 3)),
    row("trapezoid with places", lambda y, x: np.trapezoid(y, x), real(5), positive(5)),
    row("gradient", lambda x: np.gradient(x), real(6)),
    row("gradient with a step", lambda x: np.gradient(x, 0.5, axis=0), real(4, 3)),
    row("gradients of two axes", lambda x: np.gradient(x), real(4, 3)),
    row("gradient of second order at the edges", lambda x: np.gradient(x, edge_order=2), real(6)),
    row("gradient with places", lambda x: np.gradient(x, np.array([0.0, 1.0, 1.5, 3.0])), real(4),
        any_dtype=False,
        resized=False),
]
