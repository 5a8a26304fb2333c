"""Every batching rule against the operation done one example at a time, for each subset of its operands."""
import numpy as np
import pytest

from chainrule.codegen.primitives.elementwise import PYTHON
from chainrule.codegen.registry import PRIMITIVES
from tests.own_primitives import OWN

from .lanes_of import Slot, as_slot, check_batched

R = np.random.default_rng(0)
M, V, S = R.standard_normal((4, 5)), R.standard_normal(5), np.float64(0.3)
SQUARE = R.standard_normal((4, 4)) + 3 * np.eye(4)
SPD = SQUARE @ SQUARE.T
CUBE = R.standard_normal((2, 4, 5))
I = np.array([0, 2, 1])
J = np.array([[1, 0], [2, 3]])
ALL = slice(None)

UNARY = ("exp log sqrt sin tanh negative absolute square floor sign isnan reciprocal expm1 log1p cbrt arctan "
         "rint conjugate real imag angle erf gammaln digamma expit").split()
BINARY = ("add subtract multiply divide power maximum minimum arctan2 hypot logaddexp less equal logical_and "
          "floor_divide remainder fmod copysign fmax heaviside").split()


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    for x in (np.abs(M) + 0.1, np.float32(0.7), S):
        check_batched(PRIMITIVES[name], (x,))


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    pairs = [(M, V), (V, M), (M, S), (S, V), (M, M[:, :1]), (CUBE, V), (S, S)]
    pairs.append((np.float32(2.0), V.astype(np.float32)))
    for a, b in pairs:
        check_batched(PRIMITIVES[name], (np.abs(a) + 0.1, np.abs(b) + 0.1))


@pytest.mark.parametrize("name", ["add", "multiply", "divide", "less", "maximum"])
def test_python_scalars_beside_arrays(name):
    for number in (2, 0.5, True):
        for array in (V.astype(np.float32), V, np.arange(5)):
            check_batched(PRIMITIVES[name], (as_slot(number), array))
            check_batched(PRIMITIVES[name], (array, as_slot(number)))


@pytest.mark.parametrize("name", sorted(set(PYTHON) & {"add", "multiply", "less", "bitwise_and", "negative"}))
@pytest.mark.parametrize("number", [True, 3])
def test_python_scalars_alone(name, number):
    operands = (as_slot(number),) if name == "negative" else (as_slot(number), as_slot(True))
    check_batched(PRIMITIVES[name], operands)


def test_where_and_astype():
    test = M > 0
    for x, y in ((M, V), (S, M), (np.float32(1), M.astype(np.float32))):
        check_batched(PRIMITIVES["where"], (test, x, y))
    check_batched(PRIMITIVES["where"], (np.bool_(True), V, S))
    check_batched(PRIMITIVES["astype"], (M,), {"dtype": np.float32})
    check_batched(PRIMITIVES["astype"], (as_slot(2.5),), {"dtype": np.int64, "weak": True})


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all"])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(name, keepdims):
    for axis in ((0,), (1,), (0, 2), (0, 1, 2)):
        check_batched(PRIMITIVES[name], (CUBE,), {"axis": axis, "keepdims": keepdims})


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions(name):
    for axis in (0, 1, 2):
        check_batched(PRIMITIVES[name], (CUBE,), {"axis": axis, "keepdims": False})


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "sort", "argsort", "fft", "ifft", "rfft"])
def test_along_an_axis(name):
    for axis in (0, 1):
        check_batched(PRIMITIVES[name], (M,), {"axis": axis})


def test_irfft():
    half = R.standard_normal((4, 3)) + 1j * R.standard_normal((4, 3))
    check_batched(PRIMITIVES["irfft"], (half, 5), {"axis": 1})


def test_structure():
    check_batched(PRIMITIVES["reshape"], (M, (5, 4)))
    check_batched(PRIMITIVES["reshape"], (M, (20,)))
    check_batched(PRIMITIVES["reshape"], (M, (2, 2, 5)))
    check_batched(PRIMITIVES["transpose"], (CUBE,), {"axes": (2, 0, 1)})
    check_batched(PRIMITIVES["broadcast_to"], (V, (4, 5)))
    check_batched(PRIMITIVES["broadcast_to"], (M[:, :1], (2, 4, 5)))
    check_batched(PRIMITIVES["concatenate"], ((M, M[:2], M),), {"axis": 0})
    check_batched(PRIMITIVES["concatenate"], ((M, M[:, :3]),), {"axis": 1})
    check_batched(PRIMITIVES["copy"], (M,))


def test_creation():
    check_batched(PRIMITIVES["full"], ((2, 3), S))
    check_batched(PRIMITIVES["full"], ((2, 3), as_slot(2)), {"dtype": np.float32})
    check_batched(PRIMITIVES["array"], (((S, 1.0), (np.float64(2.0), S)),))
    check_batched(PRIMITIVES["count_nonzero"], (np.round(M),))


BASIC = [(1,), (-1, 2), (ALL, 1), (slice(1, -1), slice(None, None, 2)), (None, 1, None),
         (slice(None, None, -1),)]
FANCY = [(I,), (ALL, I), (I, I), (J,), (ALL, J), (I, ALL), (1, I), (I, None, I), (J, slice(1, 3)), (None, I)]
DEEP = [(ALL, I[:2], I[:2]), (1, ALL, I), (I % 2, ALL, I), (ALL, 1, I), (ALL, I, ALL), (ALL, ALL, J),
        (J % 2, 0, J)]


