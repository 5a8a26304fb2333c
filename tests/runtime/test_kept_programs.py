"""Programs of other processes: used where nothing has changed that they were made from, else made anew."""

import dataclasses
import importlib
import linecache
import sys
import typing

import numpy as np
import pytest

import chainrule as cr
from chainrule.backends.numba import emit
from chainrule.codegen import registry
from chainrule.codegen.printing import print_program
from chainrule.runtime import kept_programs, kept_texts
from chainrule.runtime.compilation import Jit
from chainrule.runtime.kept_programs import Recalled
from chainrule.runtime.kept_texts import Described, current_store, restored

MODEL = """
import dataclasses
import enum
import functools
import numpy as np
import chainrule as cr
import settings_of_model as settings
from settings_of_model import shifted

scale = 2.0
count = 3
table = {"by": 1.5, "names": ("a", "b")}
weights = np.array([1.0, 2.0])


class Kind(enum.Enum):
    SUM = "sum"
    MEAN = "mean"


@dataclasses.dataclass
class Options:
    power: int = 2
    kind: Kind = Kind.SUM


class Base:
    offset = 0.5

    def turned(self, x):
        return x + self.offset


class Layer(Base):
    factor = 3

    def __init__(self, size):
        self.size = size

    @property
    def twice(self):
        return 2 * self.factor

    def __call__(self, x):
        return super().turned(x) * self.twice * self.size


layer = Layer(4)
options = Options()


def scaled(by):
    return lambda x: x * by


half = scaled(0.5)
third = functools.partial(lambda by, x: x / by, 3.0)


def total(x, by=1.0, *, less=0.25):
    y = x * by - less
    for _ in range(count):
        y = y * scale + table["by"]
    y = layer(shifted(half(y))) + third(x) * weights ** Options().power
    if hasattr(settings, "extra"):
        y = y + settings.extra
    return np.sum(y) if options.kind is Kind.SUM else np.mean(y)
"""
SETTINGS = "limit = 3\n\n\ndef shifted(y, by=1.0):\n    return y + by * limit\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("model")


@pytest.fixture
def store(folder, monkeypatch):
    """The cache of these tests, for a chainrule that does not change while they run."""
    monkeypatch.setattr(kept_programs, "environment", str)
    with cr.config(cache=True, cache_dir=folder / "cache"):
        yield current_store()


class Model:
    """A module of the user's, written to files and imported anew as another process would."""

    def __init__(self, folder):
        self.folder = folder

    def fresh(self, old="", new="", settings=("", "")):
        (self.folder / "model_kept.py").write_text(MODEL.replace(old, new) if old else MODEL)
        changed = SETTINGS.replace(*settings) if settings[0] else SETTINGS
        (self.folder / "settings_of_model.py").write_text(changed)
        linecache.clearcache()
        importlib.invalidate_caches()
        for name in ("model_kept", "settings_of_model"):
            sys.modules.pop(name, None)
        return importlib.import_module("model_kept")


