"""Classes, dataclasses and their methods, made and used inside a differentiated function, or passed to it."""
import dataclasses
import math
from dataclasses import dataclass, field

import numpy as np

import chainrule as cr
from tests.small_programs import program

X = np.array([0.3, -1.2, 2.0, 0.7])


class Layer:
    """A class with methods, properties, class attributes and statics."""

    scale = 2.0
    count = 0

    def __init__(self, weight, bias=0.5):
        self.weight = weight
        self.bias = bias
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return self.activate(self.weight * x + self.bias)

    def activate(self, x):
        return np.tanh(x) * self.scale

    @property
    def norm(self):
        return self.weight * self.weight

    @staticmethod
    def identity(x):
        return x

    @classmethod
    def unit(cls, bias):
        return cls(1.0, bias)


class Sharp(Layer):
    scale = 3.0

    def __init__(self, weight):
        super().__init__(weight, bias=weight * 2)
        self.extra = 1.5

    def activate(self, x):
        return super().activate(x) + self.extra * x

    @property
    def norm(self):
        return super().norm + 1


@program(1.3, 0.4)
def test_methods_properties_statics(x, y):
    layer = Layer(x)
    a = layer(y) + layer.norm + layer.identity(x) + Layer.identity(y)
    unit = Layer.unit(y)
    layer.bias = unit(x)
    layer.weight *= 2
    bound = layer.activate
    return a * layer(x) + bound(y) * layer.calls + Layer.scale * x


@program(1.3, 0.4)
def test_inheritance_and_super(x, y):
    layer = Sharp(x)
    unit_like = isinstance(layer, Layer) and not isinstance(layer, dict) and issubclass(Sharp, Layer)
    return layer(y) * layer.norm + (type(layer) is Sharp) * x + unit_like * y + Layer.activate(layer, x)


class Vector:
    """Operators."""

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return self + -other

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __abs__(self):
        return math.sqrt(self @ self)

    def __getitem__(self, k):
        return (self.x, self.y)[k]

    def __setitem__(self, k, value):
        if k == 0:
            self.x = value
        else:
            self.y = value

    def __len__(self):
        return 2

    def __iter__(self):
        return iter((self.x, self.y))

    def __eq__(self, other):
        return self.x == other.x

    def __lt__(self, other):
        return abs(self) < abs(other)

    def __bool__(self):
        return True

    def __contains__(self, value):
        return value == 3

    def __iadd__(self, other):
        self.x += other.x
        return self

    def __truediv__(self, k):
        return self * (1 / k)

    def __pow__(self, n):
        return Vector(self.x ** n, self.y ** n)


@program(1.3, 0.4)
def test_operators_of_a_class(x, y):
    a, b = Vector(x, y), Vector(y, 2.0)
    c = a + b * x - 2.0 * a / y
    c[0] = c[1] * x
    c += a
    d = c ** 2
    p, q = d
    total = (c @ a) * abs(b) + c[0] * len(c) + p - q
    if a == b or a < b or 3 in a:
        total = total * 2
    if a:
        total = total + sum(v for v in a)
    return total


@dataclass
class Spring:
    stiffness: float
    rest: float = 1.0
    history: list = field(default_factory=list)
    scaled: float = field(init=False, default=0.0)

    def __post_init__(self):
        self.scaled = self.stiffness * 2

    def energy(self, x):
        self.history.append(x)
        return 0.5 * self.scaled * (x - self.rest) ** 2


@dataclass(frozen=True)
class Point:
    x: float
    y: float = 0.0

    def moved(self, dx):
        return dataclasses.replace(self, x=self.x + dx)

    @property
    def length(self):
        return np.sqrt(self.x ** 2 + self.y ** 2)


@dataclass(frozen=True, kw_only=True, slots=True)
class Slotted:
    a: float
    b: float = 3.0


@dataclass
class Heavy(Spring):
    mass: float = 5.0

    def energy(self, x):
        return super().energy(x) * self.mass


