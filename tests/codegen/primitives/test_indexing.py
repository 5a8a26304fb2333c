"""Reading and writing by index: NumPy's shapes, errors and values, and the operand stays as it was."""
import numpy as np
import pytest

from chainrule.codegen.build import Builder
from chainrule.codegen.core import INT, Variable, type_of
from chainrule.codegen.errors import IndexBoundsError, ShapeMismatchError, TypeMismatchError
from chainrule.codegen.primitives.indexing import getitem, index_add, is_basic, setitem

X = np.arange(60.0).reshape(3, 4, 5)
I, J, K = np.array([0, 2, 1]), np.array([[0], [2]]), np.array([], int)
INDICES = [
    (), (1,), (-1, 2), (1, 2, 3), (slice(None),), (slice(1, None), slice(None, -1)), (slice(None, None, -1),),
    (None, 1), (slice(None), None, slice(1, 3)), (None, None), (slice(5, 2),),
    (slice(None), slice(None, None, 2)),
    (I,), (slice(None), I), (I, slice(None), I), (I, 1), (1, I), (1, slice(None), I), (I, J),
    (J, I, slice(None)),
    (slice(None), J, I), (slice(None), 1, I), (None, I), (I, None, I), (slice(None), None, I), (K,), (0, K),
    (J, slice(1, 2), J), (slice(None), I, None, 2), (np.int64(1), slice(None)),
]


def hidden(index):
    """The index with its arrays as variables."""
    return tuple(Variable("i", type_of(item)) if isinstance(item, np.ndarray) else item for item in index)


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_reading(index):
    given = getitem.type_rule(Builder(), Variable("x", type_of(X)), hidden(index))
    assert given == type_of(X[index])
    assert np.array_equal(getitem(X, index), X[index])
    assert is_basic(hidden(index)) == (not any(isinstance(i, np.ndarray) for i in index))


@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize("primitive", [setitem, index_add], ids=str)
def test_writing(primitive, index):
    before, value = X.copy(), np.random.default_rng(0).standard_normal(np.shape(X[index]))
    more = (value[None, None],) if primitive is setitem and value.ndim else ()
    for written in (value, 2, value[:1] if value.ndim else value, *more):
        expected = X.copy()
        if primitive is setitem:
            expected[index] = written
        else:
            np.add.at(expected, index, written)
        given = primitive.type_rule(Builder(), Variable("x", type_of(X)), hidden(index),
                                    Variable("v", type_of(written)))
        assert given == type_of(X)
        assert np.array_equal(primitive(X, index, written), expected)
        assert np.array_equal(X, before)


def test_duplicates_accumulate_unless_declared_unique():
    x, i = np.zeros(3), np.array([1, 1, 2])
    assert index_add(x, (i,), 1.0).tolist() == [0, 2, 1]
    assert index_add(x, (i[1:],), 1.0, unique=True).tolist() == [0, 1, 1]
    assert setitem(x, (i,), np.array([5.0, 6.0, 7.0])).tolist() == [0, 6, 7]


@pytest.mark.parametrize("index, kind", [
    ((3,), IndexBoundsError), ((0, -5), IndexBoundsError), ((0, 0, 0, 0), IndexBoundsError),
    ((I, np.array([0, 1])), IndexBoundsError), ((1.0,), TypeMismatchError),
    ((np.array([True, False, True]),), TypeMismatchError), ((slice(0, 1.5),), TypeMismatchError),
], ids=str)
def test_refusals(index, kind):
    with pytest.raises(kind) as ours:
        getitem.type_rule(Builder(), Variable("x", type_of(X)), hidden(index))
    if kind is IndexBoundsError:
        with pytest.raises(IndexError) as theirs:
            X[index]
        assert str(ours.value) == str(theirs.value).strip()


def test_value_that_does_not_fit():
    for written in (np.ones(3), np.ones((2, 1, 5))):
        with pytest.raises(ValueError) as theirs:
            X.copy()[0] = written
        with pytest.raises(ShapeMismatchError) as ours:
            setitem.type_rule(Builder(), Variable("x", type_of(X)), (0,), Variable("v", type_of(written)))
        assert str(ours.value) == str(theirs.value).strip()
    with pytest.raises(ShapeMismatchError, match="too many axes"):
        wide = Variable("v", type_of(np.ones((1, 1, 5))))
        index_add.type_rule(Builder(), Variable("x", type_of(X)), (0, 0), wide)
    with pytest.raises(TypeMismatchError):
        setitem.type_rule(Builder(), Variable("x", type_of(X)), (0,), 1j)


def test_symbolic_sizes():
    builder, n, i = Builder(), Variable("n", INT), Variable("i", INT)
    builder.lower_bounds[n] = 2
    x = Variable("x", type_of(X).with_shape((n, 4, n)))
    where = Variable("j", type_of(I).with_shape((n,)))
    assert getitem.type_rule(builder, x, (i, slice(None), where)).shape == (n, 4)
    assert getitem.type_rule(builder, x, (slice(1, None), i)).shape == (builder.dimension_add(n, -1), n)
    setitem.type_rule(builder, x, (i, 0), where)
    assert [s.primitive.name for s in builder.block.statements] == ["subtract"]
