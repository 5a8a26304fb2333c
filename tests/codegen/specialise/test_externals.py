"""What a function reads from outside: every call sees it as it is then, and it is never changed."""
import functools
import types

import numpy as np
import pytest

import chainrule as cr
from chainrule.codegen.errors import ChainruleError, SourceError
from tests.codegen.specialise import other_module

SCALE = 2.0
COUNT = 3
TABLE = {"k": 2.0, "inner": {"w": np.array([1.0, 2.0])}}
ITEMS = [1.0, 2.0]
WEIGHTS = np.array([1.0, 2.0, 3.0])
MODE = "double"


def set_global(name, value):
    globals()[name] = value


@pytest.fixture(autouse=True)
def restore():
    kept = {name: globals()[name] for name in ("SCALE", "COUNT", "TABLE", "ITEMS", "WEIGHTS", "MODE")}
    TABLE["k"], WEIGHTS[:] = 2.0, [1.0, 2.0, 3.0]
    ITEMS[:] = [1.0, 2.0]
    TABLE["inner"]["w"] = np.array([1.0, 2.0])
    yield
    globals().update(kept)
    other_module.K = 7.0


def of_float(x):
    return SCALE * x * x


def of_int(x):
    y = x
    for _ in range(COUNT):
        y = y * x
    return y


def of_dict(x):
    return TABLE["k"] * x + np.sum(TABLE["inner"]["w"]) * x


def of_list(x):
    total = 0.0
    for item in ITEMS:
        total += item * x
    return total * len(ITEMS)


def of_array(x):
    return np.sum(WEIGHTS * x) + WEIGHTS[0] * x


def of_string(x):
    return x * (2 if MODE == "double" else 3)


def of_module(x):
    return other_module.K * other_module.scale(x)


def test_floats():
    g = cr.grad(of_float)
    assert g(1.5) == 6.0
    set_global("SCALE", 5.0)
    assert g(1.5) == 15.0
    set_global("SCALE", 3)
    assert g(1.5) == 9.0
    set_global("SCALE", np.array([1.0, 2.0]))
    with pytest.raises(ChainruleError, match="scalar output"):
        g(1.5)
    set_global("SCALE", 4.0)
    assert g(1.5) == 12.0


def test_ints():
    g = cr.grad(of_int)
    assert g(2.0) == 32.0
    set_global("COUNT", 1)
    assert g(2.0) == 4.0
    set_global("COUNT", 0)
    assert g(2.0) == 1.0


def test_dicts():
    g = cr.grad(of_dict)
    assert g(1.0) == 5.0
    TABLE["k"] = 10.0
    assert g(1.0) == 13.0
    TABLE["inner"]["w"][0] = 7.0
    assert g(1.0) == 19.0
    TABLE["inner"]["w"] = np.array([1.0, 1.0, 1.0])
    assert g(1.0) == 13.0
    set_global("TABLE", {"k": 1.0, "inner": {"w": np.zeros(2)}})
    assert g(1.0) == 1.0


def test_lists_that_grow():
    g = cr.grad(of_list)
    assert g(1.0) == 6.0
    ITEMS.append(3.0)
    assert g(1.0) == 18.0
    ITEMS[0] = 10.0
    assert g(1.0) == 45.0
    del ITEMS[1:]
    assert g(1.0) == 10.0


def test_arrays_replaced_and_changed_in_place():
    g = cr.grad(of_array)
    assert g(1.0) == 7.0
    WEIGHTS[1] = 10.0
    assert g(1.0) == 15.0
    set_global("WEIGHTS", np.array([1.0, 1.0]))
    assert g(1.0) == 3.0
    set_global("WEIGHTS", np.array([2.0]))
    assert g(1.0) == 4.0
    set_global("WEIGHTS", np.array([[1.0, 2.0]], np.float32))
    with pytest.raises(ChainruleError, match="scalar output"):
        g(1.0)


def test_strings_and_modules():
    g, h = cr.grad(of_string), cr.grad(of_module)
    assert (g(1.0), h(1.0)) == (2.0, 49.0)
    set_global("MODE", "triple")
    other_module.K = 2.0
    assert (g(1.0), h(1.0)) == (3.0, 4.0)


def test_closures():
    k, n, data = 2.0, 2, np.array([1.0, 2.0])

    def change(*values):
        nonlocal k, n, data
        k, n, data = values

    def f(x):
        return k * x ** n + np.sum(data) * x
    g = cr.grad(f)
    assert g(3.0) == 15.0
    change(5.0, 3, np.array([1.0, 1.0, 1.0]))
    assert g(3.0) == 138.0
    data[0] = 11.0
    assert g(3.0) == 148.0


def test_attributes():
    class Settings:
        k = 2.0
    settings = Settings()
    nested = types.SimpleNamespace(inner=types.SimpleNamespace(values=[1.0], n=2))

    def f(x):
        return settings.k * x + nested.inner.values[0] * x ** nested.inner.n
    g = cr.grad(f)
    assert g(1.0) == 4.0
    Settings.k = 3.0
    assert g(1.0) == 5.0
    settings.k = 10.0
    assert g(1.0) == 12.0
    nested.inner.values[0] = 2.0
    assert g(1.0) == 14.0
    nested.inner = types.SimpleNamespace(values=[1.0], n=3)
    assert g(1.0) == 13.0


def helper(x):
    return x * 2


def uses_helper(x):
    return helper(x) * x


