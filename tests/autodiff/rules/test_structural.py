"""Rules of structural, creating, indexing and stack primitives."""

import numpy as np
import pytest

from chainrule.autodiff import rules  # noqa: F401
from chainrule.codegen.primitives import creation, effects, indexing, slices, stacks, structural
from chainrule.codegen.registry import PRIMITIVES
from tests.autodiff.rules.checks import check_rule, fitted, inner, random_like

MODULES = [creation, effects, indexing, slices, stacks, structural]
LATER = {"longer", "row"}  # made when all is differentiated
HERE = {n: p for n, p in PRIMITIVES.items() if any(p is v for m in MODULES for v in vars(m).values())}
HERE = {n: p for n, p in HERE.items() if not p.elementwise and n not in LATER}
X = np.random.default_rng(0).standard_normal((3, 4))
I, J = np.array([0, 2, 0]), np.array([1, 1, 3])


@pytest.mark.parametrize("primitive, operands, static, operand", [
    (structural.reshape, (X, (2, 6)), {}, 0), (structural.transpose, (X,), {"axes": (1, 0)}, 0),
    (structural.transpose, (X.reshape(3, 2, 2),), {"axes": (2, 0, 1)}, 0),
    (structural.broadcast_to, (X, (2, 3, 4)), {}, 0), (structural.broadcast_to, (X[:, :1], (3, 4)), {}, 0),
    (structural.copy, (X,), {}, 0), (creation.full, ((2, 3), np.float64(0.5)), {}, 1),
    (creation.arange, (0.5, 2.2, 0.7), {}, 0), (creation.arange, (0.5, 2.2, 0.7), {}, 2),
    (indexing.getitem, (X, (1,)), {}, 0), (indexing.getitem, (X, (slice(1, None), 2)), {}, 0),
    (indexing.getitem, (X, (I, J)), {}, 0), (indexing.getitem, (X, (I, slice(None, None, -2))), {}, 0),
    (indexing.setitem, (X, (1,), X[0]), {}, 0), (indexing.setitem, (X, (1,), X[0]), {}, 2),
    (indexing.setitem, (X, (slice(0, 2),), 1.5), {}, 2), (indexing.setitem, (X, (I,), X), {}, 0),
    (indexing.setitem, (X, (I,), X), {}, 2), (indexing.setitem, (X, (I, J), np.array([1.0, 2, 3])), {}, 2),
    (indexing.setitem, (X, (I,), X[:1]), {}, 2),
    (indexing.setitem, (X, (J[1:],), X[:2]), {"unique": True}, 2),
    (indexing.index_add, (X, (I,), X), {}, 0), (indexing.index_add, (X, (I,), X), {}, 2),
    (indexing.index_add, (X, (slice(1), 0), 2.0), {}, 2),
], ids=str)
def test_rule(primitive, operands, static, operand):
    if static.get("unique"):
        operands = (operands[0], (np.array([0, 2]),), operands[2])
    check_rule(primitive, *operands, operand=operand, **static)


@pytest.mark.parametrize("index", [(1,), (I,), (slice(None, 2), 1)], ids=str)
@pytest.mark.parametrize("primitive", [indexing.setitem, indexing.index_add], ids=str)
def test_both_operands_of_a_write_at_once(primitive, index):
    rng = np.random.default_rng(1)
    value = rng.standard_normal(X[index].shape)
    t, ct = (random_like(rng, X), random_like(rng, value)), random_like(rng, X)
    out = primitive(X, index, value)
    parts = sum(primitive.jvp[i](part, out, X, index, value) for i, part in ((0, t[0]), (2, t[1])))
    np.testing.assert_allclose(primitive.jvp[0, 2](t, out, X, index, value), parts)
    before = ct.copy()
    bars = primitive.vjp[0, 2](ct, out, X, index, value)
    np.testing.assert_array_equal(ct, before)
    np.testing.assert_allclose(bars[0], primitive.vjp[0](ct, out, X, index, value))
    np.testing.assert_allclose(bars[1], primitive.vjp[2](ct, out, X, index, value))
    np.testing.assert_allclose(inner(bars, t), inner((ct,), (parts,)))


def test_concatenate():
    arrays = (X, X[:, :1], X[:, :0])
    out = structural.concatenate(arrays, axis=1)
    ct = random_like(np.random.default_rng(2), out)
    bars = structural.concatenate.vjp[0](ct, out, arrays, axis=1)
    assert [b.shape for b in bars] == [a.shape for a in arrays]
    np.testing.assert_array_equal(structural.concatenate.jvp[0](bars, out, arrays, axis=1), ct)


def test_array():
    items = ((1.0, 2.0), (3.0, 4.0))
    out = creation.array(items)
    assert creation.array.vjp[0](out * 10, out, items) == ((10, 20), (30, 40))
    np.testing.assert_array_equal(creation.array.jvp[0](items, out, items), out)


def test_end_of_arange_has_no_derivative():
    assert creation.arange.jvp[1](1.0, None, 0.0, 1.0, 0.5) is None
    assert creation.arange.vjp[1](1.0, None, 0.0, 1.0, 0.5) is None


def test_push_and_pop_are_each_others_adjoint():
    held = [X, 2 * X]
    rest, value = stacks.push.vjp[0, 1](held, None, None, None)
    assert len(rest) == 1 and value is held[1]
    assert stacks.pop.vjp[0]((rest, value), None, None)[1] is value
    assert stacks.push.jvp[0, 1]((rest, value), None, None, None)[1] is value
    assert stacks.pop.jvp[0](held, None, None)[1] is value


def test_broadcast_cotangents_are_the_passes_to_sum():
    ct = np.ones((2, 3, 4))
    assert (fitted(structural.broadcast_to.vjp[0](ct, None, X, ct.shape), X) == 2).all()


def test_every_rule_is_exercised():
    tested = {("concatenate", 0), ("array", 0), ("push", (0, 1)), ("pop", 0), ("arange", 1)}
    tested |= {("setitem", (0, 2)), ("index_add", (0, 2))}
    for mark in test_rule.pytestmark:
        tested |= {(row[0].name, row[3]) for row in mark.args[1]}
    registered = {(name, i) for name, p in HERE.items() for i in [*p.jvp, *p.vjp] if i is not None}
    assert registered == tested
    assert all(p.jvp or p.vjp for p in HERE.values())
