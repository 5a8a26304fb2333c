"""`import chainrule` waits for no library that only some programs need."""

import subprocess
import sys

PROGRAM = """
import sys
import chainrule as cr
print(sorted({"numba", "scipy"} & sys.modules.keys()))
cr.grad(lambda x: x * x)(1.0)
print(sorted({"numba", "scipy"} & sys.modules.keys()))
cr.jit(lambda x: x * x)
print("numba" in sys.modules)
"""


def test_numba_and_scipy_come_when_needed(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True)
    assert done.stdout.split("\n") == ["[]", "[]", "True", ""], done.stderr


LATE = """
import numpy as np
import chainrule as cr
from scipy import special
print(cr.grad(lambda x: special.erf(x) + special.logsumexp(np.array([x, 2 * x])))(0.0))
"""


def test_functions_of_a_library_imported_after_chainrule(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(LATE)
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True)
    assert abs(float(done.stdout) - (2 / 3.141592653589793**0.5 + 1.5)) < 1e-14, done.stderr
