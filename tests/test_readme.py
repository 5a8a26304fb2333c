"""The examples in README.md and docs/ run, and print what they say."""

import contextlib
import importlib.util
import io
import re
from pathlib import Path

import pytest

from chainrule.codegen.registered import REGISTERED
from chainrule.codegen.registry import PRIMITIVES
from tests.own_primitives import OWN

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


PAGES = [
    "README.md",
    "docs/architecture.md",
    "docs/caching.md",
    "docs/control_flow.md",
    "docs/cores.md",
    "docs/custom.md",
    "docs/debugging.md",
    "docs/migration.md",
    "docs/training.md",
]


@pytest.fixture
def nothing_registered():
    """As in a process of its own: names that other tests registered are free."""
    known, primitives = dict(REGISTERED), dict(PRIMITIVES)
    REGISTERED.clear()
    for name in primitives.keys() - OWN.keys():
        del PRIMITIVES[name]
    yield
    REGISTERED.clear()
    REGISTERED.update(known)
    PRIMITIVES.update(primitives)


@pytest.mark.parametrize("page", PAGES)
def test_examples(page, tmp_path, nothing_registered):
    """Python blocks are one program, in order; what it prints is the text blocks, in order."""
    blocks = BLOCK.findall((ROOT / page).read_text())
    program = "".join(text for kind, text in blocks if kind == "python")
    file = tmp_path / "example.py"
    file.write_text(program)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, str(file), "exec"), {"__name__": "example", "__file__": str(file)})
    said = [
        line.rstrip() for kind, text in blocks if kind == "text" for line in text.splitlines() if line.strip()
    ]
    assert [line.rstrip() for line in printed.getvalue().splitlines() if line.strip()] == said


def test_the_files_that_the_architecture_names_exist():
    named = re.findall(r"[\w/*]+\.py\b", (ROOT / "docs" / "architecture.md").read_text())
    assert [name for name in named if not any(ROOT.rglob(name))] == []


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        links = re.findall(r"\]\(([\w./-]+)\)", page.read_text())
        assert [link for link in links if not (page.parent / link).exists()] == [], page


def test_the_list_of_functions_is_current():
    made = importlib.util.spec_from_file_location("make_api", ROOT / "docs" / "make_api.py")
    module = importlib.util.module_from_spec(made)
    made.loader.exec_module(module)
    assert (ROOT / "docs" / "api.md").read_text() == module.page(), "run: python docs/make_api.py"
