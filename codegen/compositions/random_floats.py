"""Random floats: uniform, and what is made of a uniform number by a formula.

M. Giles, Approximating the erfinv function (GPU Computing Gems, volume 2, 2010) for normal numbers: its
polynomials, because JAX has them too, and the streams are to be the same. So its logarithm is XLA's as
well: S. Moshier's rational function (Cephes, log1p), used up to sqrt(2) - 1 in magnitude, which loses
two digits at that end; and so products and sums are rounded together where XLA does that. The sixteenth
digit of a random number is of no consequence, but which number it is, is.
"""

from __future__ import annotations

import math

import numpy as np

from ..late import special
from ..primitives.multiply_add import logarithm, multiply_add
from .arguments import product, shape_tuple
from .random_bits import in_blocks, integers, shaped, split

# Bits of the mantissa, and the unsigned integers of the same size.
MANTISSAS = {"float16": (10, np.uint16), "float32": (23, np.uint32), "float64": (52, np.uint64)}

SINGLE_CENTRE = (
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
    -0.00417768164,
    0.246640727,
    1.50140941,
)
SINGLE_TAIL = (
    -0.000200214257,
    0.000100950558,
    0.00134934322,
    -0.00367342844,
    0.00573950773,
    -0.0076224613,
    0.00943887047,
    1.00167406,
    2.83297682,
)
DOUBLE_CENTRE = (
    -3.6444120640178196996e-21,
    -1.685059138182016589e-19,
    1.2858480715256400167e-18,
    1.115787767802518096e-17,
    -1.333171662854620906e-16,
    2.0972767875968561637e-17,
    6.6376381343583238325e-15,
    -4.0545662729752068639e-14,
    -8.1519341976054721522e-14,
    2.6335093153082322977e-12,
    -1.2975133253453532498e-11,
    -5.4154120542946279317e-11,
    1.051212273321532285e-09,
    -4.1126339803469836976e-09,
    -2.9070369957882005086e-08,
    4.2347877827932403518e-07,
    -1.3654692000834678645e-06,
    -1.3882523362786468719e-05,
    0.0001867342080340571352,
    -0.00074070253416626697512,
    -0.0060336708714301490533,
    0.24015818242558961693,
    1.6536545626831027356,
)
DOUBLE_TAIL = (
    2.2137376921775787049e-09,
    9.0756561938885390979e-08,
    -2.7517406297064545428e-07,
    1.8239629214389227755e-08,
    1.5027403968909827627e-06,
    -4.013867526981545969e-06,
    2.9234449089955446044e-06,
    1.2475304481671778723e-05,
    -4.7318229009055733981e-05,
    6.8284851459573175448e-05,
    2.4031110387097893999e-05,
    -0.0003550375203628474796,
    0.00095328937973738049703,
    -0.0016882755560235047313,
    0.0024914420961078508066,
    -0.0037512085075692412107,
    0.005370914553590063617,
    1.0052589676941592334,
    3.0838856104922207635,
)
DOUBLE_FAR_TAIL = (
    -2.7109920616438573243e-11,
    -2.5556418169965252055e-10,
    1.5076572693500548083e-09,
    -3.7894654401267369937e-09,
    7.6157012080783393804e-09,
    -1.4960026627149240478e-08,
    2.9147953450901080826e-08,
    -6.7711997758452339498e-08,
    2.2900482228026654717e-07,
    -9.9298272942317002539e-07,
    4.5260625972231537039e-06,
    -1.9681778105531670567e-05,
    7.5995277030017761139e-05,
    -0.00021503011930044477347,
    -0.00013871931833623122026,
    1.0103004648645343977,
    4.8499064014085844221,
)

SMALL = math.sqrt(2) - 1
LOGARITHM_ABOVE = (
    4.5270000862445199635215e-5,
    4.9854102823193375972212e-1,
    6.5787325942061044846969,
    2.9911919328553073277375e1,
    6.0949667980987787057556e1,
    5.7112963590585538103336e1,
    2.0039553499201281259648e1,
)
LOGARITHM_BELOW = (
    1.0,
    1.5062909083469192043167e1,
    8.3047565967967209469434e1,
    2.2176239823732856465394e2,
    3.0909872225312059774938e2,
    2.1642788614495947685003e2,
    6.0118660497603843919306e1,
)