def test_function_redefined():
    g = cr.grad(uses_helper)
    assert g(1.0) == 4.0
    kept = globals()["helper"]
    try:
        globals()["helper"] = lambda x: x * 5
        assert g(1.0) == 10.0
        globals()["helper"] = np.exp
        np.testing.assert_allclose(g(1.0), 2 * np.e)
    finally:
        globals()["helper"] = kept
    assert g(1.0) == 4.0


def test_code_of_a_function_replaced():
    def f(x):
        return x * 2

    def g(x):
        return f(x) * x
    slope = cr.grad(g)
    assert slope(1.0) == 4.0
    f.__code__ = (lambda x: x * 7).__code__
    assert slope(1.0) == 14.0


def with_default(x, k=2.0, items=[1.0]):  # noqa: B006
    return x * k * items[0]


def test_defaults_changed():
    g = cr.grad(with_default)
    assert g(1.0) == 2.0
    with_default.__defaults__ = (5.0, [3.0])
    try:
        assert g(1.0) == 15.0
    finally:
        with_default.__defaults__ = (2.0, [1.0])


def test_bound_method_and_partial_of_changing_objects():
    class Model:
        def __init__(self):
            self.k = 2.0

        def loss(self, x):
            return self.k * x
    model, weights = Model(), np.array([1.0, 2.0])
    g = cr.grad(model.loss)
    h = cr.grad(functools.partial(lambda w, x: np.sum(w * x), weights))
    assert (g(1.0), h(1.0)) == (2.0, 3.0)
    model.k, weights[0] = 4.0, 5.0
    assert (g(1.0), h(1.0)) == (4.0, 7.0)


def test_a_global_that_appears_and_goes():
    g = cr.grad(reads_later)
    with pytest.raises(NameError, match="LATER"):
        g(1.0)
    set_global("LATER", 3.0)
    assert g(1.0) == 3.0
    del globals()["LATER"]
    with pytest.raises(NameError, match="LATER"):
        g(1.0)


def reads_later(x):
    return x * LATER  # noqa: F821


def test_a_global_that_shadows_a_builtin_later():
    g = cr.grad(uses_abs)
    assert g(-1.0) == -1.0
    set_global("abs", lambda x: x * 3)
    try:
        assert g(-1.0) == 3.0
    finally:
        del globals()["abs"]
    assert g(-1.0) == -1.0


def uses_abs(x):
    return abs(x)


def test_nothing_outside_is_touched():
    before = {name: id(value) for name, value in globals().items()}
    for function in (of_float, of_int, of_dict, of_list, of_array, of_string, of_module, uses_helper):
        cr.grad(function)(1.5)
    assert {name: id(value) for name, value in globals().items()} == before
    assert (SCALE, COUNT, ITEMS, MODE) == (2.0, 3, [1.0, 2.0], "double")
    np.testing.assert_array_equal(WEIGHTS, [1.0, 2.0, 3.0])


def test_source_as_a_string():
    assert cr.grad("def f(x):\n    y = x * x\n    return y * 3\n")(2.0) == 12.0
    assert cr.grad("lambda x: x ** 3")(2.0) == 12.0


def test_lambdas_on_one_line():
    f, g = (lambda x: x * 2), (lambda x: x * x)
    assert (cr.grad(f)(3.0), cr.grad(g)(3.0)) == (2.0, 6.0)
    both = [cr.grad(lambda x: x * 5), cr.grad(lambda x: x * x * 2)]
    assert (both[0](3.0), both[1](3.0)) == (5.0, 12.0)


def test_functions_without_source_are_refused_by_name():
    space = {}
    exec("def made(x):\n    return x * 2", space)
    for function, name in ((space["made"], "made"), (eval("lambda x: x"), "lambda")):
        with pytest.raises(SourceError) as caught:
            cr.grad(function)(1.0)
        assert name in str(caught.value)
        assert "Instead:" in str(caught.value)


def test_source_that_changed_since_is_noticed(tmp_path, monkeypatch):
    import importlib
    import linecache
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "changing_module.py"
    path.write_text("def f(x):\n    return x * 2\n")
    module = importlib.import_module("changing_module")
    path.write_text("# more\n# more\ndef f(x):\n    return x * 3\n")
    linecache.clearcache()
    with pytest.raises(SourceError):
        cr.grad(module.f)(1.0)


def test_array_global_is_not_written():
    def f(x):
        a = WEIGHTS
        b = a * x
        b[0] = 1.0
        return np.sum(b)
    assert cr.grad(f)(1.0) == 5.0
    np.testing.assert_array_equal(WEIGHTS, [1.0, 2.0, 3.0])


def test_an_attribute_that_appears():
    class Settings:
        scale = 2.0

    def f(x):
        return x * (settings.power if hasattr(settings, "power") else 1) + getattr(Settings, "shift", 0.0)

    settings = Settings()
    compiled = cr.jit(f)
    assert compiled(2.0) == 2.0
    settings.power = 3.0
    assert compiled(2.0) == 6.0
    Settings.shift = 1.0
    assert compiled(2.0) == 7.0
    del settings.power
    assert compiled(2.0) == 3.0


@pytest.mark.parametrize("names", [globals, locals, dir])
def test_names_as_a_container(names):
    with pytest.raises(cr.ChainruleError, match="the names that a function or module has"):
        cr.jit(lambda x: x * len(names()))(1.0)
