"""Derivatives by the parameters of samplers: closed forms, and differences of quantiles for the implicit
ones.
"""

import numpy as np
import pytest
from scipy import special

import chainrule as cr
from chainrule import random
from chainrule.codegen.compositions.random_gamma import gamma_quantile_slope

KEY = random.key(21)


def test_scale_and_shift():
    noise = random.normal(KEY, (50,))
    slope = cr.grad(lambda mu, sigma: np.mean((mu + sigma * random.normal(KEY, (50,))) ** 2), argnums=(0, 1))
    found = slope(0.7, 1.3)
    np.testing.assert_allclose(
        found, (np.mean(2 * (0.7 + 1.3 * noise)), np.mean(2 * (0.7 + 1.3 * noise) * noise))
    )


def test_bounds():
    unit = random.uniform(KEY, (50,))
    found = cr.grad(lambda a, b: np.sum(random.uniform(KEY, (50,), minval=a, maxval=b)), argnums=(0, 1))(
        -1.0, 2.0
    )
    np.testing.assert_allclose(found, (np.sum(1 - unit), np.sum(unit)))
    f = lambda a: np.sum(random.truncated_normal(KEY, a, 1.5, (50,)) ** 2)
    np.testing.assert_allclose(cr.grad(f)(-0.5), (f(-0.5 + 1e-6) - f(-0.5 - 1e-6)) / 2e-6, rtol=1e-6)


def test_covariance():
    f = lambda root: np.sum(
        random.multivariate_normal(KEY, np.zeros(2), root @ root.T + np.eye(2), (20,)) ** 2
    )
    root = np.array([[1.0, 0.2], [-0.3, 0.8]])
    step = 1e-6 * np.array([[0.3, -1.0], [0.5, 0.7]])
    difference = (f(root + step) - f(root - step)) / 2e-6
    np.testing.assert_allclose(np.sum(cr.grad(f)(root) * step) / 1e-6, difference, rtol=1e-6)


@pytest.mark.parametrize("a", [0.01, 0.3, 1.7, 2.0, 3.0, 30.0, 1000.0, 5e5])
def test_slope_of_gamma_quantiles(a):
    u = np.array([0.01, 0.3, 0.5, 0.9, 0.999])
    u = u[special.gammaincinv(a, u) > 0]
    log_quantile = lambda a: np.log(special.gammaincinv(a, u))
    step = 1e-4 * a
    difference = (
        8 * (log_quantile(a + step) - log_quantile(a - step))
        - (log_quantile(a + 2 * step) - log_quantile(a - 2 * step))
    ) / (12 * step)
    np.testing.assert_allclose(
        gamma_quantile_slope(np.full(u.shape, a), log_quantile(a)), difference, rtol=2e-7
    )


def test_slope_of_very_large_gammas():
    # Near its mean a gamma variable moves with its parameter, and its spread as the root of it.
    a, x = 1e8, np.array([-2.0, 0.0, 1.0])
    slope = gamma_quantile_slope(np.full(3, a), np.log(a + x * np.sqrt(a)))
    np.testing.assert_allclose(slope * (a + x * np.sqrt(a)), 1 + x / (2 * np.sqrt(a)), rtol=1e-7)


def test_implicit():
    """At a fixed probability, dz/da is that of the inverse distribution function."""
    a = np.array([0.4, 1.5, 4.0, 20.0])
    sample = random.gamma(KEY, a)
    u = special.gammainc(a, sample)
    step = 1e-5 * a
    difference = (special.gammaincinv(a + step, u) - special.gammaincinv(a - step, u)) / (2 * step)
    draw = lambda a: np.sum(random.gamma(KEY, a))
    np.testing.assert_allclose(cr.grad(draw)(a), difference, rtol=1e-6)
    tangent = np.array([1.0, -2.0, 0.5, 3.0])
    np.testing.assert_allclose(cr.jvp(draw, (a,), (tangent,))[1], difference @ tangent, rtol=1e-6)
    second = lambda a: (
        (
            special.gammaincinv(a + 1e-3 * a, u)
            - 2 * special.gammaincinv(a, u)
            + special.gammaincinv(a - 1e-3 * a, u)
        )
        / (1e-3 * a) ** 2
    )
    np.testing.assert_allclose(cr.grad(lambda a: np.sum(cr.grad(draw)(a)))(a), second(a), rtol=1e-3)


@pytest.mark.parametrize(
    "name, draw, mean_slope",
    [
        ("gamma", lambda a: random.gamma(KEY, a, (40000,)), 1.0),
        ("beta", lambda a: random.beta(KEY, a, 2.0, (40000,)), 2 / (1.5 + 2) ** 2),
        (
            "dirichlet",
            lambda a: random.dirichlet(KEY, np.array([1.0, 0.0, 2.0]) + np.array([0.0, 1, 0]) * a, (40000,))[
                :, 1
            ],
            3 / (1.5 + 3) ** 2,
        ),
        ("variance of t", lambda a: random.t(KEY, a + 10, (40000,)) ** 2, -2 / (1.5 + 10 - 2) ** 2),
    ],
)
def test_expectations(name, draw, mean_slope):
    """The mean of the slope is the slope of the mean."""
    found = cr.grad(lambda a: np.mean(draw(a)))(1.5)
    np.testing.assert_allclose(found, mean_slope, atol=0.02)


def test_compiled():
    f = lambda a: np.mean(random.gamma(KEY, a, (100,)))
    np.testing.assert_allclose(cr.jit(cr.grad(f))(2.0), cr.grad(f)(2.0), rtol=1e-10)
