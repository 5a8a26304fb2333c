"""scipy.special, and the math module on numbers."""
import math

import numpy as np
from scipy import special

from tests.functions.table import complexes, elementwise, fraction, integers, positive, real, row, unit

EVERYWHERE = (special.erf, special.erfc, special.erfcx, special.expit, special.log_expit, special.ndtr,
              special.log_ndtr, special.i0, special.i1, special.i0e, special.i1e, special.j0, special.j1)
ABOVE_ZERO = (special.gamma, special.gammaln, special.digamma, special.entr)
PAIRS_ABOVE_ZERO = (special.beta, special.betaln, special.xlogy, special.xlog1py, special.rel_entr,
                    special.kl_div)
MATH = (math.exp, math.expm1, math.exp2, math.cbrt, math.sin, math.cos, math.atan, math.sinh, math.cosh,
        math.tanh, math.asinh, math.erf, math.erfc, math.degrees, math.radians, math.fabs)
MATH_ABOVE_ZERO = (math.sqrt, math.log, math.log2, math.log10, math.log1p, math.gamma, math.lgamma)
MATH_INSIDE_ONE = (math.asin, math.acos, math.atanh, math.tan)
MATH_PAIRS = (math.atan2, math.copysign, math.pow, math.fmod, math.hypot)
MATH_STEPS = (math.floor, math.ceil, math.trunc, math.isnan, math.isinf, math.isfinite)

ROWS = [
    *[elementwise(f, real(3, 4)) for f in EVERYWHERE],
    *[elementwise(f, positive(3, 4)) for f in ABOVE_ZERO],
    *[elementwise(f, positive(3, 4), real(3, 4, low=0.3, high=2.5)) for f in PAIRS_ABOVE_ZERO],
    elementwise(special.erfinv, unit(3, 4)),
    elementwise(special.erfcinv, real(3, 4, low=0.2, high=1.8)),
    elementwise(special.logit, fraction(3, 4)),
    elementwise(special.ndtri, fraction(3, 4)),
    *[elementwise(lambda x, f=f: f(2, x), positive(3, 4), name=f.__name__)
      for f in (special.iv, special.ive, special.jv, special.polygamma)],
    row("logsumexp", lambda x: special.logsumexp(x), real(3, 4), resized=False),
    row("logsumexp along an axis", lambda x: special.logsumexp(x, axis=1, keepdims=True), real(3, 4)),
    row("logsumexp with weights", lambda x: special.logsumexp(x, b=np.array([1.0, 2.0, 0.5]), axis=0),
        real(3),
        any_dtype=False, resized=False),
    row("logsumexp with signs", lambda x: special.logsumexp(x, b=np.array([1.0, -0.2, 0.5]),
                                                            return_sign=True), real(3),
        any_dtype=False, resized=False),
    row("softmax", lambda x: special.softmax(x), real(3, 4)),
    row("softmax along an axis", lambda x: special.softmax(x, axis=-1), real(3, 4)),
    row("log_softmax", lambda x: special.log_softmax(x, axis=0), real(3, 4)),
    *[row(f"math.{f.__name__}", lambda x, f=f: f(x), real()) for f in MATH],
    *[row(f"math.{f.__name__}", lambda x, f=f: f(x), positive()) for f in MATH_ABOVE_ZERO],
    *[row(f"math.{f.__name__}", lambda x, f=f: f(x), unit(), any_dtype=False) for f in MATH_INSIDE_ONE],
    row("math.acosh", lambda x: math.acosh(x), real(low=1.2, high=3.0)),
    *[row(f"math.{f.__name__}", lambda x, y, f=f: f(x, y), positive(), real(low=0.3, high=0.9),
          any_dtype=False)
      for f in MATH_PAIRS],
    *[row(f"math.{f.__name__}", lambda x, f=f: f(x), real(), order=0, any_dtype=False) for f in MATH_STEPS],
    row("math.log to a base", lambda x: math.log(x, 3), positive()),
    row("math.hypot of three", lambda x: math.hypot(x, 2.0, x * x), positive()),
    row("math.dist", lambda x: math.dist((x, 1.0), (0.5, x * x)), positive()),
    row("math.prod", lambda x: math.prod([x, x, 2.0]), real()),
    row("math.modf", lambda x: math.modf(x), real()),
    row("math.isclose", lambda x: math.isclose(x, x), real(), order=0),
    row("math.gcd", lambda n: math.gcd(n, 18), integers(low=4, high=13), any_dtype=False),
    row("math.lcm", lambda n: math.lcm(n, 6), integers(low=4, high=13), any_dtype=False),
    row("absolute square", lambda z: np.sum(np.abs(z) ** 2), complexes(3), any_dtype=False),
]
