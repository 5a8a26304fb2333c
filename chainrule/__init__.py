"""chainrule: derivatives of NumPy functions, as NumPy functions.

>>> import numpy as np
>>> import chainrule as cr
>>> cr.grad(lambda x: np.sum(x ** 2))(np.array([1.0, 2.0]))
array([2., 4.])
"""
from . import io, lax, random, tree
from .api import grad, hessian, hvp, jacfwd, jacrev, jvp, linearize, value_and_grad, vjp
from .batching import vmap
from .checks import check_grads
from .programs import checkpoint, jit, source, stop_gradient
from .runtime.transformation import ChainruleError

__all__ = [
    "ChainruleError",
    "check_grads",
    "checkpoint",
    "grad",
    "hessian",
    "hvp",
    "io",
    "jacfwd",
    "jacrev",
    "jit",
    "jvp",
    "lax",
    "linearize",
    "random",
    "source",
    "stop_gradient",
    "tree",
    "value_and_grad",
    "vjp",
    "vmap",
]
