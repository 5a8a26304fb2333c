"""Functions inside functions, closures, arguments of every kind, decorators, recursion."""
import functools
import math
import operator
from functools import partial, reduce

import numpy as np

import chainrule as cr
from tests.small_programs import program

X = np.array([0.3, -1.2, 2.0, 0.7])


@program(1.3, 0.4)
def test_nested_functions_and_closures(x, y):
    k = 2.0

    def outer(v):
        def inner(w):
            return v * w + k * y
        return inner
    return outer(x)(y) * outer(y)(x) + outer(2.0)(3.0)


@program(1.3)
def test_late_binding(x):
    functions = []
    for k in range(3):
        functions.append(lambda: x * k)
    k = 5
    return functions[0]() + functions[2]()


@program(1.3)
def test_default_argument_capture(x):
    functions = [lambda v, k=k, s=x: v * k + s for k in range(3)]
    return functions[0](x) + functions[1](x) * functions[2](2.0)


@program(1.3)
def test_closure_sees_a_later_assignment(x):
    def f():
        return a * x
    a = 2.0
    first = f()
    a = x * 3
    return first + f()


@program(1.3)
def test_nonlocal(x):
    total, count = 0.0, 0

    def add(v):
        nonlocal total, count
        total += v * x
        count += 1
        return total
    add(1.0)
    add(x)
    return add(2.0) * total * count


@program(1.3)
def test_nonlocal_in_a_loop(x):
    state = x

    def step():
        nonlocal state
        state = state * x + 1
    for _ in range(4):
        step()
    return state


@program(1.3)
def test_nonlocal_through_two_levels(x):
    a = x

    def outer():
        def inner():
            nonlocal a
            a = a * 2
        inner()
        inner()
    outer()
    return a * x


@program(1.3)
def test_counter_closure(x):
    def make():
        n = 0

        def count():
            nonlocal n
            n += 1
            return n
        return count
    first, second = make(), make()
    first()
    return x * first() + x ** second()


@program(1.3, 0.4)
def test_positional_keyword_default(x, y):
    def f(a, b=2.0, *, c=3.0, d):
        return a * b + c * d
    return f(x, d=y) + f(b=x, a=y, d=1.0, c=x) * f(x, y, d=x)


@program(1.3, 0.4)
def test_positional_only(x, y):
    def f(a, b, /, c, *, d=1.0, **rest):
        return a * b + c * d + rest.get("a", 5.0)
    return f(x, y, c=x) + f(x, 2.0, 3.0, d=y, a=x)


@program(1.3, 0.4)
def test_stars(x, y):
    def f(*parts, **named):
        total = 0.0
        for k, p in enumerate(parts):
            total += (k + 1) * p
        for key in sorted(named):
            total = total * 2 + named[key]
        return total * len(parts) + len(named)

    def g(a, *rest, b=1.0):
        return a * sum(rest) * b
    items, table = [x, y], {"q": x, "p": 2.0}
    return f(*items, x, **table) + f() + g(x, *items, b=y) + g(*items, *items) + f(*(), r=y, **{"s": x})


@program(1.3, 0.4)
def test_lambdas(x, y):
    f = lambda a, b=2.0, *c, d=x, **e: a * b + sum(c) * d + len(e)
    g = (lambda v: v * v)(x)
    return f(x) + f(x, y, 1.0, y, d=2.0, z=1) * g + (lambda: y)() + (lambda *a: a[0])(x, y)


@program(1.3, 0.4)
def test_two_lambdas_on_one_line(x, y):
    f, g = lambda v: v * x, lambda v: v + y
    return f(g(x)) - g(f(y))


@program(1.3)
def test_lambdas_over_several_lines(x):
    f = [
        lambda v: (
            v * 2
            + x
        ),
        lambda v:
            v ** 2,
    ]
    return f[0](x) * f[1](x)


def twice(f):
    @functools.wraps(f)
    def wrapped(*args, **kwargs):
        return 2 * f(*args, **kwargs)
    return wrapped


def power(n):
    def decorator(f):
        @functools.wraps(f)
        def wrapped(x):
            return f(x) ** n
        return wrapped
    return decorator


@twice
def doubled(x):
    """Twice the square."""
    return x * x


