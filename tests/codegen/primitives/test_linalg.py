"""Types of linear algebra, einsum, transforms and convolution."""

import numpy as np
import pytest

from chainrule.codegen import primitives  # noqa: F401
from chainrule.codegen.build import Builder
from chainrule.codegen.core import ArrayType, Variable
from chainrule.codegen.primitives import linalg as la
from chainrule.codegen.primitives.convolution import convolve
from chainrule.codegen.primitives.einsum import einsum
from chainrule.codegen.primitives.fft import fft, ifft, irfft, rfft
from tests.codegen.primitives.checks import check_type

DTYPES = ["f", "d", "F", "D", "i4"]


def array(shape, dtype="d"):
    return np.random.default_rng(0).integers(1, 9, shape).astype(dtype)


@pytest.mark.parametrize("dtypes", ["ff", "fd", "if", "?i", "fF", "??"])
@pytest.mark.parametrize("a, b",
                         [((3,), (3,)), ((3,), (3, 2)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((5, 2, 3), (3,)),
                          ((3,), (5, 3, 2)), ((1, 2, 3), (5, 3, 4)), ((0, 3), (3, 0)), ((2, 0), (0, 2))])
def test_matmul(a, b, dtypes):
    check_type(la.matmul, array(a, dtypes[0]), array(b, dtypes[1]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_linear_algebra(dtype):
    positive = (array((2, 3, 3), dtype) + 20 * np.eye(3)).astype(dtype)
    positive = positive + np.swapaxes(positive, -1, -2).conj()
    for primitive in (la.inv, la.det, la.slogdet, la.cholesky, la.eigvalsh, la.eigh):
        check_type(primitive, positive)
        check_type(primitive, positive[0])
    check_type(la.solve, positive, array(3))
    check_type(la.solve, positive[0], array((4, 3, 2), "f"))
    for shape in ((3, 3), (4, 2), (2, 4), (5, 2, 3), (1, 3)):
        a = array(shape, dtype)
        check_type(la.qr, a)
        check_type(la.svdvals, a)
        check_type(la.pinv, a, 1e-15)
        check_type(la.svd, a, full_matrices=True)
        check_type(la.svd, a, full_matrices=False)


@pytest.mark.parametrize("subscripts", ["ij->ji", "ii->i", "ij,jk->ik", "ij,jk->", "i,j,k->kji"])
def test_einsum(subscripts):
    terms = subscripts.split("->")[0].split(",")
    check_type(einsum, *(array([3] * len(term), "f") for term in terms), subscripts=subscripts)


@pytest.mark.parametrize("dtype", DTYPES)
def test_transforms(dtype):
    x = array((2, 5), dtype)
    for axis in (0, 1):
        check_type(fft, x, axis=axis)
        check_type(ifft, x, axis=axis)
        if x.dtype.kind != "c":
            check_type(rfft, x, axis=axis)
    check_type(irfft, array((3, 2), dtype), 5, axis=0)
    check_type(irfft, array((2, 3), dtype), 4, axis=1)


@pytest.mark.parametrize("sizes", [(5, 3), (3, 3), (1, 1), (4, 1)])
def test_convolve(sizes):
    check_type(convolve, array(sizes[0]), array(sizes[1], "f"), mode="full")
    check_type(convolve, array(sizes[0]), array(sizes[1]), mode="valid")


def variable(*shape, dtype="d"):
    return Variable("x", ArrayType(np.dtype(dtype), shape))


@pytest.mark.parametrize("primitive, operands", [
    (la.matmul, [(2, 3), (2,)]), (la.matmul, [(), (2,)]), (la.matmul, [(2,), ()]), (la.solve, [(2, 2), (3,)]),
    (la.solve, [(2, 2), (3, 2)]), (la.solve, [(2, 2), ()]), (la.inv, [(2, 3)]), (la.inv, [(3,)]),
    (la.qr, [(3,)]),
])
def test_mistakes_are_numpys(primitive, operands):
    with pytest.raises(ValueError) as ours:
        primitive.type_rule(Builder(), *(variable(*shape) for shape in operands))
    with pytest.raises(ValueError) as theirs:
        primitive(*(np.ones(shape) for shape in operands))
    assert str(ours.value) == str(theirs.value)


def test_half_precision_is_refused():
    with pytest.raises(TypeError, match="float16 is unsupported"):
        la.inv.type_rule(Builder(), variable(2, 2, dtype="e"))
