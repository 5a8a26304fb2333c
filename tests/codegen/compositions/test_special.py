import numpy as np
import pytest
from scipy import special

from tests.codegen.compositions.comparing import agree, rows

x = np.random.default_rng(0).normal(size=(3, 4))
s = x.astype(np.float32)
b = np.array([1.0, 0.0, -0.5, 2.0])
inf = np.inf

CASES = rows(
    *[(f, a, *axis) for f in (special.logsumexp, special.softmax, special.log_softmax)
      for a in (x, s, x * 1000, np.arange(4))
      for axis in ((), (0,), (-1,)) if a.ndim > 1 or axis != (1,)],
    (special.logsumexp, x, (0, 1)), (special.logsumexp, x, 0, {"keepdims": True}),
    (special.logsumexp, x, 1, b),
    (special.logsumexp, x, 1, np.abs(b), {"keepdims": True}),
    (special.logsumexp, x, 1, b, {"return_sign": True}),
    (special.logsumexp, [-inf, -inf]), (special.logsumexp, [-inf, 1.0]), (special.logsumexp, [inf, 1.0]),
    (special.logsumexp, 2.0),
    (special.logsumexp, [np.nan, 1.0]), (special.logsumexp, [-inf, -inf], {"b": [1.0, 2.0]}),
    (special.softmax, 2.0),
    (special.softmax, [-inf, 1.0]), (special.log_softmax, [-inf, 1.0]), (np.i0, x),
    (special.erf, x), (special.expit, s), (special.polygamma, 2, np.abs(s)),
    (special.gammaln, np.arange(1, 4)), (special.xlogy, 0.0, 0.0),
)


@pytest.mark.parametrize("function, args, kwargs", CASES)
def test_agrees_with_scipy(function, args, kwargs):
    agree(function, args, kwargs)