def float_dtype(dtype):
    """A dtype of real floats."""
    dtype = np.dtype(dtype)
    if dtype.name not in MANTISSAS:
        raise TypeError(f"random floats are of dtype float16, float32 or float64, not {dtype}")
    return dtype


def common_shape(shape, *parameters):
    """The shape asked for, or that of the parameters together."""
    if shape is None:
        return np.broadcast_shapes(*[np.shape(parameter) for parameter in parameters])
    return shape_tuple(shape)


def floating(value, dtype):
    """A parameter in the dtype of the sample; a Python number already is."""
    if isinstance(value, (int, float)) and not isinstance(value, np.generic):
        return value
    value = np.asarray(value)
    return value if value.dtype == dtype else value.astype(dtype)


def unit_interval(key, start, count, dtype):
    """Floats in [0, 1), of as many values as the mantissa has."""
    mantissa, unsigned = MANTISSAS[dtype.name]
    unsigned = np.dtype(unsigned)
    words = integers(key, start, count, unsigned) >> (8 * unsigned.itemsize - mantissa)
    return words.astype(dtype) * 2.0**-mantissa


def uniform(key, shape, dtype, minval, maxval):
    """Floats in [minval, maxval)."""
    dtype = float_dtype(dtype)
    shape = common_shape(shape, minval, maxval)
    low, high = floating(minval, dtype), floating(maxval, dtype)
    unit = shaped(in_blocks(unit_interval, key, product(shape), dtype), shape)
    if isinstance(low, (int, float)) and isinstance(high, (int, float)):
        if low == 0 and high == 1:
            return unit
        low, high = dtype.type(low), dtype.type(high)
    if dtype == np.float16:
        return np.maximum(low, unit * (high - low) + low)
    return np.maximum(low, multiply_add(unit, high - low, low))


def polynomial(coefficients, x):
    """A polynomial whose products and sums are rounded together, as XLA's are on processors that can."""
    total = multiply_add(coefficients[0], x, coefficients[1])
    for coefficient in coefficients[2:]:
        total = multiply_add(total, x, coefficient)
    return total


def log1p(x):
    """log(1 + x)."""
    square = x * x
    ratio = polynomial(LOGARITHM_ABOVE, x) / polynomial(LOGARITHM_BELOW, x)
    near = x * square * ratio - 0.5 * square + x
    # Loops compute both sides, and this one takes longer at a few numbers: not at those that are near.
    far = logarithm(np.minimum(1 + x, 0.6))
    return np.where(np.abs(x) < SMALL, near, far)


def inverse_erf(x):
    """The inverse of the error function inside (-1, 1)."""
    w = -log1p(-x * x)
    root = np.sqrt(w)
    if x.dtype == np.float64:
        pieces = (
            (w < 6.25, w - 3.125, DOUBLE_CENTRE),
            (w < 16, root - 3.25, DOUBLE_TAIL),
            (True, root - 5, DOUBLE_FAR_TAIL),
        )
    else:
        pieces = ((w < 5, w - 2.5, SINGLE_CENTRE), (True, root - 3, SINGLE_TAIL))
    _, place, coefficients = pieces[-1]
    factor = polynomial(coefficients, place)
    for near, place, coefficients in reversed(pieces[:-1]):
        factor = np.where(near, polynomial(coefficients, place), factor)
    return factor * x


def flat_normal(key, start, count, dtype):
    """Standard normal numbers, in one dimension."""
    working = np.dtype(np.float32) if dtype == np.float16 else dtype
    low = np.nextafter(dtype.type(-1), dtype.type(0)).astype(working)
    unit = unit_interval(key, start, count, dtype).astype(working)
    symmetric = np.maximum(low, unit * (1 - low) + low)
    return (working.type(math.sqrt(2)) * inverse_erf(symmetric)).astype(dtype)


