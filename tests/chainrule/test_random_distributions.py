"""The distributions of the samplers: Kolmogorov-Smirnov and chi-squared tests, moments, and independence
of streams.
"""

import numpy as np
import pytest
from scipy import stats

from chainrule import random

COUNT = 20000
# For fixed keys: a right sampler fails one test in 10,000 for a new choice of keys.
LEAST = 1e-4

CONTINUOUS = {
    "uniform": (lambda k, n: random.uniform(k, n, minval=-1.0, maxval=3.0), stats.uniform(-1, 4)),
    "normal": (random.normal, stats.norm()),
    "normal32": (lambda k, n: random.normal(k, n, np.float32), stats.norm()),
    "truncated": (lambda k, n: random.truncated_normal(k, -0.5, 2.0, n), stats.truncnorm(-0.5, 2)),
    "exponential": (random.exponential, stats.expon()),
    "laplace": (random.laplace, stats.laplace()),
    "gumbel": (random.gumbel, stats.gumbel_r()),
    "logistic": (random.logistic, stats.logistic()),
    "cauchy": (random.cauchy, stats.cauchy()),
    "t": (lambda k, n: random.t(k, 3.5, n), stats.t(3.5)),
    "beta": (lambda k, n: random.beta(k, 0.7, 2.0, n), stats.beta(0.7, 2)),
    **{
        f"gamma{a}": (lambda k, n, a=a: random.gamma(k, a, n), stats.gamma(a))
        for a in (0.05, 0.5, 1.0, 3.3, 1e4)
    },
}
DISCRETE = {
    "randint": (lambda k, n: random.randint(k, n, -3, 9), stats.randint(-3, 9)),
    "bernoulli": (lambda k, n: random.bernoulli(k, 0.3, n), stats.bernoulli(0.3)),
    **{
        f"poisson{m}": (lambda k, n, m=m: random.poisson(k, m, n), stats.poisson(m))
        for m in (0.3, 9.99, 10.0, 400.0)
    },
    **{
        f"binomial{n}-{p}": (lambda k, s, n=n, p=p: random.binomial(k, n, p, s), stats.binom(n, p))
        for n, p in ((10, 0.3), (10, 0.9), (100, 0.5), (1000, 0.7))
    },
}


@pytest.mark.parametrize("impl", ["threefry2x32", "philox4x32"])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name, impl):
    draw, expected = CONTINUOUS[name]
    sample = draw(random.key(11, impl), (COUNT,))
    assert stats.kstest(sample, expected.cdf).pvalue > LEAST


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name):
    draw, expected = DISCRETE[name]
    values, counts = np.unique(draw(random.key(12), (COUNT,)).astype(int), return_counts=True)
    likely = COUNT * expected.pmf(values)
    common = likely > 5
    rest = [COUNT - counts[common].sum()], [COUNT - likely[common].sum()]
    found, wanted = np.append(counts[common], rest[0]), np.append(likely[common], rest[1])
    if wanted[-1] < 1e-6:
        found, wanted = found[:-1], wanted[:-1]
    assert stats.chisquare(found, wanted * found.sum() / wanted.sum()).pvalue > LEAST


def test_moments():
    sample = random.normal(random.key(5), (200000,))
    error = 5 / np.sqrt(sample.size)
    for power, expected, spread in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs(np.mean(sample**power) - expected) < error * np.sqrt(spread)


@pytest.mark.parametrize("impl", ["threefry2x32", "philox4x32"])
def test_streams_are_uncorrelated(impl):
    key = random.key(6, impl)
    streams = [random.normal(k, (50000,)) for k in random.split(key, 6)]
    streams += [random.normal(random.fold_in(key, 1000 + k), (50000,)) for k in range(4)]
    if impl == "philox4x32":
        streams.append(random.normal(key, (50000,)))
    off = np.corrcoef(streams)[np.triu_indices(len(streams), 1)]
    assert np.abs(off).max() < 5 / np.sqrt(50000)
    lagged = [np.corrcoef(streams[0][:-lag], streams[0][lag:])[0, 1] for lag in range(1, 20)]
    assert np.abs(lagged).max() < 5 / np.sqrt(50000)


def test_vectors():
    key = random.key(8)
    mean, covariance = (
        np.array([1.0, -2.0, 0.5]),
        np.array([[2.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.5]]),
    )
    for method in ("cholesky", "eigh", "svd"):
        sample = random.multivariate_normal(key, mean, covariance, (COUNT,), method=method)
        assert np.abs(sample.mean(0) - mean).max() < 5 * np.sqrt(2 / COUNT)
        assert np.abs(np.cov(sample.T) - covariance).max() < 5 * np.sqrt(8 / COUNT)
    alpha = np.array([0.5, 2.0, 3.5])
    shares = random.dirichlet(key, alpha, (COUNT,))
    np.testing.assert_allclose(shares.sum(1), 1)
    for place in range(3):
        marginal = stats.beta(alpha[place], alpha.sum() - alpha[place])
        assert stats.kstest(shares[:, place], marginal.cdf).pvalue > LEAST


def test_orthogonal():
    for n, m in ((3, 3), (4, 2), (2, 4)):
        q = random.orthogonal(random.key(9), n, (500,), m)
        assert q.shape == (500, n, m)
        small = q @ np.swapaxes(q, 1, 2) if n <= m else np.swapaxes(q, 1, 2) @ q
        np.testing.assert_allclose(small, np.broadcast_to(np.eye(min(n, m)), small.shape), atol=1e-12)
        assert abs(q.mean()) < 5 / np.sqrt(q.size)


def test_choices():
    key = random.key(10)
    p = np.array([0.1, 0.2, 0.3, 0.4])
    for drawn in (random.choice(key, 4, (COUNT,), p=p), random.categorical(key, np.log(p), shape=(COUNT,))):
        assert stats.chisquare(np.bincount(drawn, minlength=4), COUNT * p).pvalue > LEAST
    for without in (
        random.choice(key, 9, (9,), replace=False),
        random.permutation(key, 9),
        random.categorical(key, np.zeros(9), shape=(9,), replace=False),
    ):
        assert sorted(without) == list(range(9))
    rows = random.choice(key, np.arange(12).reshape(3, 4), (2,), axis=1)
    assert rows.shape == (3, 2)
    assert set(np.unique(random.rademacher(key, (100,)))) == {-1, 1}
    orders = [tuple(random.permutation(k, 3)) for k in random.split(key, 3000)]
    counts = [orders.count(order) for order in set(orders)]
    assert len(counts) == 6 and stats.chisquare(counts).pvalue > LEAST
