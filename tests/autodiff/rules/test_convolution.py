"""Derivatives of convolution."""

import numpy as np
import pytest

from chainrule.autodiff import rules  # noqa: F401
from chainrule.codegen.primitives.convolution import convolve
from tests.autodiff.rules.checks import check_rule


@pytest.mark.parametrize("dtype", ["f", "d", "D"])
@pytest.mark.parametrize("mode, sizes",
                         [("full", (5, 3)), ("full", (3, 5)), ("full", (1, 1)), ("full", (4, 4)),
                          ("valid", (5, 3)), ("valid", (3, 3)), ("valid", (4, 1))])
def test_convolve(mode, sizes, dtype):
    rng = np.random.default_rng(0)
    a, v = (rng.standard_normal(size).astype(dtype) for size in sizes)
    for operand in (0, 1):
        check_rule(convolve, a, v, operand=operand, mode=mode)