def normal(key, shape, dtype):
    """Standard normal numbers; complex ones have both parts of variance 1/2."""
    dtype, shape = np.dtype(dtype), shape_tuple(shape)
    if dtype.kind == "c":
        keys = split(key, 2)
        part = np.dtype(f"float{4 * dtype.itemsize}")
        real, imaginary = (in_blocks(flat_normal, keys[place], product(shape), part) for place in (0, 1))
        return shaped((real + 1j * imaginary) / part.type(math.sqrt(2)), shape)
    return shaped(in_blocks(flat_normal, key, product(shape), float_dtype(dtype)), shape)


def truncated_normal(key, lower, upper, shape, dtype):
    """Standard normal numbers between two bounds."""
    dtype = float_dtype(dtype)
    shape = common_shape(shape, lower, upper)
    low, high = floating(lower, dtype) * 1.0, floating(upper, dtype) * 1.0
    root = math.sqrt(2)
    below, above = special.erf(low / root), special.erf(high / root)
    part = uniform(key, shape, dtype, 0.0, 1.0)
    found = root * special.erfinv(below + part * (above - below))
    return np.clip(found, low, high).astype(dtype)


def positive_unit(key, shape, dtype):
    """Floats in (0, 1)."""
    tiny = np.finfo(dtype).tiny
    return np.maximum(uniform(key, shape, dtype, 0.0, 1.0), tiny)


def exponential(key, shape, dtype):
    """Numbers of density exp(-x)."""
    return -np.log1p(-uniform(key, shape, dtype, 0.0, 1.0))


def laplace(key, shape, dtype):
    """Numbers of density exp(-|x|) / 2."""
    dtype = float_dtype(dtype)
    u = uniform(key, shape, dtype, float(-1 + np.finfo(dtype).epsneg), 1.0)
    return np.sign(u) * -np.log1p(-np.abs(u))


def gumbel(key, shape, dtype):
    """Numbers of the distribution function exp(-exp(-x))."""
    return -np.log(-np.log(positive_unit(key, shape, float_dtype(dtype))))


def logistic(key, shape, dtype):
    """Numbers of the distribution function 1 / (1 + exp(-x))."""
    u = positive_unit(key, shape, float_dtype(dtype))
    return np.log(u) - np.log1p(-u)


def cauchy(key, shape, dtype):
    """Numbers of density 1 / (pi (1 + x**2))."""
    dtype = float_dtype(dtype)
    u = uniform(key, shape, dtype, float(np.finfo(dtype).eps), 1.0)
    return np.tan(math.pi * (u - 0.5))


def multivariate_normal(key, mean, cov, shape, dtype, method):
    """Normal numbers of a mean and a covariance."""
    dtype = float_dtype(dtype)
    mean, cov = np.atleast_1d(floating(mean, dtype)) * 1.0, floating(cov, dtype)
    if cov.ndim < 2 or method not in ("cholesky", "eigh", "svd"):
        raise ValueError(
            "multivariate_normal takes a covariance matrix, and method= 'cholesky', 'eigh' or 'svd'"
        )
    batch = common_shape(shape, mean[..., 0], cov[..., 0, 0])
    if method == "cholesky":
        factor = np.linalg.cholesky(cov)
    elif method == "eigh":
        values, vectors = np.linalg.eigh(cov)
        factor = vectors * np.sqrt(values)[..., None, :]
    else:
        left, values, _ = np.linalg.svd(cov)
        factor = left * np.sqrt(values)[..., None, :]
    standard = normal(key, batch + (mean.shape[-1],), dtype)
    return mean + np.einsum("...ij,...j->...i", factor, standard)


def orthogonal(key, n, shape, m, dtype):
    """Matrices with orthonormal rows or columns, of the uniform (Haar) distribution.

    F. Mezzadri, How to generate random matrices from the classical compact groups (Notices of the AMS, 2007).
    """
    dtype = np.dtype(dtype)
    m = n if m is None else m
    shape = shape_tuple(shape)
    q, r = np.linalg.qr(normal(key, shape + (max(n, m), min(n, m)), dtype))
    diagonal = np.diagonal(r, 0, -2, -1)
    q = q * (diagonal / np.abs(diagonal))[..., None, :]
    return np.conj(np.swapaxes(q, -2, -1)) if n < m else q
