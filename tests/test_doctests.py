"""Every module's docstring examples, and that every folder with code is installed."""

import configparser
import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

OPTIONAL = ("jax", "autograd", "cupy")
ROOT = Path(__file__).resolve().parents[1]


def listed():
    """The packages that setup.cfg installs."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    return config["options"]["packages"].split()


def modules():
    """The names of all modules of all packages, without importing any but the packages."""
    for package in listed():
        yield package
        for info in pkgutil.iter_modules(importlib.import_module(package).__path__, package + "."):
            if not info.ispkg:
                yield info.name


@pytest.mark.parametrize("name", list(modules()))
def test_examples(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name.partition(".")[0] in OPTIONAL:
            pytest.skip(f"{error.name} is not installed")
        raise
    failed, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert not failed, f"{failed} examples of {name} fail; see the captured output"


def test_every_package_is_listed():
    folders = ["autodiff", "backends", "chainrule", "codegen", "runtime", "tools"]
    inits = [init for folder in folders for init in (ROOT / folder).rglob("__init__.py")]
    on_disk = {".".join(init.parent.relative_to(ROOT).parts) for init in inits}
    assert {name if name.split(".")[0] == "chainrule" else f"chainrule.{name}" for name in on_disk} == set(
        listed()
    )
