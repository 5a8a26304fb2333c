"""Arithmetic with NumPy's meaning, where Numba's is another."""

import numpy as np
import pytest

import chainrule as cr


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("power", [lambda x: x**-1, lambda x: x**-2.0, lambda x: x**-3])
def test_zero_to_a_negative_power(power, dtype):
    x = np.array([0.0, 1.7, -0.3], dtype)
    with np.errstate(all="ignore"):
        for operand in (x, x[0]):
            np.testing.assert_allclose(cr.jit(power)(operand), power(operand), rtol=1e-6)
