"""Derivatives of the functions of scipy.special (DLMF, chapters 5, 7 and 10)."""
from __future__ import annotations

import math

import numpy as np

from ...codegen.compositions.random_gamma import gamma_quantile_slope
from ...codegen.late import special as scipy_special
from ...codegen.primitives import special
from .elementwise import partial

ROOT_PI = math.sqrt(math.pi)
ROOT_TWO_PI = math.sqrt(2 * math.pi)

partial(special.erf, lambda out, x: 2 / ROOT_PI * np.exp(-x * x))
partial(special.erfc, lambda out, x: -2 / ROOT_PI * np.exp(-x * x))
partial(special.erfcx, lambda out, x: 2 * x * out - 2 / ROOT_PI)
partial(special.erfinv, lambda out, x: ROOT_PI / 2 * np.exp(out * out))
partial(special.erfcinv, lambda out, x: -ROOT_PI / 2 * np.exp(out * out))
partial(special.ndtr, lambda out, x: np.exp(-x * x / 2) / ROOT_TWO_PI)
partial(special.ndtri, lambda out, x: ROOT_TWO_PI * np.exp(out * out / 2))
partial(special.log_ndtr, lambda out, x: np.exp(-x * x / 2 - out) / ROOT_TWO_PI)

partial(special.gamma, lambda out, x: out * scipy_special.digamma(x))
partial(special.gammaln, lambda out, x: scipy_special.digamma(x))
partial(special.digamma, lambda out, x: scipy_special.polygamma(1, x).astype(out.dtype))
partial(special.polygamma, lambda out, n, x: scipy_special.polygamma(n + 1, x), 1)
partial(special.beta, lambda out, a, b: out * (scipy_special.digamma(a) - scipy_special.digamma(a + b)), 0)
partial(special.beta, lambda out, a, b: out * (scipy_special.digamma(b) - scipy_special.digamma(a + b)), 1)
partial(special.betaln, lambda out, a, b: scipy_special.digamma(a) - scipy_special.digamma(a + b), 0)
partial(special.betaln, lambda out, a, b: scipy_special.digamma(b) - scipy_special.digamma(a + b), 1)

# expit(-x) is 1 - expit(x) without its cancellation.
partial(special.expit, lambda out, x: out * scipy_special.expit(-x))
partial(special.logit, lambda out, x: 1 / (x * (1 - x)))
partial(special.log_expit, lambda out, x: scipy_special.expit(-x))


def ratio(x, y):
    """x / y, and 0 where both are."""
    return x / np.where((x == 0) & (y == 0), 1, y)


partial(special.xlogy, lambda out, x, y: np.log(y), 0)
partial(special.xlogy, lambda out, x, y: ratio(x, y), 1)
partial(special.xlog1py, lambda out, x, y: np.log1p(y), 0)
partial(special.xlog1py, lambda out, x, y: ratio(x, 1 + y), 1)
partial(special.entr, lambda out, x: -np.log(x) - 1)
partial(special.rel_entr, lambda out, x, y: np.log(x / y) + 1, 0)
partial(special.rel_entr, lambda out, x, y: -ratio(x, y), 1)
partial(special.kl_div, lambda out, x, y: np.log(x / y), 0)
partial(special.kl_div, lambda out, x, y: 1 - ratio(x, y), 1)

partial(special.i0, lambda out, x: scipy_special.i1(x))
partial(special.i1, lambda out, x: (scipy_special.i0(x) + scipy_special.iv(2, x)) / 2)
partial(special.iv, lambda out, v, x: (scipy_special.iv(v - 1, x) + scipy_special.iv(v + 1, x)) / 2, 1)
partial(special.i0e, lambda out, x: scipy_special.i1e(x) - np.sign(x) * out)
partial(special.i1e, lambda out, x: (scipy_special.i0e(x) + scipy_special.ive(2, x)) / 2 - np.sign(x) * out)
partial(
    special.ive,
    lambda out, v, x: (scipy_special.ive(v - 1, x) + scipy_special.ive(v + 1, x)) / 2 - np.sign(x) * out,
    1,
)
partial(special.j0, lambda out, x: -scipy_special.j1(x))
partial(special.j1, lambda out, x: (scipy_special.j0(x) - scipy_special.jv(2, x)) / 2)
partial(special.jv, lambda out, v, x: (scipy_special.jv(v - 1, x) - scipy_special.jv(v + 1, x)) / 2, 1)

partial(special.gamma_quantile, lambda out, a, y: gamma_quantile_slope(a, out))
