"""The functions of support.py against scipy, over their whole range."""

import numpy as np
import pytest
from scipy import special

from chainrule.backends.numba import support

R = np.random.default_rng(1)
WIDE = np.concatenate(
    [R.standard_normal(200) * 10.0 ** R.integers(-8, 4, 200), [0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]]
)
INSIDE = np.concatenate([R.random(200), [0.0, 1.0, 0.5, 1e-300, 1 - 1e-16]])
PAIRS = R.random(200) * 10.0 ** R.integers(-5, 5, 200), R.random(200) * 10.0 ** R.integers(-5, 5, 200)


@pytest.mark.parametrize("name", ["erf", "erfc", "expit", "log_expit", "gammaln", "digamma", "entr", "ndtr"])
def test_one(name):
    found = [getattr(support, name)(x) for x in WIDE]
    np.testing.assert_allclose(found, getattr(special, name)(WIDE), rtol=2e-12, atol=1e-13)


def test_logit():
    np.testing.assert_allclose([support.logit(x) for x in INSIDE], special.logit(INSIDE), rtol=1e-14)


@pytest.mark.parametrize("name", ["xlogy", "xlog1py", "rel_entr", "kl_div"])
def test_two(name):
    found = [getattr(support, name)(x, y) for x, y in zip(*PAIRS)]
    np.testing.assert_allclose(found, getattr(special, name)(*PAIRS), rtol=1e-12, atol=1e-12)


def test_digamma_at_its_root():
    x = 1.4616321449683622 + np.linspace(-0.2, 0.2, 101)
    np.testing.assert_allclose([support.digamma(v) for v in x], special.digamma(x), rtol=1e-13, atol=1e-17)


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(side):
    a = np.array([-1.0, 0.0, 0.0, 2.0, np.inf, np.nan])
    for v in (-2.0, 0.0, 1.0, 2.0, np.inf, np.nan):
        assert support.searchsorted(a, v, side == "right") == np.searchsorted(a, v, side)


def test_slices():
    for n in range(4):
        for start in range(-5, 6):
            for step in (-2, -1, 1, 3):
                for stop in range(-5, 6):
                    wanted = range(n)[start:stop:step]
                    assert support.slice_size(n, start, stop, step) == len(wanted)
                    if len(wanted):
                        assert support.slice_start(n, start, step) == wanted[0]


def test_integer_power():
    assert [support.integer_power(-3, n) for n in range(5)] == [1, -3, 9, -27, 81]
    with pytest.raises(ValueError):
        support.integer_power(2, -1)
