"""erf: an odd series near 0; beyond, 1 minus exp(-x^2) times a smooth function of 1 / (x + 2).

Coefficients: tests/backends/numba/fits.py.
"""

import numba

from .bits import bits, fma, number, polynomial, select
from .exponential import exp

njit = numba.njit(error_model="numpy", cache=True, forceinline=True)

ERF = (
    1.0639801033024824e-08,
    -1.5684724699026574e-07,
    1.6397310163836153e-06,
    -1.4921775211100304e-05,
    0.00012055183213244927,
    -0.000854832329300995,
    0.0052239775673850915,
    -0.026866170639851965,
    0.11283791670930476,
    -0.37612638903183304,
    0.12837916709551256,
)
ERFC = (
    -337.1347890967968,
    993.9487503303342,
    -259.5006143236592,
    -208.63391693758675,
    142.84026908847994,
    14.587334492290852,
    -47.908229510689765,
    7.078055050712614,
    15.692748288536118,
    -4.584222398842227,
    -6.923638724910182,
    1.3081251245503822,
    5.009313975142241,
    3.715536704435348,
    1.6329249776961712,
    0.23868985116466462,
)


@njit
def erf(x):
    c = abs(x)
    z = c * c
    small = fma(c, polynomial(z, ERF), c)
    c = select(c > 6.0, 6.0, c)
    large = 1.0 - exp(-(c * c)) * polynomial(1.0 / (c + 2.0) - 0.24, ERFC)
    value = select(z < 0.72, small, large)
    return select(x == x, number(bits(value) | (bits(x) & -9223372036854775808)), x)
