"""Elementwise functions made of others."""
from __future__ import annotations

import builtins

import numpy as np

from ..primitives import elementwise
from ..registry import composition
from .arguments import along, axis_index, cast


@composition(np.clip)
def clip(a, a_min=None, a_max=None, *, min=None, max=None):
    """np.clip."""
    a = np.asarray(a)
    lower = a_min if min is None else min
    upper = a_max if max is None else max
    if lower is None and upper is None:
        return +a
    if lower is None:
        return np.minimum(a, upper)
    if upper is None:
        return np.maximum(a, lower)
    return np.minimum(np.maximum(a, lower), upper)


@composition(method="clip")
def clip_method(a, min=None, max=None):
    """The array method clip."""
    return clip(a, min, max)


@composition(np.where)
def where(condition, x=None, y=None, /):
    """np.where: a choice of two, or the positions of what is true."""
    if x is None and y is None:
        return np.nonzero(condition)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    if isinstance(condition, (tuple, list)):
        condition = np.asarray(condition)
    x = np.asarray(x) if isinstance(x, (tuple, list)) else x
    y = np.asarray(y) if isinstance(y, (tuple, list)) else y
    return elementwise.where(condition, x, y)


@composition(np.select)
def select(condlist, choicelist, default=0):
    """np.select."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if len(condlist) == 0:
        raise ValueError("select with an empty condition list is not possible")
    choices = [np.asarray(choice) if isinstance(choice, (tuple, list)) else choice for choice in choicelist]
    dtype = np.result_type(*choices, default)
    chosen = default
    for place in reversed(range(len(choices))):
        condition = np.asarray(condlist[place])
        if condition.dtype.kind != "b":
            raise TypeError(f"invalid entry {place} in condlist: should be boolean ndarray")
        chosen = elementwise.where(condition, choices[place], chosen)
    return cast(chosen, dtype)


@composition(np.piecewise)
def piecewise(x, condlist, funclist, *args, **kw):
    """np.piecewise."""
    x = np.asarray(x)
    if not isinstance(condlist, (tuple, list)):
        condlist = [condlist]
    conditions = [np.asarray(condition) for condition in condlist]
    if len(funclist) == len(conditions) + 1:
        rest = conditions[0]
        for condition in conditions[1:]:
            rest = rest | condition
        conditions = conditions + [~rest]
    if len(funclist) != len(conditions):
        raise ValueError(
            f"with {len(condlist)} condition(s), either {len(condlist)} or {len(condlist) + 1} "
            "functions are expected"
        )
    made = np.zeros_like(x)
    for condition, function in zip(conditions, funclist):
        if not callable(function):
            made = elementwise.where(condition, np.asarray(function, x.dtype), made)
        elif x.ndim == 0:
            made = elementwise.where(condition, np.asarray(function(x, *args, **kw), x.dtype), made)
        else:
            made[condition] = function(x[condition], *args, **kw)
    return made


@composition(np.sinc)
def sinc(x):
    """np.sinc: a power series near 0, so that derivatives of every order are right there."""
    y = np.pi * np.asarray(x)
    near = np.abs(y) < 1.0
    z = np.where(near, y, 0.0) ** 2
    series = 1.0 + z * (-1 / 6 + z * (1 / 120 + z * (-1 / 5040 + z * (1 / 362880 + z * sinc_tail(z)))))
    far = np.where(near, 1.0, y)
    return np.where(near, series, np.sin(far) / far)


def sinc_tail(z):
    """The later terms of the series of sin(y)/y in z = y**2: those of y**10 to y**20."""
    high = 1 / 355687428096000 + z * (-1 / 121645100408832000 + z * (1 / 51090942171709440000))
    return -1 / 39916800 + z * (1 / 6227020800 + z * (-1 / 1307674368000 + z * high))


@composition(np.nan_to_num)
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """np.nan_to_num."""
    original = x
    x = np.asarray(x)
    if x.dtype.kind == "c":
        real = replace_nan(np.real(x), nan, posinf, neginf)
        imag = replace_nan(np.imag(x), nan, posinf, neginf)
        replaced = cast(real + 1j * imag, x.dtype)
    elif x.dtype.kind == "f":
        replaced = replace_nan(x, nan, posinf, neginf)
    else:
        replaced = +x if x.dtype.kind in "iu" else x.copy()
    if copy:
        return replaced
    original[...] = replaced
    return original


def replace_nan(x, nan, posinf, neginf):
    """Real numbers with NaN and the infinities replaced."""
    limits = np.finfo(x.dtype)
    posinf, neginf = limits.max if posinf is None else posinf, limits.min if neginf is None else neginf
    x = np.where(np.isnan(x), np.asarray(nan, x.dtype), x)
    x = np.where(x == np.inf, np.asarray(posinf, x.dtype), x)
    return np.where(x == -np.inf, np.asarray(neginf, x.dtype), x)


@composition(np.isclose)
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """np.isclose."""
    a, b = np.asarray(a), np.asarray(b)
    b = cast(b, np.result_type(b, 1.0))
    close = (np.abs(a - b) <= atol + rtol * np.abs(b)) & np.isfinite(b) | (a == b)
    return close | (np.isnan(a) & np.isnan(b)) if equal_nan else close


@composition(np.allclose)
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """np.allclose."""
    return bool(np.all(isclose(a, b, rtol, atol, equal_nan)))


@composition(np.array_equal)
def array_equal(a1, a2, equal_nan=False):
    """np.array_equal."""
    a1, a2 = np.asarray(a1), np.asarray(a2)
    if a1.ndim != a2.ndim:
        return False
    for one, other in zip(a1.shape, a2.shape):
        if one != other:
            return False
    same = a1 == a2
    if equal_nan and a1.dtype.kind in "fc" and a2.dtype.kind in "fc":
        same = same | (np.isnan(a1) & np.isnan(a2))
    return bool(np.all(same))


@composition(np.fix)
def fix(x):
    """np.fix."""
    x = np.asarray(x)
    return np.trunc(x) if x.dtype.kind == "f" else x.copy()


@composition(np.round, np.around, method="round")
def round(a, decimals=0):
    """np.round."""
    a = np.asarray(a)
    if a.dtype.kind == "c":
        return cast(round(np.real(a), decimals) + 1j * round(np.imag(a), decimals), a.dtype)
    if a.dtype.kind == "b":
        a = cast(a, np.dtype(np.float16))
    if a.dtype.kind in "iu":
        if decimals >= 0:
            return a.copy()
        return cast(np.rint(a / 10.0 ** (-decimals)) * 10.0 ** (-decimals), a.dtype)
    if decimals == 0:
        return np.rint(a)
    scale = 10.0 ** abs(decimals)
    return np.rint(a * scale) / scale if decimals > 0 else np.rint(a / scale) * scale


@composition(np.radians)
def radians(x):
    """np.radians."""
    return np.deg2rad(x)


@composition(np.degrees)
def degrees(x):
    """np.degrees."""
    return np.rad2deg(x)


@composition(np.fabs)
def fabs(x):
    """np.fabs."""
    x = np.asarray(x)
    if x.dtype.kind == "c":
        raise TypeError("ufunc 'fabs' not supported for the input types")
    return np.abs(cast(x, np.result_type(np.sqrt(x))))


@composition(np.float_power)
def float_power(x1, x2):
    """np.float_power: a power in double precision at least."""
    x1, x2 = np.asarray(x1), np.asarray(x2)
    dtype = np.result_type(x1, x2, np.float64)
    return np.power(cast(x1, dtype), cast(x2, dtype))


@composition(np.divmod)
def divmod(x1, x2):
    """np.divmod."""
    return np.floor_divide(x1, x2), np.remainder(x1, x2)


@composition(np.modf)
def modf(x):
    """np.modf."""
    whole = np.trunc(np.asarray(x) * 1.0)
    return np.copysign(np.where(np.isinf(x), 0.0, x - whole), x), whole


@composition(np.isposinf)
def isposinf(x):
    """np.isposinf."""
    return np.asarray(x) == np.inf


@composition(np.isneginf)
def isneginf(x):
    """np.isneginf."""
    return np.asarray(x) == -np.inf


@composition(np.isreal)
def isreal(x):
    """np.isreal."""
    return np.imag(np.asarray(x)) == 0


@composition(np.iscomplex)
def iscomplex(x):
    """np.iscomplex."""
    return np.imag(np.asarray(x)) != 0


@composition(np.isrealobj)
def isrealobj(x):
    """np.isrealobj."""
    return np.asarray(x).dtype.kind != "c"


@composition(np.iscomplexobj)
def iscomplexobj(x):
    """np.iscomplexobj."""
    return np.asarray(x).dtype.kind == "c"


@composition(np.angle)
def angle(z, deg=False):
    """np.angle."""
    turned = elementwise.angle(np.asarray(z))
    return turned * (180 / np.pi) if deg else turned


@composition(np.unwrap)
def unwrap(p, discont=None, axis=-1, *, period=2 * np.pi):
    """np.unwrap."""
    p = np.asarray(p)
    axis = axis_index(axis, p.ndim)
    discont = period / 2 if discont is None else discont
    step = np.diff(p, axis=axis)
    dtype = np.result_type(step, period)
    high, ambiguous = period / 2, True
    if dtype.kind in "iu":
        high, ambiguous = period // 2, period % 2 == 0
    wrapped = np.mod(step + high, period) - high
    if ambiguous:
        wrapped = np.where((wrapped == -high) & (step > 0), high, wrapped)
    correction = np.where(np.abs(step) < discont, 0, wrapped - step)
    start = cast(p[along(axis, slice(None, 1))], dtype)
    later = p[along(axis, slice(1, None))] + np.cumsum(correction, axis)
    return np.concatenate((start, cast(later, dtype)), axis)


@composition(np.polyval)
def polyval(p, x):
    """np.polyval, by Horner's rule."""
    x = np.asarray(x)
    if isinstance(p, (tuple, list)) and len(p) > 0 and builtins.all(np.ndim(one) == 0 for one in p):
        coefficients = [np.asarray(one) for one in p]
        value = np.zeros_like(x) + coefficients[0]
        for coefficient in coefficients[1:]:
            value = value * x + coefficient
        return cast(value, np.result_type(x, *coefficients))
    p = np.asarray(p)
    value = np.zeros(x.shape, np.result_type(x, p))
    for place in range(p.shape[0]):
        value = value * x + p[place]
    return value
