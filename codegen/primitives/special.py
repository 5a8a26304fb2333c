"""Elementwise functions of scipy.special."""
from __future__ import annotations

import numpy as np

from ..late import LateFunction
from ..registry import Primitive
from ..trees import call
from .elementwise import elementwise
from .promotion import ufunc_dtype


def named(name: str) -> Primitive:
    """A primitive that is a ufunc of scipy.special of the same name."""
    function = LateFunction("scipy.special", name)
    dtype_of = lambda types: ufunc_dtype(function.found(), types)
    return elementwise(name, function, function, printed=f"scipy.special.{name}", dtype_of=dtype_of)


erf, erfc, erfcx, erfinv, erfcinv = map(named, ("erf", "erfc", "erfcx", "erfinv", "erfcinv"))
gamma, gammaln, digamma, beta, betaln = map(named, ("gamma", "gammaln", "digamma", "beta", "betaln"))
expit, logit, log_expit = map(named, ("expit", "logit", "log_expit"))
xlogy, xlog1py, entr, rel_entr, kl_div = map(named, ("xlogy", "xlog1py", "entr", "rel_entr", "kl_div"))
ndtr, ndtri, log_ndtr = map(named, ("ndtr", "ndtri", "log_ndtr"))
i0, i1, i0e, i1e, iv, ive = map(named, ("i0", "i1", "i0e", "i1e", "iv", "ive"))
j0, j1, jv = map(named, ("j0", "j1", "jv"))

late_polygamma = LateFunction("scipy.special", "polygamma")
polygamma = elementwise("polygamma", late_polygamma, late_polygamma, printed="scipy.special.polygamma",
                        dtype_of=lambda types: np.dtype(np.float64))

# The logarithm y of a quantile of the gamma distribution, as a function of its parameter: y itself. What
# it is for is its derivative by `a`, at a fixed probability.
gamma_quantile = elementwise("gamma_quantile", lambda a, y: np.positive(y),
                             dtype_of=lambda types: types[1].dtype,
                             printed=lambda a, y: call("np.positive", y))