@program(1.3, 0.4)
def test_dataclasses(x, y):
    spring = Spring(x, rest=y)
    other = Spring(2.0)
    e = spring.energy(y * 3) + spring.energy(x) + other.energy(x)
    point = Point(x, y).moved(y)
    slotted = Slotted(a=x)
    heavy = Heavy(x, mass=y)
    return (
        e * len(spring.history) * (len(other.history) + 1)
        + point.length * slotted.a
        + slotted.b * spring.history[0]
        + heavy.energy(2.0) * len(dataclasses.fields(Point))
    )


@program(1.3, 0.4)
def test_dataclass_helpers(x, y):
    point = Point(x, y)
    table = dataclasses.asdict(point)
    a, b = dataclasses.astuple(point)
    return table["x"] * b + a * table["y"] + dataclasses.is_dataclass(point) * x


@program(X)
def test_objects_carried_in_a_loop(x):
    point = Point(x[0], x[1])
    spring = Spring(x[2])
    for i in range(3):
        point = Point(point.x + 0.1 * point.y, point.y - x[i] * point.x)
        spring.rest = spring.rest * point.x
    return point.x * point.y + spring.rest


@program(X)
def test_object_attributes_in_branches(x):
    layer = Layer(x[0])
    if x[1] > 0:
        layer.weight = x[1]
    else:
        layer.weight = layer.weight * x[2]
        layer.bias = x[3]
    return layer(x[0]) + layer.bias


@program(X)
def test_objects_holding_arrays(x):
    class_free = Layer(x)
    class_free.weight = class_free.weight * 2
    class_free.weight[0] = 5.0
    layers = [Layer(x * k) for k in range(1, 3)]
    for layer in layers:
        x = layer(x)
    return x * class_free.weight


def test_dataclass_arguments_and_results():

    def norm(point):
        return point.x * point.y ** 2
    bar = cr.grad(norm)(Point(3.0, 2.0))
    assert bar == Point(4.0, 12.0)

    def move(x):
        return Point(x * x, 3 * x)
    value, pull = cr.vjp(move, 2.0)
    assert value == Point(4.0, 6.0)
    assert pull(Point(1.0, 2.0)) == (10.0,)


class Callable:
    def __init__(self):
        self.k = 2.0
        self.table = {"a": 3.0}

    def __call__(self, x):
        return self.k * x * x + self.table["a"] * x

    def method(self, x, n=2):
        return x ** n * self.k


def test_outside_objects_are_read():
    model = Callable()
    assert cr.grad(model)(1.5) == 9.0
    assert cr.grad(model.method)(3.0) == 12.0
    model.k = 5.0
    assert cr.grad(model)(1.5) == 18.0
    assert cr.grad(model.method)(3.0) == 30.0
    model.table["a"] = 10.0
    assert cr.grad(model)(1.5) == 25.0


class Node:
    def __init__(self, value, children=()):
        self.value = value
        self.children = children

    def total(self, depth=1):
        return self.value * depth + sum(child.total(depth + 1) for child in self.children)


@program(1.3, 0.4)
def test_trees_of_objects(x, y):
    tree = Node(x, [Node(y, (Node(x * y),)), Node(2.0)])
    return tree.total() * len(tree.children)


class Cached:
    def __init__(self, x):
        self._x = x
        self._square = None

    @property
    def x(self):
        return self._x

    @x.setter
    def x(self, value):
        self._x = value * 2

    @property
    def square(self):
        if self._square is None:
            self._square = self._x * self._x
        return self._square

    def __getattr__(self, name):
        if name == "missing":
            return 11.0
        raise AttributeError(name)


@program(1.3)
def test_setters_and_getattr(x):
    c = Cached(x)
    first = c.square
    c.x = x * 3
    return first + c.square * c.x + c.missing + hasattr(c, "absent") * x + getattr(c, "other", 2.0) * x


class Builder:
    def __init__(self):
        self.total = 0.0

    def add(self, v):
        self.total = self.total + v
        return self

    def __enter__(self):
        return self


@program(1.3)
def test_method_chains(x):
    return Builder().add(x).add(x * x).add(1.0).total * x


def test_method_decorated_by_a_transformation():
    class Model:
        def __init__(self, k):
            self.k = k

        @cr.grad
        def slope(x):
            return x ** 3

        def loss(self, x):
            return self.k * x ** 2
    model = Model(3.0)
    assert cr.grad(model.loss)(2.0) == 12.0
    assert Model.slope(2.0) == 12.0
