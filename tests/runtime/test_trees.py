"""Pytrees: what `chainrule.tree` does, and registered classes through every transformation."""
import collections
import dataclasses
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as cr
from chainrule import tree
from chainrule.codegen.errors import ChainruleError


class Line:
    """A registered class with metadata."""

    def __init__(self, slope, offset, label="line"):
        self.slope, self.offset, self.label = slope, offset, label

    def __call__(self, x):
        return self.slope * x + self.offset


tree.register_node(Line, lambda line: ((line.slope, line.offset), line.label),
                   lambda label, children: Line(*children, label), ("slope", "offset"))


class Layers:
    """A registered class whose children are in one list, and whose metadata cannot be hashed."""

    def __init__(self, layers, options):
        self.layers, self.options = layers, options

    def __call__(self, x):
        for layer in self.layers:
            x = np.tanh(layer(x)) if self.options["tanh"] else layer(x)
        return x


tree.register_node(Layers, lambda net: (net.layers, net.options),
                   lambda options, layers: Layers(layers, options))


class Point(NamedTuple):
    x: float
    y: float


@tree.register_dataclass
@dataclasses.dataclass
class Power:
    w: object
    n: int = dataclasses.field(default=2, metadata={"static": True})


def line():
    return Line(np.array([1.0, 2.0]), 3.0, "first")


def same(a, b):
    assert type(a) is type(b) is Line and a.label == b.label
    np.testing.assert_allclose(a.slope, b.slope)
    np.testing.assert_allclose(a.offset, b.offset)


def loss(p):
    return np.sum(p(2.0) ** 2)


GRADIENT = Line(np.array([20.0, 28.0]), 24.0, "first")  # 2 (2 s + o) times 2, and its sum without


def test_flatten_order_none_and_kinds():
    data = {"b": [1, None, (2,)], "a": collections.OrderedDict(z=3, y=4), "c": Point(5, 6), "d": None}
    leaves, structure = tree.flatten(data)
    assert leaves == [3, 4, 1, 2, 5, 6] == tree.leaves(data)
    assert structure == tree.structure(data)
    assert tree.unflatten(structure, leaves) == data
    assert tree.structure(data) != tree.structure({**data, "d": 0})


def test_is_leaf():
    data = [(1, 2), [3]]
    assert tree.leaves(data, is_leaf=lambda part: isinstance(part, tuple)) == [(1, 2), 3]
    assert tree.map(len, [(1, 2), (3,)], is_leaf=lambda part: isinstance(part, tuple)) == [2, 1]


def test_map_takes_trees_with_more_below_and_refuses_others():
    assert tree.map(lambda x, y: (x, y), [1, 2], [(3, 4), 5]) == [(1, (3, 4)), (2, 5)]
    with pytest.raises(ValueError):
        tree.map(lambda x, y: x, [1, 2], [1, 2, 3])


def test_paths_have_names():
    found = []
    tree.map_with_path(lambda path, leaf: found.append(path), {"p": line(), "q": [1]})
    assert found == [("p", "slope"), ("p", "offset"), ("q", 0)]


def test_reduce_and_all():
    assert tree.reduce(lambda a, b: a - b, (10, [1, 2])) == 7
    assert tree.reduce(lambda a, b: a + b, (), 5) == 5
    assert tree.all(()) and tree.all([1, {"a": True}]) and not tree.all([1, {"a": 0}])


def test_transpose():
    data = [Point(1, 2), Point(3, 4), Point(5, 6)]
    outer, inner = tree.structure([0, 0, 0]), tree.structure(Point(0, 0))
    assert tree.transpose(outer, inner, data) == Point([1, 3, 5], [2, 4, 6])
    with pytest.raises(ValueError, match="transpose needs"):
        tree.transpose(outer, inner, data[:2])


def test_ravel_gives_each_leaf_its_dtype_again():
    data = {"i": np.arange(3, dtype=np.int32), "f": np.ones((2, 2), np.float32), "s": np.float16(2),
            "p": 4, "e": np.zeros((0, 3))}
    vector, unravel = tree.ravel(data)
    assert vector.shape == (9,) and vector.dtype == np.float64
    back = unravel(vector)
    for key, leaf in data.items():
        np.testing.assert_array_equal(back[key], leaf)
        assert type(back[key]) is type(leaf)
        assert getattr(back[key], "dtype", None) == getattr(leaf, "dtype", None)
    with pytest.raises(ValueError, match="9 elements"):
        unravel(vector[1:])
    with pytest.raises(TypeError, match="str"):
        tree.ravel(["text"])