def cases():
    yield from ((M, index) for index in (*BASIC, *FANCY))
    yield from ((CUBE, index) for index in DEEP)


def slotted(index):
    """Indices of integer arrays as arguments; batched values of scalar indices are Python ints."""
    return tuple(as_slot(item) if isinstance(item, np.ndarray) else item for item in index)


@pytest.mark.parametrize("number", range(len(BASIC) + len(FANCY) + len(DEEP)))
def test_getitem(number):
    x, index = list(cases())[number]
    check_batched(PRIMITIVES["getitem"], (x, slotted(index)))


@pytest.mark.parametrize("index", [
    (Slot(0, 2, 1),), (ALL, Slot(0, 3, -1)), (Slot(1, 0, 2), Slot(0, 2, 1)), (1, Slot(2, 0, 1)),
    (Slot(2, 0, 1), slice(1, 3)), (None, Slot(2, 0, 1)), (Slot(2, 1, 0), I)])
def test_scalar_indices_that_differ(index):
    check_batched(PRIMITIVES["getitem"], (M, index))
    part = np.asarray(M[tuple(item.examples[0] if isinstance(item, Slot) else item for item in index)])
    for name in ("setitem", "index_add"):
        check_batched(PRIMITIVES[name], (M, index, R.standard_normal(part.shape)[()]))
        check_batched(PRIMITIVES[name], (M, index, S))


@pytest.mark.parametrize("index", [
    (Slot(0, 1, 1), ALL, Slot(2, 0, 1)), (ALL, Slot(0, 1, 1), I), (Slot(0, 1, 1), ALL, I),
    (ALL, ALL, Slot(0, 1, 1)), (0, ALL, Slot(2, 0, 1))])
def test_scalar_indices_that_differ_in_three_axes(index):
    check_batched(PRIMITIVES["getitem"], (CUBE, index))
    part = np.asarray(CUBE[tuple(item.examples[0] if isinstance(item, Slot) else item for item in index)])
    check_batched(PRIMITIVES["setitem"], (CUBE, index, R.standard_normal(part.shape)[()]))
    check_batched(PRIMITIVES["index_add"], (CUBE, index, R.standard_normal(part.shape)[()]))


@pytest.mark.parametrize("number", range(len(BASIC) + len(FANCY) + len(DEEP)))
@pytest.mark.parametrize("name", ["setitem", "index_add"])
def test_writes(name, number):
    x, index = list(cases())[number]
    part = x[index]
    values = [np.float64(2.0), R.standard_normal(part.shape)]
    if np.ndim(part):
        values.append(R.standard_normal(part.shape[-1:]))
    if name == "setitem" and np.ndim(part):
        values.append(R.standard_normal((1, *part.shape)))
    for value in values:
        check_batched(PRIMITIVES[name], (x, slotted(index), value[()]))


@pytest.mark.parametrize("index", [(slice(Slot(0, 1, 2), None),), (slice(Slot(0, 1, 2), Slot(2, 3, 4)),)])
def test_bounds_that_differ_must_give_one_size(index):
    with pytest.raises(ValueError, match="another shape for one example than for another"):
        check_batched(PRIMITIVES["getitem"], (M, index))


PRODUCTS = [(V, V), (M, V), (V, M.T), (M, M.T), (CUBE, V), (V, np.swapaxes(CUBE, 1, 2)), (CUBE, M.T),
            (M, np.swapaxes(CUBE, 1, 2)), (CUBE, np.swapaxes(CUBE, 1, 2)), (M, M.T[:, :1]), (M[:1], M.T)]


@pytest.mark.parametrize("number", range(len(PRODUCTS)))
def test_matmul(number):
    check_batched(PRIMITIVES["matmul"], PRODUCTS[number])
    check_batched(PRIMITIVES["matmul"], tuple(x > 0 for x in PRODUCTS[number]))


def test_einsum():
    check_batched(PRIMITIVES["einsum"], (M, M.T), {"subscripts": "ij,jk->ik"})
    check_batched(PRIMITIVES["einsum"], (M, V, S), {"subscripts": "ij,j,->i"})
    check_batched(PRIMITIVES["einsum"], (M,), {"subscripts": "ij->j"})


def test_solve():
    stacked = np.stack([SQUARE, SQUARE.T])
    for a, b in ((SQUARE, V[:4]), (SQUARE, M), (stacked, M), (SQUARE, stacked), (stacked, stacked),
                 (stacked, V[:4])):
        check_batched(PRIMITIVES["solve"], (a, b))


@pytest.mark.parametrize("name", ["inv", "det", "slogdet", "cholesky", "qr", "svdvals", "eigh", "eigvalsh",
                                  "cofactor"])
def test_linear_algebra(name):
    check_batched(PRIMITIVES[name], (SPD,), exact=False)


def test_more_linear_algebra():
    check_batched(PRIMITIVES["svd"], (M,), {"full_matrices": False}, exact=False)
    check_batched(PRIMITIVES["pinv"], (M, 1e-15))
    check_batched(PRIMITIVES["cofactor_along"], (SPD, SQUARE), exact=False)
    check_batched(PRIMITIVES["searchsorted"], (np.sort(V), M))
    check_batched(PRIMITIVES["convolve"], (V, V[:3]), {"mode": "full"})


def test_every_primitive_has_a_rule_or_is_known_to_need_lanes():
    lanes = {"convolve", "nonzero", "size", "slice_start", "zeros", "ones", "empty", "constant",
             "matmul_into", "longer", "row", "moved"}
    unruled = {name for name, primitive in OWN.items() if primitive.batch is None}
    assert unruled <= lanes
