"""Random numbers from keys: no hidden state, the same numbers eager, compiled, batched and in a derivative.

A key selects a stream of random bits. It is a small NumPy array; `split` and `fold_in` make more keys of
it. The names and arguments are those of jax.random, and with the default generator so are the numbers of
key, split, fold_in, bits, uniform, normal, randint and permutation. Floats are float64 and integers
int64 unless `dtype` says otherwise.

>>> import numpy as np
>>> import chainrule as cr
>>> key = cr.random.key(0)
>>> first, second = cr.random.split(key)
>>> cr.random.normal(first, (2, 3)).shape
(2, 3)
>>> spread = cr.grad(lambda sigma: np.mean((sigma * cr.random.normal(second, (100000,))) ** 2))
>>> bool(abs(spread(2.0) - 4.0) < 0.1)
True
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .codegen.compositions import random_bits, random_counts, random_floats, random_gamma, random_integers
from .runtime.keys import uses_key

Shape = Any


def key(seed: int, impl: str = "threefry2x32") -> np.ndarray:
    """The key of a seed.

    Args:
        seed: an integer, of which 64 bits count.
        impl: the generator: "threefry2x32" (JAX's default) or "philox4x32" (fewer operations for a number).

    Returns:
        An array of shape (2,): of dtype uint32 for Threefry, uint64 for Philox.

    Both generators are of J. Salmon and others, Parallel random numbers: as easy as 1, 2, 3 (SC 2011).

    >>> key(42)
    array([ 0, 42], dtype=uint32)
    """
    return random_bits.make_key(seed, impl)


def split(key: np.ndarray, num: int | tuple[int, ...] = 2) -> np.ndarray:
    """Independent keys made of one, in an array of shape (num, 2). The key itself should not be used
    again.
    """
    return random_bits.split(key, num)


def fold_in(key: np.ndarray, data: int) -> np.ndarray:
    """A key made of a key and an integer, of which 32 bits count: a number of an epoch, a step, or a lane."""
    return random_bits.fold_in(key, data)


def key_data(keys: np.ndarray) -> np.ndarray:
    """The words of 32 bits that keys are made of: two for Threefry, four for Philox."""
    return random_bits.key_data(keys)


def bits(key: np.ndarray, shape: Shape = (), dtype: Any = np.uint64) -> Any:
    """Random unsigned integers of all values."""
    return random_bits.bits(key, shape, dtype)


def uniform(
    key: np.ndarray, shape: Shape = (), dtype: Any = np.float64, minval: Any = 0.0, maxval: Any = 1.0
) -> Any:
    """Floats evenly distributed over [minval, maxval). Differentiable by the bounds."""
    return random_floats.uniform(key, shape, dtype, minval, maxval)


def normal(key: np.ndarray, shape: Shape = (), dtype: Any = np.float64) -> Any:
    """Numbers of the standard normal distribution; complex ones with E|z|**2 = 1.

    M. Giles, Approximating the erfinv function (GPU Computing Gems, volume 2, 2010).
    """
    return random_floats.normal(key, shape, dtype)


def randint(key: np.ndarray, shape: Shape, minval: Any, maxval: Any, dtype: Any = np.int64) -> Any:
    """Integers evenly distributed over [minval, maxval)."""
    return random_integers.randint(key, shape, minval, maxval, dtype)


def bernoulli(key: np.ndarray, p: Any = 0.5, shape: Shape | None = None) -> Any:
    """True with probability p, else False."""
    return random_integers.bernoulli(key, p, shape)


def categorical(
    key: np.ndarray, logits: Any, axis: int = -1, shape: Shape | None = None, replace: bool = True
) -> Any:
    """Numbers of categories, drawn with probabilities proportional to exp(logits) along an axis."""
    return random_integers.categorical(key, logits, axis, shape, replace)


def choice(
    key: np.ndarray, a: Any, shape: Shape = (), replace: bool = True, p: Any = None, axis: int = 0
) -> Any:
    """Elements drawn from an array along an axis, or from the integers below a number; `p` gives
    probabilities.
    """
    return random_integers.choice(key, a, shape, replace, p, axis)


def permutation(key: np.ndarray, x: Any, axis: int = 0, independent: bool = False) -> np.ndarray:
    """An array in random order along an axis, or the integers below a number.

    With `independent`, each line of the array along the axis has an order of its own.
    """
    return random_integers.permutation(key, x, axis, independent)


def truncated_normal(
    key: np.ndarray, lower: Any, upper: Any, shape: Shape | None = None, dtype: Any = np.float64
) -> Any:
    """Standard normal numbers between two bounds. Differentiable by the bounds."""
    return random_floats.truncated_normal(key, lower, upper, shape, dtype)


def multivariate_normal(
    key: np.ndarray,
    mean: Any,
    cov: Any,
    shape: Shape | None = None,
    dtype: Any = np.float64,
    method: str = "cholesky",
) -> Any:
    """Normal vectors of a mean and a covariance matrix. Differentiable by both.

    `method` is how the root of the covariance is taken: "cholesky", "eigh" or "svd".
    """
    return random_floats.multivariate_normal(key, mean, cov, shape, dtype, method)


def gamma(key: np.ndarray, a: Any, shape: Shape | None = None, dtype: Any = np.float64) -> Any:
    """Numbers of density x**(a - 1) exp(-x) / gamma(a).

    G. Marsaglia and W. Tsang, A simple method for generating gamma variables (ACM TOMS, 2000).
    Differentiable by `a`, implicitly: M. Figurnov, S. Mohamed and A. Mnih, Implicit reparameterization
    gradients (NeurIPS 2018).
    """
    return random_gamma.gamma(key, a, shape, dtype)


def beta(key: np.ndarray, a: Any, b: Any, shape: Shape | None = None, dtype: Any = np.float64) -> Any:
    """Numbers of density proportional to x**(a - 1) (1 - x)**(b - 1). Differentiable by `a` and `b`."""
    return random_gamma.beta(key, a, b, shape, dtype)


def dirichlet(key: np.ndarray, alpha: Any, shape: Shape | None = None, dtype: Any = np.float64) -> Any:
    """Vectors of probabilities, of density proportional to prod(x**(alpha - 1)). Differentiable by
    `alpha`.
    """
    return random_gamma.dirichlet(key, alpha, shape, dtype)


def poisson(key: np.ndarray, lam: Any, shape: Shape | None = None, dtype: Any = np.int64) -> Any:
    """Counts of mean `lam`.

    W. Hörmann, The transformed rejection method for generating Poisson random variables (1993).
    """
    return random_counts.poisson(key, lam, shape, dtype)


def exponential(key: np.ndarray, shape: Shape = (), dtype: Any = np.float64) -> Any:
    """Numbers of density exp(-x)."""
    return random_floats.exponential(key, shape, dtype)


def laplace(key: np.ndarray, shape: Shape = (), dtype: Any = np.float64) -> Any:
    """Numbers of density exp(-|x|) / 2."""
    return random_floats.laplace(key, shape, dtype)


def gumbel(key: np.ndarray, shape: Shape = (), dtype: Any = np.float64) -> Any:
    """Numbers of the distribution function exp(-exp(-x))."""
    return random_floats.gumbel(key, shape, dtype)


def cauchy(key: np.ndarray, shape: Shape = (), dtype: Any = np.float64) -> Any:
    """Numbers of density 1 / (pi (1 + x**2))."""
    return random_floats.cauchy(key, shape, dtype)


def logistic(key: np.ndarray, shape: Shape = (), dtype: Any = np.float64) -> Any:
    """Numbers of the distribution function 1 / (1 + exp(-x))."""
    return random_floats.logistic(key, shape, dtype)


def t(key: np.ndarray, df: Any, shape: Shape = (), dtype: Any = np.float64) -> Any:
    """Numbers of Student's t distribution with `df` degrees of freedom. Differentiable by `df`."""
    return random_gamma.t(key, df, shape, dtype)


def rademacher(key: np.ndarray, shape: Shape = (), dtype: Any = np.int64) -> Any:
    """1 or -1, with equal probability."""
    return random_integers.rademacher(key, shape, dtype)


def orthogonal(
    key: np.ndarray, n: int, shape: Shape = (), m: int | None = None, dtype: Any = np.float64
) -> Any:
    """Matrices of n rows and m columns, evenly distributed among those with orthonormal rows or columns.

    F. Mezzadri, How to generate random matrices from the classical compact groups (Notices of the AMS, 2007).
    """
    return random_floats.orthogonal(key, n, shape, m, dtype)


def binomial(key: np.ndarray, n: Any, p: Any, shape: Shape | None = None, dtype: Any = np.float64) -> Any:
    """Counts of successes in `n` trials of probability `p`, as floats.

    W. Hörmann, The generation of binomial random variates (J. Stat. Comput. Simul., 1993).
    """
    return random_counts.binomial(key, n, p, shape, dtype)


for sampler in (
    split,
    bits,
    uniform,
    normal,
    randint,
    bernoulli,
    categorical,
    choice,
    permutation,
    truncated_normal,
    multivariate_normal,
    gamma,
    beta,
    dirichlet,
    poisson,
    exponential,
    laplace,
    gumbel,
    cauchy,
    logistic,
    t,
    rademacher,
    orthogonal,
    binomial,
):
    uses_key(sampler)
