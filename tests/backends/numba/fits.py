"""The coefficients in backends/numba/elementary: Chebyshev interpolation with 100 digits, then rounded.

    python tests/backends/numba/fits.py

prints every table with the greatest error of its fit. Leading terms that are exact stay out of the fit.
"""

from mpmath import mp, mpf

mp.dps = 100


def fit(function, low, high, degree):
    """The interpolant at Chebyshev's points, highest power first, and its greatest error inside."""
    low, high, n = mpf(low), mpf(high), degree + 1
    at = [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    table = [function(x) for x in at]
    for order in range(1, n):
        for k in range(n - 1, order - 1, -1):
            table[k] = (table[k] - table[k - 1]) / (at[k] - at[k - order])
    powers = [table[-1]]
    for k in range(n - 2, -1, -1):
        shifted = [*powers, mpf(0)]
        for j, c in enumerate(powers):
            shifted[j + 1] -= at[k] * c
        shifted[-1] += table[k]
        powers = shifted
    inside = [low + (high - low) * (k + mpf("0.3")) / 200 for k in range(1, 200)]
    return powers, max(abs(mp.polyval(powers, x) - function(x)) for x in inside)


def of_square(function):
    """A function of z = x * x."""
    return lambda z: function(mp.sqrt(z))


def scaled_erfc(x):
    return mp.exp(x**2) * mp.erfc(x)


half = mp.log(2) / 2 * mpf("1.001")
quarter = mp.pi / 4 * mpf("1.001")
small, centre = mp.sqrt(2) - 1, mpf("0.24")
FITS = {
    # (exp(r) - 1 - r) / r^2
    "EXP": (lambda r: (mp.exp(r) - 1 - r) / r**2, -half * mpf("1.0001"), half, 9),
    "EXPF": (lambda r: (mp.exp(r) - 1 - r) / r**2, -half * mpf("1.0001"), half, 4),
    "EXP2F": (lambda r: (mpf(2) ** r - 1) / r, -0.501, 0.5011, 6),
    # (log(1 + f) - f + f^2 / 2) / f^3
    "LOGF": (lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3, -0.293, 0.4143, 8),
    "EXPM1": (lambda r: (mp.exp(r) - 1 - r) / r**2, -half * mpf("1.0001"), half, 10),
    # (2^r - 1) / r
    "EXP2": (lambda r: (mpf(2) ** r - 1) / r, -0.501, 0.5011, 11),
    # (log((1 + s) / (1 - s)) - 2 s) / s^3, of s^2; then with 2/3 s^3 taken off too
    "LOG": (of_square(lambda s: (mp.log((1 + s) / (1 - s)) - 2 * s) / s**3), 1e-30, 0.0296, 6),
    "LOG_TAIL": (of_square(lambda s: (2 * mp.atanh(s) - 2 * s - 2 * s**3 / 3) / s**5), 1e-20, 0.0296, 8),
    # (sin(r) - r) / r^3, of r^2, to half of pi
    "SIN": (of_square(lambda r: (mp.sin(r) - r) / r**3), 1e-30, (mp.pi / 2 * mpf("1.01")) ** 2, 7),
    "TAN": (of_square(lambda r: (mp.tan(r) - r) / r**3), 1e-30, quarter**2, 14),
    "ATAN": (of_square(lambda r: (mp.atan(r) - r) / r**3), 1e-30, (small * mpf("1.001")) ** 2, 11),
    "SINH": (of_square(lambda r: (mp.sinh(r) - r) / r**3), 1e-30, 1, 6),
    # erf(x) / x - 1, of x^2; and exp(x^2) erfc(x), of 1 / (x + 2) - 0.24
    "ERF": (of_square(lambda x: mp.erf(x) / x - 1), 1e-30, 0.73, 10),
    "ERFC": (lambda t: scaled_erfc(1 / (t + centre) - 2), 1 / mpf(8) - centre, 1 / mpf("2.84") - centre, 15),
}

if __name__ == "__main__":
    for name, arguments in FITS.items():
        coefficients, error = fit(*arguments)
        print(f"# error {mp.nstr(error, 2)}\n{name} = (")
        for coefficient in coefficients:
            print(f"    {float(coefficient)!r},")
        print(")")
