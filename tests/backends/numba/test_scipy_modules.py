"""Products in compiled code import SciPy's BLAS, not all of scipy.linalg; who imports that later has both."""

import subprocess
import sys

PROGRAM = """
import sys
import numba
import numpy as np
from chainrule.backends.numba.scipy_modules import import_alone

import_alone()
import_alone()
blas = sys.modules["scipy.linalg.cython_blas"]
product = numba.njit(lambda a, b: a @ b)
assert product(2 * np.eye(3), np.eye(3)).sum() == 6
assert "scipy.linalg" not in sys.modules

import scipy.linalg

assert scipy.linalg.cython_blas is blas and scipy.linalg.solve(2 * np.eye(2), np.ones(2)).sum() == 1
import scipy.linalg.cython_lapack
from scipy.linalg import cython_blas

assert cython_blas is blas
import_alone()
assert not any("Telling" in type(finder).__name__ for finder in sys.meta_path)
"""


def test_blas_alone_and_then_all():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
