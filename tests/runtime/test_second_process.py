"""Compiled programs in later processes: found, never stale, rebuilt where they are damaged."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import chainrule as cr
from chainrule.backends.numba import emit, machine_code
from chainrule.codegen.parse import parse_text
from chainrule.runtime import kept_texts
from chainrule.runtime.compilation import Jit
from chainrule.runtime.kept_texts import current_store
from tests.programs.writer import programs

WORK = """
import numpy as np
import chainrule as cr
from helper import shifted

scale = 2.0
count = 3


def loss(x, y):
    total = 0.0
    for k in range(count):
        total = total + np.sum(np.exp(x) * shifted(y)) * scale
    return total


def run():
    x, y = np.array([0.0, 1.0]), np.array([3.0, 4.0])
    return cr.jit(loss)(x, y), cr.jit(cr.grad(loss, (0, 1)))(x, y), cr.jit(lambda x: 3.0 * x)(2.5)
"""
HELPER = "def shifted(y, by=1.0):\n    return y + by\n"
COUNTING = str(Path(__file__).with_name("counting.py"))


def expected(scale=2.0, count=3, by=1.0):
    x, y = np.array([0.0, 1.0]), np.array([3.0, 4.0])
    weight = scale * count
    return weight * np.sum(np.exp(x) * (y + by)), weight * np.exp(x) * (y + by), weight * np.exp(x)


class Folder:
    """A folder with a program, and its cache."""

    def __init__(self, path):
        self.path, self.cache = path, path / "cache"
        self.write(WORK, HELPER)

    def write(self, work=WORK, helper=HELPER):
        (self.path / "work.py").write_text(work)
        (self.path / "helper.py").write_text(helper)

    def start(self, **environment):
        environment = {**os.environ, "CHAINRULE_CACHE": str(self.cache), **environment}
        command = [sys.executable, COUNTING, str(self.path)]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, **environment):
        return finished(self.start(**environment))

    def files(self):
        return sorted((self.cache / "programs").iterdir())


def finished(process):
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors.decode()
    return json.loads(out)


def check(ran, **changed):
    value, (x_bar, y_bar), tripled = ran["result"]
    want = expected(**changed)
    for found, one in zip((value, x_bar, y_bar, tripled), (*want, 7.5), strict=True):
        assert found[0] == "float64"
        np.testing.assert_allclose(found[1], one, rtol=1e-14)


@pytest.fixture(scope="module")
def warmed(tmp_path_factory):
    """A folder whose cache a first process has filled."""
    folder = Folder(tmp_path_factory.mktemp("work"))
    ran = folder.run()
    check(ran)
    assert ran["emitted"] == 3 and ran["compiled"] >= 3
    return folder


@pytest.fixture
def again(warmed, tmp_path):
    """A copy of that folder's program, with the same cache."""
    warmed.write()
    return warmed


def test_a_second_process_makes_nothing(again):
    ran = again.run()
    check(ran)
    assert (ran["compiled"], ran["emitted"], ran["specialised"]) == (0, 0, 0)


def test_the_cache_off(again):
    before = again.files()
    for _ in range(2):
        ran = again.run(CHAINRULE_CACHE="off")
        check(ran)
        assert ran["compiled"] >= 3 and ran["emitted"] == 3
    assert again.files() == before


def test_the_cache_moved(again, tmp_path):
    ran = again.run(CHAINRULE_CACHE=str(tmp_path / "other"))
    assert ran["compiled"] >= 3
    ran = again.run(CHAINRULE_CACHE=str(tmp_path / "other"))
    check(ran)
    assert ran["compiled"] == 0 and (tmp_path / "other" / "programs").is_dir()


@pytest.mark.parametrize("old, new, changed", [
    ("scale = 2.0", "scale = 5.0", {"scale": 5.0}),
    ("count = 3", "count = 4", {"count": 4}),
    ("* scale", "* scale * 2", {"scale": 4.0}),
])  # fmt: skip
def test_an_edited_function_or_global_is_never_stale(again, old, new, changed):
    again.write(WORK.replace(old, new))
    check(again.run(), **changed)
    check(again.run(), **changed)
    again.write()
    check(again.run())


def test_an_edited_function_that_is_called_is_never_stale(again):
    again.write(helper=HELPER.replace("1.0", "7.0"))
    check(again.run(), by=7.0)
    again.write(helper=HELPER.replace("y + by", "y + 2 * by"))
    check(again.run(), by=2.0)


def test_other_options_of_numba_are_other_code(again):
    ran = again.run(NUMBA_OPT="1")
    check(ran)
    assert ran["compiled"] >= 3


