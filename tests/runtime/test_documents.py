"""The examples of docs/saving.md."""
import doctest
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "docs"


def test_saving():
    path = str(FOLDER / "saving.md")
    failed, tried = doctest.testfile(path, module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried > 10 and not failed
