"""chainrule: derivatives of NumPy functions, as NumPy functions.

>>> import numpy as np
>>> import chainrule as cr
>>> cr.grad(lambda x: np.sum(x ** 2))(np.array([1.0, 2.0]))
array([2., 4.])
"""
from . import debug, io, lax, random, tree
from .api import grad, hessian, hvp, jacfwd, jacrev, jvp, linearize, value_and_grad, vjp
from .batching import vmap
from .checks import check_grads
from .custom import custom_jvp, custom_vjp, primitive
from .debug import insert_grad_of
from .inspection import ShapeDtype, eval_shape, explain_recompiles, export
from .programs import checkpoint, disable_jit, jit, source, stop_gradient
from .runtime.configuration import config
from .runtime.transformation import ChainruleError

__all__ = [
    "ChainruleError",
    "ShapeDtype",
    "check_grads",
    "checkpoint",
    "config",
    "custom_jvp",
    "custom_vjp",
    "debug",
    "disable_jit",
    "eval_shape",
    "explain_recompiles",
    "export",
    "grad",
    "hessian",
    "hvp",
    "insert_grad_of",
    "io",
    "jacfwd",
    "jacrev",
    "jit",
    "jvp",
    "lax",
    "linearize",
    "primitive",
    "random",
    "source",
    "stop_gradient",
    "tree",
    "value_and_grad",
    "vjp",
    "vmap",
]