@pytest.mark.parametrize("damage", [
    lambda text: text[: len(text) // 2], lambda text: b"\x80\x04cos\nsystem\n",
], ids=["half", "foreign"])  # fmt: skip
def test_damaged_entries_are_rebuilt(again, damage):
    for path in again.files():
        path.write_bytes(damage(path.read_bytes()))
    ran = again.run()
    check(ran)
    assert ran["compiled"] >= 3 and ran["emitted"] == 3
    ran = again.run()
    check(ran)
    assert (ran["compiled"], ran["emitted"]) == (0, 0)


def test_a_folder_of_others_is_not_used(again):
    (again.cache / "programs").chmod(0o777)
    try:
        ran = again.run()
        check(ran)
        assert ran["compiled"] >= 3
    finally:
        (again.cache / "programs").chmod(0o700)


def test_many_processes_at_once(tmp_path):
    folder = Folder(tmp_path)
    for ran in [finished(process) for process in [folder.start() for _ in range(4)]]:
        check(ran)
    ran = folder.run()
    check(ran)
    assert (ran["compiled"], ran["emitted"], ran["specialised"]) == (0, 0, 0)


def test_killed_while_it_compiles(tmp_path):
    folder = Folder(tmp_path)
    for files in (1, 3, 5):
        process = folder.start()
        stop = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < stop:
            if folder.cache.exists() and len(list(folder.cache.rglob("*"))) > files:
                break
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    check(folder.run())
    ran = folder.run()
    check(ran)
    assert (ran["compiled"], ran["emitted"], ran["specialised"]) == (0, 0, 0)


def test_versions_are_part_of_keys(monkeypatch):
    found = [kept_texts.installed.__wrapped__(), machine_code.versions.__wrapped__()]
    monkeypatch.setattr(np, "__version__", "9.9")
    now = [kept_texts.installed.__wrapped__(), machine_code.versions.__wrapped__()]
    assert all(one != other and "9.9" in other for one, other in zip(found, now, strict=True))
    assert "compiled.py" not in str(found) and "simplify.py" in str(found)


def both(f, *arguments):
    """A function's result as compiled now, and as loaded."""
    results = []
    for _ in range(2):
        emit.MODULES.clear()
        results.append(Jit(f)(*arguments))
    return results


def same(fresh, loaded):
    for one, other in zip(*(cr.tree.leaves(result) for result in (fresh, loaded)), strict=True):
        assert type(one) is type(other)
        np.testing.assert_array_equal(one, other)


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(depth=1))
def test_cached_programs_give_what_fresh_ones_give(tmp_path_factory, text):
    x, y = np.array([0.3, -0.8, 1.1, 0.6]), 0.9
    f = parse_text(text, {"np": np})
    with cr.config(cache=True, cache_dir=tmp_path_factory.mktemp("cache")):
        fresh, loaded = both(cr.value_and_grad(f, (0, 1)), x, y)
        assert current_store().reads == 3
    same(fresh, loaded)


def library(x, a):
    return np.linalg.solve(a, x), np.sort(x), np.fft.fft(x), np.tanh(x), x @ a, np.linalg.eigvalsh(a @ a.T)


def test_library_calls_are_found_again(tmp_path):
    rng = np.random.default_rng(3)
    with cr.config(cache=True, cache_dir=tmp_path):
        fresh, loaded = both(library, rng.standard_normal(4), rng.standard_normal((4, 4)))
    same(fresh, loaded)


def test_what_means_something_to_this_process_only_is_not_kept(tmp_path):
    seen = []

    def f(x):
        cr.debug.callback(lambda value: seen.append(value), x)
        return 2 * x

    with cr.config(cache=True, cache_dir=tmp_path):
        assert both(f, 3.0) == [6.0, 6.0]
        kept = [path.read_bytes() for path in current_store().folder.glob("*")]
    assert not any(b"CALLBACKS" in text or b"def f" in text for text in kept)
    assert seen == [3.0, 3.0]


ERRORS = """
import numpy as np
import chainrule as cr


def f(x, k):
    return x[k]  # here


def run():
    function = cr.jit(f)
    function(np.ones(3), 1)
    try:
        function(np.ones(3), 7)
    except IndexError as error:
        return f"{error}; {error.__notes__}"
"""


def test_errors_of_loaded_programs_name_the_line(tmp_path):
    folder = Folder(tmp_path)
    folder.write(ERRORS)
    for specialised in (1, 0):
        ran = folder.run()
        assert ran["specialised"] == specialised
        assert "index 7 is out of bounds" in ran["result"][1] and "# here" in ran["result"][1]


OWN_ERRORS = """
import chainrule as cr


class Refused(Exception):
    pass


def f(x):
    if x < 0:
        raise Refused(f"{x} is negative")
    return 2 * x


def run():
    function = cr.jit(f)
    function(3.0)
    try:
        function(-1.0)
    except Refused as error:
        return str(error)
"""


def test_exceptions_of_the_users_own_are_this_process_own(tmp_path):
    folder = Folder(tmp_path)
    folder.write(OWN_ERRORS)
    for _ in range(2):
        assert folder.run()["result"][1] == "-1.0 is negative"