@power(2)
@twice
def both(x, y=3.0):
    return x + y


@program(1.3)
def test_decorated_functions_are_the_wrappers(x):
    return doubled(x) + both(x)


def test_decorated_function_itself():
    assert cr.grad(doubled)(1.5) == 6.0
    assert cr.grad(both)(1.0) == 2 * (2 * 4.0) * 2


@program(1.3)
def test_decorators_inside(x):
    def add(k):
        return lambda f: lambda v: f(v) + k

    @add(x)
    @twice
    def f(v):
        return v * x
    return f(x) * f(2.0)


@program(1.3, 0.4)
def test_partial(x, y):
    def f(a, b, c=1.0):
        return a * b + c
    g = partial(f, x)
    h = partial(g, c=y)
    square = partial(np.power, x)
    return g(y) * h(2.0) + h(b=x) + h(3.0, c=2.0) + square(3)


def test_partial_and_methods_as_the_function():
    def f(a, x, b=1.0):
        return a * x * x + b * x
    assert cr.grad(partial(f, 3.0, b=2.0))(1.5) == 11.0

    class Model:
        k = 4.0

        def loss(self, x):
            return self.k * x * x

        def __call__(self, x):
            return self.loss(x) + x

        @staticmethod
        def fixed(x):
            return x ** 3

        @classmethod
        def of_class(cls, x):
            return cls.k * x
    model = Model()
    assert cr.grad(model.loss)(1.5) == 12.0
    assert cr.grad(model)(1.5) == 13.0
    assert cr.grad(Model.fixed)(2.0) == 12.0
    assert cr.grad(Model.of_class)(2.0) == 4.0


@program(X)
def test_reduce_and_operator(x):
    a = reduce(operator.mul, x, 1.0)
    b = reduce(operator.add, [x[0], 2.0, x[1]])
    c = operator.itemgetter(1)(x) * operator.neg(x[2]) + operator.truediv(x[0], x[3])
    return a * b + c


def horner(coefficients, x):
    if not coefficients:
        return 0.0
    return coefficients[0] + x * horner(coefficients[1:], x)


def tree_sum(tree, x):
    if isinstance(tree, (list, tuple)):
        return sum(tree_sum(branch, x) * (k + 1) for k, branch in enumerate(tree))
    return tree * x


def is_even(n, x):
    return x if n == 0 else is_odd(n - 1, x * 1.1)


def is_odd(n, x):
    return -x if n == 0 else is_even(n - 1, x + 1)


@program(1.3, 0.4)
def test_recursion(x, y):
    def power(base, n):
        return 1.0 if n == 0 else base * power(base, n - 1)
    return horner([1.0, y, 3.0], x) + tree_sum([1, (2, [y, 4]), 5], x) * is_even(3, x) + power(x, 4)


@program(X)
def test_recursion_over_halves_of_an_array(x):
    def transform(v):
        n = v.shape[0]
        if n == 1:
            return v
        even, odd = transform(v[::2]), transform(v[1::2])
        return np.concatenate([even + odd * 2, even - odd])
    return transform(x)


@program(1.3, 5)
def test_recursion_on_an_int_argument(x, n):
    def fibonacci(k):
        return x if k < 2 else fibonacci(k - 1) + fibonacci(k - 2) * x
    return fibonacci(n)


@program(0.83)
def test_math_module(x):
    a = (math.sin(x) + math.cos(x) * math.tan(x) + math.asin(x) - math.acos(x) + math.atan(x) + math.sinh(x)
         + math.cosh(x) + math.tanh(x) + math.asinh(x) + math.acosh(x + 1) + math.atanh(x))
    b = (
        math.exp(x)
        + math.log(x)
        + math.log(x, 3.0)
        + math.log2(x)
        + math.log10(x)
        + math.log1p(x)
        + math.expm1(x)
        + math.sqrt(x)
        + math.pow(x, 1.5)
        + math.fabs(-x)
        + math.floor(x * 10)
        + math.ceil(x)
        + math.trunc(x)
    )
    c = math.hypot(x, 2.0) + math.atan2(x, 2.0) + math.erf(x) + math.erfc(x) + math.gamma(x) + math.lgamma(x)
    d = math.fmod(7 * x, 2.0) + math.copysign(x, -1.0) + math.degrees(x) + math.radians(x) + math.pi * math.e
    e = (
        math.fsum([x, 1.0, x * x])
        + math.prod([x, 2.0, x])
        + math.dist((x, 1.0), (0.0, 3.0))
        + math.factorial(4)
    )
    f = math.isnan(x) + math.isfinite(x) + math.isinf(x) + math.inf * 0 ** 0 * 0 if x < 0 else math.comb(5, 2)
    return a * b + c * d + e + f


