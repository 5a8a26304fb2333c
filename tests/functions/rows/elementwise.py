"""Elementwise functions: each is tried on every shape, broadcasting included."""
import operator

import numpy as np

import chainrule as cr
from tests.functions.table import booleans, complexes, elementwise, integers, positive, real, row, unit

EVERYWHERE = (np.negative, np.positive, np.absolute, np.exp, np.exp2, np.expm1, np.square, np.reciprocal,
              np.sin, np.cos, np.arctan, np.sinh, np.cosh, np.tanh, np.arcsinh, np.cbrt, np.deg2rad,
              np.rad2deg, np.radians, np.degrees, np.sinc, np.fabs, np.real, np.imag, np.conjugate,
              np.nan_to_num, np.angle)
ABOVE_ZERO = (np.log, np.log2, np.log10, np.log1p, np.sqrt)
INSIDE_ONE = (np.arcsin, np.arccos, np.arctanh, np.tan)
STEPS = (np.floor, np.ceil, np.trunc, np.rint, np.sign, np.fix, np.round)
TESTS = (np.isnan, np.isfinite, np.isinf, np.signbit, np.logical_not, np.isposinf, np.isneginf, np.isreal,
         np.iscomplex)
PAIRS = (np.add, np.subtract, np.multiply, np.divide, np.hypot, np.logaddexp, np.logaddexp2, np.maximum,
         np.minimum, np.fmax, np.fmin, np.arctan2, np.copysign, np.heaviside)
DIVISIONS = (np.fmod, np.remainder, np.floor_divide)
COMPARISONS = (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal, np.logical_and,
               np.logical_or, np.logical_xor)
BITS = (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.left_shift, np.right_shift, np.gcd, np.lcm)
OPERATORS = (operator.add, operator.sub, operator.mul, operator.truediv, operator.mod, operator.floordiv)
OF_COMPLEX = (np.negative, np.absolute, np.exp, np.sin, np.cos, np.tan, np.sinh, np.cosh, np.tanh, np.log,
              np.sqrt, np.square, np.reciprocal, np.arctan, np.arcsin, np.arccos, np.arcsinh, np.arctanh,
              np.arccosh, np.expm1, np.log1p, np.log2, np.log10, np.exp2, np.real, np.imag, np.conjugate,
              np.angle, np.sign, np.sinc, np.nan_to_num)