def test_ravel_inside():
    vector, unravel = tree.ravel({"p": line()})
    np.testing.assert_allclose(cr.grad(lambda v: loss(unravel(v)["p"]))(vector), [20.0, 28.0, 24.0])
    gradient = cr.jit(cr.grad(lambda p: np.sum(tree.ravel(p)[0] ** 2)))(line())
    same(gradient, Line(np.array([2.0, 4.0]), 6.0, "first"))


def test_register_refusals():
    with pytest.raises(ValueError, match="registered already"):
        tree.register_node(Line, lambda p: ((), None), lambda m, c: Line(0, 0))
    with pytest.raises(TypeError, match="needs a class"):
        tree.register_node(3, None, None)
    for leaf in (int, np.ndarray, np.float64, str):
        with pytest.raises(TypeError, match="whose instances are leaves"):
            tree.register_node(leaf, lambda p: ((), None), lambda m, c: leaf())
    with pytest.raises(TypeError, match="needs a function to unflatten a Odd, and was given None"):
        tree.register_node(type("Odd", (), {}), lambda p: ((), None), None)
    with pytest.raises(TypeError, match="dataclass"):
        tree.register_dataclass(Line)
    with pytest.raises(ValueError, match="each once"):
        tree.register_dataclass(dataclasses.make_dataclass("Odd", ["a", "b"]), ["a"], ["a"])


def test_an_unflatten_that_looks_at_its_children_is_named():
    class Looking:
        def __init__(self, x):
            self.x = x + 0.0

    tree.register_node(Looking, lambda made: ((made.x,), None), lambda _, children: Looking(*children))
    with pytest.raises(TypeError) as caught:
        cr.grad(lambda p: p.x)(Looking(1.0))
    assert any("unflatten function with which Looking" in note for note in caught.value.__notes__)


# transformations


@pytest.mark.parametrize("transform", [lambda f: f, cr.jit])
def test_gradient(transform):
    same(transform(cr.grad(loss))(line()), GRADIENT)
    value, gradient = transform(cr.value_and_grad(loss))(line())
    assert value == 74.0
    same(gradient, GRADIENT)


def test_results_and_their_derivatives():
    double = lambda p: Line(p.slope * 2, p.offset + 1, p.label)
    doubled = Line(np.array([2.0, 4.0]), 4.0, "first")
    same(cr.jit(double)(line()), doubled)
    value, pull = cr.vjp(double, line())
    same(value, doubled)
    same(pull(value)[0], Line(np.array([4.0, 8.0]), 4.0, "first"))
    value, dot = cr.jvp(double, (line(),), (line(),))
    same(dot, Line(np.array([2.0, 4.0]), 3.0, "first"))
    with pytest.raises(TypeError, match="another structure"):
        pull(Line(np.ones(2), 1.0, "another label"))


def test_nested_transformations():
    def twice(p):
        return loss(tree.map(lambda leaf, g: leaf - 0.5 * g, p, cr.grad(loss)(p)))

    cr.check_grads(lambda s, o: twice(Line(s, o)), (np.array([1.0, 2.0]), 3.0))
    gradient = cr.grad(twice)(line())
    same(cr.jit(cr.grad(twice))(line()), gradient)
    direct = cr.grad(lambda s, o: twice(Line(s, o)), argnums=(0, 1))(np.array([1.0, 2.0]), 3.0)
    same(gradient, Line(*direct, "first"))


def test_control_flow():
    def run(p, n):
        for _ in range(n):
            p = Line(p.slope * 0.5, p.offset, p.label)
        q = Line(p.slope, 1.0, p.label) if p.offset > 0 else Line(-p.slope, 1.0, p.label)
        return np.sum(q.slope)

    for f in (cr.grad(run), cr.jit(cr.grad(run))):
        same(f(line(), 3), Line(np.full(2, 0.125), 0.0, "first"))
        same(f(Line(np.ones(2), -1.0), 1), Line(np.full(2, -0.5), 0.0))


def test_objects_made_in_branches_keep_what_was_written_to_them():
    def f(x):
        if x > 0:
            items, p = [], Line(x, 0.0)
            items.append(x)
            p.offset = 2 * x
        else:
            items, p = [], Line(-x, 0.0)
            items.append(-x)
            p.offset = -2 * x
        return items, p.slope, p.offset

    for x in (3.0, -4.0):
        assert cr.jit(f)(x) == f(x)


