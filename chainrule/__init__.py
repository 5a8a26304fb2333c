"""chainrule: derivatives of NumPy functions, as NumPy functions.

>>> import numpy as np
>>> import chainrule as cr
>>> cr.grad(lambda x: np.sum(x ** 2))(np.array([1.0, 2.0]))
array([2., 4.])
"""
from .api import (
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jit,
    jvp,
    linearize,
    source,
    value_and_grad,
    vjp,
)

__all__ = ["grad", "hessian", "hvp", "jacfwd", "jacrev", "jit", "jvp", "linearize", "source", "value_and_grad", "vjp"]