ROWS = [
    *[elementwise(f, real(3, 4)) for f in EVERYWHERE],
    *[elementwise(f, positive(3, 4)) for f in ABOVE_ZERO],
    *[elementwise(f, unit(3, 4)) for f in INSIDE_ONE],
    elementwise(np.arccosh, real(3, 4, low=1.2, high=3.0)),
    *[elementwise(f, real(3, 4)) for f in STEPS],
    *[elementwise(f, real(3, 4), order=0) for f in TESTS],
    *[elementwise(f, real(3, 4), real(3, 4, low=-1.7, high=2.5)) for f in PAIRS],
    *[elementwise(f, real(3, 4), real(3, 4, low=0.7, high=2.5)) for f in DIVISIONS],
    *[elementwise(f, real(3, 4), real(3, 4), order=0) for f in COMPARISONS],
    *[elementwise(f, integers(3, 4, high=9), integers(3, 4, high=9), any_dtype=False) for f in BITS],
    elementwise(np.invert, integers(3, 4), any_dtype=False),
    elementwise(np.invert, booleans(3, 4), any_dtype=False, name="invert of truths"),
    *[elementwise(f, real(3, 4), real(3, 4, low=0.7, high=2.5),
                  name=f"operator {f.__name__}") for f in OPERATORS],
    elementwise(lambda x: -x, real(3, 4), name="unary minus"),
    elementwise(lambda x: +x, real(3, 4), name="unary plus"),
    elementwise(lambda x: abs(x), real(3, 4), name="builtin abs"),
    elementwise(lambda x, y: x > y, real(3, 4), real(3, 4), name="x > y", order=0),
    elementwise(np.power, positive(3, 4), real(3, 4)),
    elementwise(np.float_power, positive(3, 4), real(3, 4)),
    elementwise(lambda x, y: x ** y, positive(3, 4), real(3, 4), name="x ** y"),
    *[elementwise(lambda x, n=n: x ** n, real(3, 4), name=f"x ** {n}") for n in (0, 1, 2, 3, 5, -1, -2, 2.0)],
    *[elementwise(lambda x, n=n: x ** n, positive(3, 4), name=f"x ** {n}") for n in (0.5, -0.5, 1.3)],
    elementwise(lambda x: 2.0 ** x, real(3, 4), name="2.0 ** x"),
    elementwise(lambda x: 1 / x, real(3, 4), name="1 / x"),
    elementwise(lambda x: 3 - x, real(3, 4), name="3 - x"),
    elementwise(lambda x: x % 0.7, real(3, 4), name="x % 0.7"),
    elementwise(lambda x: x // 0.7, real(3, 4), name="x // 0.7"),
    elementwise(lambda x: np.divmod(x, 0.7), real(3, 4), name="divmod"),
    elementwise(lambda x: divmod(x, 0.7), real(3, 4), name="builtin divmod"),
    elementwise(lambda x: np.modf(x), real(3, 4), name="modf"),
    elementwise(lambda x: np.round(x, 1), real(3, 4), name="round to a decimal"),
    elementwise(lambda x: x.round(1), real(3, 4), name="x.round"),
    elementwise(lambda x: np.around(x, decimals=2), real(3, 4), name="around"),
    elementwise(lambda x: np.clip(x, -0.5, 0.8), real(3, 4), name="clip"),
    elementwise(lambda x: np.clip(x, None, 0.8), real(3, 4), name="clip from above"),
    elementwise(lambda x: x.clip(-0.5, 0.8), real(3, 4), name="x.clip"),
    elementwise(lambda x: x.clip(min=0), real(3, 4), name="x.clip from below"),
    elementwise(lambda x, low, high: np.clip(x, low, high), real(3, 4), real(3, 4, low=-1.5, high=-0.1),
                real(3, 4, low=0.3, high=1.6), name="clip between arrays"),
    elementwise(lambda x: np.angle(x, deg=True), complexes(3, 4), name="angle in degrees", any_dtype=False),
    elementwise(lambda x: np.where(x > 0, x, 2 * x), real(3, 4), name="where of one operand"),
    elementwise(lambda x, y: np.where(x > 0.3, x * y, y), real(3, 4), real(3, 4), name="where"),
    elementwise(lambda c, x, y: np.where(c, x, y), booleans(3, 4), real(3, 4), real(3, 4),
                name="where of a condition"),
    elementwise(lambda x: np.select([x > 1, x < -1], [x * x, -x], 0.5), real(3, 4), name="select"),
    elementwise(lambda x: np.select([x > 1, x > 0], [np.exp(x), x], np.sin(x)), real(3, 4),
                name="select of arrays"),
    elementwise(lambda x: np.nan_to_num(x, nan=1.0), real(3, 4), name="nan_to_num with a value"),
    elementwise(lambda x: np.isclose(x, 0.5), real(3, 4), name="isclose", order=0),
    elementwise(lambda x: x.conj() * x.conjugate(), real(3, 4), name="x.conj"),
    elementwise(lambda x: x.real * 2 + x.imag, real(3, 4), name="x.real and x.imag"),
    elementwise(lambda x: np.polyval([3.0, -2.0, 0.5], x), real(3, 4), name="polyval"),
    elementwise(lambda x: np.i0(x), real(3, 4), name="i0"),
    elementwise(lambda x: 1 / (1 + np.exp(-x)), real(3, 4), name="logistic"),
    elementwise(lambda x: np.astype(np.asarray(x), np.float32), real(3, 4), name="astype", order=0),
    elementwise(lambda x: x.astype(np.float64) ** 2, real(3, 4), name="x.astype"),
    elementwise(lambda x: x.astype(complex) * 1j, real(3, 4), name="x.astype to complex"),
    *[elementwise(f, complexes(3, 4), name=f"{f.__name__} of complex", any_dtype=False) for f in OF_COMPLEX],
    *[elementwise(f, complexes(3, 4), complexes(3, 4), name=f"{f.__name__} of complex", any_dtype=False)
      for f in (np.add, np.subtract, np.multiply, np.divide, np.power)],
    elementwise(lambda x, z: x * z + z / x, real(3, 4), complexes(3, 4), name="real with complex",
                any_dtype=False),
    elementwise(lambda z: z ** 3, complexes(3, 4), name="cube of complex", any_dtype=False),
    elementwise(lambda z: z.real ** 2 + z.imag, complexes(3, 4), name="parts of complex", any_dtype=False),
    row("stop_gradient", lambda x: cr.stop_gradient(x) * 2, real(3), order=0),
    row("piecewise", lambda x: np.piecewise(x, [x < 0, x >= 0], [lambda t: -t, lambda t: t * t]), real(6)),
    row("piecewise with numbers", lambda x: np.piecewise(x, [x < 0], [2.0, 1.0]), real(6)),
    row("unwrap", lambda p: np.unwrap(p * 3), real(7)),
    row("unwrap along an axis", lambda p: np.unwrap(p * 3, axis=0), real(4, 3)),
    row("allclose", lambda x: np.allclose(x, x + 1e-12), real(3), order=0),
    row("array_equal", lambda x: np.array_equal(x, x), real(3), order=0),
    row("iscomplexobj", lambda x: np.where(np.iscomplexobj(x), 1.0, 2.0) * x, real(3)),
    row("isrealobj", lambda x: np.where(np.isrealobj(x), 1.0, 2.0) * x, real(3)),
]