@pytest.fixture
def model(folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield Model(folder)
    for name in ("model_kept", "settings_of_model"):
        sys.modules.pop(name, None)


def called(f, *arguments, **keywords):
    """The result of a function as another process would compute it, and whether a kept program did."""
    emit.MODULES.clear()
    function = f if isinstance(f, Jit) else Jit(f)
    result = function(*arguments, **keywords)
    (programs,) = function.programs.values()
    return result, isinstance(programs[0], Recalled)


X = np.array([0.5, -1.0])


def test_a_program_is_used_again(store, model):
    wanted = model.fresh().total(X)
    for again in (False, True):
        found, recalled = called(model.fresh().total, X)
        np.testing.assert_allclose(found, wanted, rtol=1e-14)
        assert recalled is again
    for again in (False, True):
        found, recalled = called(cr.grad(model.fresh().total), X)
        step = 1e-6
        ends = [[model.fresh().total(X + s * e) for s in (step, -step)] for e in np.eye(2)]
        np.testing.assert_allclose(found, [(a - b) / (2 * step) for a, b in ends], rtol=1e-7)
        assert recalled is again


CHANGES = [
    ("y = x * by", "y = x * by * 2"),
    ("count = 3", "count = 4"),
    ("power: int = 2", "power: int = 3"),
    ("kind: Kind = Kind.SUM", "kind: Kind = Kind.MEAN"),
    ("offset = 0.5", "offset = 7"),
    ("return x + self.offset", "return x - self.offset"),
    ("return 2 * self.factor", "return 3 * self.factor"),
    ("lambda x: x * by", "lambda x: x * by + 1"),
    ("lambda by, x: x / by", "lambda by, x: x / by + 2"),
    ("less=0.25", "less=1"),
    ("weights = np.array([1.0, 2.0])", "weights = np.array([[1.0, 2.0]])"),
    ("import settings_of_model as settings", "import types as settings; settings.extra = 4.0"),
]


@pytest.mark.parametrize("old, new", CHANGES)
def test_what_changed_is_never_stale(store, model, old, new):
    called(model.fresh().total, X)
    assert MODEL.count(old) == 1
    changed = model.fresh(old, new)
    try:
        found, _ = called(changed.total, X)
        np.testing.assert_allclose(found, changed.total(X), rtol=1e-14)
    finally:
        vars(changed.settings).pop("extra", None)


@pytest.mark.parametrize("old, new", [
    ("limit = 3", "limit = 4"), ("y + by", "y - by"), ("limit = 3", "limit = 3; extra = 1.0"),
])  # fmt: skip
def test_another_module_that_changed(store, model, old, new):
    called(model.fresh().total, X)
    changed = model.fresh(settings=(old, new))
    found, _ = called(changed.total, X)
    np.testing.assert_allclose(found, changed.total(X), rtol=1e-14)


def other_count(module):
    module.count = 5


def other_attribute(module):
    module.layer.size = 9


def other_class_attribute(module):
    module.Layer.factor = 8


def other_default(module):
    module.Options.__init__.__defaults__ = (4, module.Kind.SUM)
    module.Options.__dataclass_fields__["power"].default = 4


def other_function(module):
    module.half = module.scaled(3)


def other_helper(module):
    module.shifted = lambda y: y * 4


def other_module(module):
    module.settings = type(sys)("settings_of_model")
    module.settings.extra = 2.0


OTHERS = [other_count, other_attribute, other_class_attribute, other_default, other_function, other_helper,
          other_module]  # fmt: skip


@pytest.mark.parametrize("change", OTHERS)
def test_what_an_import_set_otherwise(store, model, change):
    """The text is the same, and the values that were there as the module was imported are not."""
    called(model.fresh().total, X)
    module = model.fresh()
    change(module)
    found, recalled = called(module.total, X)
    np.testing.assert_allclose(found, module.total(X), rtol=1e-14)
    assert not recalled


def test_arrays_and_floats_from_outside_are_those_of_this_process(store, model):
    called(model.fresh().total, X)
    module = model.fresh()
    module.weights, module.scale, module.table["by"] = np.array([5.0, 7.0]), 0.25, -3.0
    found, recalled = called(module.total, X)
    np.testing.assert_allclose(found, module.total(X), rtol=1e-14)
    assert recalled


def test_what_changes_later_is_seen(store, model):
    called(model.fresh().total, X)
    module = model.fresh()
    function = Jit(module.total)
    assert called(function, X)[1]
    for change in (other_count, other_attribute, other_class_attribute, other_function, other_helper):
        change(module)
        np.testing.assert_allclose(function(X), module.total(X), rtol=1e-14)


@dataclasses.dataclass
class Fitted:
    slope: np.ndarray
    steps: int


class Pair(typing.NamedTuple):
    x: np.ndarray
    by: float = 1.0


def fit(pair, options, steps):
    x = pair.x * pair.by
    if options == "twice":
        x = 2 * x
    for _ in range(steps):
        x = x * x
    return Fitted(x, steps), {"sum": np.sum(x), "names": ("a", None), "pair": Pair(x)}


def test_arguments_and_results_of_all_kinds(store):
    function = lambda: Jit(fit, static_argnames="steps")
    for again in (False, True):
        for options in ("once", "twice"):
            (fitted, rest), recalled = called(function(), Pair(X), options, steps=2)
            want = (X * (1 + (options == "twice"))) ** 4
            assert type(fitted) is Fitted and fitted.steps == 2 and rest["names"] == ("a", None)
            np.testing.assert_allclose(fitted.slope, want)
            np.testing.assert_allclose(rest["sum"], np.sum(want))
            assert type(rest["pair"]) is Pair and rest["pair"].by == 1.0
            assert recalled is again
    assert not called(function(), Pair(X), "once", steps=3)[1]
    assert not called(function(), Pair(X.astype(np.float32)), "once", steps=2)[1]


def powers(x, n):
    y = np.zeros(n)
    for k in range(n):
        y[k] = np.sum(x**k)
    return np.stack([y, y[::-1]]).reshape(2 * n // len(x), -1)[0, : len(x)]


def test_sizes_that_must_be_known(store):
    for again in (False, True):
        found, recalled = called(powers, X, 4)
        np.testing.assert_allclose(found, powers(X, 4))
        assert recalled is again
    np.testing.assert_allclose(called(powers, X, 6)[0], powers(X, 6))


def test_modes_and_sizes_that_another_process_did_not_meet(store):
    def f(x):
        return np.sum(np.log(x) * 2)

    called(f, np.ones(3))
    function = Jit(f)
    assert called(function, np.ones(3))[1]
    np.testing.assert_allclose(function(np.full(100_000, 2.0)), 200_000 * np.log(2.0))
    with cr.config(debug_nans=True), pytest.raises(FloatingPointError, match=r"np\.log"):
        function(np.full(3, -1.0))
    assert "np.log" in cr.source(function)(np.ones(3))
    assert "compiled once" in cr.explain_recompiles(function)


@pytest.mark.parametrize("table", ["FUNCTIONS", "rules"])
def test_where_a_rule_is_the_users(store, monkeypatch, table):
    def f(x):
        return np.tanh(x)

    called(f, 0.5)
    if table == "rules":
        monkeypatch.setitem(registry.PRIMITIVES["tanh"].jvp, 0, squared)
    else:
        monkeypatch.setitem(registry.FUNCTIONS, np.tanh, squared)
    assert called(f, 0.5) == (0.25 if table == "FUNCTIONS" else np.tanh(0.5), False)


def squared(x):
    return x * x


RULED = cr.custom_jvp(squared)
RULED.defjvp(lambda primals, tangents: (primals[0] ** 2, 5.0 * tangents[0]))


class Named:
    def __init__(self, name):
        self.name, self.lock = name, iter(())


HELD = Named("a")
KEPT = {"by": [1]}


@pytest.mark.parametrize("f", [
    lambda x: cr.grad(RULED)(x), lambda x: x * len(HELD.name), lambda x: x * (hash("a") % 2),
])  # fmt: skip
def test_what_means_something_to_this_process_only(store, f):
    for _ in range(2):
        assert not called(f, 3.0)[1]


def test_damaged_and_foreign_entries(store):
    def f(x):
        return x * 3

    before = set(store.folder.iterdir())
    called(f, 2.0)
    whole = [path for path in set(store.folder.iterdir()) - before if b"written_down" in path.read_bytes()]
    assert len(whole) == 1
    kept = whole[0].read_bytes()
    for damage in (kept[:100], kept[:-3] + b"abc", b"\x80\x04cos\nsystem\n"):
        whole[0].write_bytes(damage)
        assert called(f, 2.0) == (6.0, False)
        assert called(f, 2.0) == (6.0, True)


def test_a_program_is_read_as_it_was_written():
    def f(x, a):
        for k in range(3):
            if x[0] > k:
                x = np.linalg.solve(a, x) + np.float32(0.5)
        return x, "text", 1j * x[0]

    made = []
    keep = lambda self, *rest: made.append(self) or original(self, *rest)
    original, Described.__init__ = Described.__init__, keep
    try:
        Jit(cr.jit(f))(np.ones(3), np.eye(3))
    finally:
        Described.__init__ = original
    program = made[0].program
    assert print_program(restored(made[0].written)) == print_program(program)


def test_everything_installed_is_part_of_keys(monkeypatch):
    found = kept_texts.environment.__wrapped__()
    monkeypatch.setattr(kept_texts, "files_in", lambda *_: [])
    assert kept_texts.environment.__wrapped__() != found
