"""Settings: from the environment, from the program, for a with block."""

import subprocess
import sys
from pathlib import Path

import pytest

import chainrule as cr
from chainrule.runtime import configuration
from chainrule.runtime.modes import uncompiled


@pytest.fixture(autouse=True)
def nothing_chosen(monkeypatch):
    monkeypatch.setattr(configuration, "CHOSEN", {})


def test_the_environment_says_where(monkeypatch, tmp_path):
    for name in ("CHAINRULE_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(configuration.sys, "platform", "linux")
    assert cr.config.cache is True and cr.config.cache_dir == tmp_path / ".cache" / "chainrule"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cr.config.cache_dir == tmp_path / "xdg" / "chainrule"
    monkeypatch.setattr(configuration.sys, "platform", "darwin")
    assert cr.config.cache_dir == tmp_path / "Library" / "Caches" / "chainrule"
    monkeypatch.setattr(configuration.sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert cr.config.cache_dir == tmp_path / "local" / "chainrule"
    monkeypatch.setenv("CHAINRULE_CACHE", str(tmp_path / "own"))
    assert cr.config.cache is True and cr.config.cache_dir == tmp_path / "own"


@pytest.mark.parametrize(
    "word, value", [("off", False), ("0", False), ("No", False), ("on", True), ("", True)]
)
def test_the_environment_says_whether(monkeypatch, word, value):
    monkeypatch.setenv("CHAINRULE_CACHE", word)
    assert cr.config.cache is value and cr.config.cache_dir.name == "chainrule"


def test_the_program_goes_before_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("CHAINRULE_CACHE", "off")
    cr.config.cache = True
    cr.config.cache_dir = str(tmp_path)
    assert (
        cr.config.cache is True and cr.config.cache_dir == tmp_path and isinstance(cr.config.cache_dir, Path)
    )


def test_a_block_puts_back_what_was(tmp_path):
    before = cr.config.cache, cr.config.cache_dir
    with cr.config(cache=True, cache_dir=tmp_path):
        assert (cr.config.cache, cr.config.cache_dir) == (True, tmp_path)
        with pytest.raises(KeyError), cr.config(cache=False):
            assert cr.config.cache is False
            raise KeyError
        assert cr.config.cache is True
    assert (cr.config.cache, cr.config.cache_dir) == before
    assert configuration.CHOSEN == {}


def test_disable_jit_is_a_mode():
    with cr.config(disable_jit=True):
        assert uncompiled()
        with cr.disable_jit(False):
            assert not uncompiled()
    assert not uncompiled()


def test_the_environment_sets_modes():
    program = (
        "import chainrule as cr; from chainrule.runtime import modes; print(modes.uncompiled(), cr.config)"
    )
    environment = {"CHAINRULE_DISABLE_JIT": "on", "CHAINRULE_CACHE": "off", "HOME": "/nowhere"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout.startswith("True config(cache=False") and "disable_jit=True" in done.stdout, (
        done.stderr
    )


@pytest.mark.parametrize("settings, error, message", [
    ({"cache": 1}, ValueError, "config.cache is True or False, and not 1"),
    ({"cache_dir": 3}, ValueError, "config.cache_dir is the path of a folder, and not 3"),
    ({"cache_dir": ""}, ValueError, "config.cache_dir is the path of a folder, and not ''"),
    ({"cash": True}, AttributeError, "there is no setting 'cash'; the settings are cache, cache_dir"),
])  # fmt: skip
def test_what_it_refuses(settings, error, message):
    with pytest.raises(error, match=message), cr.config(**settings):
        pass
    with pytest.raises(error, match=message):
        for name, value in settings.items():
            setattr(cr.config, name, value)


def test_reading_what_is_not_there():
    with pytest.raises(AttributeError, match="there is no setting 'cash'"):
        cr.config.cash  # noqa: B018
