"""Elementary functions in plain arithmetic, which LLVM vectorises where a loop calls them."""

from .bits import fma, larger, plus, smaller
from .error import erf
from .exponential import cosh, exp, exp2, expit, expm1, sinh, tanh
from .logarithm import log, log1p, log2, logaddexp, pow
from .single import (
    atan2f,
    atanf,
    cosf,
    coshf,
    erff,
    exp2f,
    expf,
    expitf,
    expm1f,
    log1pf,
    log2f,
    logaddexpf,
    logf,
    powf,
    sinf,
    sinhf,
    tanf,
    tanhf,
)
from .trigonometric import atan, atan2, cos, sin, tan
from .xla import xla_log, xla_logf
