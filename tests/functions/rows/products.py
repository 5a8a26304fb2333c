"""Products of arrays."""
import numpy as np

from tests.functions.table import complexes, integers, real, row

ROWS = [
    *[row(f"matmul of {a} and {b}", lambda x, y: np.matmul(x, y), real(*a), real(*b))
      for a, b in (((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 2, 3), (3, 4)),
                   ((2, 3), (2, 3, 2)),
                   ((2, 1, 2, 3), (3, 3, 2)), ((2, 2, 3), (3,)), ((3,), (2, 3, 2)))],
    row("x @ y", lambda x, y: x @ y, real(2, 3), real(3, 4)),
    row("x @ y of complex", lambda x, y: x @ y, complexes(2, 3), complexes(3, 2), any_dtype=False),
    row("x @ y of integers", lambda x, y: x @ y, integers(2, 3), integers(3, 2), any_dtype=False),
    row("linalg.matmul", lambda x, y: np.linalg.matmul(x, y), real(2, 3), real(3, 4)),
    row("dot", lambda x, y: np.dot(x, y), real(2, 3), real(3, 4)),
    row("dot of vectors", lambda x, y: np.dot(x, y), real(3), real(3)),
    row("dot of many axes", lambda x, y: np.dot(x, y), real(2, 3), real(2, 3, 2)),
    row("dot with a number", lambda x, y: np.dot(x, y), real(2, 3), real()),
    row("x.dot", lambda x, y: x.dot(y), real(2, 3), real(3)),
    row("vdot", lambda x, y: np.vdot(x, y), real(2, 3), real(2, 3)),
    row("vdot of complex", lambda x, y: np.vdot(x, y), complexes(3), complexes(3), any_dtype=False),
    row("inner", lambda x, y: np.inner(x, y), real(2, 3), real(4, 3)),
    row("inner of vectors", lambda x, y: np.inner(x, y), real(3), real(3)),
    row("outer", lambda x, y: np.outer(x, y), real(2, 2), real(3)),
    *[row(f"{f.__name__}.outer", lambda x, y, f=f: f.outer(x, y), real(2, 2), real(3))
      for f in (np.add, np.subtract, np.maximum)],
    row("linalg.outer", lambda x, y: np.linalg.outer(x, y), real(2), real(3)),
    row("vecdot", lambda x, y: np.vecdot(x, y), real(2, 3), real(3)),
    row("linalg.vecdot", lambda x, y: np.linalg.vecdot(x, y), real(2, 3), real(2, 3)),
    row("tensordot", lambda x, y: np.tensordot(x, y), real(2, 3, 4), real(3, 4, 2)),
    row("tensordot of one axis", lambda x, y: np.tensordot(x, y, axes=1), real(2, 3), real(3, 4)),
    row("tensordot of axes", lambda x, y: np.tensordot(x, y, axes=([0, 2], [1, 0])), real(2, 3, 4),
        real(4, 2)),
    row("tensordot of no axis", lambda x, y: np.tensordot(x, y, axes=0), real(2), real(3)),
    row("linalg.tensordot", lambda x, y: np.linalg.tensordot(x, y, axes=1), real(2, 3), real(3, 4)),
    *[row(f"einsum {subscripts}", lambda x, y, subscripts=subscripts: np.einsum(subscripts, x, y), real(*a),
          real(*b))
      for subscripts, a, b in (("ij,jk->ik", (2, 3), (3, 4)), ("ij,ij->", (2, 3), (2, 3)),
                               ("bij,bjk->bik", (2, 2, 3), (2, 3, 2)),
                               ("i,j->ij", (2,), (3,)), ("...i,i->...", (2, 3), (3,)),
                               ("ii,i->i", (3, 3), (3,)),
                               ("ij,kj", (2, 3), (4, 3)))],
    *[row(f"einsum {subscripts}", lambda x, subscripts=subscripts: np.einsum(subscripts, x), real(3, 3),
          resized=False) for subscripts in ("ii", "ii->i", "ij->ji", "ij->i", "ij->")],
    row("einsum of three", lambda x, y, z: np.einsum("i,ij,j->", x, y, z), real(2), real(2, 3), real(3)),
    row("kron", lambda x, y: np.kron(x, y), real(2, 3), real(2, 2)),
    row("kron of vectors", lambda x, y: np.kron(x, y), real(2), real(3)),
    row("cross", lambda x, y: np.cross(x, y), real(2, 3), real(2, 3)),
    row("cross along an axis", lambda x, y: np.cross(x, y, axis=0), real(3, 2), real(3, 2)),
    row("linalg.cross", lambda x, y: np.linalg.cross(x, y), real(3), real(3)),
    row("trace", lambda x: np.trace(x), real(3, 4)),
    row("trace of axes", lambda x: np.trace(x, offset=1, axis1=1, axis2=2), real(2, 3, 4)),
    row("x.trace", lambda x: x.trace(), real(3, 3)),
    row("linalg.trace", lambda x: np.linalg.trace(x), real(2, 3, 3)),
    *[row(f"convolve, {mode}", lambda x, y, mode=mode: np.convolve(x, y, mode), real(5), real(3))
      for mode in ("full", "same", "valid")],
    *[row(f"correlate, {mode}", lambda x, y, mode=mode: np.correlate(x, y, mode), real(5), real(3))
      for mode in ("full", "same", "valid")],
    row("convolve with the longer second", lambda x, y: np.convolve(x, y), real(2), real(4)),
    row("convolve of complex", lambda x, y: np.convolve(x, y), complexes(4), complexes(2), any_dtype=False),
    row("correlate of complex", lambda x, y: np.correlate(x, y, "full"), complexes(4), complexes(2),
        any_dtype=False),
]
