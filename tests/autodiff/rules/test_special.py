"""Derivatives of the functions of scipy.special."""

import numpy as np
import pytest

from chainrule.autodiff import rules  # noqa: F401
from chainrule.codegen.primitives import special
from tests.autodiff.rules.checks import check_rule

ANYWHERE = np.array([-2.1, -0.4, 0.3, 1.7])
POSITIVE = np.array([0.2, 0.9, 1.6, 4.0])
UNIT = np.array([0.1, 0.45, 0.9])
CASES = [
    *((name, (ANYWHERE,),
       0) for name in "erf erfc erfcx ndtr log_ndtr expit log_expit i0 i1 i0e i1e j0 j1".split()),
    *((name, (POSITIVE,), 0) for name in "gamma gammaln digamma entr".split()),
    *((name, (UNIT,), 0) for name in "erfinv erfcinv ndtri logit".split()),
    ("erfinv", (-UNIT,), 0), ("gamma", (ANYWHERE,), 0), ("gammaln", (ANYWHERE,), 0),
    ("polygamma", (1, POSITIVE), 1), ("polygamma", (2, POSITIVE), 1),
    *((name, (2, ANYWHERE), 1) for name in ("iv", "ive", "jv")),
    *((name, (POSITIVE, POSITIVE[::-1]), i) for i in (0, 1)
      for name in "beta betaln xlogy xlog1py rel_entr kl_div".split()),
    ("xlogy", (np.zeros(1), np.ones(1)), 0), ("i0", (np.zeros(2),), 0), ("i1", (np.zeros(2),), 0),
]


@pytest.mark.parametrize("name, operands, operand", CASES)
def test_special(name, operands, operand):
    primitive = getattr(special, name)
    check_rule(primitive, *operands, operand=operand, tolerance=1e-5)
    if name != "polygamma":
        single = [o.astype("f") if isinstance(o, np.ndarray) else o for o in operands]
        out = primitive(*single)
        assert out.dtype == np.float32
        assert primitive.vjp[operand](out, out, *single).dtype == np.float32


def test_edges():
    zero = np.zeros(1)
    assert special.xlogy.vjp[1](1.0, zero, zero, zero) == 0
    assert special.xlog1py.vjp[1](1.0, zero, zero, zero - 1) == 0
    assert 0 < special.expit.vjp[0](1.0, special.expit(40.0), 40.0) < 1e-16