def test_metadata_is_part_of_the_signature():
    square = cr.jit(lambda p: p.w ** p.n)
    assert square(Power(3.0, 2)) == 9.0 and square(Power(3.0, 3)) == 27.0
    assert cr.grad(lambda p: p.w ** p.n)(Power(3.0, 2)) == Power(6.0, 2)


def test_unhashable_metadata_and_nested_classes():
    net = Layers([line(), Line(0.5, 0.0)], {"tanh": True})
    gradient = cr.grad(lambda n: np.sum(n(0.1)))(net)
    assert gradient.options == {"tanh": True} and [p.label for p in gradient.layers] == ["first", "line"]
    inner = np.tanh(np.array([0.1, 0.2]) + 3.0)
    expected = np.sum((1 - np.tanh(0.5 * inner) ** 2) * inner)
    assert gradient.layers[1].slope == pytest.approx(expected)
    plain = cr.jit(cr.grad(lambda n: np.sum(n(0.1))))
    assert plain(Layers([line()], {"tanh": False})).layers[0].slope == pytest.approx([0.1, 0.1])


def test_dynamic_metadata_is_refused():
    with pytest.raises(ChainruleError, match="metadata of a Line"):
        cr.jit(lambda x: Line(1.0, 2.0, x))(3.0)


def test_partial():
    scale = tree.Partial(lambda a, x, b=0.0: np.sum(a * x + b), np.array([1.0, 2.0]), b=1.0)
    gradient = cr.grad(lambda p: p(3.0))(scale)
    np.testing.assert_array_equal(gradient.args[0], [3.0, 3.0])
    assert gradient.keywords == {"b": 2.0} and gradient.func is scale.func
    assert cr.grad(lambda a: tree.Partial(lambda b, x: b * x, a)(3.0))(2.0) == 3.0


@pytest.mark.parametrize("kind", [collections.OrderedDict, dict])
def test_mappings(kind):
    gradient = cr.grad(lambda d: d["a"] ** 2 + d["b"])(kind(b=1.0, a=3.0))
    assert type(gradient) is kind and gradient == kind(b=1.0, a=6.0)


def test_functions_of_trees_inside():
    def step(p):
        g = cr.grad(loss)(p)
        norm = np.sqrt(tree.reduce(lambda total, leaf: total + np.sum(leaf ** 2), g, 0.0))
        return tree.map(lambda a, b: a - b / norm, p, g), len(tree.leaves(g)), tree.all([True, p is not None])

    for f in (step, cr.jit(step)):
        moved, count, true = f(line())
        norm = np.sqrt(20.0 ** 2 + 28.0 ** 2 + 24.0 ** 2)
        same(moved, Line(np.array([1.0, 2.0]) - np.array([20.0, 28.0]) / norm, 3.0 - 24.0 / norm, "first"))
        assert count == 2 and true is True


def test_an_object_from_outside_is_read_anew():
    p = Line(np.ones(2), 1.0)
    f = cr.jit(lambda x: x * np.sum(tree.map(lambda a: a * 2, p).slope))
    assert f(1.0) == 4.0
    p.slope[0] = 10.0
    assert f(1.0) == 22.0
    p.slope = np.zeros(2)
    assert f(1.0) == 0.0


def test_generated_source_has_the_names():
    assert "def function(p_slope, p_offset)" in cr.source(cr.grad(lambda p: loss(p)))(line())


LEAVES = st.one_of(st.integers(), st.floats(allow_nan=False), st.text(), st.booleans())
TREES = st.recursive(st.one_of(LEAVES, st.none()), lambda part: st.one_of(
    st.lists(part, max_size=3), st.tuples(part, part), st.dictionaries(st.text(max_size=3), part, max_size=3),
    st.builds(Line, part, part, st.text(max_size=2)), st.builds(Point, part, part),
    st.builds(Power, part, st.integers())))


@settings(max_examples=60, deadline=None)
@given(TREES)
def test_flatten_and_unflatten_are_inverse(data):
    leaves, structure = tree.flatten(data)
    again, structure_again = tree.flatten(tree.unflatten(structure, leaves))
    assert all(a is b for a, b in zip(leaves, again, strict=True))
    assert structure == structure_again and hash(structure) == hash(structure_again)


def test_vmap_over_children():
    batch, x = Line(np.arange(3.0), 1.0, "first"), np.arange(3.0)
    gradient = cr.vmap(cr.grad(lambda p, x: p(x) ** 2), in_axes=(Line(0, None, "first"), 0))(batch, x)
    residual = 2 * (x * x + 1.0)
    same(gradient, Line(residual * x, residual, "first"))