@program(X.reshape(2, 2))
def test_array_methods(x):
    a = x.sum() + x.mean(axis=0) + x.max(axis=1) * x.min() + x.prod() + x.std() + x.var(ddof=1)
    b = x.T @ x.reshape(-1)[:2] + x.ravel()[1] + x.flatten()[2] + x.transpose(1, 0)[0] + x.swapaxes(0, 1)[1]
    c = x.dot(x) + x.clip(-1, 1) + x.astype(np.float64) + x.copy() + x.cumsum().reshape(2, 2) + x.trace()
    d = (
        x.argmax()
        + x.size
        + x.ndim
        + x.shape[0]
        + x.any()
        + x.all()
        + x.round(1).sum()
        + x.item(1) * x[0].tolist()[1]
    )
    e = (
        x.diagonal()
        + x.take([0, 3])
        + x.repeat(2, axis=0)[0]
        + x.squeeze()[0]
        + x.conj()[1]
        + x.real[0]
        + x.imag[0]
    )
    f = x.sort(), x.fill(2.0)
    return a + b + c + d + e + x.sum() + len(f)


def scale(x):
    return x * 3


@program(1.3)
def test_second_function_of_the_same_name(x):
    from tests.codegen.specialise import other_module
    return scale(x) + other_module.scale(x) * other_module.apply(x)


@program(X)
def test_functions_from_inside_modules(x):
    import math as m

    import numpy.linalg as la
    from numpy.linalg import norm
    return norm(x) * la.norm(x) + m.sin(x[0]) + np.linalg.norm(x)


@program(1.3)
def test_functions_as_values(x):
    table = {"sin": np.sin, "double": lambda v: 2 * v, "scale": scale}
    total = 0.0
    for name in ("sin", "double", "scale"):
        total += table[name](x)
    compose = lambda *fs: lambda v: reduce(lambda a, f: f(a), fs, v)
    choose = scale if len(table) == 3 else doubled
    return total * compose(np.cos, scale, doubled)(x) + choose(x) + getattr(np, "exp")(x) + callable(scale)


@program(1.3)
def test_early_return_from_helpers(x):
    def clamp(v, low, high):
        if v < low:
            return low
        if v > high:
            return high
        return v

    def find(items, test):
        for k, item in enumerate(items):
            if test(item):
                return k
        return None
    k = find([1, 4, 9], lambda v: v > 3)
    return clamp(x, 0.0, 1.0) + clamp(x * 0.1, 0.0, 1.0) * k + clamp(-x, -x * 0.5, x) * x


@program(X)
def test_vectorised_helpers(x):
    return x + [1, 2, 3, 4] * x + sum(np.array([v * 2 for v in x]))


def outer_default(x, scales=(1.0, 2.0), table={"k": 3.0}):  # noqa: B006
    return x * scales[1] + table["k"] * x


@program(1.3)
def test_defaults_of_module_functions(x):
    return outer_default(x) * outer_default(x, (5.0, x))


@program(1.3)
def test_function_attributes_and_docstrings(x):
    name = scale.__name__
    return x * len(name) + len(doubled.__name__)


@program(X)
def test_complex_of_two_parts(x):
    z = complex(x[0], x[1]) * complex(imag=x[2], real=1.5) + complex(x[3] + 1j, 2j * x[0])
    return z.real * z.imag + abs(complex(imag=x[1]))


@program(X)
def test_int_of_a_text_in_a_base(x):
    return x * int("ff", 16) + x[int("10", base=2)]


@program(X)
def test_functions_of_numpy_on_known_values(x):
    nodes, weights = np.polynomial.legendre.leggauss(4)
    nodes[0] = x[1]
    nodes *= 2
    return np.exp(-nodes * x) @ weights + np.hamming(4) * x
